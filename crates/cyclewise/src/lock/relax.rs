//! What a waiting loop does between two looks.
//!
//! A look pulls the cache line away from whoever works on it; a wait costs time once the lock is free. Which is better
//! depends on the machine, so it is a type parameter of whatever waits.

use crate::primitive::spin_loop;

/// A way to pass the time. One value serves one wait, from its beginning.
///
/// Its functions may panic, its `default` and its drop too. That leaves the operation that waits: a lock is not taken then,
/// and its queue goes on.
pub trait Relax: Default {
    /// Passes some time and says how much, in pauses of the CPU (`PAUSE`, `YIELD`); at least 1, also where nothing is
    /// done, so that limits given in pauses are reached; after a 0 it is asked again.
    fn relax(&mut self) -> u32;
}

/// Looks again at once. Fastest to notice, and hardest on the one who holds the line.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRelax;

impl Relax for NoRelax {
    #[inline]
    fn relax(&mut self) -> u32 {
        1
    }
}

/// One pause of the CPU. What that is differs: from one cycle on some Arm cores to more than a hundred on Skylake.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause;

impl Relax for Pause {
    #[inline]
    fn relax(&mut self) -> u32 {
        spin_loop();
        1
    }
}

/// 2 to the power of `FIRST` pauses, then twice as many, and so on up to 2 to the power of `LIMIT`, and that from then on.
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
