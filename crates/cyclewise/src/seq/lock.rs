//! A value that readers copy, and writers replace one at a time.
//!
//! # States
//! The number is even while the value can be read, and odd while a writer has the lock. [`NEW`] is odd too: the first reader or writer
//! initializes the bytes of padding, which no constant can.
//!
//! # Safety
//! 1. Words change only while the number is odd, by the one thread that has made it so, and an even number does not come again.
#![expect(unsafe_code, reason = "a copy of words is called a value where the number says so")]

use super::sequence::Sequence;
use super::wait::{ATTEMPTS, wait};
use super::words::Words;
use crate::primitive::const_fn;
use core::fmt;

const NEW: u64 = 1; // as `new` left it
const FIRST: u64 = 4; // the first number of a value

/// A value of any size, which readers copy without storing to memory that others read.
///
/// For small values that are read often and seldom written: a configuration's numbers, a rate and its base, a pair of pointers. Where
/// values need a destructor, see `rcu`.
///
/// # Examples
/// ```
/// use cyclewise::seq::SeqLock;
///
/// let position = SeqLock::new((1.0, 2.0));
/// position.update(|(x, y)| (x + 1.0, y + 1.0));
/// assert_eq!(position.read(), (2.0, 3.0));
/// ```
pub struct SeqLock<T> {
    sequence: Sequence,
    words: Words<T>,
}

impl<T: Copy> SeqLock<T> {
    const_fn! {
        /// A lock that holds `value`.
        pub fn new(value: T) -> Self {
            Self {
                sequence: Sequence::new(NEW),
                words: Words::new(value),
            }
        }
    }

    /// The value. Waits for a writer: it spins, then sleeps 50 µs at a time.
    #[inline]
    pub fn read(&self) -> T {
        let mut attempt = 0;
        // One copy, in registers where it fits: the slow path returns none.
        loop {
            if let Some((_, value)) = self.read_once() {
                return value;
            }
            attempt = self.wait_slow(attempt);
        }
    }

    /// The value, unless 100 attempts met a writer: one that was preempted, or that the calling signal handler interrupted.
    #[inline]
    pub fn try_read(&self) -> Option<T> {
        let read = self.read_once().or_else(|| self.try_read_slow());
        read.map(|(_, value)| value)
    }

    /// The number and its value, if no writer is met.
    #[inline(always)]
    fn read_once(&self) -> Option<(u64, T)> {
        let number = self.sequence.load();
        if number % 2 == 1 {
            return None;
        }
        let copied = self.words.load();
        if !self.sequence.is_still(number) {
            return None;
        }
        // SAFETY: the number was even before and after the words were loaded, so all are of one value (Safety 1).
        Some((number, unsafe { copied.value() }))
    }

    #[cold]
    #[inline(never)]
    fn try_read_slow(&self) -> Option<(u64, T)> {
        self.initialize();
        (1..ATTEMPTS).find_map(|_| {
            core::hint::spin_loop();
            self.read_once()
        })
    }

    #[cold]
    #[inline(never)]
    fn wait_slow(&self, attempt: u32) -> u32 {
        self.initialize();
        wait(attempt)
    }

    /// Replaces the value. Waits for another writer as [`read`](Self::read) does.
    pub fn write(&self, value: T) {
        self.initialize();
        let mut attempt = 0;
        while !self.write_once(None, value) {
            attempt = wait(attempt);
        }
    }

    /// Replaces the value.
    ///
    /// # Errors
    /// The value, if another writer has the lock.
    pub fn try_write(&self, value: T) -> Result<(), T> {
        self.initialize();
        if self.write_once(None, value) {
            Ok(())
        } else {
            Err(value)
        }
    }

    /// Replaces the value by what `change` makes of it, and returns the earlier one. `change` is called again where another writer was faster,
    /// and may use the lock: it is not held meanwhile.
    pub fn update(&self, mut change: impl FnMut(T) -> T) -> T {
        let mut attempt = 0;
        loop {
            match self.read_once() {
                Some((number, old)) if self.write_once(Some(number), change(old)) => return old,
                Some(_) => {}
                None => attempt = self.wait_slow(attempt),
            }
        }
    }

    /// Takes the lock, writes and releases it, if no writer has it; and if the number is this one, where one is given.
    fn write_once(&self, expected: Option<u64>, value: T) -> bool {
        let number = expected.unwrap_or_else(|| self.sequence.load());
        if number % 2 == 1 || !self.sequence.claim(number, number + 1) {
            return false;
        }
        self.words.store(value);
        self.sequence.publish(number + 2);
        true
    }

    /// Has the words of a new value be stored, once.
    #[inline]
    fn initialize(&self) {
        if self.sequence.load() == NEW && self.sequence.claim(NEW, NEW + 2) {
            // SAFETY: the claim is this thread's alone, and while the number was `NEW` nobody has accessed the words.
            let value = unsafe { self.words.first() };
            self.words.store(value);
            self.sequence.publish(FIRST);
        }
    }

    /// The value, of a lock that nobody else uses. In a child of fork it waits for ever where another thread was writing.
    pub fn into_inner(self) -> T {
        self.read()
    }
}

#[cfg(test)]
impl<T: Copy> SeqLock<T> {
    /// Stops in the middle of a write, as a preempted writer does.
    pub(super) fn begin(&self) -> u64 {
        self.initialize();
        let number = self.sequence.load();
        assert!(self.sequence.claim(number, number + 1));
        number
    }

    pub(super) fn end(&self, number: u64) {
        self.sequence.publish(number + 2);
    }

    /// The twin of `read`: it does not look at the number.
    pub(super) fn read_unchecked(&self) -> T {
        self.initialize();
        // SAFETY: for types of which any words are a value.
        unsafe { self.words.load().value() }
    }
}

impl<T: Copy + Default> Default for SeqLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Copy> From<T> for SeqLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for SeqLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_read() {
            Some(value) => f.debug_tuple("SeqLock").field(&value).finish(),
            None => f.write_str("SeqLock(<locked>)"),
        }
    }
}
