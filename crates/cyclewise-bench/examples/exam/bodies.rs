//! The work that is measured: a chain of rotations and additions, each of which needs the one before.
//!
//! Also compiled into the programs of the other harnesses, so that all of them measure the same code.

use std::hint::black_box;

/// What a body is called, and its steps: two cycles each, about half a nanosecond.
pub(crate) const BODIES: [(&str, u64); 6] = [
    ("1 ns", 2),
    ("16 ns", 30),
    ("250 ns", 500),
    ("4 us", 8_000),
    ("64 us", 120_000),
    ("1 ms", 1_900_000),
];

/// The variable that says which work a program measures: the steps, and the percents of more work of its second function.
pub(crate) const WORK: &str = "CYCLEWISE_EXAM_WORK";

/// A function with its state. One of two steps has no loop, which would take longer than they.
pub(crate) struct Work<const IS_SHORT: bool> {
    steps: u64,
    /// Hundredths of a step that each call does besides.
    more: u64,
    /// Hundredths of a step that are still to be done.
    owed: u64,
    value: u64,
}

impl<const IS_SHORT: bool> Work<IS_SHORT> {
    pub(crate) fn new(steps: u64, percent: u64) -> Self {
        let more = steps * percent;
        // Opaque, so that all functions are the same code.
        Self {
            steps: black_box(steps + more / 100),
            more: black_box(more % 100),
            owed: 0,
            value: black_box(1),
        }
    }

    /// The function. What is less than a step is done by two steps in some calls, since a compiler makes of a single one a conditional move,
    /// which takes its time in every call.
    #[inline]
    pub(crate) fn call(&mut self) -> u64 {
        let mut value = self.value;
        if IS_SHORT {
            value = step(step(value));
        } else {
            for _ in 0..self.steps {
                value = step(value);
            }
        }
        self.owed += self.more;
        if self.owed >= 200 {
            self.owed -= 200;
            value = step(step(value));
        }
        self.value = value;
        value
    }
}

#[inline]
fn step(value: u64) -> u64 {
    value.rotate_left(7).wrapping_add(0x9e37_79b9)
}

/// A function without more work, and the same with more.
pub(crate) enum Pair {
    Short([Work<true>; 2]),
    Long([Work<false>; 2]),
}

impl Pair {
    pub(crate) fn new(steps: u64, percent: u64) -> Self {
        match steps {
            2 => Pair::Short([Work::new(steps, 0), Work::new(steps, percent)]),
            _ => Pair::Long([Work::new(steps, 0), Work::new(steps, percent)]),
        }
    }

    /// What the variable asks for; `None` where it is not set.
    pub(crate) fn asked() -> Option<Self> {
        let text = std::env::var(WORK).ok()?;
        let (steps, percent) = text.split_once(' ')?;
        Some(Self::new(steps.parse().ok()?, percent.parse().ok()?))
    }
}
