//! Joins the shards of a sweep.

use crate::record::{Simulation, Sweep};
use cyclewise_bench::error::{Error, Result};
use std::collections::BTreeMap;

/// The most missing shards that an error names.
const NAMED: usize = 20;

/// Joins all shards of a sweep, each with its name for errors. A single whole sweep is returned as it is.
///
/// # Errors
/// Exit 2: a shard is missing, given twice, or of another sweep.
pub(crate) fn join(parts: Vec<(String, Simulation)>) -> Result<Simulation> {
    let mut parts = parts.into_iter();
    let Some((first_name, first)) = parts.next() else {
        return Err(Error::usage("no simulation given"));
    };
    let rest: Vec<_> = parts.collect();
    let Some(shard) = first.shard else {
        return match rest.first() {
            None => Ok(first),
            Some((name, _)) => Err(Error::usage(format!(
                "{first_name} is a whole sweep, but {name} is given too; give one whole sweep, or all shards of one"
            ))),
        };
    };
    let count = shard.count;
    let mut have: BTreeMap<u32, (String, Simulation)> = BTreeMap::from([(shard.index, (first_name, first))]);
    for (name, part) in rest {
        if let Some((other, what)) = difference(have.values().next(), &part) {
            return Err(Error::usage(format!(
                "{name} and {other} belong to different sweeps: {what} differ; give the shards of one sweep"
            )));
        }
        let index = match part.shard {
            Some(s) if (s.count, s.by) == (count, shard.by) => s.index,
            _ => {
                return Err(Error::usage(format!(
                    "{name} is not one of {count} shards by {by} like the others; give the shards written by `simulate --shard \
                     I/{count} --shard-by {by}`",
                    by = shard.by.name()
                )));
            }
        };
        if let Some((other, _)) = have.get(&index) {
            return Err(Error::usage(format!(
                "{name} and {other} are both shard {index} of {count}; give each once"
            )));
        }
        have.insert(index, (name, part));
    }
    let missing = u64::from(count) - have.len() as u64;
    if missing > 0 {
        // A file may claim to be one of 4294967295.
        let first: Vec<String> = (1..=count)
            .filter(|i| !have.contains_key(i))
            .take(NAMED)
            .map(|i| i.to_string())
            .collect();
        let more = match missing - first.len() as u64 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (shards, are) = if missing == 1 {
            ("shard", "is")
        } else {
            ("shards", "are")
        };
        return Err(Error::usage(format!(
            "{shards} {}{more} of {count} {are} missing; write them with `simulate`, the same arguments and --shard",
            first.join(", ")
        )));
    }
    let mut all = have.into_values().map(|(_, part)| part);
    let mut whole = all.next().ok_or_else(|| Error::usage("no simulation given"))?;
    whole.points.extend(all.flat_map(|part| part.points));
    whole.points.sort_by_key(|p| p.index);
    whole.shard = None;
    Ok(whole)
}

/// `None` if both are shards of one sweep by one program; else the name of the first, and what differs.
fn difference<'a>(first: Option<&'a (String, Simulation)>, part: &Simulation) -> Option<(&'a str, &'static str)> {
    let (name, first) = first?;
    let (a, b): (&Sweep, &Sweep) = (&first.sweep, &part.sweep);
    let parts = [
        ("the programs that wrote them", first.tool != part.tool),
        ("the machines", a.machines != b.machines),
        ("the workloads", a.workloads != b.workloads),
        ("the thread counts", a.threads != b.threads),
        ("the retry limits", a.retry_limits != b.retry_limits),
        ("the seeds", a.seed != b.seed),
        ("the parameters", a != b),
    ];
    let (what, _) = parts.into_iter().find(|(_, differs)| *differs)?;
    Some((name, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::HeldOut;
    use crate::record::{Shard, ShardBy};
    use crate::sweep;
    use crate::{Job, Machine, Placement, Relax, Topology, Workload};
    use cyclewise_bench::record::Tool;

    fn of(seed: u64, shard: Option<Shard>) -> Simulation {
        let topology = Topology {
            sockets: 1,
            clusters_per_socket: 1,
            cores_per_cluster: 4,
            threads_per_core: 1,
        };
        let mut machine = Machine::plain(topology);
        let row = |threads| {
            HeldOut::of(
                &Job::new(Workload::FetchAdd, threads),
                100.0,
                100.0 + f64::from(threads) / 3.0,
            )
        };
        machine.held_out = (1..=4).map(row).collect();
        let sweep = Sweep {
            machines: vec![machine],
            workloads: vec![Workload::FetchAdd, Workload::Lockref],
            threads: vec![1, 2, 4],
            retry_limits: vec![Some(2), None],
            relax: vec![Relax::None],
            critical_cycles: 0,
            parallel_cycles: Some(10),
            start: Some(crate::Start::Scattered),
            placement: Placement::Compact,
            readers: 0,
            ops: Some(50),
            seed,
        };
        let tool = Tool {
            version: "0".to_owned(),
            commit: None,
        };
        sweep::run(sweep, shard, tool, &|_, _| ())
    }

    fn named(parts: &[(u32, u32)]) -> Vec<(String, Simulation)> {
        parts
            .iter()
            .map(|(index, count)| {
                let shard = Shard {
                    index: *index,
                    count: *count,
                    by: ShardBy::Index,
                };
                (format!("{index}.json"), of(1, Some(shard)))
            })
            .collect()
    }

    #[test]
    fn shards_in_any_order_are_the_whole() {
        let whole = of(1, None);
        assert_eq!(whole.points.len(), 9, "fetch-add once, lockref with two limits");
        assert_eq!(join(named(&[(3, 4), (1, 4), (4, 4), (2, 4)])).unwrap(), whole);
        assert_eq!(join(vec![("w".to_owned(), whole.clone())]).unwrap(), whole);
        // More shards than points: the empty ones are required too.
        let many: Vec<(u32, u32)> = (1..=12).map(|i| (i, 12)).collect();
        assert_eq!(join(named(&many)).unwrap(), whole);
    }

    #[test]
    fn every_point_has_its_band_and_is_read_back_with_it() {
        let whole = of(1, None);
        let is_known = |job: &Job| job.workload == Workload::FetchAdd && job.threads > 1;
        let known = |p: &crate::record::Point| p.band.is_some() == is_known(&p.job);
        assert!(whole.points.iter().all(known), "of exchanges no row was held out");
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(crate::record::from_str("w", &text).unwrap(), whole);
    }

    #[test]
    fn errors_name_missing_duplicate_and_foreign_shards() {
        let error = |parts| join(parts).unwrap_err().message;
        assert!(error(named(&[(1, 4), (3, 4)])).starts_with("shards 2, 4 of 4"));
        assert!(error(named(&[(2, 2)])).starts_with("shard 1 of 2 is missing"));
        let most = error(named(&[(7, u32::MAX)]));
        assert!(most.starts_with("shards 1, 2, 3, 4, 5, 6, 8, 9,"), "{most}");
        assert!(
            most.contains(", 21 and 4294967274 more of 4294967295 are missing"),
            "{most}"
        );
        assert!(error(named(&[(1, 2), (1, 2)])).contains("both shard 1 of 2"));
        assert!(error(named(&[(1, 2), (1, 3)])).contains("not one of 2 shards by index"));
        let second = Shard {
            index: 2,
            count: 2,
            by: ShardBy::Index,
        };
        let mut foreign = named(&[(1, 2)]);
        foreign.push(("x.json".to_owned(), of(2, Some(second))));
        assert!(error(foreign).contains("x.json and 1.json belong to different sweeps: the seeds"));
        let two = vec![("a".to_owned(), of(1, None)), ("b".to_owned(), of(1, None))];
        assert!(error(two).contains("whole sweep"));
        assert!(error(Vec::new()).contains("no simulation"));
    }
}
