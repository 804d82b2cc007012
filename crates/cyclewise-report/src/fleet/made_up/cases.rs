//! Fleets of sixty machines, each with something to be found, or with nothing: who is to be named is known.

use super::{MADE, Made, shift};
use crate::record::fleet::Member;

/// A fleet and its truth.
pub struct Case {
    /// The name that the example `made-up-fleet` takes.
    pub name: &'static str,
    pub about: &'static str,
    /// The machines that a report must name as unlike, and no others.
    pub named: &'static [usize],
    /// Changes the logarithms of a machine's runs of a row.
    bend: fn(machine: usize, row: usize, runs: &mut Vec<f64>),
    made: Made,
}

/// Sixty machines of one group and eight rows, whose rows have a little in common.
const SIXTY: Made = Made {
    groups: 1,
    machines: 60,
    rows: 8,
    between_machines: 0.015,
    between_runs: 0.005,
    correlation: 0.3,
    ..MADE
};

pub static CASES: [Case; 7] = [
    Case {
        name: "nothing",
        about: "nothing is to be found",
        named: &[],
        bend: |_, _, _| (),
        made: SIXTY,
    },
    Case {
        name: "beyond-a-mode",
        about: "three machines at 1.10 times the others in the first row are a mode, and one at 2.0 is none of theirs",
        named: &[50],
        bend: |machine, row, runs| match (machine, row) {
            (10 | 20 | 30, 0) => shift(runs, 1.10),
            (50, 0) => shift(runs, 2.0),
            _ => (),
        },
        made: SIXTY,
    },
    Case {
        name: "beyond-a-near-mode",
        about: "three machines at 1.076 times the others in the first row, and one at 1.30",
        named: &[50],
        bend: |machine, row, runs| match (machine, row) {
            (10 | 20 | 30, 0) => shift(runs, 1.076),
            (50, 0) => shift(runs, 1.30),
            _ => (),
        },
        made: Made {
            machines: 56,
            between_machines: 0.008,
            ..SIXTY
        },
    },
    Case {
        name: "each-elsewhere",
        about: "four machines between 1.10 and 2.0 times the others in the first row are no mode",
        named: &[10, 20, 30, 50],
        bend: |machine, row, runs| match (machine, row) {
            (10, 0) => shift(runs, 1.12),
            (20, 0) => shift(runs, 1.35),
            (30, 0) => shift(runs, 1.62),
            (50, 0) => shift(runs, 2.0),
            _ => (),
        },
        made: Made {
            between_machines: 0.008,
            ..SIXTY
        },
    },
    Case {
        name: "all-rows",
        about: "one machine is 6 % slow in all eight rows",
        named: &[23],
        bend: |machine, _, runs| {
            if machine == 23 {
                shift(runs, 1.06);
            }
        },
        made: SIXTY,
    },
    Case {
        name: "three-rows",
        about: "one machine is 5 % slow in three rows",
        named: &[23],
        bend: |machine, row, runs| {
            if machine == 23 && row < 3 {
                shift(runs, 1.05);
            }
        },
        made: Made {
            between_machines: 0.011,
            ..SIXTY
        },
    },
    Case {
        name: "two-runs",
        about: "one machine has two runs, which are 6 % apart, and the others have one",
        named: &[],
        bend: |machine, _, runs| {
            if machine == 23 {
                runs.push(runs[0] + 0.03);
                runs[0] -= 0.03;
            }
        },
        made: Made { runs: 1, ..SIXTY },
    },
];

impl Case {
    pub fn members(&self, seed: u64) -> Vec<Member> {
        let made = Made { seed, ..self.made };
        made.members(|_, machine, row, runs| (self.bend)(machine, row, runs))
    }

    /// The names of the machines that a report must name.
    pub fn named(&self) -> Vec<String> {
        self.named.iter().map(|machine| super::node(0, *machine)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{assert_noted, fleets, report};
    use super::*;
    use crate::record::fleet_report::FleetReport;
    use std::collections::BTreeSet;

    fn case(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).unwrap()
    }

    fn named(report: &FleetReport) -> BTreeSet<String> {
        report
            .unlike
            .iter()
            .map(|u| report.machines[u.machine].name.clone())
            .collect()
    }

    /// In how many of `seeds` fleets the machines of the truth are named, and in how many any others.
    fn found(case: &Case, seeds: u64) -> [u64; 2] {
        let truth: BTreeSet<String> = case.named().into_iter().collect();
        let mut counts = [0; 2];
        for seed in 0..seeds {
            let found = named(&report(case.members(seed)));
            counts[0] += u64::from(found.is_superset(&truth));
            counts[1] += u64::from(!found.is_subset(&truth));
        }
        counts
    }

    #[test]
    fn machines_that_are_to_be_named_are_named_and_hardly_another() {
        for case in CASES.iter().filter(|case| !case.named.is_empty()) {
            let seeds = fleets(5, 100);
            let [all, others] = found(case, seeds);
            assert!(10 * all >= 8 * seeds, "{}: {all} of {seeds}", case.name);
            assert!(others <= 1 + seeds / 10, "{}: {others} of {seeds}", case.name);
        }
    }

    #[test]
    fn a_machine_has_one_line_that_says_which_rows_speak() {
        let all_rows = report(case("all-rows").members(1));
        let [unlike] = &all_rows.unlike[..] else {
            panic!("{:?}", all_rows.unlike)
        };
        let together = unlike.together.as_ref().unwrap();
        assert!(together.rows.len() >= 5 && together.q < 0.05, "{together:?}");
        assert!(unlike.slower);
        let three = report(case("three-rows").members(2));
        let [unlike] = &three.unlike[..] else {
            panic!("{:?}", three.unlike)
        };
        let said = |name: &str| unlike.sentence.contains(name);
        assert!(
            said("n0-00023") && ["lock-inc64 1.0", "getppid 1.0", "push-popf 1.0"].into_iter().all(said),
            "{}",
            unlike.sentence
        );
        assert_lacks!(unlike.sentence, "lfence-rdtsc");
    }

    #[test]
    fn a_mode_is_noted_with_its_members_alone() {
        let report = report(case("beyond-a-mode").members(1));
        let said = "3 of 60 machines of group A lie at 1.";
        let note = report.notes.iter().find(|note| note.contains(said)).unwrap();
        assert_says!(note, "n0-00010, n0-00020, n0-00030 (not tested");
        let sentence = &report.unlike[0].sentence;
        assert_says!(sentence, "nearest mode, 2.0");
    }

    #[test]
    fn two_runs_of_one_machine_do_not_split_the_spread() {
        let report = report(case("two-runs").members(1));
        assert_noted(&report, &["too few machines have two runs: "]);
        for row in report.rows {
            let components = row.components.unwrap();
            assert!(components.between_runs.is_none());
            assert!(
                (0.01..0.02).contains(&components.between_machines.unwrap().sd),
                "{components:?}"
            );
        }
    }

    /// Fleets of ordinary machines: of one group and of three, of rows that have nothing, something and much in common.
    const ORDINARY: [Made; 5] = [
        SIXTY,
        Made {
            correlation: 0.0,
            ..SIXTY
        },
        Made {
            correlation: 0.8,
            ..SIXTY
        },
        Made {
            groups: 3,
            machines: 20,
            ..SIXTY
        },
        Made { machines: 15, ..SIXTY },
    ];

    #[test]
    fn ordinary_fleets_name_nobody_nineteen_times_of_twenty() {
        for made in ORDINARY {
            let seeds = fleets(20, 200);
            let names_one = |seed: &u64| {
                let made = Made { seed: *seed, ..made };
                !report(made.members(super::super::as_made)).unlike.is_empty()
            };
            let named = (0..seeds).filter(names_one).count() as f64;
            let expected = 0.05 * seeds as f64;
            assert!(
                named <= expected + 3.0 * expected.sqrt(),
                "{named} of {seeds}: {}",
                made.correlation
            );
        }
    }
}
