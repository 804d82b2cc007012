//! The rows with threads: a get and a put on a count that all threads share.

use super::retries::{Counted, Retries, taken};
use crate::error::{Error, Result};
use crate::runner::crowd::{Crowd, repeat};
use crate::runner::{Sample, Sampler, metrics};
use cyclewise::refs::lockref::{Guard, LockRef, Policy};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::{Mutex, PoisonError};

/// A count that threads share.
pub(super) trait Count: Send + Sync {
    /// Takes one and drops it.
    fn pair(&self);

    /// How many are held now.
    fn left(&self) -> i64;
}

/// Alone in its cache lines; neighbours are fetched in pairs.
#[repr(align(128))]
pub(super) struct Apart<T>(pub(super) T);

/// get and `put_or_lock`.
impl<P: Policy + Send + Sync> Count for Apart<LockRef<(), P>> {
    #[inline(always)]
    fn pair(&self) {
        self.0.get();
        // Never the last: one is kept.
        drop(self.0.put_or_lock());
    }

    fn left(&self) -> i64 {
        i64::from(self.0.count()) - 1
    }
}

/// A lockref with a policy that counts.
pub(super) fn counted<P: Policy>(policy: P) -> Apart<LockRef<(), Counted<P>>> {
    Apart(LockRef::with_policy(1, (), Counted(policy)))
}

/// The same count, always under its lock, as proposed in 2019.
pub(super) struct Locked(pub(super) Apart<LockRef<()>>);

impl Count for Locked {
    #[inline(always)]
    fn pair(&self) {
        Guard::get(&mut self.0.0.lock());
        Guard::put(&mut self.0.0.lock());
    }

    fn left(&self) -> i64 {
        self.0.left()
    }
}

/// A count in std's mutex.
impl Count for Apart<Mutex<i64>> {
    #[inline(always)]
    fn pair(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }

    fn left(&self) -> i64 {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A plain atomic count: the lower bound for a shared count.
impl Count for Apart<AtomicU64> {
    #[inline(always)]
    fn pair(&self) {
        self.0.fetch_add(1, Relaxed);
        self.0.fetch_sub(1, Release);
    }

    fn left(&self) -> i64 {
        self.0.load(Relaxed).cast_signed()
    }
}

/// A row: threads on a count that is new for each sample.
pub(super) struct CountRow<C> {
    name: String,
    crowd: Crowd,
    make: Box<dyn Fn() -> C>,
}

impl<C: Count + 'static> CountRow<C> {
    pub(super) fn sampler(name: String, crowd: &Crowd, make: impl Fn() -> C + 'static) -> Box<dyn Sampler> {
        Box::new(Self {
            name,
            crowd: crowd.clone(),
            make: Box::new(make),
        })
    }
}

impl<C: Count> Sampler for CountRow<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let count = (self.make)();
        let name: &str = &self.name;
        let run = self
            .crowd
            .run(name, |_, stop| (repeat(stop, || count.pair()), taken()))?;
        if count.left() != 0 {
            return Err(Error::check(format!(
                "{name}: {} references are left after all were dropped; updates were lost",
                count.left()
            )));
        }
        let mut retries = Retries::default();
        run.results().for_each(|(_, of_thread)| retries += *of_thread);
        let pairs = run.results().map(|(pairs, _)| pairs).sum::<u64>() as f64;
        // A pair is two operations.
        let operations = 2.0 * pairs;
        Ok(Sample {
            value: run.ticks() as f64 / pairs,
            metrics: metrics([
                ("retries per operation", "1", retries.failed as f64 / operations),
                ("fallbacks", "%", 100.0 * retries.queued as f64 / operations),
            ]),
            ..Sample::default()
        })
    }
}
