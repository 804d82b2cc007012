//! The machine before its laws are searched: costs from one-thread rows, and the simplest laws.

use super::measured::{FitError, Isa, Measurements};
use crate::machine::{Arbiter, Cost, FailedCas, FirstAccess, Hold, Home, Latency, LineRules, Queue, Rmw};
use crate::{Machine, Workload};

/// The time of the one-thread row.
fn single(measured: &Measurements, workload: Workload) -> Option<f64> {
    let row = measured
        .rows
        .iter()
        .find(|row| row.workload == workload && row.threads == 1);
    row.map(|row| row.ns_per_op)
}

/// A plain step between two accesses: an increment or compare, and a branch.
pub(super) const ALU_CYCLES: u32 = 2;

/// By how much a step's time varies. It keeps threads from running in lockstep, as on real machines; outcomes hardly depend on its
/// size.
pub(super) const JITTER: f64 = 0.1;

/// The machine with all costs, and the simplest laws.
pub(super) fn base(measured: &Measurements) -> Result<Machine, FitError> {
    let cycles = |ns: f64| ns * measured.ghz;
    let add = cycles(single(measured, Workload::FetchAdd).ok_or(FitError::NoSingle)?);
    let rmw_cycles = whole(add - f64::from(ALU_CYCLES));
    let load = cycles(measured.latency.hit_ns) + f64::from(2 * ALU_CYCLES);
    let cas_cycles = single(measured, Workload::CasLoop).map_or(rmw_cycles, |ns| whole(cycles(ns) - load));
    let (pause_cycles, ll_sc_cycles) = match measured.isa {
        Isa::X86 { pause_cycles } => (pause_cycles, rmw_cycles),
        // Without a row of its own, a pair costs as much as one atomic.
        Isa::Aarch64 { yield_cycles } => (yield_cycles, pair(measured).unwrap_or((rmw_cycles / 2).max(1))),
    };
    let is_arm = matches!(measured.isa, Isa::Aarch64 { .. });
    Ok(Machine {
        name: measured.name.clone(),
        about: measured.about.clone(),
        family: measured.family.clone(),
        topology_only: false,
        ghz: measured.ghz,
        topology: measured.topology,
        cores: measured.cores.clone(),
        latency: ordered(measured.latency),
        line: LineRules {
            arbiter: Arbiter::Fifo,
            hold: Hold::None,
            first_access: FirstAccess::Shared,
            failed_cas: FailedCas::TakesOwnership,
            rmw: Rmw::Near,
            home: Home::Anywhere,
            ll_first_access: is_arm.then_some(FirstAccess::Exclusive),
            ll_hold: is_arm.then_some(Hold::Fixed { cycles: LL_HOLD }),
            probe_share: 0.0,
            queue: Queue::AtOwner,
        },
        cost: Cost {
            alu_cycles: ALU_CYCLES,
            store_cycles: 1,
            rmw_cycles,
            cas_cycles,
            ll_sc_cycles,
            pause_cycles,
            read_cycles: 0,
            invalidate_cycles: 0,
            jitter: JITTER,
        },
        fitted: Vec::new(),
        held_out: Vec::new(),
        mechanism: crate::machine::Mechanisms::default(),
        published: Vec::new(),
    })
}

/// How long a line stays for a store-exclusive: enough for a pair with a step in between.
const LL_HOLD: u32 = 64;

/// A load-exclusive or store-exclusive: half of the row's pair, without the step between.
fn pair(measured: &Measurements) -> Option<u32> {
    let cycles = single(measured, Workload::LlSc)? * measured.ghz;
    Some(whole((cycles - f64::from(ALU_CYCLES)) / 2.0))
}

/// Whole cycles, at least one.
pub(super) fn whole(cycles: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and rules are checked later"
    )]
    let whole = cycles.round() as u32;
    whole.max(1)
}

/// How much slower than a farther class a nearer one may be by chance.
const DISORDER: f64 = 1.1;

/// Latencies in order: a class that is slightly faster than a nearer one gets the same value.
fn ordered(mut latency: Latency) -> Latency {
    let mut nearer = latency.hit_ns;
    let classes = [
        &mut latency.sibling_ns,
        &mut latency.cluster_ns,
        &mut latency.socket_ns,
        &mut latency.remote_ns,
    ];
    for ns in classes.into_iter().flatten() {
        if *ns < nearer && *ns * DISORDER >= nearer {
            *ns = nearer;
        }
        nearer = *ns;
    }
    latency
}
