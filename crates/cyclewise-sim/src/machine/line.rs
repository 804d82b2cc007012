//! The laws of line ownership.

use serde::{Deserialize, Serialize};

/// The laws of line ownership, the same for every line of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineRules {
    /// Which request is served next.
    pub arbiter: Arbiter,
    /// How long a new owner may keep the line.
    pub hold: Hold,
    /// How a load that precedes a write requests the line.
    pub first_access: FirstAccess,
    /// Where read-modify-writes are executed.
    pub rmw: Rmw,
    /// How a load-exclusive requests a line; default: `first_access`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ll_first_access: Option<FirstAccess>,
    /// How long a load-exclusive keeps the line for its store; default: `hold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ll_hold: Option<Hold>,
    /// The share of a transfer's time, 0 to 1, that the request takes to reach the owner, which continues to work meanwhile. For a
    /// request that has waited longer at the owner, this share is already over. 0: the line is in transit for the whole time.
    #[serde(default)]
    pub probe_share: f64,
    /// Where a request waits while others are served, which matters only with a probe share.
    #[serde(default, skip_serializing_if = "Queue::is_at_owner")]
    pub queue: Queue,
}

/// Where a request waits while others are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Queue {
    /// At the owner, like a snoop in its queue: its way is behind it when its turn comes.
    #[default]
    AtOwner,
    /// At the home, which asks the owner only when the line has arrived there: the owner works for the probe share of the transfer, the
    /// longer the farther the requester is. Where the home is does not matter.
    AtHome,
}

impl Queue {
    fn is_at_owner(&self) -> bool {
        *self == Self::AtOwner
    }
}

/// Which request is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arbiter {
    /// The oldest.
    Fifo,
    /// The nearest to the line, and the oldest of those.
    Nearest {
        /// After so many requests in a row have overtaken the oldest, it comes first.
        cap: u32,
    },
    /// A random one, with equal probabilities.
    Random,
    /// A random one of the socket's cores that have not been served in this round; then the next round begins.
    Batch {
        /// How many requests in a row are served in one socket while another waits.
        stay: u32,
    },
}

impl Arbiter {
    /// Which request is next, in words.
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::Fifo => "the oldest request next".to_owned(),
            Self::Random => "a random request next".to_owned(),
            Self::Batch { stay } => format!("rounds in random order, {stay} requests in a socket"),
            Self::Nearest { cap } => format!("the nearest request next, overtaking {cap} times"),
        }
    }
}

/// How long a core keeps a line after an exclusive fill while others request it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Hold {
    /// Until the access that requested it is done.
    None,
    /// At least for a fixed time.
    Fixed {
        /// The time in cycles.
        cycles: u32,
    },
}

impl Hold {
    /// How long the line is kept, in words.
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::None => "until the access is done".to_owned(),
            Self::Fixed { cycles } => format!("{cycles} cycles"),
        }
    }
}

/// How a load requests a line that the same thread will write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FirstAccess {
    /// As a copy, which the write upgrades.
    Shared,
    /// Exclusively.
    Exclusive,
}

/// Where a read-modify-write is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rmw {
    /// At the core: the line moves.
    Near,
    /// Near if the core owns the line, which no other core then has; else at the line's home: the operands move.
    Far {
        /// The home's time for one, in cycles.
        cycles: u32,
        /// Only additions that their thread posts are far; every other read-modify-write is near. A core may treat types of atomics
        /// differently.
        #[serde(default)]
        only_posted: bool,
    },
}
