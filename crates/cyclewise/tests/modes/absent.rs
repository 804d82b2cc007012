//! Where no mode is: on another architecture, with another C library, in a program that is linked statically.

use crate::common::harness::{Check, checks};
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::confined::{self, audit, check};
use cyclewise::patch::{self, Mode, Prefix, sites, state};

pub(crate) const CHECKS: &[Check] = checks![refused_for_good, confined_is_refused, nothing_is_broken];

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Without hooks nothing elides, whatever is called, and threads still come and go.
fn refused_for_good() {
    let refusal = if cfg!(target_arch = "x86_64") {
        Refusal::Unwatched
    } else {
        Refusal::NoLockPrefix
    };
    assert_eq!(crate::enable(), Err(refusal));
    // With static glibc the library could have hooks, but the program has none.
    let again = patch::reelide().unwrap_err();
    assert!([refusal, Refusal::NotEnabled].contains(&again), "{again}");
    // SAFETY: it is refused.
    let confined = unsafe { patch::confined::enter(None) }.unwrap_err();
    assert_eq!(confined, again);
    COUNTER.inc(Ordering::Relaxed);
    std::thread::spawn(|| COUNTER.inc(Ordering::Relaxed)).join().unwrap();
    assert_eq!(COUNTER.load(Ordering::Relaxed), 2);
    assert_eq!(patch::lock(), Ok(()));
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    assert!(sites().all(|site| site.prefix() == Prefix::Lock));
    assert_eq!(sites().count() > 0, cfg!(target_arch = "x86_64"));
}

fn confined_is_refused() {
    // SAFETY: it is refused.
    let refusal = unsafe { confined::enter(None) }.unwrap_err();
    let expected = match (cfg!(target_arch = "x86_64"), cfg!(target_env = "gnu")) {
        (false, _) => Refusal::NoLockPrefix,
        (true, false) => Refusal::Unwatched,
        (true, true) => Refusal::NotEnabled,
    };
    assert_eq!((refusal, state().mode, state().elided), (expected, Mode::Locked, 0));
}

fn nothing_is_broken() {
    assert_eq!((check(), audit()), (Ok(()), Ok(())));
}
