//! Checks that are alone in their process: each runs in a child of its own, forked from a main with one thread.
//!
//! They list and filter as tests of libtest's do.

use super::child::in_child_for;
use libtest_mimic::{Arguments, Trial};

/// A check and its path, which begins with the program's name.
pub type Check = (&'static str, fn());

/// Functions as checks, by their names; or by a name of their own: `name = function`.
macro_rules! checks {
    (@ $name:ident) => { $name };
    (@ $name:ident $check:expr) => { $check };
    ($($(#[$attribute:meta])* $name:ident $(= $check:expr)?),* $(,)?) => {
        &[$($(#[$attribute])* (concat!(module_path!(), "::", stringify!($name)), checks!(@ $name $($check)?))),*]
    };
}
pub(crate) use checks;

/// When a check that hangs is killed. One that is told by the environment to run longer starts a later alarm itself.
const HANG_S: u32 = 3600;

/// Runs the checks that the arguments ask for, and exits. The checks may kill their process, and change anything in it.
pub fn run(checks: &[Check]) -> ! {
    run_as(checks, |_, check| {
        in_child_for(HANG_S, check).map_err(|end| format!("{end:?}"))
    })
}

/// Runs a check, whose name it is given too; `Err` says how the check failed.
pub type Runner = fn(&'static str, fn()) -> Result<(), String>;

/// Runs the checks by `runner`.
pub fn run_as(checks: &[Check], runner: Runner) -> ! {
    let mut arguments = Arguments::from_args();
    // With one, libtest-mimic runs them on this thread and starts no other.
    arguments.test_threads = Some(1);
    let trial = |&(path, check): &Check| {
        let (_, name) = path.split_once("::").unwrap();
        Trial::test(name, move || Ok(runner(name, check)?))
    };
    libtest_mimic::run(&arguments, checks.iter().map(trial).collect()).exit()
}

/// For a program that has no checks here: says why; silent where it is asked for a list.
pub fn skip(reason: &str) -> ! {
    let arguments = Arguments::from_args();
    if !arguments.list {
        println!("skipped: {reason}");
    }
    libtest_mimic::run(&arguments, Vec::new()).exit()
}

/// Ends a program whose checks need a barrier on every CPU, where the kernel or a sandbox has none.
pub fn need_membarrier() {
    // SAFETY: asks which commands there are, which is 0 or an error where there are none.
    if unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) } <= 0 {
        skip("no membarrier(2) here");
    }
}

/// Ends a program whose checks filter system calls, where an emulator or a sandbox lets no process do that.
pub fn need_filters() {
    if !super::filter::are_allowed() {
        skip("seccomp filters are refused here");
    }
}
