//! Says how many sites this link unit has, whether LOCK could be taken away from them, and what per-CPU data goes by.
//!
//! `cargo xtask linkers` links it in many ways, as a program and as a shared object, and holds what it says against the
//! file's machine code. `sites OBJECT` loads such an object and has it report after the program.

use cyclewise::atomic::{AtomicU32, AtomicUsize, Ordering};
use cyclewise::patch::state;
use cyclewise::refs::Arc;
use cyclewise::static_key;
use std::ffi::{CString, c_void};

static_key! {
    static KEY: StaticKey = false;
}

/// A key's site: its table goes through the linker as the other does.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn keyed() -> u32 {
    if KEY.is_enabled() { 1 } else { 2 }
}

/// One site. `sites_report` knows what each probe does to its argument, so a lost instruction shows.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn probe_inc(counter: &AtomicUsize) {
    counter.inc(Ordering::Relaxed);
}

/// Three sites.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn probe_three(counter: &AtomicU32) -> u32 {
    counter.add(5, Ordering::Relaxed);
    counter.dec(Ordering::Relaxed);
    counter.fetch_or(8, Ordering::AcqRel)
}

/// At least two sites, one up and one down.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn probe_clone(shared: &Arc<usize>) -> usize {
    std::hint::black_box(shared.clone());
    Arc::strong_count(shared)
}

fn enable() -> String {
    // SAFETY: threads come from the C library only, and no atomics are shared with other processes.
    let outcome = unsafe { cyclewise::enable_single!() };
    outcome.map_or_else(|refusal| format!("{refusal:?}"), |()| "elided".to_owned())
}

/// Prints one line: `sites=S elided=E percpu=BACKEND outcome=elided`, or the refusal's name.
#[unsafe(no_mangle)]
pub extern "C" fn sites_report() {
    let outcome = enable();
    let (counter, word, shared) = (AtomicUsize::new(1), AtomicU32::new(0), Arc::new(7));
    probe_inc(std::hint::black_box(&counter));
    assert_eq!(counter.load(Ordering::Relaxed), 2);
    assert_eq!(probe_three(std::hint::black_box(&word)), 4);
    assert_eq!(word.load(Ordering::Relaxed), 12);
    assert_eq!(probe_clone(std::hint::black_box(&shared)), 1);
    assert_eq!(keyed(), 2);
    KEY.enable().unwrap();
    assert_eq!(keyed(), 1);
    let state = state();
    let percpu = cyclewise::percpu::backend().backend;
    println!(
        "sites={} elided={} percpu={percpu:?} outcome={outcome}",
        state.sites, state.elided
    );
}

#[allow(dead_code, reason = "a shared object has no main")]
fn main() {
    sites_report();
    let Some(path) = std::env::args().nth(1) else { return };
    let path = CString::new(path).unwrap();
    // SAFETY: a path; the object's initializers are std's.
    let object = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!object.is_null(), "{path:?} cannot be loaded");
    // SAFETY: a name in an object that is loaded.
    let report = unsafe { libc::dlsym(object, c"sites_report".as_ptr()) };
    assert!(!report.is_null(), "{path:?} is not this example as a shared object");
    // SAFETY: the function above, in another copy.
    let report = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn()>(report) };
    report();
}
