//! The machine's part of a record.

use super::Warning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine's fingerprint: it tells whether two records are comparable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `x86_64` or `aarch64`.
    #[serde(default)]
    pub arch: String,
    /// The CPU's brand string.
    pub cpu_model: String,
    /// Family, model and stepping on x86; MIDR on aarch64; empty if unknown.
    #[serde(default)]
    pub cpu_id: String,
    /// CPUs this process may run on.
    pub cpus: u32,
    /// How many sockets, clusters and cores those CPUs are in; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// The threads of each core, by socket and cluster; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<Vec<Vec<u32>>>,
    /// The CPU that single-threaded samples were pinned to.
    #[serde(default)]
    pub pinned_cpu: Option<u32>,
    /// Kernel release, as `uname -r`.
    pub kernel: String,
    /// Hypervisor's CPUID signature; `None` on bare metal.
    pub hypervisor: Option<String>,
    /// Ticks per second, measured against CLOCK_MONOTONIC_RAW.
    pub tsc_hz: f64,
    /// Core cycles per tick; `None` if nothing was measured in ticks.
    pub core_cycles_per_tick: Option<CyclesPerTick>,
    /// The kernel's clocksource.
    pub clocksource: String,
    /// cpufreq governor; `None` if there is none (most VMs).
    pub governor: Option<String>,
    /// Content of /sys/devices/system/cpu/smt/control.
    pub smt: Option<String>,
    /// /sys/devices/system/cpu/vulnerabilities, by name.
    pub mitigations: BTreeMap<String, String>,
    /// USER_HZ ticks stolen by the hypervisor on all CPUs during the run.
    pub steal_ticks: u64,
    /// The share of all CPUs' time that these are: 0.11 is 11 %. `None` if it is not known, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// What the quota of a control group took during the run; `None` where there is no quota, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<Throttled>,
    /// Reasons for caution about the figures.
    pub warnings: Vec<Warning>,
    /// Which machine of a fleet it is.
    #[serde(default, skip_serializing_if = "super::Identity::is_empty")]
    pub identity: super::Identity,
}

/// What the quota of a control group took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throttled {
    /// Periods in which the group ran.
    pub periods: u64,
    /// Those in which it was stopped until the next.
    pub throttled: u64,
    /// Seconds for which it was stopped, summed over the CPUs on which it waited.
    pub seconds: f64,
}

impl Throttled {
    pub fn since(self, before: Self) -> Self {
        Self {
            periods: self.periods.saturating_sub(before.periods),
            throttled: self.throttled.saturating_sub(before.throttled),
            seconds: (self.seconds - before.seconds).max(0.0),
        }
    }
}

impl Warning {
    pub fn of_quota(t: Throttled) -> Self {
        Self::throttled(format_args!(
            " this program in {} of {} periods, for {:.2} s in all (cpu.stat): wall times are not those of the work; raise the quota, or measure \
             outside of the group",
            t.throttled, t.periods, t.seconds
        ))
    }
}

impl Machine {
    /// The hypervisor's name as people know it; `None` on bare metal.
    pub fn hypervisor_name(&self) -> Option<&str> {
        self.hypervisor.as_deref().map(hypervisor_name)
    }
}

/// The name of the hypervisor with this CPUID signature; of one that is not known, the signature.
pub fn hypervisor_name(signature: &str) -> &str {
    match signature {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        _ if signature.trim_end() == "bhyve bhyve" => "bhyve",
        other => other,
    }
}

/// How many sockets, clusters and cores the CPUs are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    pub sockets: u32,
    /// Clusters with their own near cache, in total; as many as sockets if there are none.
    pub clusters: u32,
    pub cores: u32,
    pub cpus: u32,
}

words! {
    /// What core cycles are counted by.
    CycleSource {
        /// The CPU's counter.
        Pmu = "pmu",
        /// The time of a chain of dependent additions, each of which takes a cycle.
        AddChain = "add-chain",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CyclesPerTick {
    pub value: f64,
    /// Its 95 % confidence interval.
    pub ci95: [f64; 2],
    pub source: CycleSource,
    /// Why this source was used.
    pub why: String,
}
