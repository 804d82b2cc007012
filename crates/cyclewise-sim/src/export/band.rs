//! The model's error band in words.

use crate::band::{Band, Evidence, band, class};
use crate::exam::{Group, Pattern, Reach, WorkloadKind};
use crate::{Machine, Workload};

/// What stands where no row like a prediction was ever predicted unseen.
pub(crate) const UNKNOWN: &str = "unknown";

/// A factor as tables show it: `×1.40`, or that there is none.
pub(crate) fn factor(band: Option<&Band>) -> String {
    band.map_or_else(|| UNKNOWN.to_owned(), |band| format!("×{:.2}", band.factor))
}

/// By how much predictions for `machine` may be off, for these workloads within a socket and, where there are several, between sockets. What is the
/// same for several of them is said once.
pub(crate) fn sentence(machine: &Machine, workloads: impl Iterator<Item = Workload>) -> String {
    let (mut known, mut unknown): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for workload in workloads {
        for reach in [Reach::Socket, Reach::Sockets] {
            if reach > Reach::farthest(machine) {
                continue;
            }
            let found = band(machine, workload, reach);
            let name = name(found.as_ref(), workload, reach);
            let (said, part) = match &found {
                Some(band) => (&mut known, format!("{name}: {}", in_words(band))),
                None => (&mut unknown, name),
            };
            if !said.contains(&part) {
                said.push(part);
            }
        }
    }
    if !unknown.is_empty() {
        let why = "too few rows like them were predicted unseen, or their errors were too large";
        known.push(format!("unknown for {} ({why})", unknown.join("; ")));
    }
    known.join("; ")
}

/// What a band is of. Rows of the machine itself are judged by class, those of other machines by what loops do and how far a line travels.
fn name(found: Option<&Band>, workload: Workload, reach: Reach) -> String {
    let is_own = found.is_some_and(|band| band.from == Evidence::ThisMachine);
    match Pattern::of(workload).filter(|_| !is_own) {
        Some(pattern) => Group { pattern, reach }.name(),
        None => class(workload).map_or(workload.name(), WorkloadKind::name).to_owned(),
    }
}

fn in_words(band: &Band) -> String {
    let whose = match band.from {
        Evidence::ThisMachine => "of this machine",
        Evidence::OtherMachines => "of other machines",
    };
    format!(
        "a factor of {:.2}, within which {:.0} % of {} rows {whose} were that the fit had not seen",
        band.factor,
        100.0 * band.coverage,
        band.rows
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use crate::machine::HeldOut;

    #[test]
    fn each_class_is_said_once_and_what_is_unknown_is_said_too() {
        let mut machine = Machine::preset("i7-6700hq").unwrap().machine().unwrap();
        machine.held_out = (1..=4)
            .map(|threads| HeldOut::of(&Job::new(Workload::LockMcs, threads), 100.0, 140.0))
            .collect();
        let workloads = [Workload::LockTicket, Workload::LockMcs, Workload::OpenReadClose];
        let said = sentence(&machine, workloads.into_iter());
        assert_eq!(
            said,
            "locks: a factor of 1.40, within which 80 % of 4 rows of this machine were that the fit had not seen; unknown for \
             open-read-close (too few rows like them were predicted unseen, or their errors were too large)"
        );
        let tas = band(&machine, Workload::LockTas, Reach::Socket);
        assert_eq!(factor(tas.as_ref()), "×1.40");
        assert_eq!(factor(None), "unknown");
    }

    #[test]
    fn locks_that_other_machines_tell_apart_are_not_one_class() {
        let client = Machine::preset("i7-6700hq").unwrap().machine().unwrap();
        let workloads = [Workload::FetchAdd, Workload::LockTas, Workload::OpenReadClose];
        let said = sentence(&client, workloads.into_iter());
        let (known, unknown) = said.split_once("unknown for ").unwrap();
        for part in [
            "additions, in a socket: a factor of",
            "locks whose waiters write, in a socket: a factor of",
        ] {
            assert!(known.contains(part), "{part}: {said}");
        }
        assert!(unknown.contains("open-read-close"), "{said}");
    }
}
