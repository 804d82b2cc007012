//! The truths: that all are read, and that what cannot be read is named.

use crate::forecast::model::interval;
use crate::forecast::stats;
use crate::forecast::truth::{Beside, Truth, error, left_out, read, truths};

/// A matrix, whatever the name.
fn matrix(_: &str) -> Option<&'static str> {
    Some(r#"{"cpu": "made up", "tick_ns": 0.5, "surroundings": [], "operations": []}"#)
}

#[test]
fn nearly_all_truths_lie_where_the_others_put_them() {
    let beside: Vec<_> = truths().iter().map(Truth::beside).collect();
    let (inside, all) = left_out(&beside);
    // Seven of eight, as of an interval of 95 % whose error is known from few programs.
    assert!(all >= 18 && 8 * inside >= 7 * all, "{inside} of {all}");
    // Loops in the intervals of the others.
    let as_programs: Vec<_> = beside.iter().map(|b| Beside { is_loop: false, ..*b }).collect();
    let (inside, all) = left_out(&as_programs);
    assert!(all >= 42 && 8 * inside >= 7 * all, "{inside} of {all}");
}

/// Halves: programs in the order of the table, every second one. Each half is forecast with the error that the other half and the loops
/// have; the rule is younger than the table and than intervals that left out one program at a time.
#[test]
fn half_of_the_programs_forecast_the_other_half_in_narrow_intervals() {
    let all = truths();
    let beside: Vec<_> = all.iter().map(Truth::beside).collect();
    let programs: Vec<usize> = (0..all.len()).filter(|at| !all[*at].is_loop).collect();
    let (mut meet, mut narrow, mut of_zen5) = (0, 0, [0, 0]);
    for held_out in [0, 1] {
        let exam: Vec<usize> = programs.iter().copied().skip(held_out).step_by(2).collect();
        let learned: Vec<_> = (0..all.len())
            .filter(|at| !exam.contains(at))
            .map(|at| beside[at])
            .collect();
        let error = error(&learned);
        for at in exam {
            let (estimate, seconds) = all[at].by_the_matrix();
            let [low, high] = interval(&estimate, error, [1.0; 2]).map(|saved| 100.0 * saved / seconds);
            let (truth, sd) = all[at].saved;
            // The truth is an interval as well: the forecast is right where they meet.
            let meets = low <= truth + stats::Z * sd && truth - stats::Z * sd <= high;
            meet += usize::from(meets);
            narrow += usize::from(high - low <= 12.0);
            if all[at].cpu == "Zen 5" {
                of_zen5[0] += usize::from(meets);
                of_zen5[1] += usize::from(high - low <= 12.0);
            }
        }
    }
    assert!(20 * meet >= 17 * programs.len(), "{meet} of {}", programs.len());
    assert!(2 * narrow >= programs.len(), "{narrow} of {}", programs.len());
    // Where LOCK costs most.
    assert!(of_zen5[0] >= 17 && of_zen5[1] >= 10, "{of_zen5:?} of Zen 5");
    println!(
        "{meet} of {} meet, {narrow} at most 12 points wide; {of_zen5:?} of Zen 5",
        programs.len()
    );
}

#[test]
fn upwards_it_errs_as_programs_do_and_downwards_as_loops_do_too() {
    let one = |is_loop, difference| Beside {
        is_loop,
        residual: stats::Residual {
            difference,
            known: 0.5,
            scale: 20.0,
        },
    };
    let mut beside = [one(true, 0.1), one(true, -0.1), one(false, 6.0)].repeat(8);
    let [down, up] = error(&beside);
    assert!(down < 0.1 && up > 0.5, "{down} {up}");
    // The twin: a loop that lies as far above says nothing of programs.
    beside.extend([one(true, 12.0); 8]);
    assert_eq!(error(&beside), [down, up]);
}

#[test]
fn measurements_of_one_program_are_one_truth() {
    let truths = truths();
    let tree = truths
        .iter()
        .find(|t| t.program.contains("after a thread ran"))
        .unwrap();
    let (mean, sd) = tree.saved;
    assert!((11.25..11.8).contains(&mean) && sd < 1.0, "{mean} {sd}");
    assert_eq!(truths.iter().filter(|t| t.program == tree.program).count(), 1);
}

#[test]
fn a_model_without_error_would_miss_truths() {
    // The twin: the same interval from the truths' own noise alone, for a machine where a locked instruction costs as much as
    // back to back in any code.
    let mut truths = truths();
    for truth in &mut truths {
        for row in truth
            .costs
            .operations
            .iter_mut()
            .filter(|row| row.name.starts_with("lock"))
        {
            let nothing = row.added[0];
            row.added.iter_mut().for_each(|cell| *cell = nothing);
        }
    }
    let missed = |r: &&stats::Residual| r.difference.abs() > stats::Z * r.known;
    let residuals: Vec<_> = truths.iter().map(Truth::residual).collect();
    let misses = residuals.iter().filter(missed).count();
    assert!(3 * misses > residuals.len(), "{misses}");
    let honest: Vec<_> = crate::forecast::truth::truths().iter().map(Truth::residual).collect();
    assert!(honest.iter().filter(missed).count() * 4 < misses * 3);
    assert!(
        stats::error_share(&residuals) > 1.5 * stats::error_share(&honest),
        "and the error grows"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let head = "columns\n";
    let row = |cells: &[&str]| format!("{head}{}\n", cells.join("\t"));
    let good = [
        "Zen 3",
        "costs",
        "program",
        "a program",
        "1.5",
        "0.3",
        "2",
        "add",
        "-1",
        "2",
        "-",
        "a source",
    ];
    assert_eq!(read(&row(&good), matrix).unwrap().len(), 1);
    let with = |at: usize, cell: &'static str| {
        let mut cells = good;
        cells[at] = cell;
        read(&row(&cells), matrix).unwrap_err()
    };
    assert!(
        with(4, "many").starts_with("no number: many in: Zen 3"),
        "{}",
        with(4, "many")
    );
    assert!(with(2, "sleep").starts_with("no kind: sleep"));
    assert!(with(7, "swap").starts_with("no operation: swap"));
    assert!(with(8, "3").starts_with("an interval that is not one"));
    assert!(with(10, "some.json").starts_with("no FILE#NAME: some.json"));
    assert!(with(10, "some.json#it").starts_with("some.json: invalid type"));
    assert!(
        read(&row(&good[1..]), matrix)
            .unwrap_err()
            .starts_with("11 columns, not 12")
    );
    assert!(read(&row(&good), |_| None).unwrap_err().starts_with("no file costs"));
}
