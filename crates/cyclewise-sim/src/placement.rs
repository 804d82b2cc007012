//! Assigns threads to CPUs.

use crate::Error;
use crate::Machine;
use crate::engine::Random;
use crate::machine::{Cores, Topology};
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
    let topology = machine.topology;
    match &machine.cores {
        Some(cores) => uneven(cores, topology, placement)
            .into_iter()
            .take(asked as usize)
            .collect(),
        None => (0..asked).map(|number| cpu(topology, placement, number)).collect(),
    }
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

/// The CPUs of an uneven machine in the order in which threads are placed.
fn uneven(cores: &Cores, topology: Topology, placement: Placement) -> Vec<u32> {
    // How many cores of each socket have had a thread in this round, for round-robin over sockets.
    let mut taken = vec![vec![0_u32; topology.sockets as usize]; topology.threads_per_core as usize];
    let order = |cpu: u32| {
        let place = topology.locate(cpu);
        let taken = &mut taken[place.thread as usize][place.socket as usize];
        *taken += 1;
        match placement {
            Placement::CompactSmt => (0, 0, cpu),
            Placement::Compact => (place.thread, 0, cpu),
            Placement::Spread => (place.thread, *taken, cpu),
        }
    };
    let mut ordered: Vec<_> = cores.numbers(topology).into_iter().map(order).collect();
    ordered.sort_unstable();
    ordered.into_iter().map(|(_, _, cpu)| cpu).collect()
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

    /// Two sockets: a cluster of two cores of two threads and one of a single core; and one cluster of one core.
    fn uneven() -> Machine {
        let cores = Cores(vec![vec![vec![2, 2], vec![1]], vec![vec![2]]]);
        let mut machine = Machine::plain(cores.even());
        machine.cores = Some(cores);
        machine
    }

    #[test]
    fn absent_cpus_get_no_thread() {
        let machine = uneven();
        assert_eq!((machine.topology.cpus(), machine.cpus()), (16, 7));
        let placed = |placement| places(&machine, placement, 7);
        assert_eq!(placed(Placement::Spread), [0, 8, 2, 4, 1, 9, 3]);
        assert_eq!(placed(Placement::Compact), [0, 2, 4, 8, 1, 3, 9]);
        assert_eq!(placed(Placement::CompactSmt), [0, 1, 2, 3, 4, 8, 9]);
        let eight = Job::new(Workload::FetchAdd, 8);
        assert_eq!(cpus(&machine, &eight), Err(Error::TooManyThreads { asked: 8, cpus: 7 }));
    }

    #[test]
    fn an_even_machine_that_lists_its_cores_is_placed_as_without_the_list() {
        let cores = Cores(vec![vec![vec![2, 2]], vec![vec![2, 2]]]);
        assert!(cores.is_even() && cores.even() == TOPOLOGY && !uneven().cores.unwrap().is_even());
        for placement in [Placement::Spread, Placement::Compact, Placement::CompactSmt] {
            let order = super::uneven(&cores, TOPOLOGY, placement);
            assert_eq!(order, places(&Machine::plain(TOPOLOGY), placement, 8), "{placement:?}");
        }
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
