//! mimalloc as the global allocator beside single mode: LOCK goes, comes back for threads, and every value is destroyed once.
//!
//! A harness of its own: single mode needs a process with one thread.

mod churn;

use cyclewise::patch;
use libtest_mimic::{Arguments, Trial};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    let mut arguments = Arguments::from_args();
    // The checks then run on this thread, one after the other.
    arguments.test_threads = Some(1);
    // SAFETY: std creates the threads, by the C library; no memory is shared with another process, and no words are given to the
    // kernel.
    let elided = unsafe { cyclewise::enable_single!() };
    let with_mimalloc = move || {
        match elided {
            Ok(()) => assert!(patch::state().elided > 0),
            Err(refusal) => println!("LOCK stays: {refusal}"),
        }
        churn::rounds();
    };
    let checks: [(&str, fn()); 1] = [(
        "additions_of_two_steps_are_caught",
        churn::additions_of_two_steps_are_caught,
    )];
    let mut trials = vec![Trial::test("values_of_mimalloc_are_destroyed_once", move || {
        with_mimalloc();
        Ok(())
    })];
    trials.extend(checks.map(|(name, check)| {
        Trial::test(name, move || {
            check();
            Ok(())
        })
    }));
    libtest_mimic::run(&arguments, trials).exit();
}
