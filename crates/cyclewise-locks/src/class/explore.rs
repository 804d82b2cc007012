//! What follows a site: which tests of its word, calls, waits, and whether the site is reached again.

use super::names::{is_go, never_returns};
use super::reach::{Again, Call, Event, Reach, Test, Tested};
use super::scene::Scene;
use super::state::State;
use super::value::{Flags, Value, is_about_word};
use crate::counts::Arch;
use crate::decode::{Cond, Locked, Op, Operation, RegTest, Step, What};

/// How many instructions of one path are looked at.
const STEPS: u32 = 100;

/// How many conditional branches of one path are taken both ways.
const FORKS: u32 = 7;

/// How many instructions are looked at in all, for one site.
const BUDGET: u32 = 2400;

/// The walk over the code after a site.
pub(super) struct Explorer<'a> {
    scene: &'a Scene<'a>,
    /// The addresses that count as the site reached again: of the site, or of an exclusive loop.
    pub(super) site: (u64, u64),
    /// Registers of the expected and of the new value.
    pub(super) registers: (Option<u8>, Option<u8>),
    /// What the exchange expects, where it does.
    pub(super) expected: Value,
    /// What the exchange would put into the word.
    pub(super) new: Value,
    /// What the site does, if that is an exchange.
    pub(super) exchange: Option<Operation>,
    pub(super) budget: u32,
}

/// What a branch depends on.
#[derive(Clone, Copy)]
enum On {
    Flags(Cond),
    Register(u8, RegTest),
}

/// The path where the branch is not taken, and the state where it is.
fn sides_of(path: &Path, on: On) -> (Path, State) {
    let (mut fall, mut taken) = (path.clone(), path.state.clone());
    match on {
        On::Flags(cond) => {
            fall.state.branch(cond == Cond::NotEqual);
            taken.branch(cond == Cond::Equal);
        }
        On::Register(reg, test) => {
            fall.state.branch_on(reg, test == RegTest::NotZero);
            taken.branch_on(reg, test == RegTest::Zero);
        }
    }
    (fall, taken)
}

#[derive(Clone)]
struct Path {
    state: State,
    at: u64,
    steps: u32,
    forks: u32,
    /// Where this path tested the word: reaching that again is a wait.
    tested_at: Vec<u64>,
}

impl<'a> Explorer<'a> {
    /// An explorer with a whole budget.
    pub(super) fn new(scene: &'a Scene<'a>, site: (u64, u64)) -> Self {
        Self {
            scene,
            site,
            registers: (None, None),
            expected: Value::Unknown,
            new: Value::Unknown,
            exchange: None,
            budget: BUDGET,
        }
    }

    /// What is reached from an address on.
    pub(super) fn explore(&mut self, at: u64, state: State) -> Reach {
        let mut reach = Reach::default();
        let path = Path {
            state,
            at,
            steps: STEPS,
            forks: FORKS,
            tested_at: Vec::new(),
        };
        self.walk(path, &mut reach);
        reach
    }

    fn walk(&mut self, mut path: Path, reach: &mut Reach) {
        loop {
            if path.steps == 0 || self.budget == 0 {
                reach.cut = true;
                return;
            }
            path.steps -= 1;
            self.budget -= 1;
            let at = path.at;
            if (self.site.0..=self.site.1).contains(&path.at) {
                let value = |r: Option<u8>| r.map_or(Value::Unknown, |r| path.state.reg(r));
                reach.again = reach.again.filter(|a| !a.moved).or(Some(Again {
                    expected: value(self.registers.0),
                    new: value(self.registers.1),
                    moved: path.state.has_moved(),
                }));
                return;
            }
            let Some(step) = self.scene.code.step(path.at) else {
                reach.cut = true;
                return;
            };
            path.at = step.end();
            reach.visited.push((at, STEPS - path.steps));
            match step.what {
                What::Branch { cond, target } => return self.fork(path, reach, &step, cond, target),
                What::BranchOn { reg, test, target } => return self.fork_on(path, reach, (reg, test), target),
                What::Jump(target) => match target {
                    Some(target) if !self.is_outside(target) => path.at = target,
                    _ if self.never_returns(target) => {
                        reach.dies = true;
                        return;
                    }
                    _ => {
                        // Where a computed jump leads is not known.
                        reach.cut |= target.is_none();
                        reach.events.push((at, self.call(target, &path.state)));
                        return;
                    }
                },
                What::Call(target) => {
                    if self.never_returns(target) {
                        reach.dies = true;
                        return;
                    }
                    reach.events.push((at, self.call(target, &path.state)));
                    path.state.step(&step, self.is_x86());
                }
                What::Return => {
                    reach.returns.push(path.state.reg(0));
                    let steps = STEPS - path.steps;
                    reach.returns_after = Some(reach.returns_after.map_or(steps, |n| n.min(steps)));
                    return;
                }
                What::Trap => {
                    reach.dies = true;
                    return;
                }
                What::Invalid => return,
                What::SystemCall => {
                    reach.events.push((at, Event::SystemCall));
                    path.state.step(&step, self.is_x86());
                }
                What::Pause => reach.events.push((at, Event::Pause)),
                What::Locked(locked) => {
                    reach.locked += 1;
                    if locked.place.is_some_and(|place| path.state.is_word(place)) {
                        self.change_again(at, &locked, &mut path.state, reach);
                    }
                    reach.added.extend(path.state.added_by(&locked));
                    path.state.step(&step, self.is_x86());
                }
                _ => {
                    self.note(&step, &mut path, reach);
                    path.state.step(&step, self.is_x86());
                }
            }
        }
    }

    /// Notes another change of the word.
    fn change_again(&self, at: u64, locked: &Locked, state: &mut State, reach: &mut Reach) {
        let new = state.operand(locked.operand);
        let expected = locked.old.map_or(Value::Unknown, |r| state.reg(r));
        if Some(locked.operation) == self.exchange
            && is_same(new, self.new)
            && (locked.operation == Operation::Exchange || is_same(expected, self.expected))
        {
            let moved = false;
            reach.copies.push((at, Again { expected, new, moved }));
        }
        if locked.operation == Operation::Exchange {
            reach.stored.push(new);
        }
        if let (true, Value::Const(mask)) = (locked.clears, new) {
            reach.masks.push(mask);
        }
    }

    /// Whether a function ends the program or unwinds: what stands after its call is not reached by it.
    fn never_returns(&self, target: Option<u64>) -> bool {
        let name = target.and_then(|t| self.scene.names.function(t));
        name.is_some_and(|n| never_returns(&n))
    }

    /// A call, with what is in the registers of the first two arguments: the others may be left over from something else.
    fn call(&self, target: Option<u64>, state: &State) -> Event {
        let is_go = self.scene.functions.last().is_some_and(|f| is_go(f));
        let arguments: &[u8] = match (self.is_x86(), is_go) {
            (true, false) => &[7, 6],
            (true, true) => &[0, 3],
            (false, _) => &[0, 1],
        };
        Event::Call(Call {
            target,
            is_elsewhere: !state.lead_to_word(arguments),
            has_new: matches!(self.new, Value::Symbol(..)) && state.reg(arguments[0]) == self.new,
        })
    }

    fn is_x86(&self) -> bool {
        self.scene.code.arch() == Arch::X86_64
    }

    fn is_outside(&self, target: u64) -> bool {
        match self.scene.function {
            Some((start, end)) if (start..end).contains(&target) => false,
            // Compilers move what is seldom executed elsewhere, under the same name.
            Some((start, _)) => {
                let name = self.scene.names.function(target);
                name.is_none() || name != self.scene.names.function(start)
            }
            None => target.abs_diff(self.site.0) > NEAR,
        }
    }

    /// Notes of a plain step what concerns the word: a test without a branch, a store of its value.
    fn note(&self, step: &Step, path: &mut Path, reach: &mut Reach) {
        match step.what {
            What::Set { cond, .. } | What::Select { cond, .. }
                if path.state.is_about_word() && path.state.swap().is_none() =>
            {
                reach.tests.extend(self.test(&path.state, cond));
            }
            What::Store { to, from } => {
                let value = path.state.operand(from);
                if path.state.is_word(to) {
                    reach.stored.push(value);
                }
                let on_stack = to.base.is_some_and(|b| matches!(b, 32 | 5 | 29));
                reach.keeps |= is_about_word(value) && !on_stack;
            }
            _ => {}
        }
    }

    /// The test that the flags stand for, without what follows it.
    fn test(&self, state: &State, cond: Cond) -> Option<Test> {
        let tested = match state.flags {
            Flags::NewValue => Tested::New,
            Flags::OldBit => Tested::Bit,
            Flags::Swap => Tested::Swap,
            Flags::Compared { op, a, b } => tested(state, op, a, b)?,
            Flags::Unknown => return None,
        };
        Some(Test {
            tested,
            cond,
            taken: Reach::default(),
            fall: Reach::default(),
            taken_if_swapped: false,
        })
    }

    fn fork(&mut self, mut path: Path, reach: &mut Reach, step: &Step, cond: Cond, target: u64) {
        if path.tested_at.contains(&step.address) {
            reach.events.push((step.address, Event::Wait));
            return;
        }
        let swap = path
            .state
            .swap()
            .filter(|_| matches!(cond, Cond::Equal | Cond::NotEqual));
        let test = if swap.is_some() || path.state.is_about_word() {
            self.test(&path.state, cond)
        } else {
            None
        };
        path.tested_at.push(step.address);
        let Some(mut test) = test else {
            self.both(path, reach, On::Flags(cond), target);
            return;
        };
        if let Some(made) = swap {
            test.tested = Tested::Swap;
            test.taken_if_swapped = made == (cond == Cond::Equal);
        }
        self.sides(path, &mut test, On::Flags(cond), target);
        reach.tests.push(test);
    }

    fn fork_on(&mut self, path: Path, reach: &mut Reach, (reg, on): (u8, RegTest), target: u64) {
        let value = path.state.reg(reg);
        let cond = match on {
            RegTest::Zero => Cond::Equal,
            RegTest::NotZero => Cond::NotEqual,
            RegTest::BitClear | RegTest::BitSet => Cond::Other,
        };
        let swap = path.state.swap_on(reg, on);
        let tested = match (value, on) {
            _ if swap.is_some() => Tested::Swap,
            (Value::Old(k), RegTest::Zero | RegTest::NotZero) => Tested::Number(k, 0),
            (Value::Old(_) | Value::Derived, RegTest::BitClear | RegTest::BitSet) => Tested::Bit,
            (value, _) if is_about_word(value) => Tested::Derived,
            _ => {
                self.both(path, reach, On::Register(reg, on), target);
                return;
            }
        };
        let mut test = Test {
            tested,
            cond,
            taken: Reach::default(),
            fall: Reach::default(),
            taken_if_swapped: swap.unwrap_or(false),
        };
        self.sides(path, &mut test, On::Register(reg, on), target);
        reach.tests.push(test);
    }

    /// Both ways of a branch that says nothing about the word.
    fn both(&mut self, mut path: Path, reach: &mut Reach, on: On, target: u64) {
        if path.forks == 0 {
            reach.cut = true;
            return;
        }
        path.forks -= 1;
        let from = path.at;
        let (fall, taken) = sides_of(&path, on);
        self.walk(fall, reach);
        path.state = taken;
        if self.is_outside(target) {
            reach.events.push((from, self.call(Some(target), &path.state)));
        } else {
            path.at = target;
            self.walk(path, reach);
        }
    }

    /// Both ways of a test.
    fn sides(&mut self, mut path: Path, test: &mut Test, on: On, target: u64) {
        if path.forks == 0 {
            test.fall.cut = true;
            test.taken.cut = true;
            return;
        }
        path.forks -= 1;
        let from = path.at;
        let (fall, taken) = sides_of(&path, on);
        // Half of the budget is kept for the other side.
        let kept = self.budget / 2;
        self.budget -= kept;
        self.walk(fall, &mut test.fall);
        self.budget += kept;
        path.state = taken;
        if self.is_outside(target) {
            test.taken.events.push((from, self.call(Some(target), &path.state)));
        } else {
            path.at = target;
            self.walk(path, &mut test.taken);
        }
    }
}

/// Whether two values may be the same, as far as they are numbers.
fn is_same(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Const(a), Value::Const(b)) => a == b,
        (a, b) => !matches!(a, Value::Const(_)) && !matches!(b, Value::Const(_)),
    }
}

/// Where a jump's target is taken to be in the same function, if the function is not known.
const NEAR: u64 = 4096;

fn tested(state: &State, op: Op, a: Value, b: Value) -> Option<Tested> {
    Some(match (op, a, b) {
        (Op::Sub, Value::Old(k), Value::Const(n)) | (Op::Sub, Value::Const(n), Value::Old(k)) => Tested::Number(k, n),
        (Op::Add, Value::Old(k), Value::Const(0)) => Tested::Number(k, 0),
        (Op::And, Value::Old(k), Value::Old(j)) if k == j => Tested::Number(k, 0),
        (Op::Sub, Value::Old(_), other) | (Op::Sub, other, Value::Old(_)) if state.is_later(other) => Tested::Loaded,
        (Op::And, Value::Old(_), Value::Const(_)) | (Op::Mixed, Value::Old(_), _) => Tested::Bit,
        _ if is_about_word(a) || is_about_word(b) => Tested::Derived,
        _ => return None,
    })
}
