//! Assigns threads to CPUs.

use crate::Error;
use crate::Machine;
use crate::engine::Random;
use crate::machine::Topology;
use crate::workload::{Job, Placement};

/// The most threads: lock queues identify waiters by 16 bits, and use several numbers per thread.
const MOST: u32 = 16_384;

/// The CPUs of a job's threads, in random order, and then of its readers.
pub(crate) fn cpus(machine: &Machine, job: &Job) -> Result<Vec<u32>, Error> {
    let asked = job.threads.saturating_add(job.readers);
    if job.threads == 0 {
        return Err(Error::NoThreads);
    }
    let cpus = machine.cpus().min(MOST);
    if asked > cpus {
        return Err(Error::TooManyThreads { asked, cpus });
    }
    let mut places = places(machine, job.placement, asked);
    // Which thread is where is random, so that no order of threads is one of places.
    shuffle(
        &mut places[..job.threads as usize],
        &mut Random::new(job.seed.wrapping_add(SHUFFLE)),
    );
    Ok(places)
}

/// So many CPUs in the order in which threads are placed.
fn places(machine: &Machine, placement: Placement, asked: u32) -> Vec<u32> {
    (0..asked)
        .map(|number| cpu(machine.topology, placement, number))
        .collect()
}

/// Makes the stream of places differ from those of the run.
const SHUFFLE: u64 = 0x7368_7566_666c_6500;

/// Every order is equally likely (R. Fisher and F. Yates, 1938; R. Durstenfeld, 1964).
fn shuffle(cpus: &mut [u32], random: &mut Random) {
    for last in (1..cpus.len()).rev() {
        let other = usize::try_from(random.below(last as u64 + 1)).expect("an index");
        cpus.swap(last, other);
    }
}

/// The CPU of a thread by its number, from 0.
fn cpu(topology: Topology, placement: Placement, number: u32) -> u32 {
    let (cores, siblings) = (topology.cores(), topology.threads_per_core);
    let (round, step) = (number / cores, number % cores);
    let core = match placement {
        Placement::CompactSmt => return number,
        Placement::Compact => step,
        Placement::Spread => {
            let (socket, core) = (step % topology.sockets, step / topology.sockets);
            socket * topology.cores_per_socket() + core
        }
    };
    core * siblings + round
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    const TOPOLOGY: Topology = Topology::new(2, 1, 2, 2);

    fn placed(placement: Placement, seed: u64) -> Vec<u32> {
        let job = Job {
            placement,
            readers: 2,
            seed,
            ..Job::new(Workload::FetchAdd, 6)
        };
        cpus(&Machine::plain(TOPOLOGY), &job).unwrap()
    }

    #[test]
    fn each_placement_fills_the_cpus_in_its_order() {
        let all = |placement| places(&Machine::plain(TOPOLOGY), placement, 8);
        assert_eq!(all(Placement::Spread), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(all(Placement::Compact), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(all(Placement::CompactSmt), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn threads_are_shuffled_over_their_cpus_and_readers_come_after_them() {
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let found = placed(Placement::Compact, seed);
            assert_eq!(found, placed(Placement::Compact, seed));
            assert_eq!(found[6..], [5, 7]);
            let mut workers = found[..6].to_vec();
            orders.insert(workers.clone());
            workers.sort_unstable();
            assert_eq!(workers, [0, 1, 2, 3, 4, 6]);
        }
        assert!(orders.len() > 40, "{} orders of 50 seeds", orders.len());
    }

    #[test]
    fn too_many_threads_are_rejected() {
        let job = |threads, readers| Job {
            readers,
            ..Job::new(Workload::FetchAdd, threads)
        };
        let machine = Machine::plain(TOPOLOGY);
        assert_eq!(cpus(&machine, &job(0, 1)), Err(Error::NoThreads));
        assert_eq!(
            cpus(&machine, &job(7, 2)),
            Err(Error::TooManyThreads { asked: 9, cpus: 8 })
        );
        assert!(cpus(&machine, &job(u32::MAX, 2)).is_err());
    }
}
