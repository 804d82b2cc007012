//! A row sampled while a thread on another CPU refreshes its clock.

use crate::error::{Error, Result};
use crate::runner::{Loops, Sample, Sampler};
use crate::sys::affinity;
use cyclewise::clock::{Clock, Upkeep};
use std::thread::Builder;

/// A CPU of `cpus` other than this thread's, if there is one.
fn another(cpus: &[u32]) -> Option<u32> {
    let here = affinity::current_cpu();
    cpus.iter().copied().find(|&cpu| cpu != here)
}

struct Kept {
    subject: Box<dyn Sampler>,
    /// Ends with the subject.
    _upkeep: Upkeep,
}

impl Sampler for Kept {
    fn name(&self) -> &str {
        self.subject.name()
    }

    fn code_bytes(&self) -> Option<u32> {
        self.subject.code_bytes()
    }

    fn loops(&self) -> Option<Loops> {
        self.subject.loops()
    }

    fn sample(&mut self) -> Result<Sample> {
        self.subject.sample()
    }
}

/// `subject`, while a thread on another of `cpus` refreshes `clock`; `None` if there is no other CPU.
///
/// # Errors
/// Exit 3 if no thread can be created.
pub(super) fn kept(subject: Box<dyn Sampler>, cpus: &[u32], clock: &'static Clock) -> Result<Option<Box<dyn Sampler>>> {
    let Some(cpu) = another(cpus) else {
        return Ok(None);
    };
    let no_thread = |cause| Error::system("making a thread", &cause, "raise `ulimit -u`");
    // A new thread inherits its creator's affinity, and this thread is pinned.
    let make = move || {
        affinity::confine(&[cpu])?;
        Upkeep::start(clock)
    };
    let made = Builder::new().spawn(make).map_err(no_thread)?;
    let upkeep = match made.join() {
        Ok(upkeep) => upkeep.map_err(no_thread)?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    Ok(Some(Box::new(Kept {
        subject,
        _upkeep: upkeep,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cpu_is_used_that_is_not_among_those_given() {
        let here = affinity::current_cpu();
        // The test's thread may be moved meanwhile, but never to a CPU that does not exist.
        assert_eq!(another(&[1 << 20]), Some(1 << 20));
        assert_eq!(another(&[]), None);
        let only = std::thread::spawn(move || {
            affinity::confine(&[here]).unwrap();
            another(&[here])
        });
        assert_eq!(only.join().unwrap(), None);
    }
}
