//! Choosing the CPU for single-threaded samples, and pinning to it.

use crate::error::{Error, Result};
use crate::machine;
use crate::sys::affinity;

/// The CPU of the measuring thread, and those that the process may use.
#[derive(Clone, Debug)]
pub struct CpuChoice {
    /// The CPU for single-threaded samples.
    pub cpu: u32,
    pub why: String,
    /// CPUs the process may use.
    pub allowed: Vec<u32>,
}

impl CpuChoice {
    /// The CPU asked for, or the idlest of those allowed.
    pub fn new(asked: Option<u32>) -> Result<Self> {
        let allowed = allowed()?;
        if let Some(cpu) = asked {
            if !allowed.contains(&cpu) {
                let list = list(&allowed);
                return Err(Error::usage(format!(
                    "--cpu {cpu}: not in this process's affinity mask, which allows {list}"
                )));
            }
            return Ok(Self {
                cpu,
                why: format!("CPU {cpu}, as requested"),
                allowed,
            });
        }
        let choice = machine::idlest_cpu(&allowed)?;
        Ok(Self {
            cpu: choice.cpu,
            why: choice.reason,
            allowed,
        })
    }

    /// No CPU in particular: the measured code uses them all.
    pub fn any() -> Result<Self> {
        let allowed = allowed()?;
        Ok(Self {
            cpu: allowed.first().copied().unwrap_or(0),
            why: String::new(),
            allowed,
        })
    }

    /// Runs `work` pinned to the chosen CPU, then restores the affinity mask.
    pub fn pinned<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        affinity::confine(&[self.cpu]).map_err(|e| {
            Error::system(
                &format!("pinning to CPU {}", self.cpu),
                &e,
                "choose another by `taskset -c N`",
            )
        })?;
        let result = work();
        affinity::confine(&self.allowed).map_err(|e| Error::system("restoring the affinity mask", &e, "run again"))?;
        result
    }
}

fn allowed() -> Result<Vec<u32>> {
    affinity::allowed().map_err(|e| {
        Error::system(
            "sched_getaffinity",
            &e,
            "this kernel has more CPUs than the lab supports",
        )
    })
}

fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}
