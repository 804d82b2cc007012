//! The model's error band in words.

use cyclewise_sim::Machine;
use cyclewise_sim::band::{Band, Class, Evidence, band};
use cyclewise_sim::exam::Reach;
use std::fmt::Write;

/// What stands where no row like a prediction was ever predicted unseen.
pub(crate) const UNKNOWN: &str = "unknown";

/// A factor as tables show it: `×1.40`, or that there is none.
pub(crate) fn factor(band: Option<&Band>) -> String {
    band.map_or_else(|| UNKNOWN.to_owned(), |band| format!("×{:.2}", band.factor))
}

/// By how much predictions for `machine` may be off, for these classes, each once.
pub(crate) fn sentence(machine: &Machine, workloads: impl Iterator<Item = cyclewise_sim::Workload>) -> String {
    let (mut out, mut said) = (String::new(), Vec::new());
    for workload in workloads {
        let class = Class::of(workload);
        if said.contains(&class) {
            continue;
        }
        said.push(class);
        let separator = if out.is_empty() { "" } else { "; " };
        let words = band(machine, workload, Reach::farthest(machine)).as_ref().map_or_else(
            || "unknown, since too few rows like them were predicted unseen, or not well".to_owned(),
            in_words,
        );
        let _ = write!(out, "{separator}{}: {words}", class.name());
    }
    out
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
    use cyclewise_sim::machine::HeldOut;
    use cyclewise_sim::{Job, Workload};

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
            "locks: a factor of 1.40, within which 80 % of 4 rows of this machine were that the fit had not seen; system calls: unknown, \
             since too few rows like them were predicted unseen, or not well"
        );
        let tas = band(&machine, Workload::LockTas, Reach::Socket);
        assert_eq!(factor(tas.as_ref()), "×1.40");
        assert_eq!(factor(None), "unknown");
    }
}
