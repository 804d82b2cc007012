//! Signals that ask the command to end, while a program runs for it: they are the program's.
//!
//! A terminal sends them to both, and the command has to outlive the program to tell what was counted. What another process
//! sends to the command alone is sent on.
//!
//! # Safety
//! 1. The handler uses atomics and kill(2), which a handler may.
//! 2. Dispositions are changed and put back under one lock.
#![allow(unsafe_code, reason = "handles signals")]

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Signals that ask a process to end.
const SIGNALS: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
/// Programs that run at a time: one, and more in tests.
const PROGRAMS: usize = 64;

/// Free.
const NONE: i32 = 0;
/// Taken for a program that has not been started.
const COMING: i32 = -1;
/// Taken for a program that has ended: signals come too late for it.
const ENDED: i32 = -2;

static RUNNING: [AtomicI32; PROGRAMS] = [const { AtomicI32::new(NONE) }; PROGRAMS];
/// Whether a signal came while the program of the same place ran.
static CAME: [AtomicBool; PROGRAMS] = [const { AtomicBool::new(false) }; PROGRAMS];
/// A signal that came before the program did.
static EARLY: AtomicI32 = AtomicI32::new(0);

struct Held {
    programs: usize,
    before: Vec<(i32, libc::sigaction)>,
}

impl Held {
    fn put_back(&mut self) {
        for (signal, action) in self.before.drain(..) {
            // SAFETY: the action is one that the kernel gave (Invariant 2).
            unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
        }
    }
}

static HELD: Mutex<Held> = Mutex::new(Held {
    programs: 0,
    before: Vec::new(),
});

/// Whether it is one by which a process is asked to end.
pub(crate) fn is_ending(signal: i32) -> bool {
    SIGNALS.contains(&signal)
}

/// As long as it lives, the signals do not end this process.
pub(crate) struct Signals {
    slot: Option<usize>,
}

/// Holds the signals back, from before the program is started.
pub(crate) fn hold() -> Signals {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.programs += 1;
    if held.programs == 1 {
        EARLY.store(0, Ordering::Relaxed);
        held.before = SIGNALS.iter().filter_map(|signal| install(*signal)).collect();
    }
    let taken = |slot: &AtomicI32| {
        slot.compare_exchange(NONE, COMING, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    };
    let slot = RUNNING.iter().position(taken);
    if let Some(slot) = slot {
        CAME[slot].store(false, Ordering::SeqCst);
    }
    Signals { slot }
}

impl Signals {
    /// The program has been started, as this process.
    pub(crate) fn started(&self, pid: u32) {
        if let Some(slot) = self.slot {
            // SeqCst: with the handler's stores and loads, so that one of both sees the other's.
            RUNNING[slot].store(pid.cast_signed(), Ordering::SeqCst);
        }
        let early = EARLY.swap(0, Ordering::SeqCst);
        if early != 0 {
            self.slot
                .iter()
                .for_each(|slot| CAME[*slot].store(true, Ordering::SeqCst));
            send(pid.cast_signed(), early);
        }
    }

    /// Whether one came while the program ran, by a terminal or by a process.
    pub(crate) fn came(&self) -> bool {
        self.slot.is_some_and(|slot| CAME[slot].load(Ordering::SeqCst))
    }

    /// Waits until the program has ended, and sends it nothing more. Its status is still to be asked for, so its number is not
    /// another's meanwhile.
    pub(crate) fn wait(&self, pid: u32) {
        loop {
            // SAFETY: zeros are a value of it, and the kernel writes it.
            let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
            // SAFETY: asks for the end of a child of ours, which stays to be waited for, into memory of ours.
            let waited = unsafe { libc::waitid(libc::P_PID, pid, &raw mut info, libc::WEXITED | libc::WNOWAIT) };
            if waited == 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                break;
            }
        }
        // What ended the program may not have been handled here yet.
        take_pending();
        if let Some(slot) = self.slot {
            RUNNING[slot].store(ENDED, Ordering::SeqCst);
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            RUNNING[slot].store(NONE, Ordering::SeqCst);
        }
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.programs -= 1;
        if held.programs == 0 {
            take_pending();
            held.put_back();
            // No program was started that it could be for.
            let early = EARLY.swap(0, Ordering::SeqCst);
            if early != 0 {
                // SAFETY: takes a number; what it does was asked for.
                unsafe { libc::raise(early) };
            }
        }
    }
}

/// Handles, in this thread, what the kernel has given to another thread that has not run since. To unblock a signal is what makes
/// the kernel look for it; of what the caller blocks, other threads are waited for.
fn take_pending() {
    // SAFETY: zeros are sets, and the kernel and the C library write them.
    let (mut ours, mut before, mut pending): (libc::sigset_t, libc::sigset_t, libc::sigset_t) =
        unsafe { std::mem::zeroed() };
    for signal in SIGNALS {
        // SAFETY: the set is ours to write.
        unsafe { libc::sigaddset(&raw mut ours, signal) };
    }
    // SAFETY: changes this thread's mask, and writes what it was.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const ours, &raw mut before) };
    // SAFETY: puts it back.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    // Longer than a thread takes to be scheduled; a signal that all threads block stays.
    for _ in 0..100 {
        // SAFETY: the set is ours to write. It tells only of what this thread blocks.
        unsafe { libc::sigpending(&raw mut pending) };
        // SAFETY: the set was written.
        let is_pending = |signal: &i32| unsafe { libc::sigismember(&raw const pending, *signal) == 1 };
        if !SIGNALS.iter().any(is_pending) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Has the signal handled; what was before, unless it was ignored, which the program inherits.
fn install(signal: i32) -> Option<(i32, libc::sigaction)> {
    // SAFETY: zeros are an action: the default one, with no flags and no mask.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: asks only, into memory of ours.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) };
    if asked != 0 || before.sa_sigaction == libc::SIG_IGN {
        return None;
    }
    // SAFETY: as above.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = handle;
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does what a handler may (Invariant 1).
    let set = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    (set == 0).then_some((signal, before))
}

extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let mut is_coming = false;
    for (slot, came) in RUNNING.iter().zip(&CAME) {
        match slot.load(Ordering::SeqCst) {
            NONE | ENDED => {}
            COMING => is_coming = true,
            pid => {
                came.store(true, Ordering::SeqCst);
                // SAFETY: the kernel gives a handler with SA_SIGINFO the signal's information.
                let code = unsafe { (*info).si_code };
                // What a terminal sends is the kernel's, and the program has it too.
                if code <= 0 {
                    send(pid, signal);
                }
            }
        }
    }
    if is_coming {
        EARLY.store(signal, Ordering::SeqCst);
    }
}

fn send(pid: i32, signal: i32) {
    // SAFETY: takes nothing, and gives the address of this thread's error number.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    let before = unsafe { *errno };
    // SAFETY: takes numbers; the process is our child, and has not been waited for while its number is in the table.
    unsafe { libc::kill(pid, signal) };
    // SAFETY: this thread's own; the code that a handler interrupts must not see it changed.
    unsafe { *errno = before };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus};
    use std::sync::Barrier;

    /// Set in a process that these tests start: the name of what is to be done before dispositions are as they were.
    const HOW: &str = "CYCLEWISE_TEST_LATE_SIGNAL";

    /// In such a process, whose only test this is: what [`late_signal`] does to a child. In others it finds nothing to do.
    #[test]
    fn in_another_process() {
        let Ok(how) = std::env::var(HOW) else {
            assert!(std::env::var_os(HOW).is_none());
            return;
        };
        // SAFETY: no other thread of this process holds what the child needs.
        let child = unsafe { libc::fork() };
        if child == 0 {
            late_signal(&how);
            std::process::exit(0);
        }
        let mut status = 0;
        // SAFETY: waits for a child of ours, into memory of ours.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        println!("ended: {:?}", ExitStatus::from_raw(status).signal());
    }

    /// The kernel gives a signal to the first thread, which does not run: it has a child that it waits for as vfork(2) does.
    #[expect(
        clippy::multiple_unsafe_ops_per_block,
        reason = "nothing but system calls after the copy"
    )]
    fn late_signal(how: &str) {
        let is_ready = Barrier::new(2);
        let (mut came, comes) = std::io::pipe().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let signals = hold();
                signals.started(u32::MAX >> 1);
                is_ready.wait();
                came.read_exact(&mut [0]).unwrap();
                match how {
                    "as it is" => drop(signals),
                    _ => HELD.lock().unwrap().put_back(),
                }
            });
            is_ready.wait();
            // SAFETY: a copy of this process, which does what may be done after fork(2).
            unsafe {
                if libc::syscall(libc::SYS_clone, libc::CLONE_VFORK | libc::SIGCHLD, 0, 0, 0, 0) == 0 {
                    libc::kill(libc::getppid(), libc::SIGINT);
                    libc::write(comes.as_raw_fd(), [0_u8].as_ptr().cast(), 1);
                    libc::usleep(300_000);
                    libc::_exit(0);
                }
            }
        });
    }

    fn ended(how: &str) -> String {
        let mut this = Command::new("env");
        this.arg("--default-signal").arg(std::env::current_exe().unwrap());
        this.args(["--exact", "sys::signals::tests::in_another_process", "--nocapture"]);
        let said = this.env(HOW, how).output().unwrap().stdout;
        let said = String::from_utf8(said).unwrap();
        said.lines()
            .find(|line| line.starts_with("ended: "))
            .unwrap_or(&said)
            .to_owned()
    }

    #[test]
    fn a_signal_that_comes_late_is_handled() {
        assert_eq!(ended("as it is"), "ended: None");
    }

    #[test]
    fn twin_what_was_not_taken_ends_the_process() {
        assert_eq!(ended("put back at once"), format!("ended: Some({})", libc::SIGINT));
    }
}
