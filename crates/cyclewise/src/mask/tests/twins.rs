//! The models' own test: faulty twins of the protocol, each caught by the plans that the right one passes.

use super::kernel::{Frames, Protocol};
use super::models::{every_plan, held_where_no_mask_is_kept_to, kept_hold};
use crate::mask::siginfo::Info;
use crate::mask::thread_mask::{Env, ThreadMask};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The faults. 0 is none: the twin itself passes.
const RIGHT: u8 = 0;
const NO_FLAG_TEST: u8 = 1;
const TEST_BEFORE_STORE: u8 = 2;
const OPEN_WHILE_REPLAYING: u8 = 3;
const PENDING_NOT_LOOKED_AT: u8 = 4;
const NO_SECOND_LOOK: u8 = 5;
const NEWEST_FIRST: u8 = 6;
const STORE_OF_AN_OLD_SUM: u8 = 7;
const RECORD_OF_AN_OLD_END: u8 = 8;

/// The protocol of `ThreadMask` with an unbounded queue and the fault `WRONG`.
struct Twin<const WRONG: u8> {
    depth: Cell<u32>,
    recorded: RefCell<VecDeque<Info>>,
}

impl<const WRONG: u8> Twin<WRONG> {
    fn pending(&self) -> bool {
        !self.recorded.borrow().is_empty()
    }

    fn replay(&self, env: &impl Env) {
        loop {
            if WRONG != OPEN_WHILE_REPLAYING {
                self.depth.set(1);
            }
            env.step();
            loop {
                let mut recorded = self.recorded.borrow_mut();
                let next = if WRONG == NEWEST_FIRST {
                    recorded.pop_back()
                } else {
                    recorded.pop_front()
                };
                drop(recorded);
                let Some(info) = next else { break };
                env.step();
                env.deliver(&info);
            }
            env.step();
            self.depth.set(0);
            env.step();
            if !self.pending() || WRONG == NO_SECOND_LOOK {
                return;
            }
        }
    }
}

impl<const WRONG: u8> Protocol for Twin<WRONG> {
    fn new() -> Self {
        Self {
            depth: Cell::new(0),
            recorded: RefCell::default(),
        }
    }

    fn hold(&self, env: &impl Env) {
        let depth = self.depth.get();
        env.step();
        self.depth.set(depth + 1);
        env.step();
    }

    fn release(&self, env: &impl Env) {
        let depth = self.depth.get();
        env.step();
        let early = self.pending();
        if WRONG == TEST_BEFORE_STORE {
            env.step();
        }
        self.depth.set(depth - 1);
        env.step();
        let pending = if WRONG == TEST_BEFORE_STORE {
            early
        } else {
            self.pending()
        };
        if depth == 1 && pending {
            env.step();
            self.replay(env);
        }
    }

    fn arrive(&self, info: &Info, _: u64, _: &mut u64, env: &impl Env) {
        let open = match WRONG {
            NO_FLAG_TEST => true,
            PENDING_NOT_LOOKED_AT => self.depth.get() == 0,
            _ => self.depth.get() == 0 && !self.pending(),
        };
        if open {
            self.depth.set(self.depth.get() + 1);
            env.deliver(info);
            if WRONG == STORE_OF_AN_OLD_SUM {
                return; // The frame leaves the depth changed under mainline's feet.
            }
            return self.release(env);
        }
        let merged = |other: &Info| other.signal() == info.signal() && info.signal() < 32;
        let end = self.recorded.borrow().len();
        env.step_in_frame();
        let mut recorded = self.recorded.borrow_mut();
        if WRONG == RECORD_OF_AN_OLD_END {
            // Overwrites what another frame stored meanwhile.
            recorded.truncate(end);
        }
        if !recorded.iter().any(merged) {
            recorded.push_back(*info);
        }
    }

    fn is_held(&self) -> bool {
        self.depth.get() != 0
    }

    fn is_pending(&self) -> bool {
        self.pending()
    }
}

fn caught<const WRONG: u8>(frames: Frames) -> bool {
    !every_plan::<Twin<WRONG>>(frames).1.is_empty()
}

macro_rules! caught_as {
    ($($name:ident: $what:literal by $wrong:ident;)*) => { $(
        #[test]
        fn $name() {
            let (plans, wrong) = every_plan::<Twin<$wrong>>(Frames::BlockAll);
            assert!(wrong.contains_key($what), "{plans} plans: {wrong:?}");
        }
    )* };
}

caught_as! {
    without_the_test_of_the_flag_handlers_run_inside_holds: "a handler inside a hold" by NO_FLAG_TEST;
    a_test_before_the_store_loses_what_comes_between: "a signal waits at the end" by TEST_BEFORE_STORE;
    an_open_replay_nests_handlers: "a handler inside a handler" by OPEN_WHILE_REPLAYING;
    what_overtakes_the_recorded_is_out_of_order: "a real-time signal lost, doubled or out of order" by PENDING_NOT_LOOKED_AT;
    a_replay_that_does_not_look_again_leaves_one_waiting: "a signal waits at the end" by NO_SECOND_LOOK;
    newest_first_is_out_of_order: "a real-time signal lost, doubled or out of order" by NEWEST_FIRST;
}

#[test]
fn the_right_twin_passes() {
    assert!(!caught::<RIGHT>(Frames::BlockAll) && !caught::<RIGHT>(Frames::BlockTheirOwn));
}

#[test]
fn a_frame_that_changes_the_depth_is_noticed() {
    assert!(caught::<STORE_OF_AN_OLD_SUM>(Frames::BlockAll));
}

/// The twins' replay runs what is recorded to its end, whatever a handler has kept.
#[test]
fn a_replay_that_looks_at_no_hold_runs_handlers_in_one() {
    assert_eq!(kept_hold::<Twin<RIGHT>>().0, 2);
}

#[test]
fn a_frame_that_records_over_anothers_record_loses_it() {
    assert!(!caught::<RECORD_OF_AN_OLD_END>(Frames::BlockAll));
    assert!(caught::<RECORD_OF_AN_OLD_END>(Frames::BlockTheirOwn));
}

/// The protocol with as many requeues as there are frames.
struct RequeuesForEver(ThreadMask);

impl Protocol for RequeuesForEver {
    fn new() -> Self {
        Self(ThreadMask::default())
    }
    fn hold(&self, env: &impl Env) {
        self.0.hold(env);
    }
    fn release(&self, env: &impl Env) {
        self.0.release(env);
    }
    fn arrive(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        self.0.forget_requeues();
        self.0.arrive(info, ours, mask, env);
    }
    fn is_held(&self) -> bool {
        self.0.is_held()
    }
    fn is_pending(&self) -> bool {
        self.0.is_pending()
    }
}

#[test]
fn twin_a_signal_that_is_requeued_for_ever_lets_mainline_do_nothing() {
    let (_, _, verdict) = held_where_no_mask_is_kept_to::<RequeuesForEver>();
    assert_eq!(verdict, Err("a signal that is delivered for ever"));
}
