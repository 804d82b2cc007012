//! The plan of one hackbench run: tasks, channel, and number of messages.

use super::protocol;
use crate::error::{Error, Result};
use crate::sys::channel::ChannelKind;
use std::time::Duration;

/// What a sender or a receiver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A forked process.
    Processes,
    Threads,
}

#[derive(Clone, Debug)]
pub struct Plan {
    carrier: Carrier,
    channel: ChannelKind,
    groups: u32,
    loops: u32,
    pub(super) fault: Option<Fault>,
}

/// A deliberate fault, to show that it is caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests break a run on purpose"))]
pub(super) enum Fault {
    /// The first receiver stops after this many messages, as if all were well.
    ReceiverStops(u64),
    /// The first sender stops before it sends anything, as if all were well.
    SenderStops,
    /// The first receiver never reads and never ends.
    ReceiverSleeps,
}

#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// From the wake-up until the last task was reaped.
    pub elapsed: Duration,
    /// Messages that receivers counted.
    pub received: u64,
}

impl Plan {
    /// Senders of a group, and receivers of a group: rt-tests' default.
    pub const FDS: u32 = 20;

    /// A plan.
    ///
    /// # Errors
    /// Exit 2 if a count is out of range.
    pub fn new(carrier: Carrier, channel: ChannelKind, groups: u32, loops: u32) -> Result<Self> {
        if !(1..=10_000).contains(&groups) {
            return Err(Error::usage(format!(
                "--groups {groups}: give 1 to 10000; each group is {} tasks",
                2 * Self::FDS
            )));
        }
        if !(1..=10_000_000).contains(&loops) {
            return Err(Error::usage(format!("--loops {loops}: give 1 to 10000000")));
        }
        Ok(Self {
            carrier,
            channel,
            groups,
            loops,
            fault: None,
        })
    }

    /// Processes or threads.
    pub fn carrier(&self) -> Carrier {
        self.carrier
    }

    pub fn channel(&self) -> ChannelKind {
        self.channel
    }

    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Messages from each sender to each receiver of its group.
    pub fn loops(&self) -> u32 {
        self.loops
    }

    /// The variant's name.
    pub fn name(&self) -> &'static str {
        match (self.carrier, self.channel) {
            (Carrier::Processes, ChannelKind::SocketPair) => "processes-socketpair",
            (Carrier::Threads, ChannelKind::SocketPair) => "threads-socketpair",
            (Carrier::Processes, ChannelKind::Pipe) => "processes-pipe",
            (Carrier::Threads, ChannelKind::Pipe) => "threads-pipe",
        }
    }

    /// Number of processes or threads.
    pub fn tasks(&self) -> u32 {
        self.groups * 2 * Self::FDS
    }

    /// Messages to one receiver; a sender sends as many.
    pub fn share(&self) -> u64 {
        u64::from(Self::FDS) * u64::from(self.loops)
    }

    pub fn messages(&self) -> u64 {
        u64::from(self.groups) * u64::from(Self::FDS) * self.share()
    }

    /// Seconds after which a run is stopped: a minute plus 100 µs a message, some 50 times what a message takes.
    pub(super) fn limit_s(&self) -> u32 {
        if self.fault == Some(Fault::ReceiverSleeps) {
            return 1;
        }
        60 + u32::try_from(self.messages() / 10_000).unwrap_or(u32::MAX / 2)
    }

    /// The most bytes that the kernel may have to hold for one channel.
    pub(super) fn bytes_in_flight_per_channel(&self) -> u64 {
        // Linux charges a stream socket about 768 bytes for each 100-byte message, up to net.core.wmem_default.
        (self.share() * (protocol::MESSAGE as u64 + 668)).min(212_992)
    }
}
