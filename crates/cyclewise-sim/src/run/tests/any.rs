//! Random small machines and jobs, with every law.

use crate::machine::{Arbiter, Fill, FirstAccess, Hold, LineRules, Machine, Mechanisms, Queue, Rmw, Topology};
use crate::workload::{Job, Length, Placement, Relax, Start, Workload};
use proptest::prelude::*;
use proptest::sample::select;

fn any_topology() -> impl Strategy<Value = Topology> {
    (1..=2_u32, 1..=2_u32, 1..=3_u32, 1..=2_u32).prop_map(|(sockets, clusters, cores, threads)| Topology {
        sockets,
        clusters_per_socket: clusters,
        cores_per_cluster: cores,
        threads_per_core: threads,
    })
}

fn any_arbiter() -> impl Strategy<Value = Arbiter> {
    prop_oneof![
        Just(Arbiter::Fifo),
        Just(Arbiter::Random),
        (0..9_u32).prop_map(|cap| Arbiter::Nearest { cap }),
    ]
}

fn any_hold() -> impl Strategy<Value = Hold> {
    prop_oneof![Just(Hold::None), (0..200_u32).prop_map(|cycles| Hold::Fixed { cycles }),]
}

fn any_access() -> impl Strategy<Value = FirstAccess> {
    select(&[FirstAccess::Shared, FirstAccess::Exclusive][..])
}

fn any_far() -> impl Strategy<Value = Rmw> {
    (1..50_u32, any::<bool>()).prop_map(|(cycles, only_posted)| Rmw::Far { cycles, only_posted })
}

/// Each mechanism is off in about half of the machines.
fn any_mechanisms() -> impl Strategy<Value = Mechanisms> {
    let downgrade = prop_oneof![Just(0), 0..99_u32];
    let buffers = (prop_oneof![Just(0), 1..9_u32], prop_oneof![Just(0), 1..9_u32]);
    let fill = select(&[Fill::Core, Fill::Thread][..]);
    (buffers, downgrade, fill).prop_map(|((store_buffer, posted_rmws), downgrade_cycles, fill)| Mechanisms {
        store_buffer,
        posted_rmws,
        fill,
        downgrade_cycles,
    })
}

fn any_rules() -> impl Strategy<Value = LineRules> {
    let rmw = prop_oneof![2 => Just(Rmw::Near), 1 => any_far()];
    let ll = (proptest::option::of(any_access()), proptest::option::of(any_hold()));
    let probe_share = prop_oneof![Just(0.0), 0.0..=1.0_f64];
    let probe = (probe_share, select(&[Queue::AtOwner, Queue::AtHome][..]));
    (any_arbiter(), any_hold(), any_access(), rmw, ll, probe).prop_map(
        |(arbiter, hold, first_access, rmw, (ll_first_access, ll_hold), (probe_share, queue))| LineRules {
            arbiter,
            hold,
            first_access,
            rmw,
            ll_first_access,
            ll_hold,
            probe_share,
            queue,
        },
    )
}

/// A machine of up to 24 CPUs.
pub(super) fn any_machine() -> impl Strategy<Value = Machine> {
    let costs = (0..40_u32, 0..9_u32, 0..9_u32, prop_oneof![Just(0.0), 0.0..=1.0_f64]);
    (any_topology(), any_rules(), any_mechanisms(), costs).prop_map(|(topology, line, mechanism, costs)| {
        let (rmw, read, invalidate, jitter) = costs;
        let mut machine = Machine::plain(topology);
        machine.line = line;
        machine.mechanism = mechanism;
        machine.cost.rmw_cycles = rmw;
        machine.cost.cas_cycles = rmw;
        machine.cost.read_cycles = read;
        machine.cost.invalidate_cycles = invalidate;
        machine.cost.jitter = jitter;
        machine
    })
}

/// A job of any workload; [`fit`] adapts it to a machine.
pub(super) fn any_job() -> impl Strategy<Value = Job> {
    let relax = prop_oneof![
        Just(Relax::None),
        Just(Relax::Pause),
        (0..64_u32).prop_map(|max| Relax::Exponential { max })
    ];
    let placement = select(&[Placement::Spread, Placement::Compact, Placement::CompactSmt][..]);
    let start = select(&[Start::Scattered, Start::Crowd][..]);
    let policy = (proptest::option::of(0..9_u32), relax, placement, start);
    let work = (0..99_u32, 0..99_u32);
    (select(Workload::ALL), 1..9_u32, 0..3_u32, policy, work, any::<u64>()).prop_map(
        |(workload, threads, readers, (retry_limit, relax, placement, start), work, seed)| {
            let (critical_cycles, parallel_cycles) = work;
            Job {
                workload,
                threads,
                retry_limit,
                relax,
                critical_cycles,
                counter: seed % 4 > 0,
                parallel_cycles,
                placement,
                start,
                readers,
                length: Length::operations(10, 50),
                seed,
            }
        },
    )
}

/// The job, with at most as many threads as the machine has CPUs.
pub(super) fn fit(mut job: Job, machine: &Machine) -> Job {
    let cpus = machine.topology.cpus();
    job.threads = job.threads.min(cpus);
    job.readers = job.readers.min(cpus - job.threads);
    job
}
