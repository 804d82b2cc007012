//! What people read of made-up programs.

use super::made_up::{clones, milan, program, seconds, site, turin, xeon};
use crate::counts::Words;
use crate::forecast::answer::{digits, name};
use crate::forecast::{Costs, Forecast, Verdict, forecast};
use crate::profile::{Class, Operation};

/// A forecast as lines.
fn text(made: &Forecast) -> String {
    let mut lines = vec![made.answer.clone()];
    for r in &made.remedies {
        let [low, high] = r.saved_s.map(|s| digits(1000.0 * s));
        let share = r.saved_percent.map_or(String::new(), |[low, high]| {
            format!(", {} to {} %", digits(low), digits(high))
        });
        lines.push(format!(
            "{}: {} executions, {low} to {high} ms{share}; back to back {} ms; {}",
            name(r.remedy),
            r.executed,
            digits(1000.0 * r.back_to_back_s),
            r.condition
        ));
    }
    lines.extend(made.basis.iter().map(|line| format!("basis: {line}")));
    lines.join("\n")
}

/// Twelve clones and drops in a thousand instructions, at once after each other, at twenty places.
fn many_clones() -> crate::profile::Profile {
    let sites = (0..20).flat_map(|_| clones(600_000, 4));
    program(1_000_000_000, sites.collect())
}

#[test]
fn a_program_that_clones_at_every_turn() {
    let made = forecast(&many_clones(), &milan(), Some(&seconds(0.235)));
    assert_eq!(made.verdict, Verdict::WorthIt, "{}", text(&made));
    insta::assert_snapshot!(text(&made));
}

#[test]
fn one_locked_instruction_in_ten_thousand_is_not_worth_it() {
    for costs in [milan(), xeon(), turin()] {
        for native in [Some(seconds(0.25)), None] {
            let made = forecast(&program(1_000_000_000, clones(50_000, 6)), &costs, native.as_ref());
            assert_eq!(made.verdict, Verdict::NotWorthIt, "{}", made.answer);
            assert!(!made.answer.contains('\n'));
            let shares = made.remedies.iter().filter_map(|r| r.saved_percent);
            assert!(
                shares.clone().all(|[_, high]| high < 1.0),
                "{:?}",
                shares.collect::<Vec<_>>()
            );
        }
    }
    let made = forecast(
        &program(1_000_000_000, clones(50_000, 6)),
        &milan(),
        Some(&seconds(0.25)),
    );
    insta::assert_snapshot!(
        made.answer,
        @"not worth it: 0.10 locked instructions per 1000; the best remedy, single mode, saves at most 0.088 % of the user time"
    );
}

#[test]
fn a_program_between_is_not_told_apart() {
    let made = forecast(
        &program(1_000_000_000, clones(2_500_000, 5)),
        &milan(),
        Some(&seconds(0.25)),
    );
    assert_eq!(made.verdict, Verdict::CannotTell);
    insta::assert_snapshot!(text(&made));
}

#[test]
fn without_a_time_and_a_matrix_there_are_seconds_and_what_to_measure() {
    let made = forecast(&many_clones(), &Costs::default(), None);
    assert_eq!(made.verdict, Verdict::CannotTell);
    assert!(
        made.remedies
            .iter()
            .all(|r| r.saved_percent.is_none() && r.back_to_back_percent.is_none())
    );
    insta::assert_snapshot!(text(&made));
}

#[test]
fn a_counter_that_threads_share() {
    let mut counter = site(
        Class::CountUp,
        Operation::Add,
        9_000_000,
        [0, 0, 0, 0, 0, 9_000_000, 0, 0],
    );
    counter.threads = 4;
    counter.before_threads = 0;
    counter.words = Words {
        shared: 8_000_000,
        unknown: 1_000_000,
        private: 0,
    };
    let made = forecast(&program(2_000_000_000, vec![counter]), &turin(), Some(&seconds(0.5)));
    insta::assert_snapshot!(text(&made));
}
