//! Every plan of up to three signals against mainline: at every step, of every kind.

use super::kernel::{Frames, Kernel, OURS, Protocol, Sent, Verdict, information};
use crate::mask::pending_ring::CAPACITY;
use crate::mask::siginfo::Info;
use crate::mask::thread_mask::{BLOCK_AT, Env, ThreadMask};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::vec::Vec;

/// Mainline: sections one after the other, one of them nested.
fn mainline<P: Protocol>(kernel: &Kernel<'_, P>) {
    kernel.section(false);
    kernel.step();
    kernel.section(true);
    kernel.step();
}

/// Runs one plan; returns its verdict and its number of steps.
fn run<P: Protocol>(plan: &[Sent], frames: Frames) -> (Verdict, u32) {
    let thread = P::new();
    let kernel = Kernel::with(&thread, plan, frames);
    mainline(&kernel);
    (kernel.conclude(), kernel.steps())
}

/// Numbers of the models: two real-time signals and a standard one, in the kernel's order of delivery and against it.
const NUMBERS: [i32; 3] = [34, 40, 10];

/// Runs every plan of up to three signals; returns how many there were, and the faults with their counts.
pub(super) fn every_plan<P: Protocol>(frames: Frames) -> (u32, BTreeMap<&'static str, u32>) {
    let mut plans = 0;
    let mut wrong = BTreeMap::new();
    let mut try_one = |plan: &[Sent]| {
        let (verdict, steps) = run::<P>(plan, frames);
        plans += 1;
        if let Err(what) = verdict {
            *wrong.entry(what).or_insert(0) += 1;
        }
        steps
    };
    let (_, alone) = run::<P>(&[], frames);
    for first in 0..alone {
        for a in NUMBERS {
            // A delivery takes steps too, at which the next signal may arrive.
            let with_one = try_one(&[(first, a, 1)]);
            for second in first..with_one {
                for b in NUMBERS {
                    let with_two = try_one(&[(first, a, 1), (second, b, 2)]);
                    // Frames that interrupt frames take many more steps; only nearby ones matter.
                    let last = match frames {
                        Frames::BlockAll | Frames::KeepToNoMask => with_two,
                        Frames::BlockTheirOwn => with_two.min(second + 16),
                    };
                    for third in second..last {
                        for c in NUMBERS {
                            try_one(&[(first, a, 1), (second, b, 2), (third, c, 3)]);
                        }
                    }
                }
            }
        }
    }
    (plans, wrong)
}

#[test]
fn every_plan_keeps_every_promise() {
    let (plans, wrong) = every_plan::<ThreadMask>(Frames::BlockAll);
    assert!(plans > 100_000, "{plans} plans");
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A foreign handler over ours calls it with only its own signal blocked, so frames interrupt frames.
#[test]
fn every_plan_keeps_every_promise_where_frames_block_nothing() {
    let (plans, wrong) = every_plan::<ThreadMask>(Frames::BlockTheirOwn);
    assert!(plans > 100_000, "{plans} plans");
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_signal_at_the_very_release_is_delivered_by_it() {
    // Every step of one section, one signal: delivered when the section returns, not later.
    let thread = ThreadMask::default();
    let steps = {
        let kernel = Kernel::new(&thread, &[]);
        kernel.section(false);
        kernel.steps()
    };
    for step in 0..steps {
        let thread = ThreadMask::default();
        let plan = [(step, 34, 7)];
        let kernel = Kernel::new(&thread, &plan);
        kernel.section(false);
        assert_eq!(*kernel.delivered.borrow(), [(34, 7)], "step {step}");
    }
}

/// More signals than the ring holds, at every step of a section, and more at a later step: the kernel keeps the rest in
/// order.
#[test]
fn what_the_ring_has_no_room_for_the_kernel_keeps() {
    let burst = 3 * CAPACITY;
    let mut overflows = 0;
    for first in 0..12 {
        for second in first..40 {
            let mut plan: Vec<Sent> = (0..u64::from(burst)).map(|value| (first, 34, value)).collect();
            plan.extend((0..u64::from(burst)).map(|value| (second, 34, 100 + value)));
            plan.extend((0..5).map(|value| (second, 40, value)));
            plan.push((first, 10, 1));
            plan.push((second, 10, 2));
            let thread = ThreadMask::default();
            let kernel = Kernel::new(&thread, &plan);
            mainline(&kernel);
            assert_eq!(kernel.conclude(), Ok(()), "bursts at {first} and {second}");
            overflows += thread.overflows();
        }
    }
    assert!(overflows > 0, "no burst filled a ring");
}

/// Foreign code unblocks signals repeatedly in a hold: the ring fills, and further signals are requeued.
#[test]
fn nothing_is_lost_where_the_block_is_undone() {
    let thread = ThreadMask::default();
    let kernel = Kernel::new(&thread, &[]);
    thread.hold(&kernel);
    for value in 0..u64::from(2 * CAPACITY) {
        let mut mask = 0; // Undone each time.
        thread.arrive(&information(34, value), OURS, &mut mask, &kernel);
        assert_eq!(mask == OURS, value + 1 >= u64::from(BLOCK_AT), "{value}");
    }
    thread.release(&kernel);
    let mut values: Vec<_> = kernel.delivered.borrow().iter().map(|d| d.1).collect();
    values.sort_unstable();
    assert!(values.iter().copied().eq(0..u64::from(2 * CAPACITY)), "{values:?}");
    assert_eq!(kernel.wrong.get(), None);
}

/// Twenty signals in one hold, where nobody keeps to the mask of a frame: what is delivered and what is wrong.
pub(super) fn held_where_no_mask_is_kept_to<P: Protocol>() -> (P, usize, Verdict) {
    let thread = P::new();
    let plan: Vec<Sent> = (0..20).map(|value| (1, 34, value)).collect();
    let kernel = Kernel::with(&thread, &plan, Frames::KeepToNoMask);
    kernel.section(false);
    kernel.step();
    let delivered = kernel.delivered.borrow().len();
    let verdict = kernel.wrong.get().map_or(Ok(()), Err);
    (thread, delivered, verdict)
}

#[test]
fn what_nobody_keeps_is_lost_and_counted() {
    let (thread, delivered, verdict) = held_where_no_mask_is_kept_to::<ThreadMask>();
    assert_eq!(verdict, Ok(()));
    assert_eq!(delivered, CAPACITY as usize);
    assert_eq!(thread.lost(), 20 - u64::from(CAPACITY));
    assert!(!thread.is_held() && !thread.is_pending());
}

#[test]
fn a_standard_signal_is_merged_into_one_that_waits() {
    let thread = ThreadMask::default();
    let kernel = Kernel::new(&thread, &[]);
    thread.hold(&kernel);
    for value in 1..4 {
        thread.arrive(&information(10, value), OURS, &mut 0, &kernel);
    }
    thread.arrive(&information(12, 9), OURS, &mut 0, &kernel);
    thread.release(&kernel);
    assert_eq!(
        *kernel.delivered.borrow(),
        [(10, 1), (12, 9)],
        "the first stays, as the kernel's does"
    );
}

/// The environment of a thread whose first handler keeps a hold.
struct Keeping<'a, P> {
    thread: &'a P,
    delivered: RefCell<Vec<u64>>,
}

impl<P: Protocol> Env for Keeping<'_, P> {
    fn deliver(&self, info: &Info) {
        self.delivered.borrow_mut().push(info.0[3]);
        if self.delivered.borrow().len() == 1 {
            self.thread.hold(self);
        }
    }
    fn unblock(&self, _: u64) {}
    fn requeue(&self, _: &Info) -> bool {
        true
    }
}

/// Two signals at a release; the first one's handler keeps a hold. Returns what was delivered before and after its
/// release.
pub(super) fn kept_hold<P: Protocol>() -> (usize, usize) {
    let thread = P::new();
    let env = Keeping {
        thread: &thread,
        delivered: RefCell::default(),
    };
    thread.hold(&env);
    for value in 0..2 {
        thread.arrive(&information(34, value), OURS, &mut 0, &env);
    }
    thread.release(&env);
    let before = env.delivered.borrow().len();
    if thread.is_held() {
        thread.release(&env);
    }
    let after = env.delivered.borrow().len();
    (before, after)
}

#[test]
fn a_hold_that_a_handler_keeps_holds() {
    assert_eq!(kept_hold::<ThreadMask>(), (1, 2));
}

/// The environment of a handler that releases without a hold, and of what comes then.
struct Releasing<'a, P> {
    thread: &'a P,
    delivered: RefCell<Vec<(u64, bool)>>,
}

impl<P: Protocol> Env for Releasing<'_, P> {
    fn deliver(&self, info: &Info) {
        let value = info.0[3];
        self.thread.release(self);
        self.thread.hold(self);
        self.thread.release(self);
        self.thread.release(self);
        self.delivered.borrow_mut().push((value, self.thread.is_held()));
        if value == 0 {
            // A signal that the handler lets through waits for its end.
            self.thread.arrive(&information(34, 9), OURS, &mut 0, self);
            assert_eq!(self.delivered.borrow().len(), 1, "a handler inside a handler");
        }
    }
    fn unblock(&self, _: u64) {}
    fn requeue(&self, _: &Info) -> bool {
        true
    }
}

/// In a frame and in a replay. The C interface lets a handler do this.
#[test]
fn a_release_without_a_hold_does_nothing_in_a_handler() {
    for held in [false, true] {
        let thread = ThreadMask::default();
        let env = Releasing {
            thread: &thread,
            delivered: RefCell::default(),
        };
        if held {
            thread.hold(&env);
        }
        thread.arrive(&information(34, 0), OURS, &mut 0, &env);
        thread.arrive(&information(34, 1), OURS, &mut 0, &env);
        if held {
            thread.release(&env);
        }
        let order = if held { [0, 1, 9] } else { [0, 9, 1] };
        assert_eq!(*env.delivered.borrow(), order.map(|value| (value, true)));
        thread.release(&env);
        assert!(!thread.is_held() && !thread.is_pending());
    }
}

#[test]
fn holds_past_counting_stay() {
    let thread = ThreadMask::default();
    let kernel = Kernel::new(&thread, &[]);
    thread.hold(&kernel);
    thread.set_depth(u32::MAX - 1);
    thread.hold(&kernel);
    thread.hold(&kernel);
    for _ in 0..4 {
        thread.release(&kernel);
    }
    assert!(thread.is_held());
}

#[test]
fn records_wrap_around_whole() {
    let ring = crate::mask::pending_ring::PendingRing::default();
    let mut next = 0;
    for value in 0..100u64 {
        assert!(ring.push(&information(34, value), || ()));
        if value % 3 != 0 {
            continue;
        }
        while let Some(info) = ring.pop(|| ()) {
            assert_eq!(info, information(34, next));
            next += 1;
        }
    }
    assert_eq!(next, 100);
}

/// A record gives out what the signal did, though the kernel fills more: an error number, and the times of SIGCHLD. The twin, all words
/// compared, tells the two apart.
#[test]
fn a_record_is_the_signal_that_it_is_of() {
    let ring = crate::mask::pending_ring::PendingRing::default();
    let delivered = Info([17 | 7 << 32, 5, 1000 << 32 | 99, 19, 123, 456]);
    assert!(ring.push(&delivered, || ()));
    let recorded = ring.pop(|| ()).unwrap();
    assert_eq!(
        (recorded, std::format!("{recorded:?}")),
        (delivered, std::format!("{delivered:?}"))
    );
    assert_ne!(recorded.0, delivered.0);
    for other in 0..4 {
        let mut words = delivered.0;
        words[other] ^= 1;
        assert_ne!(Info(words), delivered, "word {other}");
    }
}
