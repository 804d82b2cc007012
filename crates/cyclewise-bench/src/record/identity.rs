//! What tells a machine from the others of a fleet: its name, its boot, its firmware, its limits, and the job that it worked for.

use serde::{Deserialize, Serialize};
use std::fmt;

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

    /// The firmware's vendor and product in one text: `Amazon EC2 m6a.large`; `None` if it names neither.
    pub fn product(&self) -> Option<String> {
        let names = ["sys_vendor", "product_name"].map(|field| self.dmi.get(field).map(String::as_str));
        let said: Vec<&str> = names.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// The product, and the instance type where the product does not say it: on EC2 it does.
    pub fn product_and_type(&self) -> Option<String> {
        match (self.product(), &self.instance_type) {
            (Some(product), Some(kind)) if !product.ends_with(kind.as_str()) => Some(format!("{product} ({kind})")),
            (product, kind) => product.or_else(|| kind.clone()),
        }
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

/// `1.5 CPUs, 2 GiB of memory, 512 processes`, or `no limit`.
impl fmt::Display for Cgroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.cpus.map(|cpus| format!("{cpus} CPUs")),
            self.memory_bytes.map(|bytes| format!("{} of memory", binary(bytes))),
            self.pids.map(|pids| format!("{pids} processes")),
        ];
        let said: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(if said.is_empty() { "no limit" } else { "" })?;
        f.write_str(&said.join(", "))
    }
}

/// Bytes in the largest unit in which they are a whole number: a limit is copied from somewhere, and is not rounded.
fn binary(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (bytes.trailing_zeros() / 10).min(4) * u32::from(bytes > 0);
    format!("{} {}", bytes >> (10 * power), UNITS[power as usize])
}

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

/// `slurm 41, task 16, restarted 2 times`.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.engine, self.id)?;
        if let Some(task) = self.task {
            write!(f, ", task {task}")?;
        }
        match self.restarts {
            0 => Ok(()),
            1 => f.write_str(", restarted once"),
            n => write!(f, ", restarted {n} times"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_jobs_in_words() {
        let limits = Cgroup {
            cpus: Some(1.5),
            memory_bytes: Some(2 << 30),
            pids: Some(512),
        };
        assert_eq!(limits.to_string(), "1.5 CPUs, 2 GiB of memory, 512 processes");
        assert_eq!(Cgroup::default().to_string(), "no limit");
        for (bytes, said) in [
            (0, "0 bytes"),
            (1536, "1536 bytes"),
            (3 << 20, "3 MiB"),
            (1 << 62, "4194304 TiB"),
        ] {
            assert_eq!(binary(bytes), said);
        }
        let job = |restarts| Job {
            engine: "slurm".to_owned(),
            id: "41".to_owned(),
            task: Some(16),
            restarts,
        };
        assert_eq!(job(2).to_string(), "slurm 41, task 16, restarted 2 times");
        assert_eq!(job(1).to_string(), "slurm 41, task 16, restarted once");
    }

    #[test]
    fn the_instance_type_is_said_once() {
        let said = |product: &str, kind: Option<&str>| {
            let mut id = Identity {
                instance_type: kind.map(str::to_owned),
                ..Identity::default()
            };
            if !product.is_empty() {
                id.dmi.insert("sys_vendor".to_owned(), "Amazon EC2".to_owned());
                id.dmi.insert("product_name".to_owned(), product.to_owned());
            }
            id.product_and_type().unwrap_or_default()
        };
        assert_eq!(said("m6a.large", Some("m6a.large")), "Amazon EC2 m6a.large");
        assert_eq!(said("Virtual", Some("m6a.large")), "Amazon EC2 Virtual (m6a.large)");
        assert_eq!(
            (said("", Some("m6a.large")), said("", None)),
            ("m6a.large".to_owned(), String::new())
        );
    }

    #[test]
    fn a_record_without_an_identity_is_read_and_writes_none() {
        let old: Identity = serde_json::from_str("{}").unwrap();
        assert!(old.is_empty() && old.product().is_none());
        let newer =
            r#"{"node":"n1","later":{"a":1},"cgroup":{"cpus":2.0,"later":3},"job":{"engine":"slurm","id":"1"}}"#;
        let newer: Identity = serde_json::from_str(newer).unwrap();
        assert_eq!(newer.cgroup.unwrap().cpus, Some(2.0));
    }
}
