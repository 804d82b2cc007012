//! A program before its run: its lines, how it starts, and what its lines must contain in the end.

use crate::engine::{ALL, Cpu, LineId, Program};

/// The initial memory.
#[derive(Debug, Default)]
pub(crate) struct Memory(Vec<u64>);

impl Memory {
    /// Allocates a line with an initial value.
    pub(super) fn line(&mut self, value: u64) -> LineId {
        let number = self.line_count();
        self.0.push(value);
        LineId(number)
    }

    /// Allocates a number of lines with an initial value.
    pub(super) fn lines(&mut self, count: u32, value: u64) -> Lines {
        let first = self.line_count();
        (0..count).for_each(|_| {
            self.line(value);
        });
        Lines { first, count }
    }

    pub(super) fn line_count(&self) -> u32 {
        u32::try_from(self.0.len()).expect("some lines for each thread")
    }

    /// The initial value of each line.
    pub(crate) fn values(&self) -> &[u64] {
        &self.0
    }
}

/// Consecutive lines. Each thread has a copy of its program's state, so a list of lines in it would take memory that grows with the
/// square of the threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    first: u32,
    count: u32,
}

impl Lines {
    /// No line.
    pub(super) const NONE: Self = Self { first: 0, count: 0 };

    /// The line of this index, from 0.
    pub(super) fn at(self, index: u32) -> LineId {
        assert!(index < self.count, "line {index} of {}", self.count);
        LineId(self.first + index)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = LineId> {
        (self.first..self.first + self.count).map(LineId)
    }
}

/// The expected value of a line's masked bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpectedValue {
    pub(crate) line: LineId,
    pub(crate) mask: u64,
    pub(crate) value: u64,
}

/// Starts a program on a CPU.
pub(crate) type Start = Box<dyn Fn(Cpu) -> Program>;
/// The expected values of lines after a number of finished operations.
pub(crate) type Expected = Box<dyn Fn(u64) -> Vec<ExpectedValue>>;

/// Starts `body` with its own clone of `state`.
pub(super) fn start<S: Clone + 'static, F: Future<Output = ()> + 'static>(state: S, body: fn(Cpu, S) -> F) -> Start {
    Box::new(move |cpu| Box::pin(body(cpu, state.clone())))
}

/// The expected value of a whole line: the number of finished operations.
pub(super) fn counts_operations(line: LineId) -> Expected {
    Box::new(move |ops| {
        vec![ExpectedValue {
            line,
            mask: ALL,
            value: ops,
        }]
    })
}

/// The expected value of a line's low half.
pub(super) fn low(line: LineId, value: u64) -> ExpectedValue {
    ExpectedValue {
        line,
        mask: LOW,
        value: value & LOW,
    }
}

/// The half of a line for a count or data; a lock may be in the other half.
pub(super) const LOW: u64 = 0xffff_ffff;
