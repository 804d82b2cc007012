//! Slots for values of one type, found by keys that may be stale: the memory that [`Rcuref`] needs.
//!
//! # Invariants
//! 1. A slot's memory lives as long as the pool, and every [`Entry`] borrows the pool.
//! 2. A slot belongs to one thread from the moment it sets the slot's bit in `used` until it revives the count, and
//!    from the moment it held the last reference until it clears the bit. Only then is the slot's value written, moved
//!    or dropped, and only then does its generation change.
//! 3. While a reference to a slot is held, the slot has a value.
//!
//! # Safety
//! The unsafe operations are those on a slot's value, each of which cites Invariant 2 or 3, and the writing of new slots.
#![expect(unsafe_code, reason = "values in slots whose owner is known by a count")]

use super::{Got, Rcuref};
use crate::atomic::{AtomicU64, AtomicUsize};
use alloc::boxed::Box;
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A fixed number of slots for values of one type, each with its own reference count.
///
/// [`insert`](Self::insert) returns the first reference, an [`Entry`]. The last entry drops the value, and its slot is
/// reused. A [`Key`] finds an entry as long as one exists: what a `Weak` is to an `Arc`, but a key is a number, keeps
/// no memory, and [`get`](Self::get) is wait-free however many threads look up the same value.
///
/// # Examples
/// ```
/// use cyclewise::refs::rcuref::Pool;
///
/// let pool = Pool::new(100);
/// let session = pool.insert("session").unwrap();
/// let key = session.key();
/// assert_eq!(pool.get(key).as_deref(), Some(&"session"));
/// drop(session);
/// assert!(pool.get(key).is_none());
/// ```
pub struct Pool<T> {
    slots: Box<[Slot<T>]>,
    /// A bit per slot: whether it is in use, or about to be.
    used: Box<[AtomicU64]>,
    /// The word of `used` where the last free slot was found.
    hint: AtomicUsize,
}

struct Slot<T> {
    count: Rcuref,
    /// The number of values that the slot has had. 64 bits do not wrap.
    generation: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the pool owns its values; only entries give access to them.
unsafe impl<T: Send> Send for Pool<T> {}
// SAFETY: entries on several threads share values, and the last one drops them, on any thread.
unsafe impl<T: Send + Sync> Sync for Pool<T> {}

/// A slot and a generation. Stale keys find nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    slot: usize,
    generation: u64,
}

impl<T> Pool<T> {
    /// A pool with `capacity` slots.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        // Written in place: a slot on the stack overflows that if the values are large and the build is not optimized.
        let mut slots = Box::<[Slot<T>]>::new_uninit_slice(capacity);
        for slot in &mut slots {
            let slot = slot.as_mut_ptr();
            // SAFETY: a field of memory for a slot.
            let count = unsafe { &raw mut (*slot).count };
            // SAFETY: a field of memory for a slot.
            let generation = unsafe { &raw mut (*slot).generation };
            // SAFETY: nobody else has the slot yet.
            unsafe { count.write(Rcuref::dead()) };
            // SAFETY: nobody else has the slot yet.
            unsafe { generation.write(AtomicU64::new(0)) };
        }
        let words = capacity.div_ceil(64);
        // Bits after the last slot stay set.
        let word = |i| {
            AtomicU64::new(if i * 64 + 64 > capacity {
                !0 << (capacity % 64)
            } else {
                0
            })
        };
        Self {
            // SAFETY: both fields of each are written, and the third needs no value.
            slots: unsafe { slots.assume_init() },
            used: (0..words).map(word).collect(),
            hint: AtomicUsize::new(0),
        }
    }

    /// The number of slots.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Stores a value in a free slot and returns the first reference to it.
    ///
    /// Searches the bits for a free slot, 64 at a time, from where the last was found.
    ///
    /// # Errors
    /// The value, if every slot is in use.
    ///
    /// # Memory ordering
    /// A caller that [`get`](Self::get)s the value sees earlier writes.
    pub fn insert(&self, value: T) -> Result<Entry<'_, T>, T> {
        let Some(at) = self.claim() else {
            return Err(value);
        };
        let slot = &self.slots[at];
        // SAFETY: the slot is this thread's alone (Invariant 2).
        unsafe { (*slot.value.get()).write(value) };
        // Relaxed: the slot is ours, and `revive` publishes it.
        slot.generation.inc(Relaxed);
        slot.count.revive();
        Ok(Entry { pool: self, slot: at })
    }

    /// An entry of the value with `key`, if one still exists: wait-free.
    ///
    /// # Memory ordering
    /// Acquire: writes before the insertion are visible.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<Entry<'_, T>> {
        let slot = self.slots.get(key.slot)?;
        match slot.count.get() {
            Got::Reference => {}
            Got::Dead => return None,
            Got::Last => {
                self.free(key.slot);
                return None;
            }
        }
        let entry = Entry {
            pool: self,
            slot: key.slot,
        };
        // Relaxed: acquired with the count, and unchanged while it is held (Invariant 2). An entry of another value is
        // put again.
        (slot.generation.load(Relaxed) == key.generation).then_some(entry)
    }

    /// A slot that was free and is now this thread's.
    fn claim(&self) -> Option<usize> {
        // Relaxed: the exchange checks it.
        let first = self.hint.load(Relaxed);
        for i in 0..self.used.len() {
            let word = (first + i) % self.used.len();
            // Relaxed: the exchange checks it.
            let mut bits = self.used[word].load(Relaxed);
            while bits != u64::MAX {
                let free = bits.trailing_ones();
                // Acquire: pairs with the Release in `free`. Relaxed on failure: the next exchange checks it.
                match self.used[word].compare_exchange_weak(bits, bits | 1 << free, Acquire, Relaxed) {
                    Ok(_) => {
                        // Relaxed: the exchange checks it.
                        self.hint.store(word, Relaxed);
                        return Some(word * 64 + free as usize);
                    }
                    Err(now) => bits = now,
                }
            }
        }
        None
    }

    /// Drops the value of a slot whose last reference the caller held, and frees the slot.
    ///
    /// # Panics
    /// If the value's drop panics; the slot is freed all the same.
    #[cold]
    fn free(&self, at: usize) {
        let slot = &self.slots[at];
        let _back = GivenBack(&self.used[at / 64], !(1 << (at % 64)));
        // SAFETY: the slot is this thread's alone (Invariant 2).
        let value = unsafe { &mut *slot.value.get() };
        // SAFETY: it has a value (Invariant 3), which is not used again.
        unsafe { value.assume_init_drop() };
    }
}

/// Clears a slot's bit when dropped, also if the value's drop panics.
struct GivenBack<'p>(&'p AtomicU64, u64);

impl Drop for GivenBack<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `claim`.
        self.0.and(self.1, Release);
    }
}

impl<T> Drop for Slot<T> {
    /// Drops the value if it is counted: after the pool's last borrow these are values of forgotten entries.
    fn drop(&mut self) {
        if self.count.read() > 0 {
            // SAFETY: references to it are counted, so there is a value (Invariant 3).
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

/// A reference to a value in a [`Pool`]. Dropping the last one drops the value.
pub struct Entry<'p, T> {
    pool: &'p Pool<T>,
    slot: usize,
}

impl<T> Entry<'_, T> {
    /// The key that finds this value as long as an entry of it exists.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            slot: self.slot,
            // Relaxed: unchanged while the count is held (Invariant 2).
            generation: self.slot().generation.load(Relaxed),
        }
    }

    fn slot(&self) -> &Slot<T> {
        &self.pool.slots[self.slot]
    }
}

impl<T> Deref for Entry<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this entry is counted, so nobody writes the value (Invariant 2).
        let value = unsafe { &*self.slot().value.get() };
        // SAFETY: and there is one (Invariant 3).
        unsafe { value.assume_init_ref() }
    }
}

impl<T> Clone for Entry<'_, T> {
    fn clone(&self) -> Self {
        // The count is held, so it is not dead.
        let got = self.slot().count.get();
        debug_assert_eq!(got, Got::Reference, "an entry is counted");
        Self {
            pool: self.pool,
            slot: self.slot,
        }
    }
}

impl<T> Drop for Entry<'_, T> {
    fn drop(&mut self) {
        if self.slot().count.put() {
            self.pool.free(self.slot);
        }
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Entry<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
