//! The machine before its laws are searched: costs from one-thread rows, and the simplest laws.

use super::measured::{FitError, Isa, MeasuredRow, Measurements};
use crate::exam::{Costs, Parts, built};
use crate::machine::Latency;
use crate::{Machine, Workload};

/// The machine with all costs, and the simplest laws.
pub(super) fn base(measured: &Measurements) -> Result<Machine, FitError> {
    let single = |workload| {
        let is = |row: &&MeasuredRow| row.workload == workload && row.threads == 1;
        let row = measured.rows.iter().find(is)?;
        Some(row.ns_per_op * measured.ghz)
    };
    if single(Workload::FetchAdd).is_none() {
        return Err(FitError::NoSingle);
    }
    let (isa, pause_cycles) = match measured.isa {
        Isa::X86 { pause_cycles } => ("x86-64", pause_cycles),
        Isa::Aarch64 { yield_cycles } => ("aarch64", yield_cycles),
    };
    let mut machine = built(Parts {
        name: measured.name.clone(),
        about: measured.about.clone(),
        isa,
        ghz: measured.ghz,
        topology: measured.topology,
        cores: measured.cores.clone(),
        latency: ordered(measured.latency),
        pause_cycles,
        costs: Costs::of(measured.latency.hit_ns * measured.ghz, single),
    });
    machine.family.clone_from(&measured.family);
    Ok(machine)
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
