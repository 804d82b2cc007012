//! The laws by which a line changes hands.

use serde::{Deserialize, Serialize};

/// The laws of a line, the same for every line of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineRules {
    /// Whose request is next.
    pub arbiter: Arbiter,
    /// How long a new owner may keep the line from others.
    pub hold: Hold,
    /// How a load asks for a line that a write follows to.
    pub first_access: FirstAccess,
    /// Whether a compare-and-exchange that fails has taken the line.
    pub failed_cas: FailedCas,
    /// Where read-modify-writes are done.
    pub rmw: Rmw,
    /// Where the lines' home is.
    #[serde(default)]
    pub home: Home,
    /// How a load-exclusive asks for a line; as `first_access` where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ll_first_access: Option<FirstAccess>,
    /// How long the line is kept for a load-exclusive's store; as `hold` where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ll_hold: Option<Hold>,
    /// The share of a transfer's time, 0 to 1, that the request is under way to the owner, who works on meanwhile. A
    /// request that has waited so long has that behind it. 0: the whole transfer is the line's.
    #[serde(default)]
    pub probe_share: f64,
}

/// Whose request is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Arbiter {
    /// The oldest.
    Fifo,
    /// The one nearest to where the line is; the oldest of those.
    Nearest {
        /// What ends that.
        cap: Cap,
    },
    /// Any, with equal chances.
    Random,
    /// Any of a socket's cores that has not been served in this round; when there is none left the next round begins.
    Batch {
        /// So many requests in a row are served in one socket while another waits.
        stay: u32,
    },
}

/// When the oldest request comes before nearer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Cap {
    /// After so many requests in a row that went before an older one.
    Count(u32),
    /// When it has waited for so many cycles.
    Cycles(u32),
}

/// How long a core keeps a line after it came exclusively, while others ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Hold {
    /// Until what it came for is done.
    None,
    /// So long at least.
    Fixed {
        /// In cycles.
        cycles: u32,
    },
    /// So long as losses have taught the core.
    Adaptive {
        /// Cycles that one step of the multiplier is worth.
        cycles: u32,
        /// Steps more for an exchange or conditional store that failed.
        up: u32,
        /// Steps less for an exclusive fill.
        down: u32,
        /// Most steps.
        max: u32,
    },
}

/// How a load asks for a line that the same thread is about to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FirstAccess {
    /// For a copy; the write upgrades it.
    Shared,
    /// For the line itself.
    Exclusive,
}

/// What a compare-and-exchange does to the line where it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FailedCas {
    /// Takes it exclusively, as one that succeeds.
    TakesOwnership,
    /// Looks at a copy first, and takes it only where the value is as expected.
    StaysShared,
}

/// Where a read-modify-write is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rmw {
    /// At the core: the line moves.
    Near,
    /// At the line's home, unless the core has the line exclusively: the operands move.
    Far {
        /// What the home takes for one, in cycles.
        cycles: u32,
    },
}

/// Where a line's home node is, through which requests for it pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Home {
    /// Not told apart: transfers take what they take between the two cores. Far atomics are done in the first socket.
    #[default]
    Anywhere,
    /// In this socket. A request from another socket takes at least what it takes to get there.
    Socket(u32),
    /// Line by line in the next socket.
    Interleaved,
}
