//! Taking LOCK away again, with patience for threads that are about to go.

use cyclewise::error::Refusal;
use cyclewise::patch;
use std::thread::sleep;
use std::time::Duration;

/// How often it is looked, a millisecond apart. Not for how long: on a machine that stands still, or is busy, the thread that
/// is to go gets no further in that time, but between two of these looks it had its turn.
const LOOKS: u32 = 2_000;

/// Takes LOCK away. A thread that was joined may be in the kernel's list a little longer, until it has run for the last
/// time, so a second thread is no refusal until it has been there for a while.
///
/// # Errors
/// Why LOCK stays.
pub(crate) fn reelide() -> Result<(), Refusal> {
    patient(patch::reelide, LOOKS)
}

fn patient(mut reelide: impl FnMut() -> Result<(), Refusal>, looks: u32) -> Result<(), Refusal> {
    for _ in 1..looks {
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
    fn a_thread_that_is_about_to_go_is_waited_for() {
        let mut looks = 0;
        let outcome = patient(
            || {
                looks += 1;
                if looks < 3 { Err(LINGERS) } else { Ok(()) }
            },
            3,
        );
        assert_eq!((outcome, looks), (Ok(()), 3));
    }

    #[test]
    fn one_that_stays_is_a_refusal_as_is_anything_else_at_once() {
        assert_eq!(patient(|| Err(LINGERS), 2), Err(LINGERS));
        let mut looks = 0;
        let other = || {
            looks += 1;
            Err(Refusal::NotEnabled)
        };
        assert_eq!((patient(other, 9), looks), (Err(Refusal::NotEnabled), 1));
    }
}
