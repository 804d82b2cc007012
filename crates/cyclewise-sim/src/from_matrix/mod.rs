//! Makes a machine from a core-to-core matrix, as core-to-core-latency writes it, by the way on which published machines are examined: topology and
//! distances from the matrix, laws from the machine's family, and the scale of transfers from a contended row of additions.
//!
//! Without such a row nothing gives the scale, so the machine is [topology only](crate::Machine::topology_only).

mod cells;
mod shape;
#[cfg(test)]
mod tests;

use crate::exam::{self, Described, Pattern};
use crate::machine::Published;
use crate::{Machine, Relax, Topology, Workload, from_record};
use cyclewise_bench::error::{Error, Result};
use cyclewise_report::number::significant;
use std::path::Path;

/// What is said of a machine beside its matrix.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Core clock.
    pub ghz: f64,
    /// Threads of a core; `None`: two where the matrix shows pairs that are much nearer than all others, else one.
    pub smt: Option<u32>,
    /// Sockets.
    pub sockets: u32,
    /// The family whose laws it has; `None`: by the vendor in the file's name.
    pub family: Option<String>,
    /// Cycles of PAUSE or YIELD, where they matter.
    pub pause: Option<u32>,
    /// The contended row.
    pub anchor: Option<Anchor>,
}

/// A contended row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Anchor {
    /// Its workload.
    pub workload: Workload,
    /// Its threads.
    pub threads: u32,
    /// Elapsed nanoseconds for one operation of all threads together.
    pub ns: f64,
}

/// The machine of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// The machine.
    pub machine: Machine,
    /// Whether the contended row needs about the transfers that the matrix has. If not, a hand-over is not known, and the examination refuses locks that
    /// are handed on.
    pub agrees: bool,
}

impl Made {
    /// Rejects a workload that depends on what is not known.
    ///
    /// # Errors
    /// Exit 2.
    pub(crate) fn check(&self, workload: Workload) -> Result<()> {
        if self.agrees || !Pattern::of(workload).is_some_and(Pattern::is_handed_on) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{workload}: on {} the row of --anchor and the matrix disagree about a transfer by more than {} times, so a hand-over of a lock is not \
             known; check the row, or leave the workload out",
            self.machine.name,
            exam::DISAGREE
        )))
    }
}

/// What a machine file has that neither the matrix nor the command line says.
const ASSUMED: [&str; 14] = [
    "latency.hit_ns",
    "line.arbiter",
    "line.hold",
    "line.first_access",
    "line.probe_share",
    "line.queue",
    "cost.alu_cycles",
    "cost.rmw_cycles",
    "cost.cas_cycles",
    "cost.ll_sc_cycles",
    "cost.read_cycles",
    "cost.invalidate_cycles",
    "cost.jitter",
    "mechanism.store_buffer",
];

/// The machine of the matrix `text`, which is in the file `path`.
///
/// # Errors
/// Exit 2: it is not a matrix, or what is said of it does not fit it.
pub(crate) fn machine(path: &Path, text: &str, asked: &Asked) -> Result<Made> {
    let file = path.display();
    let usage = |why: String| Error::usage(format!("{file}: {why}")).in_one_line();
    let matrix = cells::read(text).map_err(usage)?;
    let shape = shape::of(&matrix, asked).map_err(usage)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let family = match &asked.family {
        Some(family) => family.clone(),
        None => from_record::family(&stem, shape.topology).ok_or_else(|| {
            usage(format!(
                "the file's name does not tell the CPU's vendor, so its laws are not known; give --family with one of {}",
                exam::families().join(", ")
            ))
        })?,
    };
    let anchor = asked
        .anchor
        .map(|anchor| checked(anchor, shape.topology.cpus()))
        .transpose()
        .map_err(usage)?;
    let parts = exam::Parts {
        name: from_record::machine_name(&stem),
        about: about(asked.ghz, &shape, &family),
        isa: &exam::isa_of(&family),
        ghz: asked.ghz,
        topology: shape.topology,
        latency: shape.latency,
        // Nothing pauses where it is not said.
        pause_cycles: asked.pause.unwrap_or_default(),
        costs: exam::Costs::default(),
    };
    let at = anchor.map(|Anchor { workload, threads, ns }| (workload, threads, ns));
    let Described {
        mut machine,
        factor,
        agrees,
    } = exam::described(parts, &family, at).map_err(usage)?;
    machine.fitted = ASSUMED.map(str::to_owned).into();
    match anchor {
        None => machine.topology_only = true,
        Some(anchor) => {
            machine.about += &format!(
                "; transfers {} times the matrix's, by {} on {} threads in {} ns",
                significant(factor, 2),
                anchor.workload,
                anchor.threads,
                significant(anchor.ns, 3)
            );
            machine.published.push(published(anchor));
        }
    }
    machine.family = Some(family);
    // Every rule of machine files holds for it.
    machine
        .to_toml()
        .map_err(|why| usage(format!("{}; {}", why.what, why.fix)))?;
    Ok(Made { machine, agrees })
}

/// A row that can give the scale of transfers: additions that move the line.
fn checked(anchor: Anchor, cpus: u32) -> std::result::Result<Anchor, String> {
    let Anchor { workload, threads, .. } = anchor;
    if Pattern::of(workload) != Some(Pattern::Addition) {
        return Err(format!(
            "--anchor {workload}: only additions give the time of a transfer by themselves; give a row of fetch-add, refcount or rcuref"
        ));
    }
    if threads > cpus {
        return Err(format!(
            "--anchor {workload}:{threads}: {threads} threads do not fit on {cpus} CPUs; give a row of 2 to {cpus} threads"
        ));
    }
    Ok(anchor)
}

fn about(ghz: f64, shape: &shape::Shape, family: &str) -> String {
    let Topology { sockets, .. } = shape.topology;
    let of = |count: u32, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let clusters = shape.topology.clusters_per_socket;
    let clusters = match clusters {
        1 => String::new(),
        _ => format!(" of {}", of(clusters, "cluster")),
    };
    let unequal = match shape.is_flat {
        true => format!("; clusters are {}", from_record::UNEQUAL),
        false => String::new(),
    };
    format!(
        "a core-to-core matrix: {}{clusters}, {} with {}{unequal}; {} GHz, laws of {family}",
        of(sockets, "socket"),
        of(shape.topology.cores(), "core"),
        of(shape.topology.threads_per_core, "thread"),
        significant(ghz, 3)
    )
}

fn published(anchor: Anchor) -> Published {
    Published {
        workload: anchor.workload.name().to_owned(),
        threads: anchor.threads,
        relax: Relax::None,
        value: anchor.ns,
        unit: "ns/op".to_owned(),
        source: "--anchor".to_owned(),
    }
}
