//! The way to a site: what registers hold there, and where an exclusive loop is left.

use super::state::State;
use super::value::{Flags, Value};
use crate::decode::{Cond, Form, Locked, Op, RegTest, Step, What};
use std::collections::HashMap;

/// What is known where the site is reached.
pub(super) struct Approach {
    /// Registers and flags.
    pub(super) state: State,
    /// Where an exclusive loop is left because the word does not hold what is expected, and what is known there.
    pub(super) failed_at: Option<(u64, State)>,
    /// What it is expected to hold.
    pub(super) exclusive_expected: Option<Value>,
}

/// Executes the instructions that lead to a site.
pub(super) fn approach(locked: &Locked, site: u64, before: &[Step], is_x86: bool) -> Approach {
    let mut state = State::new(locked.place);
    state.is_exclusive = locked.form == Form::Exclusive;
    let mut failed_at = None;
    let mut exclusive_expected = None;
    // What a jump passes over is entered from elsewhere.
    let mut resume = 0;
    // What branches ahead knew, by their target, for where nothing falls through.
    let mut ahead: HashMap<u64, State> = HashMap::new();
    let mut falls_through = true;
    let mut is_exclusive = false;
    for step in before {
        if step.address < resume {
            continue;
        }
        if !falls_through && let Some(known) = ahead.remove(&step.address) {
            state = known;
        }
        // Nothing falls through to the padding before the target of a branch either.
        falls_through |= !is_padding(step);
        let is_ahead = |target: &u64| (step.end()..=site).contains(target);
        match step.what {
            What::Jump(Some(target)) if is_ahead(&target) => {
                resume = target;
                continue;
            }
            What::Jump(_) | What::Return | What::Trap => falls_through = false,
            What::Branch { cond, target } if is_ahead(&target) => {
                let mut taken = state.clone();
                taken.branch(cond == Cond::Equal);
                ahead.entry(target).or_insert(taken);
            }
            What::BranchOn { reg, test, target } if is_ahead(&target) => {
                let mut taken = state.clone();
                taken.branch_on(reg, test == RegTest::Zero);
                ahead.entry(target).or_insert(taken);
            }
            _ => {}
        }
        state.step(step, is_x86);
        is_exclusive |= locked.form == Form::Exclusive && is_load_exclusive(step);
        if is_exclusive
            && failed_at.is_none()
            && let Some((target, expected)) = exclusive_exit(&state, step)
        {
            failed_at = Some((target, state.clone()));
            exclusive_expected = Some(expected);
        }
    }
    if !falls_through && let Some(known) = ahead.remove(&site) {
        state = known;
    }
    Approach {
        state,
        failed_at,
        exclusive_expected,
    }
}

/// Whether it does nothing.
fn is_padding(step: &Step) -> bool {
    let nothing = What::Other {
        writes: None,
        flags: false,
        loads: false,
        stores: false,
    };
    step.what == nothing
}

/// Whether an exclusive loop begins with it.
pub(super) fn is_load_exclusive(step: &Step) -> bool {
    matches!(step.what, What::LoadExclusive { .. })
}

/// A branch out of an exclusive loop, where the word does not hold what is expected.
fn exclusive_exit(state: &State, step: &Step) -> Option<(u64, Value)> {
    match step.what {
        What::Branch { target, .. } => match state.flags {
            Flags::Compared {
                op: Op::Sub,
                a: Value::Old(0),
                b,
            } => Some((target, b)),
            _ => None,
        },
        What::BranchOn { reg, target, .. } if state.reg(reg) == Value::Old(0) => Some((target, Value::Const(0))),
        _ => None,
    }
}
