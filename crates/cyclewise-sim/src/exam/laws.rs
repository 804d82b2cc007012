//! The laws that are learned for a family of machines: who is next, how long an owner stays, and how requests travel.

use crate::Machine;
use crate::machine::{Arbiter, Cap, Distance, Fill, FirstAccess, Hold, Queue, Rmw};
use serde::{Deserialize, Serialize};

/// The learned laws. Times at the home are shares of a transfer within a socket, so that they carry over to other machines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Laws {
    /// Which request is served next.
    pub arbiter: Arbiter,
    /// How long an owner may keep the line; 0 is no hold.
    pub hold_cycles: u32,
    /// How a load that precedes a write requests the line.
    pub first_access: FirstAccess,
    /// How requests reach the owner.
    pub probe: Probe,
    /// Entries of the store buffer; 0: a thread waits for each store.
    pub store_buffer: u32,
    /// The home's time for each further copy.
    pub read_share: f64,
    /// The home's time to invalidate each further copy.
    pub invalidate_share: f64,
    /// The time that a read line takes to become shared.
    pub downgrade_share: f64,
    /// The home's time for an addition without a result, where there are instructions for one; 0: the line moves.
    pub far_share: f64,
    /// Whom a line serves when it arrives at a core.
    pub fill: Fill,
}

/// How requests reach the owner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The share of a transfer that a request takes for its way to the owner.
    pub share: f64,
    /// Where a request waits before that.
    pub queue: Queue,
}

impl Probe {
    /// The line is in transit for the whole time.
    pub const NONE: Self = Self {
        share: 0.0,
        queue: Queue::AtOwner,
    };
}

/// A store buffer of a core of the last ten years: 56 entries, Intel 64 and IA-32 Architectures Optimization Reference Manual, Skylake.
/// Its length matters only where it is full.
const STORE_BUFFER: u32 = 56;

/// Posted additions of a core: enough to hide the way to the home, as in the file of Graviton 2.
const POSTED: u32 = 16;

impl Laws {
    /// The simplest laws.
    pub const SIMPLEST: Self = Self {
        arbiter: Arbiter::Fifo,
        hold_cycles: 0,
        first_access: FirstAccess::Shared,
        probe: Probe::NONE,
        store_buffer: 0,
        read_share: 0.0,
        invalidate_share: 0.0,
        downgrade_share: 0.0,
        far_share: 0.0,
        fill: Fill::Core,
    };

    /// The machine with these laws.
    #[must_use]
    pub fn apply(&self, machine: &Machine) -> Machine {
        let mut machine = machine.clone();
        let transfer = machine.transfer_ns(Distance::Socket) * machine.ghz;
        let share = |share: f64| whole(transfer * share);
        machine.line.arbiter = self.arbiter;
        machine.line.first_access = self.first_access;
        machine.line.probe_share = self.probe.share;
        machine.line.queue = self.probe.queue;
        machine.cost.read_cycles = share(self.read_share);
        machine.cost.invalidate_cycles = share(self.invalidate_share);
        machine.mechanism.downgrade_cycles = share(self.downgrade_share);
        machine.mechanism.store_buffer = self.store_buffer;
        machine.mechanism.fill = self.fill;
        machine.line.hold = match self.hold_cycles {
            0 => Hold::None,
            cycles => Hold::Fixed { cycles },
        };
        // Only instruction sets with exclusives have additions without a result.
        if self.far_share > 0.0 && machine.line.ll_hold.is_some() {
            machine.line.rmw = Rmw::Far {
                cycles: share(self.far_share),
                only_posted: true,
            };
            machine.mechanism.posted_rmws = POSTED;
            machine.mechanism.store_buffer = self.store_buffer.max(POSTED);
        }
        machine
    }
}

/// Whole cycles of a time; may be none.
fn whole(cycles: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and transfers are a few thousand cycles"
    )]
    let whole = cycles.round() as u32;
    whole
}

/// How many laws there are to choose.
pub const LAWS: usize = 10;

/// The numbers of two of them.
pub(super) const ARBITER: usize = 0;
pub(super) const PROBE: usize = 3;

/// Which value of each law is taken, in the order of the fields of [`Space`].
pub type Choice = [usize; LAWS];

/// The values that are tried for each law, the simplest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// Values of [`Laws::arbiter`].
    pub arbiter: Vec<Arbiter>,
    /// Values of [`Laws::hold_cycles`].
    pub hold_cycles: Vec<u32>,
    /// Values of [`Laws::first_access`].
    pub first_access: Vec<FirstAccess>,
    /// Values of [`Laws::probe`].
    pub probe: Vec<Probe>,
    /// Values of [`Laws::store_buffer`].
    pub store_buffer: Vec<u32>,
    /// Values of [`Laws::read_share`].
    pub read_share: Vec<f64>,
    /// Values of [`Laws::invalidate_share`].
    pub invalidate_share: Vec<f64>,
    /// Values of [`Laws::downgrade_share`].
    pub downgrade_share: Vec<f64>,
    /// Values of [`Laws::far_share`].
    pub far_share: Vec<f64>,
    /// Values of [`Laws::fill`].
    pub fill: Vec<Fill>,
}

impl Space {
    /// What the laws in `data/laws.toml` were chosen from.
    #[must_use]
    pub fn full() -> Self {
        let near = |count| Arbiter::Nearest { cap: Cap::Count(count) };
        let mut probes = vec![Probe::NONE];
        for queue in [Queue::AtOwner, Queue::AtHome] {
            probes.extend([0.1, 0.2, 0.3, 0.4].map(|share| Probe { share, queue }));
        }
        Self {
            arbiter: vec![Arbiter::Fifo, Arbiter::Random, near(4), near(16)],
            hold_cycles: vec![0, 20, 40, 80],
            first_access: vec![FirstAccess::Shared, FirstAccess::Exclusive],
            probe: probes,
            store_buffer: vec![0, STORE_BUFFER],
            // Neither is free: readers that wake one after another are what a lock with a queue avoids.
            read_share: vec![0.05, 0.1, 0.2, 0.4],
            invalidate_share: vec![0.01, 0.03, 0.1],
            downgrade_share: vec![0.0, 0.1, 0.2],
            far_share: vec![0.0, 0.1, 0.2, 0.4],
            fill: vec![Fill::Core, Fill::Thread],
        }
    }

    /// Only the simplest laws; to be widened.
    #[must_use]
    pub fn simplest() -> Self {
        let only = Laws::SIMPLEST;
        Self {
            arbiter: vec![only.arbiter],
            hold_cycles: vec![only.hold_cycles],
            first_access: vec![only.first_access],
            probe: vec![only.probe],
            store_buffer: vec![only.store_buffer],
            read_share: vec![only.read_share],
            invalidate_share: vec![only.invalidate_share],
            downgrade_share: vec![only.downgrade_share],
            far_share: vec![only.far_share],
            fill: vec![only.fill],
        }
    }

    /// How many values each law has.
    #[must_use]
    pub fn sizes(&self) -> Choice {
        [
            self.arbiter.len(),
            self.hold_cycles.len(),
            self.first_access.len(),
            self.probe.len(),
            self.store_buffer.len(),
            self.read_share.len(),
            self.invalidate_share.len(),
            self.downgrade_share.len(),
            self.far_share.len(),
            self.fill.len(),
        ]
    }

    /// The laws of a choice.
    #[must_use]
    pub fn at(&self, choice: Choice) -> Laws {
        let [
            arbiter,
            hold,
            first,
            probe,
            store,
            read,
            invalidate,
            downgrade,
            far,
            fill,
        ] = choice;
        Laws {
            arbiter: self.arbiter[arbiter],
            hold_cycles: self.hold_cycles[hold],
            first_access: self.first_access[first],
            probe: self.probe[probe],
            store_buffer: self.store_buffer[store],
            read_share: self.read_share[read],
            invalidate_share: self.invalidate_share[invalidate],
            downgrade_share: self.downgrade_share[downgrade],
            far_share: self.far_share[far],
            fill: self.fill[fill],
        }
    }
}
