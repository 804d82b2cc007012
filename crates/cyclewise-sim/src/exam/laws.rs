//! The laws that are learned for a class of machines: who is next, how long an owner stays, and how requests travel.

use super::data::PublishedMachine;
use crate::Machine;
use crate::machine::{Arbiter, Cap, FirstAccess, Hold};
use serde::{Deserialize, Serialize};

/// The learned laws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Laws {
    /// Which request is served next.
    pub arbiter: Arbiter,
    /// How many read-modify-writes an owner may do before it gives the line away; 0 is no hold.
    pub hold_operations: u32,
    /// How a load that precedes a write requests the line.
    pub first_access: FirstAccess,
    /// The share of a transfer that is over for a request that has waited.
    pub probe_share: f64,
    /// Entries of the store buffer; 0: a thread waits for each store.
    pub store_buffer: u32,
}

/// A store buffer of a core of the last ten years: 56 entries, Intel 64 and IA-32 Architectures Optimization Reference Manual, Skylake.
/// Its length matters only where it is full.
const STORE_BUFFER: u32 = 56;

impl Laws {
    /// The candidates, the simplest first. Of equal ones the first is taken.
    #[must_use]
    pub fn candidates() -> Vec<Self> {
        let near = |count| Arbiter::Nearest { cap: Cap::Count(count) };
        let arbiters = [Arbiter::Fifo, Arbiter::Random, near(4), near(16)];
        let mut all = Vec::new();
        for store_buffer in [0, STORE_BUFFER] {
            for arbiter in arbiters {
                for hold_operations in [0, 8] {
                    for first_access in [FirstAccess::Shared, FirstAccess::Exclusive] {
                        for probe_share in [0.0, 0.2, 0.4] {
                            all.push(Self {
                                arbiter,
                                hold_operations,
                                first_access,
                                probe_share,
                                store_buffer,
                            });
                        }
                    }
                }
            }
        }
        all
    }

    /// The machine with these laws.
    #[must_use]
    pub fn apply(&self, machine: &Machine) -> Machine {
        let mut machine = machine.clone();
        let operation = machine.cost.rmw_cycles + machine.cost.alu_cycles;
        machine.line.arbiter = self.arbiter;
        machine.line.first_access = self.first_access;
        machine.line.probe_share = self.probe_share;
        machine.mechanism.store_buffer = self.store_buffer;
        machine.line.hold = match self.hold_operations {
            0 => Hold::None,
            // A half more, because it matters how many fit.
            n => Hold::Fixed {
                cycles: operation * n + operation / 2,
            },
        };
        machine
    }
}

/// The class of a machine: its family where enough machines were learned from, or else its instruction set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Machines with the same kind of interconnect and atomics.
    Family(String),
    /// Machines with the same instruction set.
    Isa(String),
}

impl Class {
    /// Its name in files and tables.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Family(name) | Self::Isa(name) => name,
        }
    }

    /// Whether a machine is in it.
    #[must_use]
    pub fn has(&self, machine: &PublishedMachine) -> bool {
        match self {
            Self::Family(family) => machine.family == *family,
            Self::Isa(isa) => machine.isa == *isa,
        }
    }
}
