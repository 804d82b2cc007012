//! A sequence count over data and a writer's lock of the caller's.

use super::sequence::Sequence;
use super::wait::ATTEMPTS;
use crate::primitive::const_fn;

/// A count by which readers of several atomics see whether a writer changed them meanwhile.
///
/// The data are the caller's atomics, accessed with `Relaxed`. Writers exclude each other by a lock of the caller's. Two writers at
/// once let readers see the values of both mixed, and nothing worse.
///
/// # Examples
/// ```
/// use cyclewise::seq::SeqCount;
/// use std::sync::Mutex;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// static COUNT: SeqCount = SeqCount::new();
/// static LOCK: Mutex<()> = Mutex::new(());
/// static ENDS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(1)];
///
/// let mut lock = LOCK.lock().unwrap();
/// let writer = COUNT.write(&mut lock);
/// ENDS[0].store(5, Relaxed);
/// ENDS[1].store(9, Relaxed);
/// drop(writer);
/// drop(lock);
///
/// let load = || (ENDS[0].load(Relaxed), ENDS[1].load(Relaxed));
/// let ends = COUNT.read(load).unwrap_or_else(|| {
///     let _no_writer = LOCK.lock().unwrap(); // The way out.
///     load()
/// });
/// assert_eq!(ends, (5, 9));
/// ```
#[derive(Debug)]
#[doc(alias = "seqcount_t")]
pub struct SeqCount(Sequence);

impl SeqCount {
    const_fn! {
        /// A count without a writer.
        #[must_use]
        pub fn new() -> Self {
            Self(Sequence::new(0))
        }
    }

    /// What `section` returns if no writer was there meanwhile; `None` after 100 attempts. Then take the writer's lock.
    ///
    /// `section` may load values of several writers, and must neither loop nor index by them unchecked.
    #[inline]
    pub fn read<R>(&self, mut section: impl FnMut() -> R) -> Option<R> {
        for _ in 0..ATTEMPTS {
            let number = self.read_begin();
            let result = section();
            if !self.read_retry(number) {
                return Some(result);
            }
            core::hint::spin_loop();
        }
        None
    }

    /// Begins a section of loads, without waiting for a writer. Returns what [`read_retry`](Self::read_retry) compares.
    #[inline(always)]
    #[must_use]
    #[doc(alias = "raw_seqcount_begin")]
    pub fn read_begin(&self) -> u64 {
        // With a writer it is odd, and the even number below is not the count any more.
        self.0.load() & !1
    }

    /// Whether the section of loads has to be repeated: there was a writer.
    #[inline(always)]
    #[must_use]
    #[doc(alias = "read_seqcount_retry")]
    pub fn read_retry(&self, begun: u64) -> bool {
        !self.0.is_still(begun)
    }

    /// Begins a section of stores, which ends when the result is dropped, also by a panic.
    ///
    /// `lock` is something that only the holder of the writer's lock can borrow: its guard.
    #[inline]
    #[doc(alias = "write_seqcount_begin")]
    pub fn write<'a, G: ?Sized>(&'a self, lock: &'a mut G) -> SeqWriter<'a> {
        let _ = lock;
        let number = self.read_begin();
        self.0.invalidate(number + 1);
        SeqWriter { count: self, number }
    }
}

impl Default for SeqCount {
    fn default() -> Self {
        Self::new()
    }
}

/// A section of stores under a [`SeqCount`].
#[derive(Debug)]
#[must_use = "the section ends when this is dropped"]
pub struct SeqWriter<'a> {
    count: &'a SeqCount,
    number: u64,
}

impl Drop for SeqWriter<'_> {
    fn drop(&mut self) {
        self.count.0.publish(self.number + 2);
    }
}
