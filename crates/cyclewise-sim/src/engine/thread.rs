//! Threads of the engine: what each waits for, its program, and its store buffer.

use super::access::{Access, merge};
use super::cpu::Mailbox;
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;

/// A running program.
pub(crate) type Program = Pin<Box<dyn Future<Output = ()>>>;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// Nothing but its own work.
    Nothing,
    /// A line or a copy that its core has requested.
    Fill,
    /// Its core's port.
    Port,
    /// A change of its core's copy.
    Change,
    /// A far atomic.
    FarAtomic,
    /// The end of its store buffer.
    Drain,
    /// Room in its store buffer.
    Room,
    /// An answer to an addition that it posted.
    Posted,
}

pub(super) struct Thread {
    pub(super) core: u32,
    /// The next thread of the same core.
    pub(super) sibling: Option<u32>,
    pub(super) access: Access,
    pub(super) line: u32,
    pub(super) waits_for: WaitsFor,
    /// The number of its current access.
    pub(super) order: u64,
    /// The line and epoch of its reservation.
    pub(super) reservation: Option<(u32, u64)>,
    pub(super) role: Role,
}

/// What a thread of the engine is.
pub(super) enum Role {
    /// A hardware thread with a program.
    Runs(Running),
    /// What makes the buffered stores of this thread, beside its program.
    Drains(u32),
}

/// A program and its state.
pub(super) struct Running {
    pub(super) mailbox: Rc<Mailbox>,
    pub(super) program: Program,
    /// Whether it is a worker, which ends with the run; a reader need not.
    pub(super) is_worker: bool,
    pub(super) buffer: Buffer,
}

impl Thread {
    /// The hardware thread: itself, or the one whose stores it makes.
    pub(super) fn hardware(&self, itself: u32) -> u32 {
        match self.role {
            Role::Runs(_) => itself,
            Role::Drains(of) => of,
        }
    }
}

#[derive(Default)]
pub(super) struct Core {
    /// The first of its threads.
    pub(super) first: Option<u32>,
    /// The lines that it has requested.
    pub(super) requested: Vec<u32>,
}

/// The buffer of one hardware thread.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    /// The oldest first.
    pub(super) stores: VecDeque<Store>,
    /// Posted additions that the home has not answered.
    pub(super) posted: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    pub(super) line: u32,
    pub(super) access: Access,
    /// Numbers in program order, for the tests' check.
    #[cfg_attr(not(test), expect(dead_code, reason = "checked only by tests"))]
    pub(super) number: u64,
}

/// What a buffer has of some bits of a line.
pub(super) enum Forwarded {
    Nothing,
    Part,
    /// The value; only those bits are valid.
    All(u64),
}

impl Buffer {
    pub(super) fn find(&self, line: u32, mask: u64) -> Forwarded {
        let (mut value, mut covered) = (0, 0);
        for store in self.stores.iter().filter(|store| store.line == line) {
            match store.access {
                Access::Store { mask, value: new } => {
                    value = merge(value, mask, new);
                    covered |= mask;
                }
                // What it will add to is not known.
                _ => return Forwarded::Part,
            }
        }
        match covered & mask {
            0 => Forwarded::Nothing,
            all if all == mask => Forwarded::All(value),
            _ => Forwarded::Part,
        }
    }
}

#[cfg(test)]
impl Buffer {
    pub(super) fn is_ordered(&self) -> bool {
        self.stores.iter().map(|store| store.number).is_sorted()
    }
}
