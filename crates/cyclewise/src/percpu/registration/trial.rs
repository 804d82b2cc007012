//! Whether the kernel restarts a sequence that it has interrupted: tried once in a process, before the first one counts.
//!
//! Emulators and user-space kernels may register areas and restart nothing, and so may a tracer that answers for the kernel. Then two threads
//! of a CPU would lose updates without a word.
//!
//! The trial: a timer's signal interrupts a sequence that does nothing but wait for its handler. A sequence that was not started again
//! afterwards is not restarted ever. It takes about 0.1 ms, and half a millisecond where the signal does not come; then nothing
//! is known, and sequences are used as before.
//!
//! # What it does not see
//! A kernel that restarts sequences before a handler and not after a preemption by another thread of the same CPU: on AArch64 Linux from
//! 6.19 on did that, until its "optimized V2", which the auxiliary vector shows. Such kernels are known by their version.
//!
//! # Owners of the registration
//! | who registered | what is used |
//! |---|---|
//! | the C library, also with the longer areas of 6.3 and of V2 | its area, after the trial |
//! | nobody: glibc before 2.35, musl, `glibc.pthread.rseq=0` | areas of our own, after the trial |
//! | another library, as tcmalloc's static area | portable slots, on the threads that it has registered, and on all if the first user is one: [`Reason::Foreign`](super::Reason::Foreign) |
//! | a process restored by CRIU | as before: CRIU registers each area again, on a kernel that has been tried or is as it was |
//!
//! # The handler
//! It is installed for a real-time signal that has none and that the calling thread does not block, for as long as the trial lasts, and the
//! signal goes to that thread alone. (The program may wait for a blocked one by sigwait(3) or signalfd(2).) Where no signal is free nothing is
//! tried.
//!
//! Threads try one at a time: if two chose the same signal, the first to end would remove the handler of both, and the second's signal would
//! kill the process.
//!
//! # References
//! M. Stearn, "\[REGRESSION\] rseq: refactoring in v6.19 broke everyone on arm64 and tcmalloc everywhere", LKML, April 2026.
//!
//! # Safety
//! 1. The area that is passed is the calling thread's.
#![expect(unsafe_code, reason = "runs a sequence")]

use crate::arch::rseq::{Area, trial};
use crate::sys::sigaction::{self, Action};
use crate::sys::timer::Timer;
use crate::sys::{fork_generation, rseq, signal_mask, thread, uname};
use core::ffi::{c_int, c_void};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// When the signal comes: after the sequence has begun, on any machine that is not busy.
const AFTER_NS: u32 = 30_000;
/// Looks at the word: some tenths of a millisecond.
const LOOKS: u64 = 400_000;

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The sequence was started again.
    Restarted,
    /// It went on as if nothing had been.
    WentOn,
    /// It was not interrupted.
    Unknown,
}

/// Whether an interrupted sequence is restarted, as far as is known.
///
/// # Safety
/// The area is the calling thread's.
pub(super) unsafe fn are_restarted(area: Area) -> bool {
    let kernel = uname::release().unwrap_or_default();
    if cfg!(target_arch = "aarch64") && is_known_broken(kernel, rseq::features()) {
        return false;
    }
    // SAFETY: guaranteed by the caller (Invariant 1).
    unsafe { run(area) != Verdict::WentOn }
}

/// Whether an AArch64 kernel of this version that fills so many bytes of an area restarts nothing after a preemption.
fn is_known_broken(kernel: (u32, u32), features: usize) -> bool {
    const FIRST: (u32, u32) = (6, 19);
    const V2: usize = 33; // bytes; its areas are longer than the original 32
    kernel >= FIRST && features < V2
}

static INTERRUPTED: AtomicU32 = AtomicU32::new(0);

extern "C" fn handler(_: c_int, _: *mut c_void, _: *mut c_void) {
    // Relaxed: of the same thread.
    INTERRUPTED.store(1, Relaxed);
}

/// One trial.
///
/// # Safety
/// The area is the calling thread's.
pub(super) unsafe fn run(area: Area) -> Verdict {
    // Before the turn: a handler that tries too would wait for its own thread.
    let Ok(mask) = signal_mask::block() else {
        return Verdict::Unknown;
    };
    let verdict = Turn::take().map_or(Verdict::Unknown, |_turn| {
        // SAFETY: guaranteed by the caller.
        unsafe { run_alone(area, mask) }
    });
    signal_mask::set(mask);
    verdict
}

/// One trial, with signals blocked, for a thread that had `blocked` blocked before.
///
/// # Safety
/// The area is the calling thread's.
unsafe fn run_alone(area: Area, blocked: u64) -> Verdict {
    let mut verdict = Verdict::Unknown;
    let Some((signal, before)) = free_signal(blocked) else {
        return verdict;
    };
    if sigaction::install(signal, &Action::ours(handler, false, &before)).is_err() {
        return verdict;
    }
    INTERRUPTED.store(0, Relaxed);
    signal_mask::unblock(bit(signal));
    if let Some(timer) = Timer::once(signal, AFTER_NS) {
        // SAFETY: guaranteed by the caller (Invariant 1).
        let ran = unsafe { trial::starts_until(area, &INTERRUPTED, LOOKS) };
        verdict = judged(INTERRUPTED.load(Relaxed) != 0, ran);
        // No signal comes after this.
        drop(timer);
    }
    // Another thread of the program's may have installed its own.
    if sigaction::current(signal).is_ok_and(|now| now.is(handler)) {
        let _ = sigaction::install(signal, &before);
    }
    verdict
}

/// The calling thread's turn, until it is dropped.
struct Turn;

/// The generation of the process whose thread has the turn, or 0. In a child of fork an older one is nobody's.
static TAKEN_BY: AtomicU32 = AtomicU32::new(0);

impl Turn {
    /// Waits for other threads' trials, some milliseconds at most.
    fn take() -> Option<Self> {
        const NAPS: u32 = 100;
        let me = fork_generation::current();
        let is_mine = || {
            let found = TAKEN_BY.load(Relaxed);
            // Acquire: pairs with the Release of the drop.
            found != me && TAKEN_BY.compare_exchange(found, me, Acquire, Relaxed).is_ok()
        };
        let is_mine_after_a_nap = |_| {
            thread::nap();
            is_mine()
        };
        // Lazily: dropping a `Self` that was not taken would end another thread's turn.
        (is_mine() || (0..NAPS).any(is_mine_after_a_nap)).then(|| Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TAKEN_BY.store(0, Release);
    }
}

/// What the starts of a sequence and the looks that were left to the last one tell.
///
/// One start that found the handler's word unset and then set was not started again in between. One that found it set at once may have begun
/// after the signal.
fn judged(interrupted: bool, (starts, left): (u64, u64)) -> Verdict {
    match (interrupted, starts) {
        (true, _) if left < LOOKS => Verdict::WentOn,
        (true, 2..) => Verdict::Restarted,
        _ => Verdict::Unknown,
    }
}

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// A real-time signal without a handler that is not in `blocked`, and its disposition.
fn free_signal(blocked: u64) -> Option<(c_int, Action)> {
    let open = |&signal: &c_int| blocked & bit(signal) == 0;
    // From the last on: programs take the first ones.
    let mut signals = (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev().filter(open);
    signals.find_map(|signal| {
        let action = sigaction::current(signal).ok()?;
        action.has_handler_of(&Action::default()).then_some((signal, action))
    })
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::arch::rseq::SIGNATURE;
    use crate::arch::static_libc::rseq_words;
    use crate::arch::{Cpu, Id};
    use crate::sys::for_tests::{is_pending, raise, unregister};
    use crate::sys::rseq::of_libc;
    use core::ptr::NonNull;
    use std::boxed::Box;

    /// A verdict that says something, unless no signal comes for ten seconds: an emulator may have none that it can send so.
    fn decided(area: Area) -> Verdict {
        let begin = std::time::Instant::now();
        loop {
            // SAFETY: the calling thread's area, or one that nobody registered.
            let verdict = unsafe { run(area) };
            if verdict != Verdict::Unknown || begin.elapsed().as_secs() > 10 {
                return verdict;
            }
        }
    }

    /// On a thread of its own.
    fn alone(run: impl FnOnce() + Send) {
        std::thread::scope(|scope| scope.spawn(run).join().unwrap());
    }

    #[test]
    fn this_kernel_restarts_what_it_interrupts() {
        let Some((distance, _)) = of_libc(rseq_words()) else {
            std::println!("skipped: the C library has registered no area");
            return;
        };
        alone(|| {
            // SAFETY: libc's area of this thread, whether registered or not.
            let is_registered = unsafe { Area(distance).id::<Cpu>() as i32 } >= 0;
            assert!(!is_registered || decided(Area(distance)) == Verdict::Restarted);
        });
    }

    /// Threads whose first uses come at once. Without turns one kills the process, or takes another's signal for its own.
    #[test]
    fn threads_that_try_at_once_do_not_mislead_each_other() {
        let Some((distance, _)) = of_libc(rseq_words()) else {
            std::println!("skipped: the C library has registered no area");
            return;
        };
        let (start, wrong) = (std::sync::Barrier::new(4), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        start.wait();
                        // SAFETY: libc's area of this thread, whether registered or not.
                        let is_registered = unsafe { Area(distance).id::<Cpu>() as i32 } >= 0;
                        // SAFETY: as before.
                        let verdict = unsafe { run(Area(distance)) };
                        wrong.fetch_add(u32::from(is_registered && verdict == Verdict::WentOn), Relaxed);
                    }
                });
            }
        });
        assert_eq!(wrong.into_inner(), 0);
    }

    #[test]
    fn a_turn_that_is_not_taken_ends_no_other() {
        let turn = core::iter::repeat_with(Turn::take).flatten().next();
        assert!(turn.is_some() && Turn::take().is_none() && Turn::take().is_none());
    }

    /// A shim that registers and never restarts: an area with an id in it, which the kernel does not know.
    #[test]
    fn a_shim_that_restarts_nothing_is_caught() {
        alone(|| {
            if let Some((distance, length)) = of_libc(rseq_words()) {
                let known = NonNull::from(&0_u8);
                let pointer = known.as_ptr().wrapping_byte_offset(Area::at(known).0.wrapping_neg());
                let at = NonNull::new(pointer.wrapping_byte_offset(distance)).unwrap();
                for length in [length, length.next_multiple_of(32)] {
                    // SAFETY: this thread uses no area of the kernel's from here on.
                    let _ = unsafe { unregister(at, length, SIGNATURE) };
                }
            }
            #[repr(align(128))]
            struct Space([u32; 32]);
            let space = Box::leak(Box::new(Space([0; 32])));
            space.0[Cpu::AT / 4] = 0;
            match decided(Area::at(NonNull::from(&mut space.0).cast())) {
                Verdict::Unknown if cfg!(not(target_arch = "x86_64")) => std::println!("skipped: no signal comes here"),
                verdict => assert_eq!(verdict, Verdict::WentOn),
            }
        });
    }

    /// A signal that a thread blocks may be for sigwait(3).
    #[test]
    fn a_signal_that_the_program_waits_for_is_left_to_it() {
        let Some((distance, _)) = of_libc(rseq_words()) else {
            std::println!("skipped: the C library has registered no area");
            return;
        };
        alone(|| {
            let open = signal_mask::block().unwrap();
            // An emulator lacks the last ones.
            let sent = (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev().find(|&signal| {
                signal_mask::set(open | bit(signal));
                raise(signal)
            });
            // SAFETY: libc's area of this thread, whether registered or not.
            let _ = unsafe { run(Area(distance)) };
            assert!(is_pending(sent.unwrap()));
        });
    }

    #[test]
    fn a_signal_before_the_sequence_tells_nothing() {
        assert_eq!(
            judged(true, (1, LOOKS)),
            Verdict::Unknown,
            "a preemption behind the timer's start"
        );
        assert_eq!(judged(false, (1, 0)), Verdict::Unknown, "no signal came");
        assert_eq!(judged(true, (1, LOOKS - 1)), Verdict::WentOn);
        assert_eq!(judged(true, (2, LOOKS)), Verdict::Restarted);
    }

    #[test]
    fn kernels_that_lost_preemptions_are_known_until_their_repair() {
        for (kernel, features, expected) in [
            ((6, 18), 28, false),
            ((6, 19), 28, true),
            ((6, 19), 32, true),
            ((7, 0), 32, true),
            ((7, 0), 33, false),
            ((0, 0), 20, false),
        ] {
            assert_eq!(is_known_broken(kernel, features), expected, "{kernel:?} {features}");
        }
    }
}
