//! A machine's times in the engine's unit, integer picoseconds.
//!
//! Sums of integers do not depend on their order, so a run is the same on every host. Each time is rounded once, by at most half
//! a picosecond.

use super::random::Random;
use crate::machine::{Cost, Distance, Hold, Machine, Queue, Rmw};

/// A time or a duration, in picoseconds.
pub(crate) type Picos = u64;

/// Nanoseconds as picoseconds; 0 for negative values and NaN.
pub(crate) fn picos(ns: f64) -> Picos {
    (ns * 1e3).round() as Picos
}

/// Picoseconds as nanoseconds.
pub(crate) fn nanos(time: Picos) -> f64 {
    time as f64 / 1e3
}

/// The times of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    pub(crate) hit: Picos,
    pub(crate) sibling: Picos,
    pub(crate) alu: Picos,
    pub(crate) store: Picos,
    pub(crate) rmw: Picos,
    pub(crate) cas: Picos,
    pub(crate) ll_sc: Picos,
    pub(crate) pause: Picos,
    pub(crate) read: Picos,
    pub(crate) invalidate: Picos,
    /// How long a new owner keeps the line at least, and how long for a load-exclusive.
    pub(crate) hold: Picos,
    pub(crate) ll_hold: Picos,
    /// The home's time for a far atomic.
    pub(crate) far: Option<Picos>,
    /// Whether only posted additions are far.
    pub(crate) only_posted: bool,
    /// The time that a read line takes to become shared.
    pub(crate) downgrade: Picos,
    /// Whether a thread goes on while its stores wait.
    pub(crate) buffers_stores: bool,
    /// Whether a thread goes on after an addition without a result.
    pub(crate) posts_rmws: bool,
    cycle_ns: f64,
    probe_share: f64,
    /// Whether requests wait at the home.
    pub(crate) queues_at_home: bool,
    jitter: f64,
    spread: f64,
    /// Within a cluster, within a socket, between sockets.
    transfers: [Picos; 3],
    /// How much farther another socket is than the own one.
    remote_by_socket: f64,
}

impl Timing {
    pub(crate) fn new(machine: &Machine) -> Self {
        let cycle_ns = 1.0 / machine.ghz;
        let cycles = |cycles: u32| picos(f64::from(cycles) * cycle_ns);
        let Cost {
            alu_cycles,
            store_cycles,
            rmw_cycles,
            cas_cycles,
            ll_sc_cycles,
            pause_cycles,
            read_cycles,
            invalidate_cycles,
            jitter,
        } = machine.cost;
        let hold = |hold| match hold {
            Hold::None => 0,
            Hold::Fixed { cycles: hold } => cycles(hold),
        };
        let between = |distance| picos(machine.transfer_ns(distance));
        Self {
            hit: picos(machine.latency.hit_ns),
            sibling: between(Distance::Sibling),
            // At least 1, so that time passes.
            alu: cycles(alu_cycles).max(1),
            store: cycles(store_cycles),
            rmw: cycles(rmw_cycles),
            cas: cycles(cas_cycles),
            ll_sc: cycles(ll_sc_cycles),
            pause: cycles(pause_cycles),
            read: cycles(read_cycles),
            invalidate: cycles(invalidate_cycles),
            hold: hold(machine.line.hold),
            ll_hold: hold(machine.line.ll_hold.unwrap_or(machine.line.hold)),
            far: match machine.line.rmw {
                Rmw::Near => None,
                Rmw::Far { cycles: far, .. } => Some(cycles(far)),
            },
            only_posted: matches!(machine.line.rmw, Rmw::Far { only_posted: true, .. }),
            downgrade: cycles(machine.mechanism.downgrade_cycles),
            buffers_stores: machine.mechanism.store_buffer > 0,
            posts_rmws: machine.mechanism.posted_rmws > 0 && machine.mechanism.store_buffer > 0,
            cycle_ns,
            probe_share: machine.line.probe_share.clamp(0.0, 1.0),
            queues_at_home: machine.line.queue == Queue::AtHome,
            jitter: jitter.clamp(0.0, 1.0),
            spread: machine.latency.spread.clamp(0.0, 1.0),
            remote_by_socket: machine.transfer_ns(Distance::Remote) / machine.transfer_ns(Distance::Socket).max(1e-3),
            transfers: [
                between(Distance::Cluster),
                between(Distance::Socket),
                between(Distance::Remote),
            ],
        }
    }

    /// The time of a number of cycles.
    pub(crate) fn cycles(&self, cycles: u32) -> Picos {
        picos(f64::from(cycles) * self.cycle_ns)
    }

    /// The time to move a line between two cores; 0 within one core.
    pub(crate) fn transfer(&self, distance: Distance) -> Picos {
        match distance {
            Distance::Same | Distance::Sibling => 0,
            Distance::Cluster => self.transfers[0],
            Distance::Socket => self.transfers[1],
            Distance::Remote => self.transfers[2],
        }
    }

    /// Whether requests take time to reach the owner.
    pub(crate) fn probes(&self) -> bool {
        self.probe_share > 0.0
    }

    /// The part of a transfer before the request reaches the owner.
    pub(crate) fn probe(&self, transfer: Picos) -> Picos {
        share(transfer, self.probe_share)
    }

    /// The home's time for one reader at this distance, which costs as much more as its way is longer.
    pub(crate) fn for_reader(&self, each: Picos, distance: Distance) -> Picos {
        match distance {
            Distance::Remote => share(each, self.remote_by_socket),
            _ => each,
        }
    }

    /// A step's time with random jitter.
    pub(crate) fn vary(&self, time: Picos, random: &mut Random) -> Picos {
        uniform(time, self.jitter, random)
    }

    /// The time of one transfer whose mean is this: pairs of CPUs at one distance differ.
    pub(crate) fn draw(&self, transfer: Picos, random: &mut Random) -> Picos {
        uniform(transfer, self.spread, random)
    }
}

/// A time within a share of this one either way.
fn uniform(time: Picos, either_way: f64, random: &mut Random) -> Picos {
    if either_way == 0.0 || time == 0 {
        return time;
    }
    let widest = share(time, either_way);
    time - widest + random.below(2 * widest + 1)
}

/// A share of a time.
fn share(time: Picos, share: f64) -> Picos {
    picos(time as f64 * share / 1e3)
}
