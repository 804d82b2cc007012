//! The rows without other threads: a few instructions, on one CPU.

use crate::error::{Error, Result};
use crate::experiment::elided::ElidedRows;
use crate::runner::{Bench, Loops, Sample, Sampler};
use crate::sys::affinity;
use cyclewise::refs::lockref::{Guard, LockRef};
use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Samples of a row taken in succession; their median is used.
const AT_ONCE: usize = 15;

/// Medians for one sample; their least is used. The experiment's guard does not detect what disturbs a few
/// instructions, such as a sibling thread on the same core, which only ever adds time, and for some milliseconds.
const WINDOWS: usize = 3;

/// Sleep between two windows.
const APART: Duration = Duration::from_millis(4);

pub(super) fn rows(cpu: u32, cpus: &[u32], elided: &mut ElidedRows) -> Result<Vec<Box<dyn Sampler>>> {
    let mut bench = Bench::new();
    // Also on that CPU: batch lengths are determined here.
    on(cpu, cpus, || {
        let mut rows = vec![
            bench.calls("lockref", get_put()),
            bench.calls("cas-pair", cas_pair()),
            bench.calls("lockref-ref", reference()),
            bench.calls("lockref-lock", lock_pair()),
            bench.calls("mutex-count", mutex_pair()),
        ];
        #[cfg(target_arch = "x86_64")]
        rows.push(bench.calls("plain-cas-pair", plain_cas_pair()));
        rows.extend(elided.row("lockref-elided", || bench.calls("lockref-elided", get_put())));
        let pinned = |row| {
            Box::new(Pinned {
                row,
                cpu,
                cpus: cpus.to_vec(),
            }) as Box<dyn Sampler>
        };
        Ok(rows.into_iter().map(pinned).collect())
    })
}

fn get_put() -> impl FnMut() + 'static {
    let lockref = Box::new(LockRef::new(()));
    move || {
        lockref.get();
        drop(lockref.put_or_lock());
    }
}

/// Two bare updates of one word: a load, an addition, a compare-and-exchange, and a jump that is not taken.
fn cas_pair() -> impl FnMut() + 'static {
    let word = Box::new(AtomicU64::new(1 << 32));
    let update = |word: &AtomicU64, add: u64| {
        let found = word.load(Relaxed);
        if word
            .compare_exchange(found, found.wrapping_add(add), Relaxed, Relaxed)
            .is_err()
        {
            failed();
        }
    };
    move || {
        update(&word, 1 << 32);
        update(&word, (1u64 << 32).wrapping_neg());
    }
}

/// Called if an exchange fails: never, alone.
#[cold]
#[inline(never)]
fn failed() {
    black_box(());
}

/// The same without LOCK.
#[cfg(target_arch = "x86_64")]
fn plain_cas_pair() -> impl FnMut() + 'static {
    use crate::arch::plain::cmpxchg;
    let mut word = Box::new(1u64 << 32);
    let update = |word: &mut u64, add: u64| {
        let found = *word;
        if cmpxchg(word, found, found.wrapping_add(add)) != found {
            failed();
        }
    };
    move || {
        update(&mut word, 1 << 32);
        update(&mut word, (1u64 << 32).wrapping_neg());
    }
}

/// By a guard that puts on drop.
fn reference() -> impl FnMut() + 'static {
    let lockref = Box::new(LockRef::new(()));
    move || {
        drop(lockref.reference());
    }
}

/// The same two changes, each under the lock.
fn lock_pair() -> impl FnMut() + 'static {
    let lockref = Box::new(LockRef::new(()));
    move || {
        Guard::get(&mut lockref.lock());
        Guard::put(&mut lockref.lock());
    }
}

fn mutex_pair() -> impl FnMut() + 'static {
    let count = Box::new(Mutex::new(1u64));
    move || {
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        *count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// A row that is measured on one CPU while the others of its experiment use them all.
struct Pinned {
    row: Box<dyn Sampler>,
    cpu: u32,
    cpus: Vec<u32>,
}

impl Sampler for Pinned {
    fn name(&self) -> &str {
        self.row.name()
    }

    fn loops(&self) -> Option<Loops> {
        self.row.loops()
    }

    fn sample(&mut self) -> Result<Sample> {
        on(self.cpu, &self.cpus, || {
            let mut least: Option<Sample> = None;
            for window in 0..WINDOWS {
                if window > 0 {
                    std::thread::sleep(APART);
                }
                let mut samples = Vec::with_capacity(AT_ONCE);
                for _ in 0..AT_ONCE {
                    samples.push(self.row.sample()?);
                }
                samples.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
                let median = samples.swap_remove(AT_ONCE / 2);
                least = Some(match least {
                    Some(least) if least.value <= median.value => least,
                    _ => median,
                });
            }
            Ok(least.unwrap_or_default())
        })
    }
}

/// Runs `work` on one CPU and restores the affinity mask.
fn on<T>(cpu: u32, cpus: &[u32], work: impl FnOnce() -> Result<T>) -> Result<T> {
    let hint = "do not change the cpuset while it runs";
    affinity::confine(&[cpu]).map_err(|e| Error::system(&format!("pinning to CPU {cpu}"), &e, hint))?;
    let result = work();
    affinity::confine(cpus).map_err(|e| Error::system("restoring the affinity mask", &e, hint))?;
    result
}
