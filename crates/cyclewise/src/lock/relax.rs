//! What a waiting loop does between two loads of the lock.
//!
//! A load takes the cache line from the thread that works on it; a longer pause wastes time once the lock is free. The best
//! compromise depends on the machine, so it is a type parameter.

use crate::primitive::spin_loop;

/// A policy for pauses. Each wait makes a value and uses it to its end.
///
/// Its functions may panic, including `default` and its drop. The panic leaves the waiting operation: the lock is not taken,
/// and its queue continues.
pub trait Relax: Default {
    /// Pauses, and returns for how many pauses of the CPU (`PAUSE`, `YIELD`). Return at least 1, even for no pause, so that
    /// limits in pauses are reached; a 0 does not count towards them.
    fn relax(&mut self) -> u32;
}

/// No pause. Notices a release first, and slows the holder down most.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRelax;

impl Relax for NoRelax {
    #[inline]
    fn relax(&mut self) -> u32 {
        1
    }
}

/// One pause of the CPU: from one cycle on some Arm cores to more than a hundred on Skylake.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause;

impl Relax for Pause {
    #[inline]
    fn relax(&mut self) -> u32 {
        spin_loop();
        1
    }
}

/// 2 to the power of `FIRST` pauses, doubled each time up to 2 to the power of `LIMIT`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exponential<const LIMIT: u32 = 6, const FIRST: u32 = 0> {
    rounds: u32,
}

impl<const LIMIT: u32, const FIRST: u32> Relax for Exponential<LIMIT, FIRST> {
    #[inline]
    fn relax(&mut self) -> u32 {
        let pauses = 1 << (FIRST.saturating_add(self.rounds)).min(LIMIT).min(31);
        self.rounds = self.rounds.saturating_add(1);
        for _ in 0..pauses {
            spin_loop();
        }
        pauses
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn waits<R: Relax>() -> [u32; 6] {
        let mut relax = R::default();
        [(); 6].map(|()| relax.relax())
    }

    #[test]
    fn every_policy_makes_progress() {
        assert_eq!(waits::<NoRelax>(), [1; 6]);
        assert_eq!(waits::<Pause>(), [1; 6]);
        assert_eq!(waits::<Exponential<3>>(), [1, 2, 4, 8, 8, 8]);
        assert_eq!(waits::<Exponential<5, 3>>(), [8, 16, 32, 32, 32, 32]);
        assert_eq!(waits::<Exponential<2, 9>>(), [4; 6]);
    }
}
