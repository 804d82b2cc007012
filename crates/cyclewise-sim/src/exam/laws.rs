//! The laws that are learned for a family of machines: who is next, how long an owner stays, and how requests travel.

use crate::Machine;
use crate::machine::{Arbiter, Distance, Fill, FirstAccess, Hold, Queue, Rmw};
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
pub(crate) const STORE_BUFFER: u32 = 56;

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
    cycles.round() as u32
}

/// How many laws there are to choose.
pub const LAWS: usize = 10;

/// The keys of machine files that they set, in the order of [`Space`].
pub(crate) const KEYS: [&str; LAWS] = [
    "line.arbiter",
    "line.hold",
    "line.first_access",
    "line.probe_share",
    "mechanism.store_buffer",
    "cost.read_cycles",
    "cost.invalidate_cycles",
    "mechanism.downgrade_cycles",
    "line.rmw",
    "mechanism.fill",
];

/// The numbers of some of them.
pub(crate) const ARBITER: usize = 0;
pub(crate) const PROBE: usize = 3;
pub(crate) const STORES: usize = 4;
pub(crate) const FAR: usize = 8;

/// Which value of each law is taken.
pub type Choice = [usize; LAWS];

/// One value of a law.
type Value = Box<dyn Fn(&mut Laws) + Send + Sync>;

/// The values that are tried for each law, the simplest first.
pub struct Space([Vec<Value>; LAWS]);

/// The values of one law.
fn values<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    set: fn(&mut Laws) -> &mut T,
) -> Vec<Value> {
    let value = |value: T| -> Value { Box::new(move |laws| *set(laws) = value) };
    all.into_iter().map(value).collect()
}

impl Space {
    /// What the laws in `data/laws.toml` were chosen from.
    pub fn full() -> Self {
        let near = |cap| Arbiter::Nearest { cap };
        let probes =
            [Queue::AtOwner, Queue::AtHome].map(|queue| [0.1, 0.2, 0.3, 0.4].map(|share| Probe { share, queue }));
        Self([
            values([Arbiter::Fifo, Arbiter::Random, near(4), near(16)], |l| &mut l.arbiter),
            values([0, 20, 40, 80], |l| &mut l.hold_cycles),
            values([FirstAccess::Shared, FirstAccess::Exclusive], |l| &mut l.first_access),
            values([Probe::NONE].into_iter().chain(probes.into_iter().flatten()), |l| {
                &mut l.probe
            }),
            values([0, STORE_BUFFER], |l| &mut l.store_buffer),
            // Neither is free: readers that wake one after another are what a lock with a queue avoids.
            values([0.05, 0.1, 0.2, 0.4], |l| &mut l.read_share),
            values([0.01, 0.03, 0.1], |l| &mut l.invalidate_share),
            values([0.0, 0.1, 0.2], |l| &mut l.downgrade_share),
            values([0.0, 0.1, 0.2, 0.4], |l| &mut l.far_share),
            values([Fill::Core, Fill::Thread], |l| &mut l.fill),
        ])
    }

    /// Some arbiters, first accesses and probes, and otherwise the simplest laws.
    #[cfg(test)]
    pub(super) fn small(arbiters: &'static [Arbiter], first: &'static [FirstAccess], probes: &'static [Probe]) -> Self {
        let mut space = Self(std::array::from_fn(|_| vec![Box::new(|_: &mut Laws| ()) as Value]));
        space.0[ARBITER] = values(arbiters.iter().copied(), |l| &mut l.arbiter);
        space.0[2] = values(first.iter().copied(), |l| &mut l.first_access);
        space.0[PROBE] = values(probes.iter().copied(), |l| &mut l.probe);
        space
    }

    /// The same with one value of a law.
    pub(crate) fn fix<T: Copy + Send + Sync + 'static>(&mut self, law: usize, value: T, set: fn(&mut Laws) -> &mut T) {
        self.0[law] = values([value], set);
    }

    /// The same with one time at the home for far atomics.
    pub(crate) fn set_far(&mut self, share: f64) {
        self.0[FAR] = values([0.0, share], |l| &mut l.far_share);
    }

    /// How many values each law has.
    pub fn sizes(&self) -> Choice {
        self.0.each_ref().map(Vec::len)
    }

    /// The laws of a choice.
    pub fn at(&self, choice: Choice) -> Laws {
        let mut laws = Laws::SIMPLEST;
        for (values, value) in self.0.iter().zip(choice) {
            values[value](&mut laws);
        }
        laws
    }
}
