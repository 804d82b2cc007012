//! Changes of the text under Valgrind, which executes translations of it, and held signals there: each check runs in a process of
//! its own under its `none` tool.

use crate::common::call;
use crate::common::harness::{self, Check, checks};
use crate::common::text::poke;
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::mask::{self, Signals};
use cyclewise::patch::{self, Prefix, sites};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicU64;

cyclewise::static_key! {
    static KEY: StaticKey = false;
}

static COUNTER: AtomicUsize = AtomicUsize::new(0);

pub(crate) const CHECKS: &[Check] = checks![
    a_key_changes_what_runs,
    a_key_changes_what_runs_beside_a_thread,
    the_mode_comes_and_goes,
    a_hold_ends_however_many_signals_arrive_in_it,
    twin_text_that_valgrind_is_not_told_of,
];

/// What the argument that names a check begins with under Valgrind.
const INSIDE: &str = "inside=";

/// Runs the check of this name and says so, if the argument names one.
pub(crate) fn run_part(argument: &str) -> bool {
    let Some(name) = argument.strip_prefix(INSIDE) else {
        return false;
    };
    let (_, check) = CHECKS.iter().find(|(path, _)| path.ends_with(name)).unwrap();
    check();
    true
}

/// Why the checks cannot run, where that is the case.
pub(crate) fn missing() -> Option<&'static str> {
    if let Some(reason) = harness::under_asan("Valgrind starts no program with a sanitizer") {
        return Some(reason);
    }
    let there = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    let is_there = there.is_ok_and(|status| status.success());
    (!is_there).then_some("no Valgrind here; apt-get install valgrind")
}

/// Runs a check of this program under Valgrind.
pub(crate) fn run(name: &str) -> Result<(), String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=none"]);
    valgrind
        .arg(std::env::current_exe().unwrap())
        .arg(format!("{INSIDE}::{name}"));
    let outcome = valgrind.stdin(Stdio::null()).status().unwrap();
    outcome.success().then_some(()).ok_or_else(|| outcome.to_string())
}

/// The function by its address. Where it is known, each place that calls it has a translation of its own.
fn indirect(function: fn() -> u32) -> fn() -> u32 {
    std::hint::black_box(function)
}

#[inline(never)]
fn says() -> u32 {
    // Not by a value that both branches compute.
    if KEY.is_enabled() {
        std::hint::black_box(1)
    } else {
        std::hint::black_box(0)
    }
}

fn a_key_changes_what_runs() {
    let says = indirect(says);
    for round in 0..20 {
        assert!((0..100).all(|_| says() == 0), "round {round}");
        KEY.enable().unwrap();
        assert!((0..100).all(|_| says() == 1), "round {round}");
        KEY.disable().unwrap();
    }
}

fn a_key_changes_what_runs_beside_a_thread() {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || stopped.recv());
    a_key_changes_what_runs();
    drop(stop);
    let _ = thread.join();
}

fn the_mode_comes_and_goes() {
    crate::enable().unwrap();
    for round in 1..=10 {
        assert!(sites().all(|site| site.prefix() == Prefix::Elided));
        COUNTER.inc(Ordering::Relaxed);
        let count = || (0..1000).for_each(|_| COUNTER.inc(Ordering::Relaxed));
        for thread in [count, count].map(std::thread::spawn) {
            thread.join().unwrap();
        }
        assert_eq!(COUNTER.load(Ordering::Relaxed), 2001 * round);
        patch::reelide().unwrap();
    }
}

/// Valgrind does not keep to the mask that a handler leaves in its frame, by which the kernel keeps what a hold has no room for.
fn a_hold_ends_however_many_signals_arrive_in_it() {
    static RAN: AtomicU64 = AtomicU64::new(0);
    let signal = libc::SIGRTMIN() + 3;
    Signals::on(signal, &RAN).unwrap();
    let hold = mask::hold();
    for _ in 0..40 {
        assert_eq!(call::raise(signal), 0);
    }
    drop(hold);
    let ran = RAN.load(Ordering::Relaxed);
    assert!(ran > 0 && ran + mask::lost() == 40, "{ran} ran, {} lost", mask::lost());
}

#[inline(never)]
fn constant() -> u32 {
    std::hint::black_box(0x1234_5678)
}

/// Writes past the library change nothing that was translated before: what a key's change was, and what the checks see.
fn twin_text_that_valgrind_is_not_told_of() {
    let start = constant as *const () as usize;
    // SAFETY: the function's text and some behind it, which is the program's as well.
    let text = unsafe { std::slice::from_raw_parts(start as *const u8, 32) };
    let at = text
        .windows(4)
        .position(|bytes| bytes == 0x1234_5678_u32.to_le_bytes())
        .unwrap();
    let constant = indirect(constant);
    for round in 0..2 {
        assert_eq!(constant(), 0x1234_5678, "round {round}: Valgrind has seen it by itself");
        poke(start + at, &[0x79]);
    }
}
