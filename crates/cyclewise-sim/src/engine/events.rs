//! Planned events, ordered by time and then by the order of planning.
//!
//! # Cost
//! An event is one 128-bit number, so that two compare in one step: 64 bits of time, 36 bits that count planned events, 4 bits of
//! kind, and 24 bits of thread or line.

use super::timing::Picos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event of a thread or line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A thread makes its next access.
    Issue(u32),
    /// The copy that this thread requested arrives at its core.
    Copy(u32),
    /// This thread's far atomic arrives at the home.
    Arrive(u32),
    /// The line arrives at its destination, or its home has executed a far atomic.
    Fill(u32),
    /// The owner has executed an access.
    Done(u32),
    /// The next request reaches the owner.
    Probe(u32),
    /// The line may be able to serve a request: the hold is over, or the directory is free.
    Kick(u32),
    /// The home has answered an addition that this thread did not wait for.
    Posted(u32),
}

const KIND_BITS: u32 = 4;
const INDEX_BITS: u32 = 24;
const COUNT_BITS: u32 = 64 - KIND_BITS - INDEX_BITS;

/// The limit of thread and line numbers.
pub(crate) const MOST: u32 = 1 << INDEX_BITS;

impl Event {
    fn pack(self) -> u64 {
        let (kind, index) = match self {
            Self::Issue(thread) => (0, thread),
            Self::Copy(thread) => (1, thread),
            Self::Arrive(thread) => (2, thread),
            Self::Fill(line) => (3, line),
            Self::Done(line) => (4, line),
            Self::Probe(line) => (5, line),
            Self::Kick(line) => (6, line),
            Self::Posted(thread) => (7, thread),
        };
        u64::from(index) << KIND_BITS | kind
    }

    fn unpack(packed: u64) -> Self {
        let index = u32::try_from(packed >> KIND_BITS & u64::from(MOST - 1)).expect("24 bits");
        match packed & ((1 << KIND_BITS) - 1) {
            0 => Self::Issue(index),
            1 => Self::Copy(index),
            2 => Self::Arrive(index),
            3 => Self::Fill(index),
            4 => Self::Done(index),
            5 => Self::Probe(index),
            6 => Self::Kick(index),
            _ => Self::Posted(index),
        }
    }
}

/// The planned events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<u128>>,
    planned: u64,
}

impl Events {
    /// Plans an event.
    #[inline]
    pub(crate) fn plan(&mut self, at: Picos, event: Event) {
        let order = self.planned << (64 - COUNT_BITS) | event.pack();
        self.planned += 1;
        self.heap.push(Reverse(u128::from(at) << 64 | u128::from(order)));
    }

    /// The next event and its time.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Picos, Event)> {
        let Reverse(packed) = self.heap.pop()?;
        let (at, order) = ((packed >> 64) as u64, packed as u64);
        Some((at, Event::unpack(order)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_and_then_by_planning() {
        let mut events = Events::default();
        let planned = [
            (7, Event::Issue(MOST - 1)),
            (3, Event::Copy(1)),
            (3, Event::Arrive(0)),
            (9, Event::Fill(2)),
            (3, Event::Done(5)),
            (0, Event::Probe(4)),
            (3, Event::Kick(1)),
            (2, Event::Posted(3)),
        ];
        for (at, event) in planned {
            events.plan(at, event);
        }
        let mut expected = planned;
        expected.sort_by_key(|&(at, _)| at); // A stable sort.
        for event in expected {
            assert_eq!(events.next(), Some(event));
        }
        assert_eq!(events.next(), None);
    }
}
