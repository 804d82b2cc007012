//! The number of a sequence lock: the only implementation of its order.

use crate::primitive::const_fn;
use crate::primitive::unpatched::{AtomicU64, fence};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A number that says which value words hold.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Sequence(AtomicU64);

impl Sequence {
    const_fn! {
        pub(crate) fn new(number: u64) -> Self {
            Self(AtomicU64::new(number))
        }
    }

    /// The number before the words are loaded.
    #[inline(always)]
    pub(crate) fn load(&self) -> u64 {
        // Acquire: pairs with the Release of `publish` and `advance`; the number's words were written before.
        self.0.load(Acquire)
    }

    /// Whether the words that were loaded since are those of this number.
    #[inline(always)]
    pub(crate) fn is_still(&self, number: u64) -> bool {
        // Acquire: pairs with the Release fences of writers: a reader of a new word sees that the number has changed.
        fence(Acquire);
        self.0.load(Relaxed) == number
    }

    /// Replaces the number before the words are changed, by one that no reader accepts. Of one writer at a time.
    #[inline(always)]
    pub(crate) fn invalidate(&self, torn: u64) {
        self.0.store(torn, Relaxed);
        // Release: pairs with the fence of `is_still`.
        fence(Release);
    }

    /// The same for one of several writers: false where the number is not `number` any more.
    #[inline(always)]
    pub(crate) fn claim(&self, number: u64, torn: u64) -> bool {
        // Acquire: pairs with the Release of the last writer's `publish`.
        let claimed = self.0.compare_exchange(number, torn, Acquire, Relaxed).is_ok();
        // Release: pairs with the fence of `is_still`.
        fence(Release);
        claimed
    }

    /// Stores the number of the words that were written before.
    #[inline(always)]
    pub(crate) fn publish(&self, number: u64) {
        // Release: pairs with the Acquire of `load`.
        self.0.store(number, Release);
    }

    /// [`publish`](Self::publish), before words of earlier numbers are changed.
    #[inline(always)]
    pub(crate) fn advance(&self, number: u64) {
        self.publish(number);
        // Release: pairs with the fence of `is_still`.
        fence(Release);
    }
}
