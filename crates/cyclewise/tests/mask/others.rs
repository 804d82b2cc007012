//! Handlers that other code installed: an earlier one is still called, with the flags it asked for; and which signals are refused.

use crate::common::child::fork;
use crate::common::harness::{Check, checks};
use crate::masking::{CONTEXTS, COUNT, FLAG, install, installed, plain, raise};
use cyclewise::error::Refusal;
use cyclewise::mask::{self, Signals};
use std::sync::atomic::Ordering::SeqCst;

pub(crate) const CHECKS: &[Check] = checks![
    an_earlier_handler_is_called_at_once,
    a_handler_for_once_is_called_once,
    a_handler_that_wanted_no_zombies_gets_none,
    faults_and_others_are_refused,
    a_handler_taken_off_is_gone,
    a_handler_that_others_undid_can_be_registered_again,
];

extern "C" fn earlier(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's information.
    let told = unsafe { (*info).si_signo };
    CONTEXTS.fetch_add(u32::from(told == signal && !context.is_null()), SeqCst);
}

fn an_earlier_handler_is_called_at_once() {
    install(libc::SIGUSR1, earlier as *const () as usize, libc::SA_SIGINFO);
    install(libc::SIGUSR2, plain as *const () as usize, 0);
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    let hold = mask::hold();
    raise(libc::SIGUSR1);
    raise(libc::SIGUSR2);
    assert_eq!((CONTEXTS.load(SeqCst), COUNT.load(SeqCst)), (101, 0));
    drop(hold);
    assert_eq!((CONTEXTS.load(SeqCst), COUNT.load(SeqCst)), (101, 2));
}

fn a_handler_for_once_is_called_once() {
    install(libc::SIGUSR2, plain as *const () as usize, libc::SA_RESETHAND);
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    raise(libc::SIGUSR2);
    raise(libc::SIGUSR2);
    assert_eq!((CONTEXTS.load(SeqCst), COUNT.load(SeqCst)), (100, 2));
    // The kernel would have put the default in its place by then, and so do we.
    Signals::off(libc::SIGUSR2).unwrap();
    assert_eq!(installed(libc::SIGUSR2).sa_sigaction, libc::SIG_DFL);
    // One that has not been called is still to be.
    install(libc::SIGUSR2, plain as *const () as usize, libc::SA_RESETHAND);
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    Signals::off(libc::SIGUSR2).unwrap();
    raise(libc::SIGUSR2);
    assert_eq!(CONTEXTS.load(SeqCst), 200);
}

/// A child that has exited: whether it waits to be waited for.
fn leaves_a_zombie() -> bool {
    let child = fork(|| ());
    loop {
        // SAFETY: the status is not wanted. Without zombies it waits for the child to end, and then says ECHILD.
        let rc = unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        match (rc, std::io::Error::last_os_error().raw_os_error()) {
            (-1, Some(libc::EINTR)) => {}
            (-1, error) => {
                assert_eq!(error, Some(libc::ECHILD));
                return false;
            }
            _ => return true,
        }
    }
}

fn a_handler_that_wanted_no_zombies_gets_none() {
    let flags = libc::SA_NOCLDWAIT | libc::SA_NOCLDSTOP;
    install(libc::SIGCHLD, plain as *const () as usize, flags);
    let is_heeded = !leaves_a_zombie();
    Signals::on(libc::SIGCHLD, &COUNT).unwrap();
    assert_eq!(installed(libc::SIGCHLD).sa_flags & flags, flags);
    if is_heeded {
        assert!(!leaves_a_zombie(), "somebody's handler has asked for none");
    } else {
        println!("skipped: zombies; an emulator has them whatever is asked for");
    }
    Signals::off(libc::SIGCHLD).unwrap();
    // The twin: who asked for nothing has them.
    install(libc::SIGCHLD, plain as *const () as usize, 0);
    Signals::on(libc::SIGCHLD, &COUNT).unwrap();
    assert!(leaves_a_zombie());
}

fn faults_and_others_are_refused() {
    for signal in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
    ] {
        assert_eq!(Signals::on(signal, &COUNT), Err(Refusal::Fault { signal }));
    }
    for signal in [libc::SIGKILL, libc::SIGSTOP, 0, -1, 32, 65, i32::MAX, i32::MIN] {
        let errno = libc::EINVAL;
        assert_eq!(Signals::on(signal, &COUNT), Err(Refusal::Signal { signal, errno }));
    }
    let signal = libc::SIGUSR1;
    assert_eq!(Signals::off(signal), Err(Refusal::SignalNotOurs { signal }));
    Signals::on(signal, &COUNT).unwrap();
    assert_eq!(Signals::on(signal, &FLAG), Err(Refusal::SignalTaken { signal }));
    install(signal, libc::SIG_IGN, 0);
    assert_eq!(Signals::off(signal), Err(Refusal::SignalNotOurs { signal }));
}

fn a_handler_taken_off_is_gone() {
    let signal = libc::SIGUSR2;
    install(signal, plain as *const () as usize, 0);
    for round in 1..4 {
        Signals::on(signal, &COUNT).unwrap();
        raise(signal);
        assert_eq!((COUNT.load(SeqCst), CONTEXTS.load(SeqCst)), (round, 200 * round - 100));
        let hold = mask::hold();
        Signals::off(signal).unwrap();
        raise(signal);
        drop(hold);
        assert_eq!((COUNT.load(SeqCst), CONTEXTS.load(SeqCst)), (round, 200 * round));
    }
}

/// As in a child whose memory was copied after its actions, while another thread registered.
fn a_handler_that_others_undid_can_be_registered_again() {
    let signal = libc::SIGUSR2;
    for before in [libc::SIG_IGN, plain as *const () as usize] {
        install(signal, before, 0);
        Signals::on(signal, &COUNT).unwrap();
        assert_eq!(Signals::on(signal, &COUNT), Err(Refusal::SignalTaken { signal }));
        install(signal, before, 0);
        assert_eq!(Signals::off(signal), Err(Refusal::SignalNotOurs { signal }));
        let calls = COUNT.load(SeqCst);
        Signals::on(signal, &COUNT).unwrap();
        raise(signal);
        assert_eq!(COUNT.load(SeqCst), calls + 1);
        Signals::off(signal).unwrap();
    }
    // The twin: with another handler than the one before, ours stays registered, since that may call it.
    Signals::on(signal, &COUNT).unwrap();
    install(signal, libc::SIG_IGN, 0);
    assert_eq!(Signals::on(signal, &COUNT), Err(Refusal::SignalTaken { signal }));
}
