//! Taking LOCK away again, with patience for threads that are about to go.

use cyclewise::error::Refusal;
use cyclewise::patch;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Takes LOCK away. A thread that was joined may be in the kernel's list a little longer, until it has run for the last
/// time, so a second thread is no refusal until it has been there for a while.
///
/// # Errors
/// Why LOCK stays.
pub fn reelide() -> Result<(), Refusal> {
    patient(patch::reelide, Duration::from_secs(2))
}

fn patient(mut reelide: impl FnMut() -> Result<(), Refusal>, patience: Duration) -> Result<(), Refusal> {
    let begun = Instant::now();
    loop {
        match reelide() {
            Err(Refusal::OtherThreads { .. }) if begun.elapsed() < patience => sleep(Duration::from_millis(1)),
            outcome => return outcome,
        }
    }
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
            Duration::from_secs(3600),
        );
        assert_eq!((outcome, looks), (Ok(()), 3));
    }

    #[test]
    fn one_that_stays_is_a_refusal_as_is_anything_else_at_once() {
        assert_eq!(patient(|| Err(LINGERS), Duration::ZERO), Err(LINGERS));
        let other = Err(Refusal::NotEnabled);
        assert_eq!(patient(|| other, Duration::from_secs(3600)), other);
    }
}
