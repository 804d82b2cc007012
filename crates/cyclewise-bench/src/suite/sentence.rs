//! What a group answers, in a sentence or two.

use crate::answer::{Finding, growth, summary};
use crate::number::{NONE, brief, cost_range, estimate};
use crate::record::{Experiment, Reason, Unit, Variant, Verdict, bounds};

/// More comparisons than this are counted.
const MOST_TOLD: usize = 3;

/// The sentences of a group, without its name.
pub(super) fn sentences(e: &Experiment, tsc_hz: f64) -> Vec<String> {
    let findings: Vec<Finding> = e
        .comparisons
        .iter()
        .map(|c| Finding::of_comparison(c, e.unit))
        .collect();
    let mut said: Vec<String> = match findings.len() {
        0 => e
            .variants
            .first()
            .map(|v| alone(v, e.unit, tsc_hz))
            .into_iter()
            .collect(),
        1..=MOST_TOLD => findings.iter().map(one).collect(),
        _ => summary(&findings).into_iter().collect(),
    };
    said.extend(growth(e));
    said
}

/// `iter takes 95.2 ns`.
fn alone(v: &Variant, unit: Unit, tsc_hz: f64) -> String {
    if v.is_not_linear() {
        let range = v.cost_range().map_or(String::new(), |range| {
            format!(": {} ns a call, by the loop around it", cost_range(range, 1e9 / tsc_hz))
        });
        return format!("the time of {} is not linear in the number of calls{range}", v.name);
    }
    let (value, ci95) = v.value();
    let ci95 = bounds(ci95);
    match unit {
        Unit::OpsPerSecond => {
            let millions = 1e-6;
            let shown = estimate(value * millions, ci95.map(|b| b * millions));
            format!("{} does {shown} million operations a second", v.name)
        }
        _ => {
            let ns = 1e9 / tsc_hz;
            format!("{} takes {} ns", v.name, estimate(value * ns, ci95.map(|b| b * ns)))
        }
    }
}

/// `stable takes 0.83 of the time of unstable [0.82, 0.84]`, or why that cannot be said.
fn one(f: &Finding<'_>) -> String {
    let (a, b) = (f.a, f.b);
    let interval = match f.ci95.iter().all(|bound| bound.is_finite()) {
        true => format!(" [{}, {}]", brief(f.ci95[0], f.ci95), brief(f.ci95[1], f.ci95)),
        false => String::new(),
    };
    let ratio = f.times();
    let ratio = ratio.trim_end_matches('×');
    let relation = match (f.more_is_faster, f.ratio >= 2.0) {
        (false, false) => format!("{a} takes {ratio} of the time of {b}{interval}"),
        (false, true) => format!("{a} takes {ratio} times the time of {b}{interval}"),
        (true, false) => format!("{a} does {ratio} of the operations of {b}{interval}"),
        (true, true) => format!("{a} does {ratio} times the operations of {b}{interval}"),
    };
    match f.verdict {
        Verdict::Faster | Verdict::Slower => relation,
        Verdict::Same => {
            let alike = if f.more_is_faster {
                "do as many operations"
            } else {
                "take the same time"
            };
            format!("{a} and {b} {alike}{}", in_brackets(f.reason))
        }
        Verdict::Undecided if ratio == NONE || f.is_by_length() => {
            format!("{a} against {b} is undecided{}", in_brackets(f.reason))
        }
        Verdict::Undecided => format!("{a} against {b} is undecided: {ratio}{interval}"),
        Verdict::None | Verdict::Depends => f.sentence().trim_end_matches('.').to_string(),
    }
}

fn in_brackets(reason: Option<&Reason>) -> String {
    reason.map_or(String::new(), |reason| format!(" ({reason})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::made_up::comparison;
    use crate::record::made_up::bent;
    use crate::record::{Paired, State, pairs_at_lengths};
    use crate::stats::PowerLaw;

    fn of(comparisons: Vec<crate::record::Comparison>, unit: Unit) -> Vec<String> {
        let e = Experiment {
            unit,
            comparisons,
            ..Experiment::default()
        };
        sentences(&e, 1e9)
    }

    #[test]
    fn each_verdict_is_said_with_its_interval() {
        let faster = comparison(Verdict::Faster, 0.8312, [0.82, 0.84]);
        let said = of(vec![faster.clone()], Unit::TicksPerOp);
        assert_eq!(said, ["lock takes 0.831 of the time of ds [0.820, 0.840]"]);
        let said = of(vec![faster], Unit::OpsPerSecond);
        assert_eq!(said, ["lock does 0.831 of the operations of ds [0.820, 0.840]"]);
        let slower = comparison(Verdict::Slower, 3.5, [3.4, 3.6]);
        assert_eq!(
            of(vec![slower], Unit::TicksPerOp),
            ["lock takes 3.50 times the time of ds [3.40, 3.60]"]
        );
        let mut same = comparison(Verdict::Same, 1.0, [0.999, 1.001]);
        same.reason = Some(Reason::Other("within 1 %".to_string()));
        assert_eq!(
            of(vec![same], Unit::TicksPerOp),
            ["lock and ds take the same time (within 1 %)"]
        );
        let undecided = comparison(Verdict::Undecided, 1.1, [0.9, 1.3]);
        assert_eq!(
            of(vec![undecided], Unit::TicksPerOp),
            ["lock against ds is undecided: 1.10 [0.90, 1.30]"]
        );
    }

    #[test]
    fn rows_that_are_not_linear_say_their_ranges() {
        let e = Experiment {
            variants: vec![bent("fib", [1.5, 9.0, 7.0], "")],
            ..Experiment::default()
        };
        assert_eq!(
            sentences(&e, 1e9),
            ["the time of fib is not linear in the number of calls: 1.50–9.00 ns a call, by the loop around it"]
        );
        let (a, b) = (bent("a", [1.5, 9.0, 7.0], ""), bent("b", [3.0, 18.0, 10.0], ""));
        let mut c = comparison(Verdict::Faster, 17.6, [17.0, 18.0]);
        c.headline = Some(Paired::default());
        c.lengths = pairs_at_lengths(&a, &b, &[State::All], 1.0);
        let said = of(vec![c.clone()], Unit::TicksPerOp);
        assert_eq!(said, ["lock takes 0.500–0.700 of the time of ds [0.50, 0.70]"]);
        c.verdict = Verdict::Undecided;
        c.reason = Some(Reason::not_linear(": faster at 4 copies, slower at 8 and 16"));
        assert_eq!(
            of(vec![c], Unit::TicksPerOp),
            ["lock against ds is undecided (not linear: faster at 4 copies, slower at 8 and 16)"]
        );
    }

    #[test]
    fn many_are_counted_and_one_alone_is_its_cost() {
        let many = vec![comparison(Verdict::Faster, 0.5, [0.49, 0.51]); 4];
        assert!(of(many, Unit::TicksPerOp)[0].starts_with("4 comparisons: 4 faster"));
        let e = Experiment {
            variants: vec![Variant {
                name: "fib".to_string(),
                n: 9,
                median: 250.0,
                ..Variant::default()
            }],
            growth: [(
                "fib".to_string(),
                PowerLaw {
                    exponent: 1.5,
                    ci95: [1.45, 1.55],
                    sizes: 5,
                },
            )]
            .into(),
            ..Experiment::default()
        };
        let said = sentences(&e, 2.5e9);
        assert!(said[0].starts_with("fib takes 100"), "{said:?}");
        assert_eq!(said[1], "fib grows as n^1.500 [1.450, 1.550] over 5 sizes");
    }
}
