//! The machine's fingerprint as terms and descriptions, with the same terms for every machine.
#![allow(
    missing_docs,
    reason = "for the pages of this workspace; what a name does not say is documented"
)]

use crate::export::number::{NONE, count, plus_minus, significant};
use crate::record::{Identity, Machine, Throttled, Tool};

/// A term and its description.
pub struct Fact {
    pub term: &'static str,
    pub text: String,
}

/// A fact of more characters has a line to itself.
const LONG: usize = 60;

impl Fact {
    /// Whether it is too long to stand beside others.
    pub fn is_long(&self) -> bool {
        self.text.chars().count() > LONG
    }
}

/// Facts from terms and texts; an empty text becomes a dash.
pub fn facts<const N: usize>(facts: [(&'static str, String); N]) -> Vec<Fact> {
    let fact = |(term, text): (&'static str, String)| Fact {
        term,
        text: if text.is_empty() { NONE.to_owned() } else { text },
    };
    facts.into_iter().map(fact).collect()
}

/// The fingerprint: for every machine the same terms in the same order.
pub fn fingerprint(m: &Machine) -> Vec<Fact> {
    let cpu = match m.cpu_id.as_str() {
        "" => m.cpu_model.clone(),
        id => format!("{} ({id})", m.cpu_model),
    };
    let pinned = m
        .pinned_cpu
        .map_or(String::new(), |cpu| format!(", pinned to CPU {cpu}"));
    let cycles = m.core_cycles_per_tick.as_ref().map_or_else(
        || "not measured".to_owned(),
        |c| {
            let why = if c.why.is_empty() {
                String::new()
            } else {
                format!(": {}", c.why)
            };
            format!("{} (95\u{a0}% CI, by {}{why})", plus_minus(c.value, c.ci95), c.source)
        },
    );
    let id = &m.identity;
    let limits = id.cgroup.as_ref().map(ToString::to_string).unwrap_or_default();
    facts([
        ("Node", node(id)),
        ("CPU", cpu),
        ("Architecture", m.arch.clone()),
        ("CPUs", format!("{}{pinned}", m.cpus)),
        ("Microcode", id.microcode.clone().unwrap_or_default()),
        ("Product", id.product_and_type().unwrap_or_default()),
        ("Kernel", m.kernel.clone()),
        ("Hypervisor", m.hypervisor_name().unwrap_or("none detected").to_owned()),
        ("Limits of its control group", limits),
        ("Tick rate", hertz(m.tsc_hz)),
        ("Core cycles per tick", cycles),
        ("Clock source", m.clocksource.clone()),
        ("Governor", m.governor.clone().unwrap_or_else(|| "none".to_owned())),
        ("SMT", m.smt.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("Stolen during the run", stolen(m)),
    ])
}

/// What the hypervisor took, and a quota where there is one.
fn stolen(m: &Machine) -> String {
    let quota = m.throttled.map_or(String::new(), |t| {
        let Throttled {
            periods,
            throttled,
            seconds,
        } = t;
        format!("; by a quota {seconds:.2} s, in {throttled} of {periods} periods")
    });
    format!("{} USER_HZ ticks{quota}", count(m.steal_ticks as usize))
}

/// The node's name, its boot and the job that it worked for.
fn node(id: &Identity) -> String {
    let boot = id.boot_id.as_ref().map(|boot| format!("boot {boot}"));
    let job = id.job.as_ref().map(|job| format!("job {job}"));
    let parts: Vec<String> = [id.node.clone(), boot, job].into_iter().flatten().collect();
    parts.join(", ")
}

/// Mitigations by name, in the kernel's words.
pub fn mitigations(m: &Machine) -> Vec<(String, String)> {
    m.mitigations.iter().map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// The program that wrote a record.
pub fn tool(tool: &Tool) -> String {
    match &tool.commit {
        Some(commit) => format!(
            "cyclewise {} ({})",
            tool.version,
            commit.chars().take(12).collect::<String>()
        ),
        None => format!("cyclewise {}", tool.version),
    }
}

fn hertz(hz: f64) -> String {
    if hz.is_finite() && hz > 0.0 {
        format!("{}\u{a0}GHz", significant(hz / 1e9, 5))
    } else {
        "unknown".to_owned()
    }
}
