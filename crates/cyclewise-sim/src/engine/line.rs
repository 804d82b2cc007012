//! One contended line: its location, the requests for it, and its owner's accesses.
//!
//! # States
//! The line has an owner, which alone may write, and no other core has a copy; or it has copies; or only its home has it.
//!
//! | stage | meaning |
//! |---|---|
//! | [`Stage::Idle`] | no request is being served; the owner may access the line |
//! | [`Stage::Probing`] | the next request is chosen, but has not reached the owner |
//! | [`Stage::Requested`] | the request has reached the owner, which releases the line as soon as it may |
//! | [`Stage::Moving`] | the line is in transit; the next event is its arrival |
//!
//! # Invariants
//! 1. At most one core owns the line, and then no other core has a copy.
//! 2. Only the owner changes the value, or the home if there is no owner and no copy.
//! 3. The owner executes one access at a time, and does not release the line during it.

use super::arbiter::{Request, Requests};
use super::copies::Copies;
use super::geometry::HOME;
use super::timing::Picos;
use std::collections::VecDeque;

/// The stage of serving a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Idle,
    Probing(Request),
    Requested(Request),
    Moving(Request),
}

/// An access that waits for the owner's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) thread: u32,
    /// The line was requested for this access, and stays until it is done.
    pub(crate) promised: bool,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct LineState {
    pub(crate) value: u64,
    pub(crate) owner: Option<u32>,
    /// The last core that had the line.
    pub(crate) at: u32,
    pub(crate) copies: Copies,
    pub(crate) stage: Stage,
    pub(crate) requests: Requests,
    /// The core of the last far atomic, if no other access followed.
    pub(crate) last_far: Option<u32>,
    /// The owner may keep the line until this time.
    pub(crate) hold_until: Picos,
    /// The directory serves no other request until this time.
    pub(crate) directory_free: Picos,
    /// When the last copy in transit arrives.
    pub(crate) copies_arrive: Picos,
    /// The time of a planned `Kick`.
    pub(crate) kick_at: Option<Picos>,
    /// The access that the owner executes.
    pub(crate) executing: Option<Local>,
    /// The owner's next accesses.
    pub(crate) local: VecDeque<Local>,
    /// How many of those are promised, including the executing one.
    pub(crate) promised: u32,
    /// The owner's thread that wrote last, until a sibling has read the value.
    pub(crate) last_writer: u32,
    /// Changes whenever reservations on the line end.
    pub(crate) epoch: u64,
    /// Threads that wait for a change of their copy.
    pub(crate) watchers: Vec<u32>,
    /// Threads whose conditional store waits for the line.
    pub(crate) reserved: Vec<u32>,
}

impl LineState {
    pub(crate) fn new(value: u64, requests: Requests) -> Self {
        Self {
            value,
            owner: None,
            at: HOME,
            copies: Copies::default(),
            stage: Stage::Idle,
            requests,
            last_far: None,
            hold_until: 0,
            directory_free: 0,
            copies_arrive: 0,
            kick_at: None,
            executing: None,
            local: VecDeque::new(),
            promised: 0,
            last_writer: u32::MAX,
            epoch: 0,
            watchers: Vec::new(),
            reserved: Vec::new(),
        }
    }

    /// Whether a core can read the line.
    pub(crate) fn is_cached(&self, core: u32) -> bool {
        self.owner == Some(core) || self.copies.has(core)
    }

    /// Whether the owner may release the line.
    pub(crate) fn may_leave(&self, now: Picos) -> bool {
        self.executing.is_none() && self.promised == 0 && now >= self.hold_until
    }

    /// Whether the owner knows of a request. `probes`: requests take time to reach the owner.
    pub(crate) fn is_wanted(&self, probes: bool) -> bool {
        matches!(self.stage, Stage::Requested(_)) || (self.stage == Stage::Idle && !probes && !self.requests.is_empty())
    }
}
