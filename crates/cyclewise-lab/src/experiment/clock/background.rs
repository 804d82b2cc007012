//! Rows sampled while a thread on another CPU works in the background.

use crate::error::{Error, Result};
use crate::runner::{Loops, Sample, Sampler};
use crate::sys::affinity;
use cyclewise::clock::{Clock, Upkeep};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// A CPU of `cpus` other than this thread's, if there is one.
fn another(cpus: &[u32]) -> Option<u32> {
    let here = affinity::current_cpu();
    cpus.iter().copied().find(|&cpu| cpu != here)
}

fn no_thread(cause: &std::io::Error) -> Error {
    Error::system("making a thread", cause, "raise `ulimit -u`")
}

/// A row with a thread in the background.
struct Beside<T> {
    subject: Box<dyn Sampler>,
    /// Ends with the subject.
    background: T,
    sample: fn(&mut dyn Sampler, &T) -> Result<Sample>,
}

/// `subject`, with `work` repeated on another of `cpus` while it is sampled; `None` if there is no other CPU.
///
/// # Errors
/// Exit 3 if no thread can be created.
pub(super) fn beside(subject: Box<dyn Sampler>, cpus: &[u32], work: fn()) -> Result<Option<Box<dyn Sampler>>> {
    let Some(cpu) = another(cpus) else {
        return Ok(None);
    };
    Ok(Some(Box::new(Beside {
        subject,
        background: Worker::start(cpu, work)?,
        sample: |subject, worker| {
            worker.order(true);
            let sample = subject.sample();
            worker.order(false);
            sample
        },
    })))
}

/// A thread that works on request. It exists all the time: starting it, or waiting for it in the kernel, would switch
/// contexts, which spoils a sample.
struct Worker {
    orders: Arc<Orders>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Orders {
    work: AtomicBool,
    works: AtomicBool,
    end: AtomicBool,
}

/// Sleep between two checks for work.
const NAP: Duration = Duration::from_micros(50);

impl Worker {
    fn start(cpu: u32, work: fn()) -> Result<Self> {
        let orders = Arc::new(Orders::default());
        let taken = Arc::clone(&orders);
        let thread = Builder::new().spawn(move || {
            // If the CPU has gone offline, this thread may run on the reader's CPU, and guards reject the samples.
            let _ = affinity::confine(&[cpu]);
            while !taken.end.load(Relaxed) {
                if taken.work.load(Relaxed) {
                    work();
                    // Release: pairs with the Acquire of `order`.
                    taken.works.store(true, Release);
                } else {
                    // Release: as above; the work before is done for a thread that sees this.
                    taken.works.store(false, Release);
                    std::thread::sleep(NAP);
                }
            }
        });
        let thread = thread.map_err(|e| no_thread(&e))?;
        Ok(Self {
            orders,
            thread: Some(thread),
        })
    }

    /// Starts or stops the work, and waits until the thread has done so.
    fn order(&self, work: bool) {
        self.orders.work.store(work, Relaxed);
        // Acquire: pairs with the Releases of the thread.
        while self.orders.works.load(Acquire) != work {
            std::hint::spin_loop();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders.end.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has no result.
            let _ = thread.join();
        }
    }
}

impl<T> Sampler for Beside<T> {
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
        (self.sample)(&mut *self.subject, &self.background)
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
    // A new thread inherits its creator's affinity, and this thread is pinned.
    let make = move || {
        affinity::confine(&[cpu])?;
        Upkeep::start(clock)
    };
    let made = Builder::new().spawn(make).map_err(|e| no_thread(&e))?;
    let upkeep: Upkeep = match made.join() {
        Ok(upkeep) => upkeep.map_err(|e| no_thread(&e))?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    Ok(Some(Box::new(Beside {
        subject,
        background: upkeep,
        sample: |subject, _| subject.sample(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Bench;
    use std::sync::atomic::AtomicU64;

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

    static DONE: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn the_work_is_done_during_the_sample_and_not_after() {
        let subject = Bench::new().calls("nothing", || std::hint::black_box(()));
        let cpus = affinity::allowed().unwrap();
        let beside = beside(subject, &cpus, || {
            DONE.fetch_add(1, Relaxed);
        });
        let Some(mut subject) = beside.unwrap() else {
            return eprintln!("skipped: this process may use one CPU only");
        };
        assert_eq!(DONE.load(Relaxed), 0);
        for _ in 0..3 {
            let before = DONE.load(Relaxed);
            subject.sample().unwrap();
            let after = DONE.load(Relaxed);
            assert!(after > before);
            std::thread::yield_now();
            assert_eq!(DONE.load(Relaxed), after);
        }
    }
}
