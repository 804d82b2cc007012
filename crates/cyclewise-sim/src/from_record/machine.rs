//! What a record says about its machine.

use super::rows;
use crate::Topology;
use crate::fit::Measurements;
use crate::machine::{Latency, USUAL_SPREAD};
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::core_to_core::Distance;
use cyclewise_bench::record::core_to_core::{NAME, levels, spans};
use cyclewise_bench::record::{self, Experiment, Record};

/// An L1 hit takes four or five cycles on every core of the last ten years; the record does not contain it alone.
const HIT_CYCLES: f64 = 4.0;

/// Most letters of a machine's name.
const NAME_LETTERS: usize = 64;

/// By how much the clock with one thread and with all may differ without a word: more than their noise.
const CLOCKS_ALIKE: f64 = 0.05;

/// By how much a line's home may matter without a word: the spread between runs of a pair, twice.
const HOMES_ALIKE: f64 = 0.2;

/// A record's machine.
pub(super) struct Measured {
    pub(super) measurements: Measurements,
    /// The keys whose values come neither from the record nor from the fit.
    pub(super) assumed: Vec<&'static str>,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
}

/// Reads them from `record`, whose name is `name`.
///
/// # Errors
/// Exit 2: what is missing, and what measures it.
pub(super) fn measurements(name: &str, record: &Record) -> Result<Measured> {
    let experiment = record.experiments.iter().find(|e| e.name == NAME).ok_or_else(|| {
        Error::usage(format!(
            "{name} does not contain the experiment {NAME}; give a record written by `cyclewise run {NAME} --json`"
        ))
    })?;
    let machine = &record.machine;
    let mut notes = Vec::new();
    let ghz = ghz(name, machine, experiment, &mut notes)?;
    let mut assumed = vec!["latency.hit_ns", "cost.jitter", "cost.alu_cycles"];
    if rows::single(experiment, "ll-sc-t1").is_none() {
        assumed.push("cost.ll_sc_cycles");
    }
    let clusters = levels::clusters(experiment);
    let Shape { topology, is_flat } = match &clusters {
        Some(clusters) => {
            notes.push("clusters: from the measured matrix, the kernel names none".to_owned());
            shape(&clusters.cores)
        }
        None => topology(machine),
    }
    .map_err(|why| Error::usage(format!("{name}: {why}")))?;
    notes.extend(home(experiment));
    if clusters.is_none() && levels::found(experiment).is_some_and(|found| found.is_err()) {
        notes.push(format!(
            "clusters: the kernel names none, and not all pairs were measured; `cyclewise run {NAME} --full` measures them and shows clusters"
        ));
    }
    let mut latency = latency(experiment, ghz);
    if is_flat {
        notes.push(format!("clusters: {UNEQUAL}"));
        latency.cluster_ns = None;
    } else if let Some(clusters) = clusters {
        latency.cluster_ns = Some(hundredths(clusters.cluster_ns));
        latency.socket_ns = Some(hundredths(clusters.socket_ns));
    }
    Ok(Measured {
        measurements: Measurements {
            name: machine_name(&machine.cpu_model),
            about: format!(
                "{}, {} CPUs, Linux {}, measured {} by cyclewise {}",
                machine.cpu_model, machine.cpus, machine.kernel, record.created, record.tool.version
            ),
            family: family(&machine.cpu_model, topology),
            ghz,
            isa: machine.arch.clone(),
            pause_cycles: pause_cycles(name, machine, experiment, ghz)?,
            topology,
            latency,
            rows: rows::contended(experiment),
        },
        assumed,
        notes,
    })
}

/// The family by which published machines like it are found: by whose CPU it is, and whether its sockets are of one die.
pub(crate) fn family(model: &str, topology: Topology) -> Option<String> {
    let family = if model.contains("Intel") && topology.clusters_per_socket == 1 {
        "intel-monolithic"
    } else if model.contains("AMD") {
        "amd-chiplet"
    } else if model.contains("Apple") {
        "apple"
    } else {
        return None;
    };
    Some(family.to_owned())
}

/// The core's clock while all threads ran: from the experiment's own rows, or from a chain of additions beside another experiment. Not
/// the counter's rate, which is a constant of its own: Graviton's counters tick at 25 to 1050 MHz.
fn ghz(name: &str, machine: &record::Machine, e: &Experiment, notes: &mut Vec<String>) -> Result<f64> {
    // To a megahertz.
    let megahertz = |ghz: f64| (ghz * 1e3).round() / 1e3;
    if let Some([alone, all]) = rows::cycles(e) {
        if (alone / all - 1.0).abs() > CLOCKS_ALIKE {
            notes.push(format!(
                "ghz: {:.2} with all threads, {:.2} with one; the model has one clock, so rows of few threads are off by as much",
                1.0 / all,
                1.0 / alone
            ));
        }
        return Ok(megahertz(1.0 / all));
    }
    match &machine.core_cycles_per_tick {
        Some(cycles) => Ok(megahertz(machine.tsc_hz * cycles.value / 1e9)),
        None => Err(Error::usage(format!(
            "{name} does not say how fast the cores ran: it has no rows cycle-tN and no chain of additions, and the counter's rate of \
             {:.2} GHz is another clock; run {NAME} again",
            machine.tsc_hz / 1e9
        ))),
    }
}

/// What a line costs whose memory is elsewhere, where it costs more: the rows of counters and locks have theirs at one socket.
fn home(e: &Experiment) -> Option<String> {
    let [own, away] = rows::homes(e)?;
    let costs_more = away > own * (1.0 + HOMES_ALIKE);
    costs_more.then(|| {
        format!(
            "home: a line between two CPUs of a socket takes {own:.1} ns if its memory is there, and {away:.1} ns if it is at another; \
             the rows of few threads are of the first kind, and the fit takes all as such"
        )
    })
}

/// What PAUSE or YIELD costs.
fn pause_cycles(name: &str, machine: &record::Machine, e: &Experiment, ghz: f64) -> Result<u32> {
    let row = if machine.arch == "aarch64" { "yield" } else { "pause" };
    let ns = rows::single(e, row).ok_or_else(|| {
        Error::usage(format!(
            "{name} does not have the row {row}: what it costs differs between cores by a factor of ten, so it is not assumed; run \
             {NAME} again"
        ))
    })?;
    Ok((ns * ghz).round() as u32)
}

/// The CPU model, reduced to the characters that a machine file's name may have.
pub(crate) fn machine_name(cpu_model: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || " -_.+()".contains(c);
    let name: String = cpu_model.chars().filter(|c| kept(*c)).take(NAME_LETTERS).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        "this machine".to_owned()
    } else {
        name
    }
}

/// The topology that the kernel names.
fn topology(machine: &record::Machine) -> std::result::Result<Shape, String> {
    match machine.cores.as_slice() {
        [] => Err(format!("does not say which core is in which group; run {NAME} again")),
        cores => shape(cores),
    }
}

/// A topology, and whether clusters are left out of it, because they are of unequal size.
pub(crate) struct Shape {
    pub(crate) topology: Topology,
    pub(crate) is_flat: bool,
}

/// What is said of clusters that are left out.
pub(crate) const UNEQUAL: &str =
    "of unequal size, so they are not told apart: each transfer in a socket takes the time of one between clusters";

/// The topology of these threads of each core, by socket and cluster. All sockets and cores of the model are alike.
///
/// # Errors
/// What is not alike, and what to do.
pub(crate) fn shape(sockets: &[Vec<Vec<u32>>]) -> std::result::Result<Shape, String> {
    let ends = |counts: &mut dyn Iterator<Item = usize>| counts.fold((usize::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
    let clusters = || sockets.iter().flatten();
    let (least, threads) = ends(&mut clusters().flatten().map(|threads| *threads as usize));
    if least < threads {
        return Err(format!(
            "cores have {least} to {threads} CPUs each, so they are of several kinds or not whole, and the model has one kind; run {NAME} \
             on all CPUs of one kind (`taskset -c LIST cyclewise run {NAME}`)"
        ));
    }
    let (least, cores) = ends(&mut sockets.iter().map(|clusters| clusters.iter().map(Vec::len).sum()));
    if least < cores {
        return Err(format!(
            "sockets have {least} to {cores} cores, and the model's are alike; run {NAME} on as many cores of each (`taskset -c LIST \
             cyclewise run {NAME}`)"
        ));
    }
    let (least, in_cluster) = ends(&mut clusters().map(Vec::len));
    let (fewest, of_socket) = ends(&mut sockets.iter().map(Vec::len));
    let is_flat = least < in_cluster || fewest < of_socket;
    let (of_socket, in_cluster) = if is_flat { (1, cores) } else { (of_socket, in_cluster) };
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let [sockets, of_socket, in_cluster, threads] = [sockets.len(), of_socket, in_cluster, threads].map(count);
    Ok(Shape {
        topology: Topology::new(sockets, of_socket, in_cluster, threads),
        is_flat,
    })
}

fn hundredths(ns: f64) -> f64 {
    (ns * 100.0).round() / 100.0
}

/// The median of each distance. A distance may not be slower than a farther one, so noise of that kind is cut off.
pub(crate) fn latency(e: &Experiment, ghz: f64) -> Latency {
    let mut classes: Vec<(Distance, f64)> = spans(e).iter().map(|s| (s.distance, s.median)).collect();
    for i in (1..classes.len()).rev() {
        classes[i - 1].1 = classes[i - 1].1.min(classes[i].1);
    }
    let of = |distance| {
        let found = classes.iter().find(|(d, _)| *d == distance);
        found.map(|(_, ns)| hundredths(*ns))
    };
    Latency {
        hit_ns: hundredths(HIT_CYCLES / ghz),
        spread: USUAL_SPREAD,
        sibling_ns: of(Distance::Sibling),
        cluster_ns: of(Distance::Cluster),
        socket_ns: of(Distance::Socket),
        remote_ns: of(Distance::Remote),
    }
}
