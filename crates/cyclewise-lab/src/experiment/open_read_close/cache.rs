//! The same in userspace: a cache of entries by name, like the kernel's dentry cache, and threads that all open, read and
//! close one entry.
//!
//! Open finds the entry and takes a reference, read copies 64 bytes, close drops the reference. An entry without users
//! stays in the cache. The rows differ in how an entry counts its users:
//! - `lockref`: get if not dead, `put_or_lock`; the last put returns the lock, under which the entry becomes idle;
//! - `mutex`: a count in std's mutex;
//! - `rwlock`: std's, read-locked from open to close, as programs without a count do.
//!
//! Contents are read with a reference and never written in place: a writer kills the entry and adds another.

use crate::error::{Error, Result};
use crate::runner::crowd::{Crowd, repeat};
use crate::runner::{Sample, Sampler};
use cyclewise::refs::lockref::{Guard, LockRef};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

/// Bytes of an entry, and of a read: those of the file.
const SIZE: usize = super::target::SIZE;
const READ: usize = 64;

/// Entries of the cache, in as many buckets.
const ENTRIES: usize = 64;

/// How an entry counts its users.
pub(super) trait Users: Send + Sync + Default + 'static {
    /// The name of its rows.
    const NAME: &str;

    /// What an open entry holds.
    type Open<'a>;

    /// Takes a reference; `None` if the entry is dead.
    fn open(&self) -> Option<Self::Open<'_>>;

    /// Drops it.
    fn close(&self, open: Self::Open<'_>);

    /// Kills the entry if it has no users; returns whether it is dead now.
    fn kill(&self) -> bool;
}

/// One reference is the cache's own, so close rarely drops the last.
pub(super) struct ByLockRef(LockRef<()>);

impl Default for ByLockRef {
    fn default() -> Self {
        Self(LockRef::new(()))
    }
}

impl Users for ByLockRef {
    const NAME: &str = "lockref";
    type Open<'a> = ();

    #[inline(always)]
    fn open(&self) -> Option<()> {
        self.0.get_not_dead().then_some(())
    }

    #[inline(always)]
    fn close(&self, (): ()) {
        if let Some(mut guard) = self.0.put_or_lock() {
            Guard::put(&mut guard);
        }
    }

    fn kill(&self) -> bool {
        let mut guard = self.0.lock();
        let unused = Guard::count(&guard) == 1;
        if unused {
            Guard::mark_dead(&mut guard);
        }
        unused
    }
}

/// The number of references, including the cache's own; `None`: dead.
pub(super) struct ByMutex(Mutex<Option<u32>>);

impl Default for ByMutex {
    fn default() -> Self {
        Self(Mutex::new(Some(1)))
    }
}

impl ByMutex {
    #[inline(always)]
    fn add(&self, by: i32) -> Option<()> {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *count = Some((*count)?.wrapping_add_signed(by));
        Some(())
    }
}

impl Users for ByMutex {
    const NAME: &str = "mutex";
    type Open<'a> = ();

    #[inline(always)]
    fn open(&self) -> Option<()> {
        self.add(1)
    }

    #[inline(always)]
    fn close(&self, (): ()) {
        self.add(-1);
    }

    fn kill(&self) -> bool {
        let mut count = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *count == Some(1) {
            *count = None;
        }
        count.is_none()
    }
}

/// Whether it is dead.
#[derive(Default)]
pub(super) struct ByRwLock(RwLock<bool>);

impl Users for ByRwLock {
    const NAME: &str = "rwlock";
    type Open<'a> = RwLockReadGuard<'a, bool>;

    #[inline(always)]
    fn open(&self) -> Option<Self::Open<'_>> {
        let guard = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (!*guard).then_some(guard)
    }

    #[inline(always)]
    fn close(&self, open: Self::Open<'_>) {
        drop(open);
    }

    fn kill(&self) -> bool {
        match self.0.try_write() {
            Ok(mut dead) => {
                *dead = true;
                true
            }
            Err(_) => false,
        }
    }
}

/// An entry. Its count has its own cache lines, as in the kernel, so that name and contents stay shared.
struct Entry<U> {
    name: String,
    contents: [u8; SIZE],
    users: Apart<U>,
}

#[derive(Default)]
#[repr(align(128))]
struct Apart<U>(U);

/// Entries by name.
pub(super) struct Cache<U> {
    buckets: Vec<Vec<Entry<U>>>,
}

impl<U: Users> Cache<U> {
    fn new() -> Self {
        let mut buckets: Vec<Vec<Entry<U>>> = (0..ENTRIES).map(|_| Vec::new()).collect();
        for number in 0..ENTRIES {
            let name = name(number);
            buckets[bucket(&name)].push(Entry {
                contents: [number as u8; SIZE],
                users: Apart::default(),
                name,
            });
        }
        Self { buckets }
    }

    #[inline]
    fn find(&self, name: &str) -> Option<&Entry<U>> {
        self.buckets[bucket(name)].iter().find(|entry| entry.name == name)
    }

    /// Open, read, close. `None` if there is no such entry or it is dead.
    #[inline]
    fn open_read_close(&self, name: &str, into: &mut [u8; READ]) -> Option<()> {
        let entry = self.find(name)?;
        let open = entry.users.0.open()?;
        into.copy_from_slice(&entry.contents[..READ]);
        black_box(into);
        entry.users.0.close(open);
        Some(())
    }
}

fn name(number: usize) -> String {
    format!("file-{number}")
}

fn bucket(name: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish() as usize % ENTRIES
}

/// Threads on one entry of a cache.
pub(super) struct CacheRow<U> {
    name: String,
    crowd: Crowd,
    users: std::marker::PhantomData<fn() -> U>,
}

impl<U: Users> CacheRow<U> {
    pub(super) fn sampler(crowd: Crowd) -> Box<dyn Sampler> {
        Box::new(Self {
            name: format!("{}-t{}", U::NAME, crowd.threads),
            crowd,
            users: std::marker::PhantomData,
        })
    }
}

impl<U: Users> Sampler for CacheRow<U> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let cache = Cache::<U>::new();
        let wanted = name(ENTRIES / 2);
        let operation = || {
            let mut buffer = [0; READ];
            // No entry is killed during the run; a panic would end it.
            assert!(cache.open_read_close(black_box(&wanted), &mut buffer).is_some());
        };
        let name: &str = &self.name;
        let run = self.crowd.run(name, |_, stop| repeat(stop, operation))?;
        // An entry can be killed only after every reference was dropped.
        if !cache.find(&wanted).is_some_and(|entry| entry.users.0.kill()) {
            return Err(Error::check(format!(
                "{name}: the entry is in use after all have closed it; a close was lost"
            )));
        }
        let operations: u64 = run.results().sum();
        Ok(Sample::new(operations as f64 / run.seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opens_reads_and_closes<U: Users>() {
        let cache = Cache::<U>::new();
        let mut buffer = [0; READ];
        cache.open_read_close("file-7", &mut buffer).unwrap();
        assert_eq!(buffer, [7; READ]);
        assert!(cache.open_read_close("file-64", &mut buffer).is_none(), "not there");

        let users = &cache.find("file-7").unwrap().users.0;
        let open = users.open().unwrap();
        assert!(!users.kill(), "in use");
        users.close(open);
        assert!(users.kill());
        assert!(cache.open_read_close("file-7", &mut buffer).is_none(), "dead");
        assert!(cache.open_read_close("file-8", &mut buffer).is_some());
    }

    #[test]
    fn every_cache_opens_reads_closes_and_refuses_the_dead() {
        opens_reads_and_closes::<ByLockRef>();
        opens_reads_and_closes::<ByMutex>();
        opens_reads_and_closes::<ByRwLock>();
    }

    fn runs<U: Users>() {
        let mut row = CacheRow::<U>::sampler(Crowd::brief(3));
        assert_eq!(row.name(), format!("{}-t3", U::NAME));
        assert!(row.sample().unwrap().value > 0.0);
    }

    #[test]
    fn every_row_runs_and_gives_everything_back() {
        runs::<ByLockRef>();
        runs::<ByMutex>();
        runs::<ByRwLock>();
    }

    /// Never closes.
    #[derive(Default)]
    struct Leaky(ByLockRef);

    impl Users for Leaky {
        const NAME: &str = "leaky";
        type Open<'a> = ();
        fn open(&self) -> Option<()> {
            self.0.open()
        }
        fn close(&self, (): ()) {}
        fn kill(&self) -> bool {
            self.0.kill()
        }
    }

    #[test]
    fn a_close_that_is_lost_is_an_error() {
        let error = CacheRow::<Leaky>::sampler(Crowd::brief(1)).sample().unwrap_err();
        assert!(error.message.contains("a close was lost"), "{}", error.message);
    }
}
