//! A clock in a child of fork whose parent had a thread that keeps it.

mod process;

fn main() {
    #[cfg(target_arch = "x86_64")]
    process::run(&[
        ("recent_goes_on_without_the_thread", checks::recent_goes_on),
        ("the_parents_upkeep_is_dropped_at_once", checks::dropped_at_once),
        ("a_child_has_an_upkeep_of_its_own", checks::of_its_own),
    ]);
    #[cfg(not(target_arch = "x86_64"))]
    println!("skipped: this may be an emulator, whose children hang if it had other threads");
}

#[cfg(target_arch = "x86_64")]
mod checks {
    use super::process::in_child;
    use cyclewise::clock::{Clock, Instant, Upkeep};
    use std::time::Duration;

    /// Runs it in a child of a process whose clock a thread keeps. The child is killed where it hangs.
    fn beside(check: fn(Upkeep)) {
        let upkeep = Upkeep::start(Clock::process()).unwrap();
        // Twice the same though time has passed: the thread has written it.
        while !stands_still() {
            std::thread::yield_now();
        }
        let outcome = in_child(|| {
            // SAFETY: takes a number; the default action of SIGALRM is to kill. The machine may be frozen for a while.
            unsafe { libc::alarm(600) };
            check(upkeep);
        });
        assert_eq!(outcome, 0);
    }

    fn recent() -> Instant {
        Clock::process().recent()
    }

    fn stands_still() -> bool {
        let (recent_before, now) = (recent(), Instant::now());
        while Instant::now() == now {}
        recent() == recent_before
    }

    pub(super) fn recent_goes_on() {
        beside(|_upkeep| {
            let start = recent();
            while start.elapsed() < Duration::from_millis(5) {}
            assert!(recent() > start, "as old as the fork");
        });
    }

    pub(super) fn dropped_at_once() {
        beside(drop);
    }

    pub(super) fn of_its_own() {
        beside(|parents| {
            let own = Upkeep::start(Clock::process()).unwrap();
            drop(parents);
            while !stands_still() {
                std::thread::yield_now();
            }
            let first = recent();
            while recent() <= first {
                std::thread::yield_now();
            }
            drop(own);
            assert!(recent() > first && !stands_still());
        });
    }
}
