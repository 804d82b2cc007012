//! The loop around surroundings and an operation, and around surroundings alone.

use crate::arch::opaque;
use std::rc::Rc;

/// Repetitions of the surroundings, and of the operation, in one iteration.
pub const COPIES: u32 = 8;

/// A loop, ready to be timed.
pub trait Loop {
    /// Prepares the surroundings, and runs `iterations` of the loop between two calls of `stamp`; returns the difference.
    fn batch(&mut self, iterations: u64, stamp: fn() -> u64) -> u64;

    /// The address of the loop's machine code.
    fn code(&self) -> usize;
}

/// One kind of surroundings.
pub(crate) trait Surrounding: 'static {
    /// What a repetition works with.
    type Registers: Copy;

    /// Prepares this many repetitions, which is not timed.
    fn begin(&self, repetitions: u64) -> Self::Registers;

    fn step(registers: &mut Self::Registers);

    /// Takes back what the repetitions have left.
    fn end(&self, _: Self::Registers) {}
}

/// What stands between two repetitions.
///
/// A copy of it is made in the loop's frame, so that the addresses that it captures are in registers there.
pub(crate) trait Op: Fn() + Copy + 'static {}
impl<O: Fn() + Copy + 'static> Op for O {}

/// Surroundings, and an operation between their repetitions.
pub(crate) struct Cell<S, O> {
    pub(crate) surrounding: Rc<S>,
    pub(crate) operation: O,
}

impl<S: Surrounding, O: Op> Loop for Cell<S, O> {
    fn batch(&mut self, iterations: u64, stamp: fn() -> u64) -> u64 {
        let registers = self.surrounding.begin(iterations * u64::from(COPIES));
        let start = stamp();
        let registers = run::<S, O>(iterations, registers, self.operation);
        let ticks = stamp().wrapping_sub(start);
        self.surrounding.end(registers);
        ticks
    }

    fn code(&self) -> usize {
        run::<S, O> as *const () as usize
    }
}

/// No operation: the surroundings alone.
#[inline(always)]
pub(crate) fn alone() {}

#[inline(never)]
fn run<S: Surrounding, O: Op>(iterations: u64, mut registers: S::Registers, operation: O) -> S::Registers {
    let mut left = iterations;
    while left > 0 {
        left = opaque(left) - 1;
        S::step(&mut registers);
        operation();
        S::step(&mut registers);
        operation();
        S::step(&mut registers);
        operation();
        S::step(&mut registers);
        operation();
        S::step(&mut registers);
        operation();
        S::step(&mut registers);
        operation();
        S::step(&mut registers);
        operation();
        S::step(&mut registers);
        operation();
    }
    registers
}
