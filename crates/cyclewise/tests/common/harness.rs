//! Checks that are alone in their process: each runs in its own child, forked from a main with one thread.
//!
//! They list and filter as libtest's tests do.

use super::child::{End, alarmed, fork, in_child_for, wait_for_any};
use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeMap;
use std::sync::OnceLock;

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

/// Runs the checks that the arguments ask for, as many at a time as there are CPUs or `--test-threads` says, and exits. The checks may
/// kill their process, and change anything in it.
pub fn run(checks: &[Check]) -> ! {
    /// How checks ended before libtest-mimic, which runs one at a time on a thread, asks for them.
    static ENDS: OnceLock<BTreeMap<&str, Result<(), End>>> = OnceLock::new();
    ENDS.get_or_init(|| ends(checks, &Arguments::from_args()));
    run_as(checks, |name, check| match ENDS.get().unwrap().get(name) {
        Some(end) => end.as_ref().copied().map_err(|end| format!("{end:?}")),
        None => in_a_child(name, check),
    })
}

/// How the checks end that the arguments ask for.
fn ends(checks: &[Check], arguments: &Arguments) -> BTreeMap<&'static str, Result<(), End>> {
    let fits = |name: &str, word: &String| {
        if arguments.exact {
            name == word
        } else {
            name.contains(word)
        }
    };
    let is_asked_for = |name: &str| {
        arguments.filter.as_ref().is_none_or(|word| fits(name, word))
            && !arguments.skip.iter().any(|word| fits(name, word))
    };
    let mut ends = BTreeMap::new();
    let mut running = BTreeMap::new();
    let mut left = checks
        .iter()
        .filter(|(path, _)| !arguments.list && is_asked_for(name(path)));
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    let most = arguments.test_threads.unwrap_or_else(cpus).max(1);
    loop {
        while running.len() < most
            && let Some(&(path, check)) = left.next()
        {
            running.insert(fork(alarmed(HANG_S, check)), name(path));
        }
        if running.is_empty() {
            return ends;
        }
        let (id, end) = wait_for_any();
        // Another is what a check left behind, if this process is the init of a namespace.
        if let Some(name) = running.remove(&id) {
            ends.insert(name, end);
        }
    }
}

fn name(path: &'static str) -> &'static str {
    path.split_once("::").unwrap().1
}

/// Runs a check, given its name as well; `Err` describes the failure.
pub type Runner = fn(&'static str, fn()) -> Result<(), String>;

/// The runner of [`run`].
pub fn in_a_child(_: &'static str, check: fn()) -> Result<(), String> {
    in_child_for(HANG_S, check).map_err(|end| format!("{end:?}"))
}

/// Runs the checks with `runner`.
pub fn run_as(checks: &[Check], runner: Runner) -> ! {
    let mut arguments = Arguments::from_args();
    // With one test thread, libtest-mimic runs them on this thread and starts no other.
    arguments.test_threads = Some(1);
    let trial = |&(path, check): &Check| {
        let name = name(path);
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

/// The checks of a module, or none where they cannot run: then the reason is printed, except into a list.
pub fn unless(missing: Option<&str>, checks: &'static [Check]) -> &'static [Check] {
    let Some(reason) = missing else {
        return checks;
    };
    if !Arguments::from_args().list {
        let module = checks[0].0.rsplit_once("::").unwrap().0;
        println!("skipped: {module}: {reason}");
    }
    &[]
}

/// Why checks that need membarrier(2) cannot run: the kernel or a sandbox lacks it.
pub fn no_membarrier() -> Option<&'static str> {
    // SAFETY: queries the supported commands.
    let commands = unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) };
    (commands <= 0).then_some("no membarrier(2) here")
}

/// Why checks that install filters cannot run: an emulator or a sandbox does not allow that.
pub fn no_filters() -> Option<&'static str> {
    (!super::filter::are_allowed()).then_some("seccomp filters are refused here")
}

/// Why checks that trace a child cannot run.
pub fn no_tracing() -> Option<&'static str> {
    (!super::child::may_trace()).then_some("ptrace is refused here")
}

/// Why checks cannot run under `.ci/asan`, where that is the case.
pub fn under_asan(reason: &'static str) -> Option<&'static str> {
    super::sanitizer::is_asan().then_some(reason)
}

/// Why checks that fork beside other threads cannot run.
pub const EMULATED: Option<&str> = if cfg!(target_arch = "x86_64") {
    None
} else {
    Some("this may be an emulator, whose children hang if it had other threads")
};

/// Ends a program whose checks all need membarrier(2).
pub fn need_membarrier() {
    if let Some(reason) = no_membarrier() {
        skip(reason);
    }
}

/// Ends a program whose checks all install filters.
pub fn need_filters() {
    if let Some(reason) = no_filters() {
        skip(reason);
    }
}
