//! Keys flipped while threads execute their sites, with signals arriving and with signals blocked: every branch takes a
//! direction that the key had at the time, and nothing crashes.
//!
//! `CYCLEWISE_FLIPS` sets the number of flips.

use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::signal;
use crate::many::{INSTANCES, MANY, all_say};
use cyclewise::static_key;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

pub(crate) const CHECKS: &[Check] = checks![
    flips_under_running_threads_are_whole,
    users_counted_by_four_threads_are_all_counted,
    a_flip_publishes_what_came_before_it,
    a_hundred_sites_flip_within_a_millisecond,
    threads_with_stacks_64_gib_apart_are_two,
];

static_key! {
    static OFF: StaticKey = false;
    static ON: StaticKey = true;
    static COUNTED: StaticKey = false;
}

/// Workers that took both directions at a site.
static AWARE: AtomicU64 = AtomicU64::new(0);

/// What handlers saw: neither bit of a tag may be anything but on or off.
static SIGNALS: AtomicU64 = AtomicU64::new(0);

extern "C" fn on_signal(_: libc::c_int) {
    let tag = classify(7);
    assert!(tag == 70 || tag == 71);
    SIGNALS.fetch_add(1, Relaxed); // Read after the threads are joined.
}

#[inline(never)]
fn classify(x: u64) -> u64 {
    if OFF.is_enabled() { x * 10 + 1 } else { x * 10 }
}

/// A loop with three sites inlined, one of each kind and the same key twice.
#[inline(never)]
fn round(seen: &mut Seen) {
    for _ in 0..100 {
        seen.rounds += 1;
        if OFF.is_enabled() {
            seen.off[1] += 1;
        } else {
            seen.off[0] += 1;
        }
        if ON.is_enabled() {
            seen.on[1] += 1;
        } else {
            seen.on[0] += 1;
        }
        match classify(seen.rounds) - seen.rounds * 10 {
            tag @ (0 | 1) => seen.called[tag as usize] += 1,
            torn => panic!("neither on nor off: {torn}"),
        }
    }
    let n = (seen.rounds / 100) as usize % INSTANCES.len();
    let (tag, _) = INSTANCES[n](seen.rounds);
    assert!(tag == n || tag == n + 1000, "neither on nor off: {tag}");
}

#[derive(Default)]
struct Seen {
    rounds: u64,
    off: [u64; 2],
    on: [u64; 2],
    called: [u64; 2],
}

fn worker(stop: &AtomicBool, blocked: bool) -> Seen {
    if blocked {
        signal::mask(libc::SIG_SETMASK, signal::EVERY);
    }
    let mut seen = Seen::default();
    // Relaxed: joining orders the rest.
    let mut aware = false;
    while !stop.load(Relaxed) {
        round(&mut seen);
        if !aware && seen.off.iter().all(|&times| times > 0) {
            aware = true;
            AWARE.fetch_add(1, Relaxed); // Only counted.
        }
    }
    seen
}

fn flips() -> u64 {
    rounds("CYCLEWISE_FLIPS", 3_000, 10_000)
}

fn flips_under_running_threads_are_whole() {
    signal::handle(libc::SIGUSR1, on_signal);
    static STOP: AtomicBool = AtomicBool::new(false);
    let workers: Vec<_> = (0..4)
        .map(|n| std::thread::spawn(move || worker(&STOP, n % 2 == 1)))
        .collect();
    let targets: Vec<_> = workers.iter().step_by(2).map(|w| w.as_pthread_t()).collect();
    let mut slowest = Duration::ZERO;
    let mut flip = 0;
    // More where a busy machine seldom runs a worker: a worker that saw no flip proves nothing.
    while flip < flips() || AWARE.load(Relaxed) < workers.len() as u64 {
        let on = flip % 2 == 0;
        let began = Instant::now();
        match on {
            true => OFF.enable().unwrap(),
            false => OFF.disable().unwrap(),
        }
        slowest = slowest.max(began.elapsed());
        // This thread sees its own flip at once, both inlined and in a called function.
        assert_eq!(OFF.is_enabled(), on);
        assert_eq!(classify(3), 30 + u64::from(on));
        if flip % 4 == 0 {
            match flip % 8 == 0 {
                true => ON.disable().unwrap(),
                false => ON.enable().unwrap(),
            }
            assert_eq!(ON.is_enabled(), flip % 8 != 0);
        }
        if flip % 16 == 0 {
            match flip % 32 == 0 {
                true => MANY.enable().unwrap(),
                false => MANY.disable().unwrap(),
            }
            assert!(all_say(flip % 32 == 0));
        }
        if flip % 8 == 0 {
            for &target in &targets {
                // SAFETY: the thread is not joined yet.
                unsafe { libc::pthread_kill(target as _, libc::SIGUSR1) };
            }
        }
        flip += 1;
    }
    STOP.store(true, Relaxed);
    for worker in workers {
        let seen = worker.join().unwrap();
        for [off, on] in [seen.off, seen.on, seen.called] {
            assert_eq!(off + on, seen.rounds, "a round counted twice or not at all");
        }
    }
    assert!(SIGNALS.load(Relaxed) > 0);
    eprintln!("{flip} flips, {} signals, slowest {slowest:?}", SIGNALS.load(Relaxed));
}

fn users_counted_by_four_threads_are_all_counted() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    COUNTED.inc().unwrap();
                    assert!(COUNTED.is_enabled(), "this thread is a user");
                    COUNTED.dec().unwrap();
                }
            });
        }
    });
    assert_eq!(COUNTED.users(), 0);
    assert!(!COUNTED.is_enabled());
}

static_key! {
    static PUBLISHED: StaticKey = false;
}

/// A write before a flip is visible after a branch that took the new direction.
fn a_flip_publishes_what_came_before_it() {
    static DATA: AtomicU64 = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            loop {
                if PUBLISHED.is_enabled() {
                    // Relaxed: the flip's barrier on this core orders it after the writer's store.
                    return DATA.load(Relaxed);
                }
            }
        });
        // Relaxed: ordered by the flip.
        DATA.store(42, Relaxed);
        PUBLISHED.enable().unwrap();
        assert_eq!(reader.join().unwrap(), 42);
    });
    DATA.store(0, SeqCst); // The test may run again in this process.
}

/// A millisecond for a hundred sites with two threads running.
fn a_hundred_sites_flip_within_a_millisecond() {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| worker(&stop, false));
        let times = |on: bool| {
            let began = Instant::now();
            match on {
                true => MANY.inc().unwrap(),
                false => MANY.dec().unwrap(),
            }
            began.elapsed()
        };
        let mut times: Vec<_> = (0..100).map(|n| times(n % 2 == 0)).collect();
        stop.store(true, Relaxed);
        times.sort_unstable();
        let (median, worst) = (times[50], times[99]);
        eprintln!("{} sites: median {median:?}, slowest {worst:?}", MANY.sites().count());
        // The bound is fair only where nothing else uses the CPUs.
        if std::env::var_os("CYCLEWISE_TIMED").is_some() {
            assert!(median < Duration::from_millis(1), "{median:?}");
        }
    });
}

static BEGUN: AtomicU64 = AtomicU64::new(0);
/// How many changes of a thread's own key were refused.
static REFUSED: AtomicU64 = AtomicU64::new(0);

static_key! {
    static FIRST: StaticKey = false;
    static SECOND: StaticKey = false;
}

extern "C" fn flip_own(is_second: *mut libc::c_void) -> *mut libc::c_void {
    // Both have begun, so that each finds the other in its change.
    BEGUN.fetch_add(1, SeqCst);
    while BEGUN.load(SeqCst) < 2 {
        std::hint::spin_loop();
    }
    for _ in 0..500 {
        let (changed, is_off) = match is_second.is_null() {
            true => ([FIRST.enable(), FIRST.disable()], !FIRST.is_enabled()),
            false => ([SECOND.enable(), SECOND.disable()], !SECOND.is_enabled()),
        };
        let refused = changed.iter().filter(|changed| changed.is_err()).count() + usize::from(!is_off);
        REFUSED.fetch_add(refused as u64, Relaxed); // Read after the threads are joined.
    }
    std::ptr::null_mut()
}

/// Their addresses differ in one bit alone, the 36th: a token of 32 bits cut from them would be the same.
fn threads_with_stacks_64_gib_apart_are_two() {
    const SIZE: usize = 1 << 20;
    const APART: usize = 64 << 30;
    let reserve = |at: *mut libc::c_void, size, access, fixed| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
        // SAFETY: a new mapping, or the stacks' part of the one that was reserved.
        unsafe { libc::mmap(at, size, access, flags, -1, 0) }
    };
    let whole = reserve(std::ptr::null_mut(), APART + SIZE, libc::PROT_NONE, 0);
    if whole == libc::MAP_FAILED {
        return println!("skipped: no 64 GiB of address space");
    }
    let threads = [0, APART].map(|at| {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let stack = reserve(whole.wrapping_byte_add(at), SIZE, access, libc::MAP_FIXED);
        assert_ne!(stack, libc::MAP_FAILED);
        let mut attributes = std::mem::MaybeUninit::uninit();
        // SAFETY: writes the attributes.
        assert_eq!(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) }, 0);
        // SAFETY: initialized, and a stack of its own.
        let rc = unsafe { libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack, SIZE) };
        assert_eq!(rc, 0);
        let mut thread = std::mem::MaybeUninit::uninit();
        // SAFETY: attributes, a function and what it takes.
        let rc = unsafe {
            libc::pthread_create(
                thread.as_mut_ptr(),
                attributes.as_ptr(),
                flip_own,
                std::ptr::without_provenance_mut(at),
            )
        };
        assert_eq!(rc, 0);
        // SAFETY: written by the call that succeeded.
        unsafe { thread.assume_init() }
    });
    // The premise.
    assert_eq!(threads[1] - threads[0], APART as libc::pthread_t);
    for thread in threads {
        // SAFETY: joined once.
        assert_eq!(unsafe { libc::pthread_join(thread, std::ptr::null_mut()) }, 0);
    }
    assert_eq!(REFUSED.load(Relaxed), 0);
}
