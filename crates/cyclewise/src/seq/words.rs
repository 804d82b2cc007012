//! A value in words that may be changed while they are copied.
//!
//! Words are `AtomicPtr`, so that pointers in a value keep what they point to.
//!
//! # Safety
//! 1. The memory of [`Padded`] is a whole number of words, aligned for a word.
//! 2. After [`Words::store`] each byte is initialized (Invariant 2 of [`seq`](super)); every later access is an atomic one of a word.
#![expect(unsafe_code, reason = "a value's memory as words")]

use crate::arch::freeze::freeze;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::panic::RefUnwindSafe;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;

type Word = *mut ();

/// A value in whole words.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Padded<T>(T);

/// A copy of words, which may be of two values.
pub(super) struct Copied<T>(MaybeUninit<Padded<T>>);

impl<T: Copy> Copied<T> {
    /// The value.
    ///
    /// # Safety
    /// All words are of one value.
    #[inline(always)]
    pub(super) unsafe fn value(self) -> T {
        // SAFETY: the caller's promise: the bytes are a `T`'s.
        unsafe { self.0.assume_init() }.0
    }
}

pub(super) struct Words<T>(UnsafeCell<MaybeUninit<Padded<T>>>);

// SAFETY: shared are the words alone, which are accessed atomically (Safety 2). Who copies a value gets one of its own.
unsafe impl<T: Send> Sync for Words<T> {}

/// A panic leaves words of whole values: nobody runs others' code between the stores of one.
impl<T: RefUnwindSafe> RefUnwindSafe for Words<T> {}

impl<T: Copy> Words<T> {
    const COUNT: usize = {
        assert!(
            align_of::<Padded<T>>() >= align_of::<Word>() && size_of::<Padded<T>>().is_multiple_of(size_of::<Word>())
        );
        size_of::<Padded<T>>() / size_of::<Word>()
    };

    /// A value whose words may not be loaded yet: see [`first`](Self::first).
    pub(super) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(MaybeUninit::new(Padded(value))))
    }

    /// The value that `new` was given.
    ///
    /// # Safety
    /// No word was stored or loaded yet, and no other thread does meanwhile.
    pub(super) unsafe fn first(&self) -> T {
        // SAFETY: what `new` wrote, which nobody changes, guaranteed by the caller.
        unsafe { self.0.get().cast::<Padded<T>>().read() }.0
    }

    #[inline(always)]
    fn word(&self, n: usize) -> &AtomicPtr<()> {
        debug_assert!(n < Self::COUNT);
        let words = self.0.get().cast::<AtomicPtr<()>>();
        // SAFETY: inside the value's memory (Safety 1).
        let word = unsafe { words.add(n) };
        // SAFETY: aligned, lives as long as `self`, and accessed as an atomic (Safety 2).
        unsafe { &*word }
    }

    /// Copies the words. They have been stored.
    #[inline(always)]
    pub(super) fn load(&self) -> Copied<T> {
        let mut copy = MaybeUninit::<Padded<T>>::uninit();
        let to = copy.as_mut_ptr().cast::<Word>();
        for n in 0..Self::COUNT {
            // Relaxed: the sequence orders it.
            let word = self.word(n).load(Relaxed);
            // SAFETY: as many words as the copy has (Safety 1).
            let to = unsafe { to.add(n) };
            // SAFETY: inside the copy.
            unsafe { to.write(word) };
        }
        Copied(copy)
    }

    /// Stores a value, with all bytes of its words initialized.
    #[inline(always)]
    pub(super) fn store(&self, value: T) {
        let mut copy = MaybeUninit::<Padded<T>>::zeroed();
        // SAFETY: a `T` is at the start, and this is the copy's own memory.
        unsafe { copy.as_mut_ptr().cast::<T>().write(value) };
        freeze(&mut copy);
        let from = copy.as_ptr().cast::<Word>();
        for n in 0..Self::COUNT {
            // SAFETY: as many words as the copy has (Safety 1).
            let from = unsafe { from.add(n) };
            // SAFETY: inside the copy, and each byte is initialized by now.
            let word = unsafe { from.read() };
            // Relaxed: as in `load`.
            self.word(n).store(word, Relaxed);
        }
    }
}
