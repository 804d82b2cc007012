//! Laws that every run keeps.

use super::*;
use crate::machine::Topology;
use crate::workload::Workload;

fn machine() -> Machine {
    Machine::plain(Topology {
        sockets: 2,
        clusters_per_socket: 2,
        cores_per_cluster: 2,
        threads_per_core: 2,
    })
}

#[test]
fn every_workload_loses_and_invents_nothing() {
    for &workload in Workload::ALL {
        for threads in [1, 2, 5, 16] {
            let job = Job {
                retry_limit: Some(3),
                ..Job::new(workload, threads)
            };
            let checked = run_checked(&machine(), &job);
            let error = checked.err();
            assert_eq!(error, None, "{workload} on {threads} threads");
        }
    }
}
