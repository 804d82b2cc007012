//! What tells a machine from the others of a fleet: its name, its boot, its firmware, its limits, and the job that it worked for.

use serde::{Deserialize, Serialize};

/// Which machine of a fleet a record is of. Every part may be unknown, and is absent in older records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The node's name; under `--anonymous`, `anonymous-` and a keyed hash of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The kernel's id of this boot; under `--anonymous`, hashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// The revision of the CPU's microcode, as the kernel prints it: `0xa0011d1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// The firmware's names of the machine, by the names of `/sys/class/dmi/id`: `sys_vendor`, `product_name`, `bios_version` …
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub dmi: std::collections::BTreeMap<String, String>,
    /// The cloud's name of this kind of machine, where the firmware says it: `m6a.large`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// What its control group allows the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<Cgroup>,
    /// The job of an engine such as Slurm that it was measured in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
}

impl Identity {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a control group allows. `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroup {
    /// CPUs' worth of time, the least quota of the group and its parents: 1.5.
    pub cpus: Option<f64>,
    /// Bytes of memory, the least limit of the group and its parents.
    pub memory_bytes: Option<u64>,
    /// Processes and threads, the least limit.
    pub pids: Option<u64>,
}

/// The job of an engine that a record was made in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    /// `slurm`.
    pub engine: String,
    /// Its id: of an array, the array's.
    pub id: String,
    /// The index in the array, or the task's rank.
    pub task: Option<u32>,
    /// How often the engine has requeued it.
    pub restarts: u32,
}
