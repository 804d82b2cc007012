//! Assigns threads to CPUs.

use crate::Error;
use crate::machine::Topology;
use crate::workload::{Job, Placement};

/// The most threads: lock queues identify waiters by 16 bits, and use several numbers per thread.
const MOST: u32 = 16_384;

/// The CPUs of a job's threads and then of its readers.
pub(crate) fn cpus(topology: Topology, job: &Job) -> Result<Vec<u32>, Error> {
    let asked = job.threads.saturating_add(job.readers);
    if job.threads == 0 {
        return Err(Error::NoThreads);
    }
    let cpus = topology.cpus().min(MOST);
    if asked > cpus {
        return Err(Error::TooManyThreads { asked, cpus });
    }
    Ok((0..asked).map(|number| cpu(topology, job.placement, number)).collect())
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

    const TOPOLOGY: Topology = Topology {
        sockets: 2,
        clusters_per_socket: 1,
        cores_per_cluster: 2,
        threads_per_core: 2,
    };

    fn placed(placement: Placement) -> Vec<u32> {
        let job = Job {
            placement,
            readers: 2,
            ..Job::new(Workload::FetchAdd, 6)
        };
        cpus(TOPOLOGY, &job).unwrap()
    }

    #[test]
    fn each_placement_fills_the_cpus_in_its_order() {
        assert_eq!(placed(Placement::Spread), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(placed(Placement::Compact), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(placed(Placement::CompactSmt), [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn too_many_threads_are_rejected() {
        let job = |threads, readers| Job {
            readers,
            ..Job::new(Workload::FetchAdd, threads)
        };
        assert_eq!(cpus(TOPOLOGY, &job(0, 1)), Err(Error::NoThreads));
        assert_eq!(
            cpus(TOPOLOGY, &job(7, 2)),
            Err(Error::TooManyThreads { asked: 9, cpus: 8 })
        );
        assert!(cpus(TOPOLOGY, &job(u32::MAX, 2)).is_err());
    }
}
