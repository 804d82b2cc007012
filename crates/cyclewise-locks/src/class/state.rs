//! Executing steps around a site: what registers, places on the stack and flags hold.
//!
//! # Invariants
//! 1. A value other than [`Value::Unknown`] is what the register holds on every execution that takes the same path from where
//!    the evaluation began. Merges of paths are not seen, so after a jump that always leaves, all is unknown.
//! 2. Two equal [`Value::Symbol`]s are the same number.

use super::value::{Flags, Value, compute, is_about_word, is_unknown, swap_of};
use crate::decode::{Cond, Locked, Memory, Op, Operand, Operation, REGS, Reg, RegTest, SP, Step, What};

/// Registers, flags and places on the stack.
#[derive(Clone, Debug)]
pub(super) struct State {
    regs: [Value; REGS],
    slots: Vec<((Reg, i64), Value)>,
    pub(super) flags: Flags,
    /// A register that the flags compare with a number: known to hold it where "equal" is taken.
    compared: Option<(Reg, i64)>,
    /// After a compare-and-exchange: what was expected.
    expected: Option<Value>,
    /// The number of the next symbol.
    next: u32,
    /// What symbols were loaded from.
    origins: Vec<(u32, (u32, i64))>,
    /// After the site: where its word is, and what the registers of its address held.
    site: Option<(Memory, [Value; 2], u32)>,
    /// The site's word, while it is not changed yet: a load of it gives the old value.
    pub(super) word: Option<Memory>,
    /// What a compare-and-exchange before the site has expected in its word, and put there.
    pub(super) taken: Option<[Value; 2]>,
    /// Numbers that locked instructions before the site have added, and whose old values are used.
    pub(super) added: Vec<i64>,
    /// Whether the site is an exclusive loop, whose own load that is.
    pub(super) is_exclusive: bool,
}

/// How many places on the stack are followed.
const SLOTS: usize = 48;

/// Of how many symbols it is known what they were loaded from.
const ORIGINS: usize = 48;

/// How large what a static's word lies in may be, in bytes.
const STATIC: u64 = 256;

/// How many loads may lie between an argument and the word.
const LOADS: u32 = 3;

impl State {
    /// Nothing is known.
    pub(super) fn new(word: Option<Memory>) -> Self {
        Self {
            regs: [Value::Unknown; REGS],
            slots: Vec::new(),
            flags: Flags::Unknown,
            compared: None,
            expected: None,
            next: 0,
            origins: Vec::new(),
            site: None,
            word,
            taken: None,
            added: Vec::new(),
            is_exclusive: false,
        }
    }

    /// The site has been executed: from here on, a load from the word gives what it holds then, which may be anything.
    pub(super) fn after_site(&mut self) {
        let Some(word) = self.word.take() else { return };
        let held = [word.base, word.index].map(|r| r.map_or(Value::Const(0), |r| self.named(r)));
        self.site = Some((word, held, self.next));
    }

    /// Whether the site, reached again now, would work on another word.
    pub(super) fn has_moved(&self) -> bool {
        let Some((word, held, _)) = self.site else { return false };
        [word.base, word.index]
            .into_iter()
            .zip(held)
            .any(|(r, held)| r.is_some_and(|r| r != SP && !self.is_copy(self.reg(r), held)))
    }

    /// Whether two values are the same, or were loaded from the same place one after the other.
    fn is_copy(&self, a: Value, b: Value) -> bool {
        match (a, b) {
            (Value::Symbol(n, j), Value::Symbol(m, k)) if n != m && j == k => {
                self.origin(n).is_some() && self.origin(n) == self.origin(m)
            }
            _ => a == b,
        }
    }

    /// Whether a place is the site's word, after the site.
    pub(super) fn is_word(&self, place: Memory) -> bool {
        self.site.is_some_and(|(word, ..)| word == place) && !self.has_moved()
    }

    /// Whether one of some registers leads to the site's word, by the register that its address was made from; also where that is
    /// not known.
    pub(super) fn lead_to_word(&self, regs: &[Reg]) -> bool {
        match self.site {
            Some((_, [Value::Symbol(word, _), _], _)) => {
                let leads = |r: &Reg| matches!(self.reg(*r), Value::Symbol(n, _) if self.is_behind(n, word));
                regs.iter().any(leads)
            }
            // A static, whose address is a number.
            Some((word, ..)) if word.base.is_none() && word.index.is_none() && !word.thread_local => {
                let near = |r: &Reg| matches!(self.reg(*r), Value::Const(n) if n.abs_diff(word.displacement) < STATIC);
                regs.iter().any(near)
            }
            _ => true,
        }
    }

    /// Whether a symbol is the other one, a second load of the same place, or the address of what the other one was loaded from.
    fn is_behind(&self, symbol: u32, mut word: u32) -> bool {
        for _ in 0..LOADS {
            let origin = self.origin(word);
            if symbol == word || origin.is_some() && self.origin(symbol) == origin {
                return true;
            }
            let Some((base, _)) = origin else { return false };
            word = base;
        }
        false
    }

    /// Whether a value is what a place in memory held.
    pub(super) fn was_loaded(&self, value: Value) -> bool {
        matches!(value, Value::Symbol(n, 0) if self.origin(n).is_some())
    }

    /// What a symbol was loaded from: another symbol, and how far behind it.
    fn origin(&self, symbol: u32) -> Option<(u32, i64)> {
        self.origins
            .iter()
            .find(|(s, _)| *s == symbol)
            .map(|(_, origin)| *origin)
    }

    /// Whether a value was loaded, or came from a call, after the site.
    pub(super) fn is_later(&self, value: Value) -> bool {
        matches!((value, self.site), (Value::Symbol(n, _), Some((.., first))) if n >= first)
    }

    fn fresh(&mut self) -> Value {
        self.next += 1;
        Value::Symbol(self.next - 1, 0)
    }

    /// What a register holds; something unknown gets a number.
    fn named(&mut self, reg: Reg) -> Value {
        let value = self.reg(reg);
        if value != Value::Unknown {
            return value;
        }
        let value = self.fresh();
        if let Some(place) = self.regs.get_mut(usize::from(reg)) {
            *place = value;
        }
        value
    }

    /// After a compare-and-exchange: `old` has what the word held, and what was loaded from it before is history.
    pub(super) fn after_compare_exchange(&mut self, old: Option<Reg>, expected: Value) {
        let slots = self.slots.iter_mut().map(|(_, v)| v);
        for value in self.regs.iter_mut().chain(slots) {
            if let Value::Old(k) = value {
                *value = Value::Expected(*k);
            }
        }
        self.expected = Some(match expected {
            Value::Old(k) => Value::Expected(k),
            other => other,
        });
        if let Some(old) = old {
            self.set(old, Value::Old(0));
        }
    }

    /// Which side of a branch on the flags is taken: "equal" makes the compared register known.
    pub(super) fn branch(&mut self, is_equal: bool) {
        if let Some((reg, n)) = self.compared.filter(|_| is_equal)
            && (is_unknown(self.reg(reg)) || self.is_loaded(reg))
        {
            self.set(reg, Value::Const(n));
        }
    }

    /// Whether a register holds what the word held before the site: a fast path looks at it first.
    fn is_loaded(&self, reg: Reg) -> bool {
        self.word.is_some() && !self.is_exclusive && self.reg(reg) == Value::Old(0)
    }

    /// What a register holds.
    pub(super) fn reg(&self, reg: Reg) -> Value {
        self.regs.get(usize::from(reg)).copied().unwrap_or(Value::Unknown)
    }

    /// A register gets a value.
    pub(super) fn set(&mut self, reg: Reg, value: Value) {
        let part_of_word = self.word.is_some_and(|w| w.base == Some(reg) || w.index == Some(reg));
        if part_of_word {
            // What was loaded was another word.
            self.forget_old();
            self.taken = None;
        }
        self.slots.retain(|((base, _), _)| *base != reg);
        if self.compared.is_some_and(|(compared, _)| compared == reg) {
            self.compared = None;
        }
        if let Some(place) = self.regs.get_mut(usize::from(reg)) {
            *place = value;
        }
    }

    fn forget_old(&mut self) {
        let slots = self.slots.iter_mut().map(|(_, v)| v);
        for value in self.regs.iter_mut().chain(slots) {
            if matches!(value, Value::Old(_) | Value::Raised | Value::Lowered | Value::Derived) {
                *value = Value::Unknown;
            }
        }
    }

    pub(super) fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.named(reg),
            Operand::Imm(n) => Value::Const(n),
            Operand::Mem(place) => self.load(place),
            Operand::Unknown => Value::Unknown,
        }
    }

    /// The number that a locked instruction adds.
    pub(super) fn added_by(&mut self, locked: &Locked) -> Option<i64> {
        match (locked.operation, self.operand(locked.operand)) {
            (Operation::Add | Operation::FetchAdd, Value::Const(n)) if locked.subtracts => Some(n.wrapping_neg()),
            (Operation::Add | Operation::FetchAdd, Value::Const(n)) => Some(n),
            _ => None,
        }
    }

    fn load(&mut self, place: Memory) -> Value {
        if self.word == Some(place) {
            return Value::Old(0);
        }
        let Some(key) = slot(place) else {
            return self.fresh_from(place);
        };
        if let Some((_, value)) = self.slots.iter().find(|(k, _)| *k == key) {
            return *value;
        }
        // The next load of the same place gives the same.
        let value = self.fresh();
        self.store(place, value);
        value
    }

    /// What a place holds of which nothing is known, and where it was loaded from.
    fn fresh_from(&mut self, place: Memory) -> Value {
        let base = place.base.filter(|_| place.index.is_none() && !place.thread_local);
        let base = base.map(|r| self.named(r));
        let symbol = self.next;
        if let (Some(Value::Symbol(base, k)), true) = (base, self.origins.len() < ORIGINS) {
            self.origins.push((symbol, (base, k.wrapping_add(place.displacement))));
        }
        self.fresh()
    }

    fn store(&mut self, place: Memory, value: Value) {
        let Some(key) = slot(place) else { return };
        self.slots.retain(|(k, _)| *k != key);
        if self.slots.len() == SLOTS {
            self.slots.remove(0);
        }
        self.slots.push((key, value));
    }

    /// Registers that a call may change, by both architectures' conventions.
    fn after_call(&mut self, is_x86: bool) {
        let kept: &[Reg] = if is_x86 {
            &[3, 5, 12, 13, 14, 15, SP]
        } else {
            &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, SP]
        };
        for reg in 0..REGS as Reg {
            if !kept.contains(&reg) {
                self.regs[usize::from(reg)] = Value::Unknown;
            }
        }
        // What is called may write to what others can reach.
        self.slots.retain(|((base, _), _)| *base != FIXED);
        self.flags = Flags::Unknown;
    }

    /// The kernel keeps all registers but that of the result, and on x86-64 the two that SYSCALL itself uses.
    fn after_system_call(&mut self, is_x86: bool) {
        let lost: &[Reg] = if is_x86 { &[0, 1, 11] } else { &[0] };
        for reg in lost {
            self.regs[usize::from(*reg)] = Value::Unknown;
        }
        self.flags = Flags::Unknown;
    }

    /// Executes a step that locks nothing.
    pub(super) fn step(&mut self, step: &Step, is_x86: bool) {
        match step.what {
            What::Move { to, from } => {
                let value = self.operand(from);
                self.set(to, value);
            }
            What::LoadExclusive { to, from } => {
                let value = self.load(from);
                self.set(to, value);
            }
            What::Compute { op, to, a, b, flags } => {
                let operands = (a, b);
                let (a, b) = (self.operand(a), self.operand(b));
                let result = compute(op, a, b);
                if let Some(to) = to {
                    self.set(to, result);
                }
                if flags {
                    self.flags = match (to, result) {
                        // The flags of a sum are those of its comparison with zero.
                        (Some(_), result) if op != Op::And => Flags::Compared {
                            op: Op::Add,
                            a: result,
                            b: Value::Const(0),
                        },
                        _ => Flags::Compared { op, a, b },
                    };
                    self.compared = compared(op, to, operands);
                }
            }
            What::Store { to, from } => {
                let value = self.operand(from);
                self.store(to, value);
            }
            What::Modify { place } => {
                self.store(place, Value::Unknown);
                self.flags = Flags::Unknown;
            }
            What::Set { to, cond } => {
                let value = self.condition(cond);
                self.set(to, value);
            }
            What::Select { to, a, b, .. } => {
                let (a, b) = (self.operand(a), self.operand(b));
                let value = if is_about_word(a) || is_about_word(b) {
                    Value::Derived
                } else {
                    Value::Unknown
                };
                self.set(to, value);
            }
            What::Call(_) => self.after_call(is_x86),
            What::SystemCall => self.after_system_call(is_x86),
            What::Jump(_) | What::Return | What::Trap | What::Invalid => {
                *self = Self {
                    added: std::mem::take(&mut self.added),
                    ..Self::new(self.word)
                }
            }
            What::Locked(locked) => {
                let is_before = locked.place.is_some() && locked.place == self.word;
                if is_before && locked.operation == Operation::CompareExchange {
                    let expected = locked.old.map_or(Value::Unknown, |reg| self.reg(reg));
                    self.taken = Some([expected, self.operand(locked.operand)]);
                }
                if locked.operation == Operation::FetchAdd {
                    let added = self.added_by(&locked);
                    self.added.extend(added);
                }
                for reg in [locked.old, locked.status].into_iter().flatten() {
                    self.set(reg, Value::Unknown);
                }
                self.flags = Flags::Unknown;
            }
            What::Other { writes, flags, .. } => {
                if let Some(reg) = writes {
                    self.set(reg, Value::Unknown);
                }
                if flags {
                    self.flags = Flags::Unknown;
                }
            }
            // The step after it is reached where the branch is not taken.
            What::Branch { cond, .. } => self.branch(cond == Cond::NotEqual),
            What::BranchOn { reg, test, .. } => self.branch_on(reg, test == RegTest::NotZero),
            What::Pause => {}
        }
    }

    /// The value of a SETcc.
    fn condition(&self, cond: Cond) -> Value {
        match (self.swap(), cond) {
            (Some(made), Cond::Equal) => Value::Swapped(made),
            (Some(made), Cond::NotEqual) => Value::Swapped(!made),
            _ if self.is_about_word() => Value::Tested,
            _ => Value::Unknown,
        }
    }

    /// Whether "equal" means that the exchange was made, or that it was not; none where the flags are about something else.
    pub(super) fn swap(&self) -> Option<bool> {
        match self.flags {
            Flags::Swap => Some(true),
            Flags::Compared { op, a, b } => swap_of(op, a, b).or_else(|| self.swap_by_value(op, a, b)),
            _ => None,
        }
    }

    /// A branch on a register, on the side where it is zero or is not.
    pub(super) fn branch_on(&mut self, reg: Reg, is_zero: bool) {
        if is_zero && (is_unknown(self.reg(reg)) || self.is_loaded(reg)) {
            self.set(reg, Value::Const(0));
        }
    }

    /// A comparison of what a compare-and-exchange found with what it expected.
    fn swap_by_value(&self, op: Op, a: Value, b: Value) -> Option<bool> {
        let expected = self.expected?;
        let other = match (op, a, b) {
            (Op::Sub, Value::Old(0), other) | (Op::Sub, other, Value::Old(0)) => other,
            (Op::And, Value::Old(0), Value::Old(0)) => Value::Const(0),
            _ => return None,
        };
        let is_expected = match expected {
            Value::Const(n) => other == Value::Const(n),
            Value::Unknown => is_unknown(other),
            expected => other == expected,
        };
        is_expected.then_some(true)
    }

    /// Whether the flags depend on the word's value.
    pub(super) fn is_about_word(&self) -> bool {
        match self.flags {
            Flags::NewValue | Flags::OldBit | Flags::Swap => true,
            Flags::Compared { a, b, .. } => is_about_word(a) || is_about_word(b),
            Flags::Unknown => false,
        }
    }

    /// What a branch on a register means for the exchange: whether the branch is taken when it was made.
    pub(super) fn swap_on(&self, reg: Reg, test: RegTest) -> Option<bool> {
        match (self.reg(reg), test) {
            (Value::Swapped(made), RegTest::NotZero | RegTest::BitSet) => Some(made),
            (Value::Swapped(made), RegTest::Zero | RegTest::BitClear) => Some(!made),
            (Value::Old(0), RegTest::Zero) if self.expected == Some(Value::Const(0)) => Some(true),
            (Value::Old(0), RegTest::NotZero) if self.expected == Some(Value::Const(0)) => Some(false),
            _ => None,
        }
    }
}

/// The register and the number that a step's flags compare.
fn compared(op: Op, to: Option<Reg>, operands: (Operand, Operand)) -> Option<(Reg, i64)> {
    match (op, to, operands) {
        (_, Some(to), _) => Some((to, 0)),
        (Op::Sub, None, (Operand::Reg(reg), Operand::Imm(n))) => Some((reg, n)),
        (Op::And, None, (Operand::Reg(a), Operand::Reg(b))) if a == b => Some((a, 0)),
        _ => None,
    }
}

/// A place that is followed, on the stack or at a fixed address, by its base and displacement.
fn slot(place: Memory) -> Option<(Reg, i64)> {
    if place.index.is_some() || place.thread_local {
        return None;
    }
    match place.base {
        None => Some((FIXED, place.displacement)),
        Some(base) if matches!(base, SP | 5 | 29) => Some((base, place.displacement)),
        Some(_) => None,
    }
}

/// The base of places at fixed addresses: no register.
const FIXED: Reg = Reg::MAX;
