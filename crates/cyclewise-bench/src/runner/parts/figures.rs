//! The figures of each process of a run: medians and ratios of its own rounds, in the state of the headline.
//!
//! Which rounds are quiet was told from the rounds of all processes: one that met only a busy neighbour cannot tell by itself.

use crate::record::rounds::pairs;
use crate::record::{Experiment, Run, RunLengths, State, Variant, ratios_at_lengths};
use crate::stats;

/// Fewer samples of a state have no median to speak of.
const FEW: usize = 3;

/// Replaces what `runs` say of this experiment. `parts`: the number of each process and its first round, in the order of rounds.
pub(super) fn of_parts(e: &Experiment, parts: &[(u32, usize)], runs: &mut [Run]) {
    for (i, &(part, begin)) in parts.iter().enumerate() {
        let Some(run) = runs.get_mut(part as usize) else {
            continue;
        };
        let end = parts.get(i + 1).map_or(usize::MAX, |(_, begin)| *begin);
        let own: Vec<Variant> = e.variants.iter().map(|v| v.of_rounds(begin..end)).collect();
        run.forget(&e.name);
        own.iter().for_each(|v| row(&e.name, v, run));
        for c in &e.comparisons {
            let find = |name: &str| own.iter().find(|v| v.name == name);
            if let (Some(a), Some(b)) = (find(&c.a), find(&c.b)) {
                ratio(&e.name, [a, b], c.paired().state, run);
            }
        }
    }
}

/// Adds what a process says of a row, of whose samples `v` has those of that process.
fn row(experiment: &str, v: &Variant, run: &mut Run) {
    let Some(all) = stats::median(v.samples.iter().copied()) else {
        return;
    };
    let own = v.figure().state;
    let in_state = v.samples_in(own, &v.samples);
    let state = if in_state.len() < FEW { State::All } else { own };
    let of_state = stats::median(in_state.into_iter()).filter(|_| state == own);
    let named = |figure: f64| (experiment.to_string(), v.name.clone(), figure);
    run.medians.push(named(of_state.unwrap_or(all)));
    run.states.push(state);
    run.all.push(named(all));
    let at_lengths = |state: State| {
        let [a, b, c] = [0, 1, 2].map(|length| stats::median(v.samples_at(length, state).into_iter()));
        Some([a?, b?, c?])
    };
    if let (Some(copies), Some(headline), Some(all)) = (v.lengths(), at_lengths(state), at_lengths(State::All)) {
        run.lengths.push(RunLengths {
            experiment: experiment.to_string(),
            variant: v.name.clone(),
            copies,
            headline,
            all,
        });
    }
}

/// Adds what a process says of two rows. Few pairs of the headline's state say nothing: the ratio of other rounds is not its ratio.
fn ratio(experiment: &str, [a, b]: [&Variant; 2], state: State, run: &mut Run) {
    let both = pairs((a, &a.samples), (b, &b.samples), state);
    if both.len() < FEW && state != State::All {
        return;
    }
    let names = || (experiment.to_string(), a.name.clone(), b.name.clone());
    if let Some(paired) = stats::paired(state, &both) {
        let (e, a, b) = names();
        run.ratios.push((e, a, b, paired.ratio));
    }
    if let Some(ratios) = ratios_at_lengths(a, b, state) {
        let (e, a, b) = names();
        run.length_ratios.push((e, a, b, ratios));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::bent;
    use crate::record::{Comparison, Figure, Paired};

    const PARTS: [(u32, usize); 2] = [(0, 0), (1, 10)];

    /// Twenty rounds of two processes: the first meets a neighbour in every other of its ten, the second in all but `quiet`.
    fn experiment(quiet: usize) -> Experiment {
        let busy = |round: usize| {
            if round < 10 {
                round.is_multiple_of(2)
            } else {
                round - 10 >= quiet
            }
        };
        let variant = |name: &str, value: f64| Variant {
            name: name.to_string(),
            samples: (0..20)
                .map(|round| if busy(round) { 1.5 * value } else { value })
                .collect(),
            sample_states: (0..20).map(|round| if busy(round) { 'b' } else { 'q' }).collect(),
            headline: Some(Figure {
                state: State::Quiet,
                ..Figure::default()
            }),
            ..Variant::default()
        };
        Experiment {
            name: "e".to_string(),
            variants: vec![variant("a", 10.0), variant("b", 20.0)],
            comparisons: vec![Comparison {
                a: "a".to_string(),
                b: "b".to_string(),
                headline: Some(Paired {
                    state: State::Quiet,
                    ..Paired::default()
                }),
                ..Comparison::default()
            }],
            ..Experiment::default()
        }
    }

    fn runs(e: &Experiment) -> [Run; 2] {
        let mut runs = [Run::default(), Run::default()];
        of_parts(e, &PARTS, &mut runs);
        // Twice gives the same.
        let once = runs.clone();
        of_parts(e, &PARTS, &mut runs);
        assert_eq!(runs, once);
        runs
    }

    #[test]
    fn each_process_has_the_quiet_rounds_of_its_own() {
        let runs = runs(&experiment(4));
        for run in &runs {
            assert_eq!(
                (run.median("e", "a"), run.state("e", "a")),
                (Some(10.0), Some(State::Quiet))
            );
            assert_eq!(
                (run.ratio("e", "a", "b"), run.medians.len(), run.ratios.len()),
                (Some(0.5), 2, 1)
            );
        }
        assert!(runs[1].median_of_all("e", "a").unwrap() > 14.0);
    }

    #[test]
    fn a_process_without_quiet_rounds_says_so_and_has_no_ratio_of_them() {
        let runs = runs(&experiment(1));
        assert_eq!(
            (runs[1].state("e", "a"), runs[1].median("e", "a")),
            (Some(State::All), Some(15.0))
        );
        assert_eq!(
            (runs[0].ratio("e", "a", "b"), runs[1].ratio("e", "a", "b")),
            (Some(0.5), None)
        );
    }

    #[test]
    fn rows_that_are_not_linear_have_their_costs_at_each_length() {
        let mut e = experiment(10);
        e.variants = vec![bent("a", [1.0, 8.0, 4.0], "q"), bent("b", [2.0, 4.0, 4.0], "q")];
        // The first two rounds were lost, so the process that follows has two samples more than rounds behind its first.
        for v in &mut e.variants {
            v.rejected_rounds = vec![0, 1];
        }
        for (run, samples) in runs(&e).iter().zip([8, 32]) {
            let at = run.lengths("e", "a").unwrap();
            assert!(
                (at.headline[1] - 8.0).abs() < 0.01 && at.copies == [4.0, 8.0, 16.0],
                "{at:?}"
            );
            let ratios = run.ratios_at_lengths("e", "a", "b").unwrap();
            assert!(
                (ratios[0] - 0.5).abs() < 0.01 && (ratios[1] - 2.0).abs() < 0.01,
                "{ratios:?}"
            );
            let begin = if samples == 8 { 0 } else { 10 };
            let end = if samples == 8 { 10 } else { usize::MAX };
            assert_eq!(e.variants[0].of_rounds(begin..end).samples.len(), samples);
        }
    }
}
