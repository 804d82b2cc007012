//! One contended line: where it is, who waits for it, and what its owner does with it.
//!
//! # States
//! The line is with an owner, who alone may write and no other has a copy; or it has copies; or only its home has it.
//!
//! | stage | meaning |
//! |---|---|
//! | [`Stage::Idle`] | nothing is under way; the owner works on it as it likes |
//! | [`Stage::Probing`] | the next request is chosen, and the owner does not know yet |
//! | [`Stage::Asked`] | it knows, and gives the line up as soon as it may |
//! | [`Stage::Moving`] | nobody has it; the next event is its arrival |
//!
//! # Invariants
//! 1. At most one core owns it, and where one does there is no copy at any other.
//! 2. Only the owner, or the home where there is none and no copy, changes the value.
//! 3. What the owner does is done one at a time, and it does not give the line up meanwhile.

use super::arbiter::{Request, Requests};
use super::copies::Copies;
use super::timing::Picos;
use std::collections::VecDeque;

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Idle,
    Probing(Request),
    Asked(Request),
    Moving(Request),
}

/// An access that waits for the owner's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    pub(crate) thread: u32,
    /// The line came for it, and does not go before it is done.
    pub(crate) promised: bool,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) struct LineState {
    pub(crate) value: u64,
    /// The core that stands for the home.
    pub(crate) home: u32,
    pub(crate) owner: Option<u32>,
    /// The core where it was last.
    pub(crate) at: u32,
    pub(crate) copies: Copies,
    pub(crate) stage: Stage,
    pub(crate) requests: Requests,
    /// The core of the last far atomic, if that was the last access of all.
    pub(crate) last_far: Option<u32>,
    /// Before this the owner need not give it up.
    pub(crate) hold_until: Picos,
    /// Before this the directory takes no other request.
    pub(crate) directory_free: Picos,
    /// When the last copy that is under way arrives.
    pub(crate) copies_arrive: Picos,
    /// A `Kick` is planned for this time.
    pub(crate) kick_at: Option<Picos>,
    /// What the owner does now.
    pub(crate) executing: Option<Local>,
    /// What it does next.
    pub(crate) local: VecDeque<Local>,
    /// How many of those it was promised for, the one that is executing included.
    pub(crate) promised: u32,
    /// The thread that was the last to write at the owner, until a sibling has read it.
    pub(crate) last_writer: u32,
    /// Changes each time that a reservation on it ends.
    pub(crate) epoch: u64,
    /// Threads that wait for a change of what they have a copy of.
    pub(crate) watchers: Vec<u32>,
    /// Threads whose conditional store waits for the line.
    pub(crate) reserved: Vec<u32>,
}

impl LineState {
    pub(crate) fn new(value: u64, home: u32, requests: Requests) -> Self {
        Self {
            value,
            home,
            owner: None,
            at: home,
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

    /// Whether a core can read it.
    pub(crate) fn is_cached(&self, core: u32) -> bool {
        self.owner == Some(core) || self.copies.has(core)
    }

    /// Whether the owner has no more reason to keep it.
    pub(crate) fn may_leave(&self, now: Picos) -> bool {
        self.executing.is_none() && self.promised == 0 && now >= self.hold_until
    }

    /// Whether somebody is to have it next. `probes`: then the owner has to have been told.
    pub(crate) fn is_wanted(&self, probes: bool) -> bool {
        matches!(self.stage, Stage::Asked(_)) || (self.stage == Stage::Idle && !probes && !self.requests.is_empty())
    }
}
