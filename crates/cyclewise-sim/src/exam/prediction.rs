//! A prediction that can be told, and its band: that of held-out machines like the one that is asked about.

use super::band::Band;
use super::data;
use super::learn;
use super::pairs::{Pair, Program, ordered};
use super::{Group, Pattern, Reach};
use crate::machine::Published;
use crate::predict::{self, Prediction};
use crate::{Error, Job, Machine, Workload, simulate};

/// Predicts a job, unless it depends on what the machine does not say.
///
/// # Errors
/// As [`simulate`], if a run has none; [`Error::FreeReaders`].
pub fn predict(machine: &Machine, job: &Job) -> Result<Prediction, Error> {
    let is_free = machine.cost.read_cycles == 0 && machine.cost.invalidate_cycles == 0;
    let reads = Pattern::of(job.workload) == Some(Pattern::ReadingLock);
    if is_free && reads && Reach::of(machine, job) == Reach::Sockets {
        return Err(Error::FreeReaders);
    }
    predict::predict(machine, job)
}

/// The band of the model's prediction of a workload on a machine, from published machines like it that were held out. `None`
/// means that predictions are refused: nothing like it was held out, or what was held out is too far off to say anything.
///
/// Like it are machines of its family, which it has by itself or by the name of a published machine. Its transfer times must have been fitted
/// to contended rows, as those of held-out machines were.
///
/// A machine with more than twice the cores of the largest held-out one, or with more
/// sockets than any, is like none of them. The band is for elapsed time for an operation, with laws that were learned from other
/// machines; laws that were fitted to the machine's own rows may do better, but nothing held out says so.
pub fn band(machine: &Machine, workload: Workload, reach: Reach) -> Option<Band> {
    if !is_anchored(machine) {
        return None;
    }
    let pattern = Pattern::of(workload)?;
    let by_name = || {
        let published = data::machines().into_iter().find(|m| m.name == machine.name);
        published.map(|m| m.family)
    };
    let family = machine.family.clone().or_else(by_name)?;
    let learned = learn::learned().iter().find(|learned| learned.family == family)?;
    let (mut cores, mut sockets) = (0, 0);
    for member in learn::learners().iter().filter(|m| m.family == family) {
        cores = cores.max(member.topology.cores());
        sockets = sockets.max(member.topology.sockets);
    }
    if machine.topology.cores() > 2 * cores || machine.topology.sockets > sockets {
        return None;
    }
    learned.band(Group { pattern, reach }).filter(Band::is_good)
}

/// By which factor nine of ten ratios of these programs were off at most, on held-out machines like this one; `None` where too few are known.
pub fn ratio_off(machine: &Machine, one: Program, other: Program, reach: Reach) -> Option<f64> {
    let family = machine.family.as_ref()?;
    let learned = learn::learned().iter().find(|learned| learned.family == *family)?;
    let [one, other] = ordered([one, other]);
    let is = |pair: &&Pair| pair.one == one && pair.other == other && pair.reach == reach;
    learned.pairs.iter().find(is).map(|pair| pair.off)
}

/// Whether a contended row of additions that the machine's file has comes out, as those of held-out machines did that they were anchored to. So a copy
/// whose transfer times were changed has no band.
fn is_anchored(machine: &Machine) -> bool {
    /// How near it must come out.
    const MET: f64 = 0.1;
    let additions = machine.published.iter().filter_map(|row| {
        let workload: Workload = row.workload.parse().ok()?;
        let is_contended = row.threads > 1 && row.unit == "ns/op";
        (is_contended && Pattern::of(workload) == Some(Pattern::Addition)).then_some((workload, row))
    });
    let fewest = additions.min_by_key(|(_, row)| row.threads);
    let near = |(workload, row): (Workload, &Published)| {
        let job = Job {
            relax: row.relax,
            ..Job::new(workload, row.threads)
        };
        simulate(machine, &job).is_ok_and(|outcome| (outcome.ns_per_op / row.value - 1.0).abs() <= MET)
    };
    fewest.is_some_and(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;

    #[test]
    fn waiters_that_read_in_several_sockets_need_the_cost_of_waking() {
        let mut machine = Machine::plain(Topology::new(2, 1, 8, 1));
        let error = |machine: &Machine, workload, threads| predict(machine, &Job::new(workload, threads)).err();
        let refused = Some(Error::FreeReaders);
        assert_eq!(error(&machine, Workload::LockTicket, 9), refused);
        assert_eq!(error(&machine, Workload::LockTicket, 8), None, "of one socket");
        assert_eq!(
            error(&machine, Workload::LockMcs, 9),
            None,
            "each reads a line of its own"
        );
        machine.cost.read_cycles = 1;
        assert_eq!(error(&machine, Workload::LockTicket, 9), None);
    }
}
