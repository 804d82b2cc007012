//! What is known of a site before a rule looks at it: its effect on the word, and what follows.

use super::approach::{Approach, approach, is_load_exclusive};
use super::explore::Explorer;
use super::reach::{Event, Reach, Test, Tested};
use super::scene::Scene;
use super::state::State;
use super::value::{Flags, Value};
use crate::counts::Arch;
use crate::decode::{Form, Locked, Operand, Operation, Step, What};

/// What the site does to its word, with the values that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Add(Amount),
    /// Stores another value, and may take the old one.
    Exchange(Value),
    /// Stores another value, if the word holds the expected one.
    CompareExchange {
        /// What it has to hold.
        expected: Value,
        /// What it holds then.
        new: Value,
    },
    /// Sets, clears or flips bits.
    Bits {
        /// AND, BTR, LDCLR.
        clears: bool,
    },
    /// Takes the lower or the higher one.
    MinMax,
    /// Orders memory.
    Fence,
    /// An exclusive loop whose operation is not known.
    Unknown,
}

/// What is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Number(i64),
    /// Something that was negated.
    Down,
    /// Not known.
    Unknown,
}

impl Amount {
    /// Whether the count goes down.
    pub(super) fn is_down(self) -> bool {
        matches!(self, Self::Number(i64::MIN..0) | Self::Down)
    }
}

/// Everything that a rule may look at.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) locked: Locked,
    pub(super) effect: Effect,
    /// The new value was loaded from memory.
    pub(super) is_new_loaded: bool,
    /// The function that the site lies in has another addition of this form before it: a lock's count is the first one.
    pub(super) is_second: bool,
    /// What a compare-and-exchange of the word before it expected, and put there.
    pub(super) taken: Option<[Value; 2]>,
    /// What additions before it have added whose old values are used.
    pub(super) added: Vec<i64>,
    pub(super) after: Reach,
    /// What follows where a compare-and-exchange failed, if that is not behind a test in `after`.
    pub(super) failed: Option<Reach>,
}

impl Facts {
    /// The tests of whether the exchange was made.
    pub(super) fn swap_tests(&self) -> Vec<&Test> {
        let mut tests = self.after.all_tests();
        if let Some(failed) = &self.failed {
            tests.extend(failed.all_tests());
        }
        tests.retain(|t| t.tested == Tested::Swap);
        tests
    }

    /// What follows where the exchange failed, each with what follows where it was made.
    pub(super) fn failures(&self) -> Vec<(&Reach, &Reach)> {
        let tests = self.swap_tests();
        let mut sides: Vec<_> = tests.into_iter().map(Test::failed_and_made).collect();
        sides.extend(self.failed.as_ref().map(|failed| (failed, &self.after)));
        sides
    }

    /// The slow paths where the exchange failed.
    pub(super) fn slow_paths(&self) -> Vec<Event> {
        let sides = self.failures().into_iter();
        sides.flat_map(|(failed, made)| failed.beside(made)).collect()
    }

    /// Tests of the old or the new value.
    pub(super) fn value_tests(&self) -> Vec<&Test> {
        let mut tests = self.after.all_tests();
        tests.retain(|t| t.tested != Tested::Swap);
        tests
    }
}

/// Collects the facts of a site.
pub(super) fn facts(scene: &Scene<'_>, locked: Locked, site: Step, before: &[Step]) -> Facts {
    let is_x86 = scene.code.arch() == Arch::X86_64;
    let Approach {
        mut state,
        failed_at,
        exclusive_expected,
    } = approach(&locked, site.address, before, is_x86);
    let mut explorer = Explorer::new(scene, (site.address, site.address));
    if locked.form == Form::Exclusive {
        let start = before.iter().rev().find(|s| is_load_exclusive(s));
        explorer.site.0 = start.map_or(site.address, |s| s.address);
    }
    let operand = state.operand(locked.operand);
    let is_new_loaded = state.was_loaded(operand);
    let (taken, added) = (state.taken, std::mem::take(&mut state.added));
    let expected = locked.old.map_or(Value::Unknown, |r| state.reg(r));
    let has_start = explorer.site.0 != site.address;
    let effect = effect(&locked, operand, expected, exclusive_expected, has_start);
    explorer.registers = match (locked.form, locked.operation) {
        (_, Operation::CompareExchange) => (locked.old, register(locked.operand)),
        _ => (None, register(locked.operand)),
    };
    explorer.expected = expected;
    explorer.new = operand;
    explorer.exchange =
        Some(locked.operation).filter(|o| matches!(o, Operation::Exchange | Operation::CompareExchange));
    after_site(&mut state, &locked, effect);
    let mut from = site.end();
    let mut is_weak = false;
    if let Some(status) = locked.status {
        (from, is_weak) = past_retry(scene, &explorer, from, status);
    }
    if is_weak && let Some(status) = locked.status {
        // Made is 0.
        state.set(status, Value::Swapped(false));
    }
    let after = explorer.explore(from, state);
    let failed = failed_at.map(|(target, mut state)| {
        state.flags = Flags::Swap;
        explorer.budget += 300;
        explorer.explore(target, state)
    });
    Facts {
        locked,
        effect,
        taken,
        added,
        is_new_loaded,
        is_second: before.iter().any(|step| is_like(step, &locked)),
        after,
        failed,
    }
}

/// Whether a step adds in the same way as the site.
fn is_like(step: &Step, site: &Locked) -> bool {
    let What::Locked(other) = step.what else { return false };
    let adds = |l: &Locked| {
        matches!(
            l.operation,
            Operation::Add | Operation::FetchAdd | Operation::StoreExclusive
        )
    };
    other.form == site.form && adds(&other) && adds(site)
}

fn register(operand: Operand) -> Option<u8> {
    match operand {
        Operand::Reg(reg) => Some(reg),
        _ => None,
    }
}

fn effect(locked: &Locked, operand: Value, expected: Value, exit: Option<Value>, has_start: bool) -> Effect {
    let amount = match operand {
        Value::Const(n) if locked.subtracts => Amount::Number(n.wrapping_neg()),
        Value::Const(n) => Amount::Number(narrow(n, locked.width)),
        Value::Negated => Amount::Down,
        _ if locked.subtracts => Amount::Down,
        _ => Amount::Unknown,
    };
    match locked.operation {
        Operation::Add | Operation::FetchAdd => Effect::Add(amount),
        Operation::Exchange => Effect::Exchange(operand),
        Operation::CompareExchange => Effect::CompareExchange { expected, new: operand },
        Operation::Logic | Operation::Bit => Effect::Bits { clears: locked.clears },
        Operation::MinMax => Effect::MinMax,
        Operation::Fence => Effect::Fence,
        Operation::StoreExclusive => match (exit, operand) {
            (Some(expected), new) => Effect::CompareExchange { expected, new },
            (None, Value::Old(n)) if n != 0 => Effect::Add(Amount::Number(n)),
            (None, Value::Raised) => Effect::Add(Amount::Unknown),
            (None, Value::Lowered) => Effect::Add(Amount::Down),
            (None, Value::Derived) => Effect::Bits { clears: false },
            (None, value) if has_start => Effect::Exchange(value),
            _ => Effect::Unknown,
        },
    }
}

/// A number as the instruction sees it: 0xffffffff is −1 for a word of four bytes.
fn narrow(n: i64, width: u8) -> i64 {
    match width {
        1 => i64::from(n as i8),
        2 => i64::from(n as i16),
        4 => i64::from(n as i32),
        _ => n,
    }
}

/// Registers and flags after the site.
fn after_site(state: &mut State, locked: &Locked, effect: Effect) {
    state.after_site();
    match (effect, locked.old) {
        (Effect::CompareExchange { expected, .. }, old) => {
            // An exclusive loop has loaded the value already.
            let has_old = locked.form != Form::Exclusive;
            if has_old {
                state.after_compare_exchange(old, expected);
            }
        }
        (_, Some(old)) => state.set(old, Value::Old(0)),
        _ => {}
    }
    state.flags = match (locked.operation, locked.flags) {
        (Operation::CompareExchange, true) => Flags::Swap,
        (Operation::Bit, true) => Flags::OldBit,
        (Operation::Fence, _) | (_, false) => match (locked.form, effect) {
            // The comparison that led to the store-exclusive.
            (Form::Exclusive, Effect::CompareExchange { .. }) => Flags::Swap,
            (Form::Exclusive, _) => state.flags,
            _ => Flags::Unknown,
        },
        _ => Flags::NewValue,
    };
    if let Some(status) = locked.status {
        state.set(status, Value::Status);
    }
}

/// Past the branch that tries a failed store-exclusive again, and whether there was none.
fn past_retry(scene: &Scene<'_>, explorer: &Explorer<'_>, mut from: u64, status: u8) -> (u64, bool) {
    for _ in 0..4 {
        let Some(step) = scene.code.step(from) else { break };
        if let What::BranchOn { reg, target, .. } = step.what
            && reg == status
        {
            let is_retry = (explorer.site.0.saturating_sub(16)..=explorer.site.1).contains(&target);
            return if is_retry { (step.end(), false) } else { (from, true) };
        }
        if step.ends_block() {
            break;
        }
        if !matches!(step.what, What::Compute { .. } | What::Move { .. }) {
            break;
        }
        from = step.end();
    }
    (from, true)
}
