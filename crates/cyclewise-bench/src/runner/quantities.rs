//! The kinds of time of two commands, each compared, whatever the verdict is about.

use super::Sample;
use super::samples::VariantSamples;
use crate::record::{QuantityRatio, State};
use crate::stats;

/// The kinds of time, by the names of the record.
const KINDS: [&str; 3] = ["wall", "user", "cpu"];

/// Wall, user and CPU time of two commands; none of other rows, and none where the second has no such time.
pub(super) fn of_commands(a: &VariantSamples, b: &VariantSamples) -> Vec<QuantityRatio> {
    match (&a.timed, &b.timed) {
        (Some(_), Some(_)) => KINDS.iter().filter_map(|kind| ratio(kind, a, b)).collect(),
        _ => Vec::new(),
    }
}

fn ratio(kind: &str, a: &VariantSamples, b: &VariantSamples) -> Option<QuantityRatio> {
    let values =
        |v: &VariantSamples| -> Vec<Option<f64>> { v.rounds.iter().map(|s| time(kind, s.as_ref()?)).collect() };
    let [a, b] = [values(a), values(b)];
    let pairs: Vec<(f64, f64)> = a.iter().zip(&b).filter_map(|(a, b)| (*a).zip(*b)).collect();
    let paired = stats::paired(State::All, &pairs).filter(|p| p.ratio.is_finite())?;
    let [of_a, of_b] = [a, b].map(|values| stats::median(values.into_iter().flatten()));
    Some(QuantityRatio {
        quantity: kind.to_string(),
        medians: [of_a?, of_b?],
        ratio: paired.ratio,
        ratio_ci95: paired.ratio_ci95,
    })
}

/// This kind of time of a run, seconds.
fn time(kind: &str, run: &Sample) -> Option<f64> {
    let metric = |name: &str| run.metrics.iter().find(|m| m.0 == name).map(|m| m.2);
    match kind {
        "user" => metric("user"),
        "cpu" => Some(metric("user")? + metric("sys")?),
        // The sample itself, unless it is another kind.
        _ => metric("wall").or(Some(run.value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TimedCommand;
    use crate::runner::metrics;

    fn command(runs: &[(f64, f64, f64)], by_user: bool) -> VariantSamples {
        let sample = |&(wall, user, sys): &(f64, f64, f64)| {
            let mut all = metrics([("user", "s", user), ("sys", "s", sys)]);
            if by_user {
                all.extend(metrics([("wall", "s", wall)]));
            }
            Some(Sample {
                metrics: all,
                ..Sample::new(if by_user { user } else { wall })
            })
        };
        VariantSamples {
            rounds: runs.iter().map(sample).collect(),
            timed: Some(TimedCommand::default()),
            ..VariantSamples::default()
        }
    }

    #[test]
    fn each_kind_is_compared_whatever_the_samples_are() {
        let (fast, slow) = ([(1.0, 0.5, 0.1); 8], [(2.0, 2.0, 0.4); 8]);
        for by_user in [false, true] {
            let all = of_commands(&command(&slow, by_user), &command(&fast, by_user));
            let seen: Vec<(&str, [f64; 2], f64)> = all.iter().map(|q| (&*q.quantity, q.medians, q.ratio)).collect();
            let cpu = 2.4 / 0.6;
            assert_eq!(seen[..2], [("wall", [2.0, 1.0], 2.0), ("user", [2.0, 0.5], 4.0)]);
            assert!(seen[2].0 == "cpu" && (seen[2].2 - cpu).abs() < 1e-9, "{seen:?}");
        }
        // A time of 0 has no ratio, and other rows no kinds.
        let idle = command(&[(1.0, 0.0, 0.0); 8], false);
        let kinds: Vec<String> = of_commands(&idle, &idle).into_iter().map(|q| q.quantity).collect();
        assert_eq!(kinds, ["wall"]);
        assert!(of_commands(&VariantSamples::default(), &idle).is_empty());
    }
}
