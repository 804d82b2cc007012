//! Checks that are alone in their process: each runs in its own child, forked from a main with one thread.
//!
//! They list and filter as libtest's tests do.

use super::child::in_child_for;
use libtest_mimic::{Arguments, Trial};

/// A check and its path, which begins with the program's name.
pub type Check = (&'static str, fn());

/// Functions as checks, under their own names, or under another: `name = function`.
macro_rules! checks {
    (@ $name:ident) => { $name };
    (@ $name:ident $check:expr) => { $check };
    ($($(#[$attribute:meta])* $name:ident $(= $check:expr)?),* $(,)?) => {
        &[$($(#[$attribute])* (concat!(module_path!(), "::", stringify!($name)), checks!(@ $name $($check)?))),*]
    };
}
pub(crate) use checks;

/// When a check that hangs is killed. A check that the environment extends sets a later alarm itself.
const HANG_S: u32 = 3600;

/// Runs the checks that the arguments ask for, and exits. The checks may kill their process, and change anything in it.
pub fn run(checks: &[Check]) -> ! {
    run_as(checks, |_, check| {
        in_child_for(HANG_S, check).map_err(|end| format!("{end:?}"))
    })
}

/// Runs a check, given its name as well; `Err` describes the failure.
pub type Runner = fn(&'static str, fn()) -> Result<(), String>;

/// Runs the checks with `runner`.
pub fn run_as(checks: &[Check], runner: Runner) -> ! {
    let mut arguments = Arguments::from_args();
    // With one test thread, libtest-mimic runs them on this thread and starts no other.
    arguments.test_threads = Some(1);
    let trial = |&(path, check): &Check| {
        let (_, name) = path.split_once("::").unwrap();
        Trial::test(name, move || Ok(runner(name, check)?))
    };
    libtest_mimic::run(&arguments, checks.iter().map(trial).collect()).exit()
}

/// For a program without checks on this target: prints the reason, except when a list is requested.
pub fn skip(reason: &str) -> ! {
    let arguments = Arguments::from_args();
    if !arguments.list {
        println!("skipped: {reason}");
    }
    libtest_mimic::run(&arguments, Vec::new()).exit()
}

/// Ends a program whose checks need membarrier(2), where the kernel or a sandbox lacks it.
pub fn need_membarrier() {
    // SAFETY: queries the supported commands.
    if unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) } <= 0 {
        skip("no membarrier(2) here");
    }
}

/// Ends a program whose checks install filters, where an emulator or a sandbox does not allow that.
pub fn need_filters() {
    if !super::filter::are_allowed() {
        skip("seccomp filters are refused here");
    }
}
