//! The rules of machine files that types do not enforce. A violation has the key and a fix.
//!
//! A nearer distance class may not be slower than a farther one: nearest-first arbitration assumes that nearer is faster, and
//! the usual cause is that two classes are swapped.

use super::{Arbiter, FAMILIES, Hold, KEYS, Machine, Rmw, UNITS};
use crate::Workload;

/// The most CPUs of a machine. Memory and time grow with them; 4096 run in seconds.
pub const MAX_CPUS: u32 = 16_384;

/// The longest latency, in nanoseconds: no coherent interconnect takes 100 µs.
const MAX_NS: f64 = 100_000.0;

/// The longest cost of an instruction or hold, in cycles: a millisecond at 1 GHz.
const MAX_CYCLES: u32 = 1_000_000;

/// The most stores in a buffer: no core has more than some hundred.
const MAX_BUFFERED: u32 = 1024;

/// A broken rule.
pub(super) struct Violation {
    /// The dotted key.
    pub(super) key: String,
    pub(super) what: String,
    pub(super) fix: String,
}

type Check = Result<(), Violation>;

fn violation(key: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Check {
    Err(Violation {
        key: key.into(),
        what: what.into(),
        fix: fix.into(),
    })
}

/// Checks all rules; returns the first violation.
pub(super) fn check(machine: &Machine) -> Check {
    identity(machine)?;
    topology(machine)?;
    latency(machine)?;
    line(machine)?;
    cost(machine)?;
    mechanism(machine)?;
    fitted(machine)?;
    held_out(machine)?;
    published(machine)
}

fn identity(machine: &Machine) -> Check {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_. +×()".contains(c);
    if machine.name.is_empty() || machine.name.chars().count() > 64 || !machine.name.chars().all(is_name) {
        let fix = "write 1 to 64 letters, digits, spaces or any of -_.+×()";
        return violation("name", format!("{:?} is not a valid name", machine.name), fix);
    }
    if let Some(family) = machine.family.as_deref().filter(|family| !FAMILIES.contains(family)) {
        let fix = format!("write one of {}, or remove the key", FAMILIES.join(", "));
        return violation("family", format!("{family:?} is not that of a published machine"), fix);
    }
    if machine.about.trim().is_empty() {
        return violation(
            "about",
            "is empty",
            "describe the machine and the sources of its figures",
        );
    }
    number("ghz", machine.ghz, 0.1, 10.0)
}

fn topology(machine: &Machine) -> Check {
    let t = machine.topology;
    let mut cpus = 1_u64;
    for (key, count) in [
        ("topology.sockets", t.sockets),
        ("topology.clusters_per_socket", t.clusters_per_socket),
        ("topology.cores_per_cluster", t.cores_per_cluster),
        ("topology.threads_per_core", t.threads_per_core),
    ] {
        if count == 0 {
            return violation(key, "is 0, so there is no CPU", "write 1 or more");
        }
        cpus = cpus.saturating_mul(u64::from(count));
        if cpus > u64::from(MAX_CPUS) {
            let what = format!("gives at least {cpus} CPUs, more than the maximum of {MAX_CPUS}");
            return violation(key, what, "write a smaller machine");
        }
    }
    Ok(())
}

fn latency(machine: &Machine) -> Check {
    let l = machine.latency;
    number("latency.hit_ns", l.hit_ns, 0.0, MAX_NS)?;
    number("latency.spread", l.spread, 0.0, 1.0)?;
    let classes = [
        ("latency.sibling_ns", l.sibling_ns),
        ("latency.cluster_ns", l.cluster_ns),
        ("latency.socket_ns", l.socket_ns),
        ("latency.remote_ns", l.remote_ns),
    ];
    let mut nearer = ("latency.hit_ns", l.hit_ns);
    for (key, value) in classes {
        let Some(value) = value else { continue };
        number(key, value, 0.0, MAX_NS)?;
        if value < nearer.1 {
            let what = format!("is {value} ns, less than the nearer {} with {} ns", nearer.0, nearer.1);
            return violation(key, what, "swap the two, or leave the nearer one out");
        }
        nearer = (key, value);
    }
    if nearer.0 == "latency.hit_ns" && machine.topology.cpus() > 1 {
        let fix = "give at least one of sibling_ns, cluster_ns, socket_ns, remote_ns";
        return violation("latency", "has no transfer time", fix);
    }
    if nearer.1 <= 0.0 && machine.topology.cpus() > 1 {
        return violation(nearer.0, "is 0, so transfers take no time", "write the measured time");
    }
    Ok(())
}

fn line(machine: &Machine) -> Check {
    let line = &machine.line;
    match line.arbiter {
        Arbiter::Nearest { cap } => cycles("line.arbiter", "the cap", cap, 1)?,
        Arbiter::Batch { stay } => cycles("line.arbiter", "stay", stay, 1)?,
        Arbiter::Fifo | Arbiter::Random => {}
    }
    hold("line.hold", line.hold)?;
    if let Some(ll_hold) = line.ll_hold {
        hold("line.ll_hold", ll_hold)?;
    }
    if let Rmw::Far { cycles: n, only_posted } = line.rmw {
        if only_posted && machine.mechanism.posted_rmws == 0 {
            let what = "executes only posted additions far, but no addition is posted";
            return violation("line.rmw", what, "write mechanism.posted_rmws, or \"near\"");
        }
        cycles("line.rmw", "cycles", n, 1)?;
    }
    number("line.probe_share", line.probe_share, 0.0, 1.0)
}

fn hold(key: &str, hold: Hold) -> Check {
    match hold {
        Hold::None => Ok(()),
        Hold::Fixed { cycles: n } => cycles(key, "cycles", n, 1),
    }
}

fn cost(machine: &Machine) -> Check {
    let c = machine.cost;
    for (key, value, least) in [
        ("cost.alu_cycles", c.alu_cycles, 0),
        ("cost.store_cycles", c.store_cycles, 0),
        ("cost.rmw_cycles", c.rmw_cycles, 1),
        ("cost.cas_cycles", c.cas_cycles, 1),
        ("cost.ll_sc_cycles", c.ll_sc_cycles, 1),
        ("cost.pause_cycles", c.pause_cycles, 0),
        ("cost.read_cycles", c.read_cycles, 0),
        ("cost.invalidate_cycles", c.invalidate_cycles, 0),
    ] {
        if !(least..=MAX_CYCLES).contains(&value) {
            let what = format!("is {value}, but must be {least} to {MAX_CYCLES} cycles");
            return violation(key, what, "write a value in that range");
        }
    }
    number("cost.jitter", c.jitter, 0.0, 1.0)
}

fn mechanism(machine: &Machine) -> Check {
    let m = machine.mechanism;
    for (key, value, most) in [
        ("mechanism.store_buffer", m.store_buffer, MAX_BUFFERED),
        ("mechanism.posted_rmws", m.posted_rmws, MAX_BUFFERED),
        ("mechanism.downgrade_cycles", m.downgrade_cycles, MAX_CYCLES),
    ] {
        if value > most {
            let what = format!("is {value}, but must be 0 to {most}");
            return violation(key, what, "write a value in that range");
        }
    }
    if m.posted_rmws > 0 && m.store_buffer == 0 {
        let what = format!("is {}, but there is no store buffer for them", m.posted_rmws);
        return violation("mechanism.posted_rmws", what, "write mechanism.store_buffer too");
    }
    Ok(())
}

fn fitted(machine: &Machine) -> Check {
    for (index, name) in machine.fitted.iter().enumerate() {
        if !KEYS.contains(&name.as_str()) {
            let what = format!("names {name:?}, which is not a key with a value");
            return violation(
                format!("fitted[{index}]"),
                what,
                "write a dotted key, such as \"line.hold\"",
            );
        }
    }
    Ok(())
}

fn held_out(machine: &Machine) -> Check {
    for (index, row) in machine.held_out.iter().enumerate() {
        for (name, ns) in [("measured_ns", row.measured_ns), ("predicted_ns", row.predicted_ns)] {
            // A picosecond is the model's unit of time; the longest stands for a prediction without progress.
            number(&format!("held_out[{index}].{name}"), ns, 1e-3, 1e12)?;
        }
    }
    Ok(())
}

fn published(machine: &Machine) -> Check {
    for (index, point) in machine.published.iter().enumerate() {
        let key = |name: &str| format!("published[{index}].{name}");
        if let Err(unknown) = point.workload.parse::<Workload>() {
            return violation(key("workload"), unknown.to_string(), "write one of those");
        }
        let cpus = machine.cpus();
        if point.threads == 0 || point.threads > cpus {
            let what = format!("is {}, but the machine has {cpus} CPUs", point.threads);
            return violation(key("threads"), what, format!("write 1 to {cpus}"));
        }
        number(&key("value"), point.value, 0.0, 1e12)?;
        if !UNITS.contains(&point.unit.as_str()) {
            let what = format!("{:?} is not a unit", point.unit);
            return violation(key("unit"), what, format!("write one of {}", UNITS.join(", ")));
        }
        if point.source.trim().is_empty() {
            return violation(key("source"), "is empty", "write who published the figure, and where");
        }
    }
    Ok(())
}

/// Checks a number's range, which excludes NaN and infinities.
fn number(key: &str, value: f64, least: f64, most: f64) -> Check {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let what = format!("is {value}, but must be {least} to {most}");
    violation(key, what, "write a number in that range")
}

/// Checks the range of cycles in one part of a law.
fn cycles(key: &str, part: &str, value: u32, least: u32) -> Check {
    if (least..=MAX_CYCLES).contains(&value) {
        return Ok(());
    }
    let what = format!("{part} is {value}, but must be {least} to {MAX_CYCLES}");
    violation(key, what, "write a value in that range")
}
