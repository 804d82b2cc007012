//! The machine's part of a record: what makes two records comparable or not.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine's fingerprint: what makes two records comparable or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `x86_64` or `aarch64`.
    #[serde(default)]
    pub arch: String,
    /// The CPU's brand string.
    pub cpu_model: String,
    /// Family, model, stepping on x86; MIDR on aarch64; empty where unknown.
    #[serde(default)]
    pub cpu_id: String,
    /// CPUs this process may run on.
    pub cpus: u32,
    /// The groups that those CPUs fill; `None` in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// The CPU that single-threaded samples were pinned to.
    #[serde(default)]
    pub pinned_cpu: Option<u32>,
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Hypervisor's CPUID signature; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Ticks per second, measured against CLOCK_MONOTONIC_RAW.
    pub tsc_hz: f64,
    /// Core cycles per tick, and how that is known; `None` where nothing was measured in ticks.
    pub core_cycles_per_tick: Option<CyclesPerTick>,
    /// The kernel's clocksource.
    pub clocksource: String,
    /// cpufreq governor; `None` where there is none (most VMs).
    pub governor: Option<String>,
    /// What /sys/devices/system/cpu/smt/control says.
    pub smt: Option<String>,
    /// /sys/devices/system/cpu/vulnerabilities, by name.
    pub mitigations: BTreeMap<String, String>,
    /// USER_HZ ticks stolen by the hypervisor on all CPUs during the run.
    pub steal_ticks: u64,
    /// What a reader should know before trusting the figures.
    pub warnings: Vec<String>,
}

/// How many groups CPUs fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Sockets.
    pub sockets: u32,
    /// Clusters with a near cache of their own, in all; as many as sockets where there are none.
    pub clusters: u32,
    /// Cores, in all.
    pub cores: u32,
    /// CPUs, in all.
    pub cpus: u32,
}

/// Core cycles per tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CyclesPerTick {
    /// The ratio.
    pub value: f64,
    /// Its 95 % confidence interval.
    pub ci95: [f64; 2],
    /// `pmu` or `add-chain`.
    #[serde(default)]
    pub source: String,
    /// Why this source and not the other.
    #[serde(default)]
    pub why: String,
}
