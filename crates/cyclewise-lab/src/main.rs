//! The `cyclewise` command.
//!
//! It opts in to single mode, so that the experiments can take LOCK away from their own samples, and gives LOCK back at
//! once: between those samples, and in every other experiment, it is in force.
//!
//! # Safety
//! 1. Threads are created by the C library's functions only: std's, and `sys::thread`, which calls `pthread_create`.
//! 2. Values of the library's atomic types are in memory that only this process accesses: they are locals and boxes of
//!    the experiments.
#![expect(unsafe_code, reason = "opts in to single mode")]

fn main() -> std::process::ExitCode {
    // SAFETY: 1 and 2 above.
    let single = unsafe { cyclewise::enable_single!() }.and_then(|()| cyclewise::patch::lock());
    cyclewise_lab::command::main(single)
}
