//! Eliding LOCK prefixes again, once threads that were joined have left the kernel's list.

use cyclewise::error::Refusal;
use cyclewise::patch;
use std::thread::sleep;
use std::time::Duration;

/// Tries, a millisecond apart. A number of tries and not a time: on a busy or stopped machine the ending thread makes no
/// progress in a given time, but between two tries it was scheduled.
const TRIES: u32 = 2_000;

/// Elides LOCK. A joined thread stays in the kernel's list until it has run for the last time, so a second thread is
/// a refusal only after it has been there for all tries.
///
/// # Errors
/// Why LOCK stays.
pub(crate) fn reelide() -> Result<(), Refusal> {
    retry(patch::reelide, TRIES)
}

fn retry(mut reelide: impl FnMut() -> Result<(), Refusal>, tries: u32) -> Result<(), Refusal> {
    for _ in 1..tries {
        match reelide() {
            Err(Refusal::OtherThreads { .. }) => sleep(Duration::from_millis(1)),
            outcome => return outcome,
        }
    }
    reelide()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINGERS: Refusal = Refusal::OtherThreads { threads: 2 };

    #[test]
    fn an_ending_thread_is_waited_for() {
        let mut tries = 0;
        let outcome = retry(
            || {
                tries += 1;
                if tries < 3 { Err(LINGERS) } else { Ok(()) }
            },
            3,
        );
        assert_eq!((outcome, tries), (Ok(()), 3));
    }

    #[test]
    fn a_thread_that_stays_is_a_refusal_and_other_refusals_return_at_once() {
        assert_eq!(retry(|| Err(LINGERS), 2), Err(LINGERS));
        let mut tries = 0;
        let other = || {
            tries += 1;
            Err(Refusal::NotEnabled)
        };
        assert_eq!((retry(other, 9), tries), (Err(Refusal::NotEnabled), 1));
    }
}
