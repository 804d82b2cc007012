//! The experiments of ring 0 on this machine, whatever its KVM is.

use super::{LOCK_PREFIX, PERCPU, POPF, RDTSC, variants};
use crate::experiment::{Definition, Options, each_pair};
use crate::record::Guest;
use crate::record::guest::{Outcome, Provenance};
use crate::runner::{Budget, Guards, Heading, Progress, Runner, Setup, Shape, conclude, tick_rate};
use cyclewise_guest::semantics::{Family, Features};
use cyclewise_guest::vm::Kvm;
use std::time::Duration;

const ALL: [&Definition; 4] = [&POPF, &PERCPU, &LOCK_PREFIX, &RDTSC];

#[test]
fn comparisons_controls_and_published_figures_name_rows() {
    for (family, definition) in Family::ALL.into_iter().zip(ALL) {
        let names: Vec<&str> = family.payloads().map(|p| p.name).collect();
        let (compare, control) = variants::compared(family);
        for name in each_pair(compare).flat_map(|(a, b)| [a, b]).chain([control]) {
            assert!(names.contains(&name), "{}: {name}", definition.name);
        }
        for name in definition.published.iter().filter_map(|p| p.variant) {
            assert!(names.contains(&name), "{}: {name}", definition.name);
        }
    }
}

#[test]
fn a_named_experiment_has_checks_and_costs_only_of_hardware() {
    let options = Options {
        named: true,
        ..Options::default()
    };
    for definition in ALL {
        let setup = match (definition.setup)(&options) {
            Ok(setup) => setup,
            Err(why) => return println!("skipped: {why}"),
        };
        let Shape::Guest(guest) = setup.shape else {
            panic!("{:?}", setup.shape);
        };
        assert_eq!(guest.hardware, !setup.samplers.is_empty(), "{}", definition.name);
        assert!(guest.rows.iter().all(|row| row.provenance == guest.provenance));
        assert!(!guest.witnesses.is_empty() && !guest.rows.is_empty());
        let differs: Vec<_> = guest.cases.iter().filter(|c| c.result == Outcome::Differs).collect();
        assert!(differs.is_empty(), "{}: {differs:?}", definition.name);
        // Without a name, an emulator's rows are not part of a run.
        let unnamed = (definition.setup)(&Options::default());
        assert_eq!(unnamed.is_ok(), guest.hardware, "{}", definition.name);
    }
}

struct Quiet;

impl Progress for Quiet {
    fn step(&self, _: f64, _: &str) {}
}

/// The way of rows with costs, on a KVM that may be an emulator: what comes out are an emulator's ticks, of which only the form is
/// looked at. One iteration of a loop is enough for that.
#[test]
fn rows_are_sampled_concluded_and_labelled() {
    let Ok(mut kvm) = Kvm::new(Duration::from_secs(2)) else {
        return println!("skipped: no guest of /dev/kvm");
    };
    let features = Features::ask(&mut kvm).unwrap();
    for (family, definition) in Family::ALL.into_iter().zip(ALL) {
        let mut setup = Setup {
            shape: Shape::Guest(Guest {
                provenance: Provenance::Svm,
                hardware: true,
                ..Guest::default()
            }),
            ..Setup::default()
        };
        variants::add_rows(&mut setup, family, &features, 1.0).unwrap();
        let rows = setup.samplers.len();
        assert_eq!(
            rows + setup.missing.len(),
            family.payloads().count(),
            "{:?}",
            setup.missing
        );
        assert!(rows > 0 && !setup.compare.is_empty(), "{}", definition.name);
        // A round of the others takes seconds under an emulator.
        if !matches!(family, Family::LockPrefix | Family::Rdtsc) {
            continue;
        }
        // Other work may preempt every sample, which is no matter here.
        let heading = Heading {
            guards: Guards::WholeMachine,
            ..definition.heading()
        };
        let runner = Runner {
            cpu: crate::sys::affinity::current_cpu(),
            cpus: 1,
            tsc_hz: tick_rate(Duration::from_millis(10)),
            seed: 1,
            parts: 1,
            turns: None,
            progress: &Quiet,
        };
        let budget = Budget {
            time: Duration::from_millis(700),
            ..Budget::runs(3)
        };
        // A busy machine may disturb all samples; then there is nothing to conclude.
        let concluded = runner
            .measure(heading, &mut setup, budget)
            .and_then(|measured| conclude(heading, &setup, &measured, 1));
        match concluded {
            Err(busy) => println!("skipped: {busy}"),
            Ok(e) => {
                assert!(e.guest().is_some() && !e.variants.is_empty());
                assert!(
                    e.variants
                        .iter()
                        .all(|v| v.provenance == Some(Provenance::Svm) && v.code_bytes > Some(0))
                );
                assert!(
                    e.notes.iter().any(|note| note.contains("exit between their stamps")),
                    "{:?}",
                    e.notes
                );
            }
        }
    }
}
