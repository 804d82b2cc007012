//! Choosing and taking the CPU for single-threaded samples.

use crate::error::{Error, Result};
use crate::machine;
use crate::sys::affinity;

/// Where the measuring thread runs, and where it may.
pub(super) struct Place {
    /// The CPU for single-threaded samples.
    pub(super) cpu: u32,
    /// Why this one.
    pub(super) why: String,
    /// CPUs the process may use.
    pub(super) allowed: Vec<u32>,
}

impl Place {
    /// Takes the CPU asked for, or the idlest of those allowed.
    pub(super) fn choose(asked: Option<u32>) -> Result<Self> {
        let allowed = affinity::allowed().map_err(|e| {
            Error::system(
                "sched_getaffinity",
                &e,
                "this kernel has more CPUs than the lab can name",
            )
        })?;
        if let Some(cpu) = asked {
            if !allowed.contains(&cpu) {
                let list = list(&allowed);
                return Err(Error::usage(format!(
                    "--cpu {cpu}: this process may not run there; its affinity mask allows {list}"
                )));
            }
            return Ok(Self {
                cpu,
                why: format!("CPU {cpu}, as asked"),
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

    /// No CPU in particular: what is measured uses them all.
    pub(super) fn anywhere() -> Result<Self> {
        let allowed = affinity::allowed().map_err(|e| {
            Error::system(
                "sched_getaffinity",
                &e,
                "this kernel has more CPUs than the lab can name",
            )
        })?;
        Ok(Self {
            cpu: allowed.first().copied().unwrap_or(0),
            why: String::new(),
            allowed,
        })
    }

    /// Runs `work` on the chosen CPU alone, and gives the mask back.
    pub(super) fn pinned<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        affinity::confine(&[self.cpu])
            .map_err(|e| Error::system(&format!("pinning to CPU {}", self.cpu), &e, "choose another with --cpu"))?;
        let result = work();
        affinity::confine(&self.allowed)
            .map_err(|e| Error::system("giving back the affinity mask", &e, "run again"))?;
        result
    }
}

fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}
