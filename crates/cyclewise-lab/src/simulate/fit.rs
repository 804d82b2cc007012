//! A machine file from a record of the machine: what was measured as it is, and laws fitted to it that are marked as fitted.

use crate::error::{Error, Result};
use crate::experiment::core_to_core::{NAME, spans};
use crate::machine::Distance;
use crate::record::{Experiment, Machine as Recorded, Record, Topology as Counted};
use cyclewise_sim::fit::{self, Fit, Isa, Measurements, Row};
use cyclewise_sim::machine::{Latency, Published};
use cyclewise_sim::{Placement, Relax, Topology, Workload};

/// A load that hits takes four cycles or five on every core of the last ten years; no row of the record has it alone.
const HIT_CYCLES: f64 = 4.0;

/// Letters of a machine's name.
const NAME_LETTERS: usize = 64;

/// What a fit has to say beside the machine.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The machine file's text.
    pub toml: String,
    /// Each row: what it is, measured and simulated ns.
    pub rows: Vec<(String, f64, f64)>,
}

/// Fits a machine to `record`, which is called `name`.
///
/// # Errors
/// Exit 2: the record lacks what is needed, and what to run for it.
pub fn fit(name: &str, record: &Record) -> Result<Fitted> {
    let measured = measurements(name, record)?;
    let assumed = assumed(record);
    let Fit { mut machine, rows, .. } = fit::fit(&measured)
        .map_err(|e| Error::usage(format!("{name}: {e}; `cyclewise run {NAME} --json` has all of it")))?;
    for key in assumed {
        if !machine.fitted.iter().any(|k| k == key) {
            machine.fitted.push(key.to_owned());
        }
    }
    machine.published = measured.rows.iter().map(|row| published(row, record)).collect();
    let rows: Vec<(String, f64, f64)> = rows.iter().map(|(row, ns)| (label(row), row.ns_per_op, *ns)).collect();
    let body = machine.to_toml().map_err(|e| Error::usage(format!("{name}: {e}")))?;
    let mut toml = String::from("# Made by `cyclewise simulate fit`. Fields that `fitted` names were not measured.\n");
    for (label, measured, simulated) in &rows {
        toml.push_str(&format!(
            "# {label}: measured {measured:.2} ns/op, simulated {simulated:.2}\n"
        ));
    }
    toml.push_str(&body);
    Ok(Fitted { toml, rows })
}

/// A row as the file keeps it, so that plots show it beside what is simulated.
fn published(row: &Row, record: &Record) -> Published {
    Published {
        workload: row.workload.name().to_owned(),
        threads: row.threads,
        relax: Relax::None,
        value: (row.ns_per_op * 1000.0).round() / 1000.0,
        unit: "ns/op".to_owned(),
        source: format!("measured here, {}", record.created),
    }
}

fn label(row: &Row) -> String {
    let threads = if row.threads == 1 { "thread" } else { "threads" };
    format!("{}, {} {threads}", row.workload, row.threads)
}

/// What of the machine comes from neither the record nor the fit.
fn assumed(record: &Record) -> Vec<&'static str> {
    let mut keys = vec![
        "latency.hit_ns",
        "cost.pause_cycles",
        "cost.ll_sc_cycles",
        "cost.jitter",
        "cost.alu_cycles",
    ];
    if record.machine.core_cycles_per_tick.is_none() {
        keys.push("ghz");
    }
    keys
}

/// What `record` says of its machine.
fn measurements(name: &str, record: &Record) -> Result<Measurements> {
    let experiment = record.experiments.iter().find(|e| e.name == NAME).ok_or_else(|| {
        Error::usage(format!(
            "{name} does not hold the experiment {NAME}; give a record written by `cyclewise run {NAME} --json`"
        ))
    })?;
    let machine = &record.machine;
    let ghz = ghz(machine);
    Ok(Measurements {
        name: called(&machine.cpu_model),
        about: format!(
            "{}, {} CPUs, Linux {}, measured {} by cyclewise {}",
            machine.cpu_model, machine.cpus, machine.kernel, record.created, record.tool.version
        ),
        ghz,
        isa: isa(machine),
        topology: topology(name, machine.topology)?,
        latency: latency(experiment, ghz),
        rows: rows(experiment),
    })
}

/// Core cycles where the record counted them; else ticks, which no one should mistake for them.
fn ghz(machine: &Recorded) -> f64 {
    let per_tick = machine.core_cycles_per_tick.as_ref().map_or(1.0, |c| c.value);
    // As many digits as the file is read with.
    (machine.tsc_hz * per_tick / 1e6).round() / 1e3
}

/// Letters that a machine file's name may have.
fn called(cpu_model: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || " -_.+()".contains(c);
    let name: String = cpu_model.chars().filter(|c| kept(*c)).take(NAME_LETTERS).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        "this machine".to_owned()
    } else {
        name
    }
}

/// PAUSE by vendor and generation: 64 cycles on Zen 4, 140 since Skylake, 10 before.
fn isa(machine: &Recorded) -> Isa {
    if machine.arch == "aarch64" {
        return Isa::Aarch64;
    }
    let amd = ["AMD", "EPYC", "Ryzen", "Hygon"]
        .iter()
        .any(|word| machine.cpu_model.contains(word));
    Isa::X86 {
        pause_cycles: if amd { 64 } else { 140 },
    }
}

/// Groups in groups; the model has as many in each.
fn topology(name: &str, counted: Option<Counted>) -> Result<Topology> {
    let Some(c) = counted else {
        return Err(Error::usage(format!(
            "{name} does not say how its CPUs share cores and sockets; it is from an older cyclewise: run {NAME} again"
        )));
    };
    let even = |many: u32, groups: u32| groups > 0 && many.is_multiple_of(groups);
    if !(even(c.clusters, c.sockets) && even(c.cores, c.clusters) && even(c.cpus, c.cores)) {
        return Err(Error::usage(format!(
            "{name}: {} CPUs in {} cores, {} clusters and {} sockets are not as many in each; run {NAME} again under `taskset` with as \
             many of each as the model can have",
            c.cpus, c.cores, c.clusters, c.sockets
        )));
    }
    Ok(Topology {
        sockets: c.sockets,
        clusters_per_socket: c.clusters / c.sockets,
        cores_per_cluster: c.cores / c.clusters,
        threads_per_core: c.cpus / c.cores,
    })
}

/// The median of each distance. A nearer one that noise has made slower than a farther one is no slower than that.
fn latency(e: &Experiment, ghz: f64) -> Latency {
    let mut classes: Vec<(Distance, f64)> = spans(e).iter().map(|s| (s.distance, s.median)).collect();
    for i in (1..classes.len()).rev() {
        classes[i - 1].1 = classes[i - 1].1.min(classes[i].1);
    }
    let of = |distance| {
        let found = classes.iter().find(|(d, _)| *d == distance);
        found.map(|(_, ns)| (ns * 100.0).round() / 100.0)
    };
    Latency {
        hit_ns: (HIT_CYCLES / ghz * 100.0).round() / 100.0,
        sibling_ns: of(Distance::Sibling),
        cluster_ns: of(Distance::Cluster),
        socket_ns: of(Distance::Socket),
        remote_ns: of(Distance::Remote),
    }
}

/// Rows of one counter: threads were put on cores first, socket by socket, which the model calls compact.
fn rows(e: &Experiment) -> Vec<Row> {
    let row = |name: &str, median: f64| {
        let (workload, threads) = [Workload::FetchAdd, Workload::CasLoop].into_iter().find_map(|w| {
            let threads = name.strip_prefix(w.name())?.strip_prefix("-t")?;
            Some((w, threads.parse().ok()?))
        })?;
        Some(Row {
            workload,
            threads,
            placement: Placement::Compact,
            ns_per_op: median,
        })
    };
    let kept = e.variants.iter().filter(|v| v.n > 0);
    kept.filter_map(|v| row(&v.name, v.median)).collect()
}

#[cfg(test)]
mod tests;
