//! What people read of made-up programs.

use super::made_up::{clones, milan, of_family, program, seconds, site, turin, xeon};
use crate::counts::Words;
use crate::forecast::answer::digits;
use crate::forecast::{Costs, Forecast, Remedy, Verdict, forecast};
use crate::profile::{Class, Frame, Operation};

fn text(made: &Forecast) -> String {
    let mut lines = vec![made.answer.clone()];
    for r in &made.remedies {
        let [low, high] = r.saved_s.map(|s| digits(1000.0 * s));
        let share = r.saved_percent.map_or(String::new(), |[low, high]| {
            format!(", {} to {} %", digits(low), digits(high))
        });
        lines.push(format!(
            "{}: {} executions, {low} to {high} ms{share}; back to back {} ms; {}",
            r.name,
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
        @"atomics cost at most 0.088 % of user time; 100 % of them are reference counts; not worth it: no remedy (single mode, plain counts (Rc for Arc), half of the clones (borrow)) saves more than 0.088 % of user time"
    );
}

#[test]
fn remedies_of_hardly_any_execution_are_not_told_of() {
    let remedies = |counted| {
        let lock = of_family(
            site(
                Class::LockTaken,
                Operation::CompareExchange,
                1_000_000,
                [0, 0, 0, 0, 0, 0, 1_000_000, 0],
            ),
            "pthread_mutex",
        );
        let made = program(1_000_000_000, [clones(counted, 6), vec![lock]].concat());
        let forecast = forecast(&made, &milan(), Some(&seconds(0.25)));
        forecast.remedies.iter().map(|r| r.remedy).collect::<Vec<_>>()
    };
    assert!(
        remedies(100_000).contains(&Remedy::PlainCounts),
        "{:?}",
        remedies(100_000)
    );
    assert!(!remedies(100).contains(&Remedy::PlainCounts), "{:?}", remedies(100));
    assert!(remedies(100).contains(&Remedy::FewerSections));
}

#[test]
fn what_ends_at_once_is_too_short_whatever_the_intervals_say() {
    for sites in [clones(20_000_000, 4), clones(50, 6)] {
        let made = forecast(&program(1_000_000_000, sites), &milan(), Some(&seconds(0.09)));
        assert_eq!(made.verdict, Verdict::CannotTell, "{}", made.answer);
        assert!(
            made.answer.contains("less than 0.1 s") && !made.answer.contains("at most"),
            "{}",
            made.answer
        );
    }
}

/// What the remedies of a program with a site of each kind are called.
fn remedies_of(family: &str, file: &str) -> String {
    let all = [
        (Class::CountUp, "obj_ref"),
        (Class::CountDownAndTest, "obj_unref"),
        (Class::CountUp, "events"),
        (Class::LockTaken, "lock"),
        (Class::LockGivenBack, "unlock"),
    ];
    let sites = all.map(|(class, function)| {
        let mut made = of_family(
            site(class, Operation::Add, 1_000_000, [0, 0, 0, 0, 1_000_000, 0, 0, 0]),
            family,
        );
        made.frames = vec![Frame {
            function: function.into(),
            file: Some(file.into()),
            line: None,
        }];
        if function == "events" {
            (made.threads, made.before_threads) = (4, 0);
            made.words = Words {
                shared: 1_000_000,
                ..Words::default()
            };
        }
        made
    });
    let made = forecast(&program(1_000_000_000, sites.into()), &milan(), Some(&seconds(0.25)));
    let mut names: Vec<_> = made.remedies.into_iter().map(|r| r.name).collect();
    names.sort();
    names.join("; ")
}

#[test]
fn remedies_are_those_of_the_language_and_of_the_kind() {
    insta::assert_snapshot!(remedies_of("mine", "a.rs"), @"cyclewise's queued spinlock; half of the clones (borrow); half of the critical sections; locks with a single mode (cyclewise::lock); no LOCK at all; per-CPU counters; plain counts (Rc for Arc); single mode");
    insta::assert_snapshot!(remedies_of("mine", "a.cpp"), @"cyclewise's queued spinlock; half of the copies (references, std::move, unique_ptr); half of the critical sections; locks with a single mode (cyclewise-single); no LOCK at all; per-CPU counters; plain counts (boost::local_shared_ptr, intrusive_ptr); single mode");
    insta::assert_snapshot!(remedies_of("GObject", "a.c"), @"cyclewise's queued spinlock; half of the critical sections; half of the references (floating ones, transfer full); locks with a single mode (cyclewise-single); no LOCK at all; per-CPU counters; single mode");
    // A collector counts no references, and Go always has threads.
    insta::assert_snapshot!(remedies_of("mine", "a.go"), @"counters sharded by P; half of the critical sections; no LOCK at all");
}

#[test]
fn a_counter_has_no_clones_and_a_lock_no_counter() {
    let only = |class, function: &str| {
        let mut made = of_family(site(class, Operation::Add, 1000, [0, 0, 0, 0, 1000, 0, 0, 0]), "mine");
        (made.threads, made.before_threads, made.words.private, made.words.shared) = (2, 0, 0, 1000);
        made.frames = vec![Frame {
            function: function.into(),
            ..Frame::default()
        }];
        let made = forecast(&program(1_000_000, vec![made]), &milan(), Some(&seconds(1.0)));
        let real = made
            .remedies
            .into_iter()
            .map(|r| r.name)
            .filter(|name| name != "no LOCK at all");
        real.collect::<Vec<_>>().join("; ")
    };
    assert_eq!(only(Class::CountUp, "events"), "per-CPU counters");
    // Its unref is an exchange loop, so nothing but the name tells.
    assert_eq!(only(Class::CountUp, "g_object_ref"), "half of the references");
    assert_eq!(only(Class::LockTaken, "take"), "half of the critical sections");
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
