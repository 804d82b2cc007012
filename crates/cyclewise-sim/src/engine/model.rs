//! The machine at work: threads, cores and lines, and what an event does to them.
//!
//! # The law
//! The usual one of caches that keep each other coherent: to read, a core needs a copy; to write, it needs the line, and all
//! copies are taken back. A core that asks for a copy where there is no other becomes the owner. Siblings share their
//! core's cache, so a line that comes for one of them serves all. The home serves the requests for a line
//! one after the other, but for copies while nobody owns it, which it gives out side by side.
//!
//! # References
//! D. Sorin, M. Hill and D. Wood, "A primer on memory consistency and cache coherence", 2011: a directory that blocks.
//!
//! # Limits
//! Lines are never evicted, memory is never slow, and the interconnect never full: what is modelled is waiting for lines.
//! Siblings do not take each other's issue slots.

use super::access::{Access, Reply};
use super::arbiter::{Requests, Want};
use super::cpu::Mailbox;
use super::events::{Event, Events};
use super::geometry::Geometry;
use super::hold::Holds;
use super::law::Law;
use super::line::{LineState, Stage};
use super::meter::Meter;
use super::random::Random;
use super::timing::{Picos, Timing};
use crate::machine::{LineRules, Machine};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A program that runs.
pub(crate) type Program = Pin<Box<dyn Future<Output = ()>>>;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Its own work, or nothing that concerns others.
    Nothing,
    /// A line or a copy, which its core has asked for.
    Fill,
    /// Its core's port.
    Port,
    /// A change of what its core has a copy of.
    Change,
    /// A far atomic.
    Far,
}

pub(super) struct Thread {
    pub(super) core: u32,
    /// The next thread of the same core.
    pub(super) sibling: Option<u32>,
    pub(super) access: Access,
    pub(super) line: u32,
    pub(super) waits: Waits,
    /// Numbers accesses as they are made.
    pub(super) order: u64,
    /// The line that it has a reservation on, and of which epoch.
    pub(super) reservation: Option<(u32, u64)>,
    mailbox: Rc<Mailbox>,
    program: Program,
    /// A worker, which comes to an end when no more operations are wanted; a reader need not.
    works: bool,
}

#[derive(Default)]
pub(super) struct Core {
    /// One of its threads.
    pub(super) first: Option<u32>,
    /// The lines that it has asked for.
    pub(super) asked: Vec<u32>,
}

/// Everything.
pub(crate) struct Model {
    pub(super) now: Picos,
    pub(super) events: Events,
    pub(super) lines: Vec<LineState>,
    pub(super) threads: Vec<Thread>,
    pub(super) cores: Vec<Core>,
    pub(super) rules: LineRules,
    pub(super) timing: Rc<Timing>,
    pub(super) geometry: Geometry,
    pub(super) holds: Holds,
    pub(super) ll_holds: Holds,
    pub(super) random: Random,
    pub(super) meter: Rc<Meter>,
    order: u64,
    /// The law that a test breaks, and how many chances there were to.
    #[cfg(test)]
    pub(crate) broken: Option<super::law::Law>,
    #[cfg(test)]
    pub(super) chances: u64,
    /// Workers that have not come to their end.
    live: u32,
}

impl Model {
    pub(crate) fn new(machine: &Machine, timing: Rc<Timing>, meter: Rc<Meter>, seed: u64, lines: &[u64]) -> Self {
        let (topology, rules) = (machine.topology, machine.line);
        let geometry = Geometry::new(topology, rules.home);
        let line = |(number, &value): (u32, &u64)| {
            let requests = Requests::new(rules.arbiter, topology, &timing);
            LineState::new(value, geometry.home(number), requests)
        };
        Self {
            now: 0,
            events: Events::default(),
            lines: (0..).zip(lines).map(line).collect(),
            threads: Vec::new(),
            cores: (0..topology.cores()).map(|_| Core::default()).collect(),
            rules,
            holds: Holds::new(rules.hold, topology.cores(), &timing),
            ll_holds: Holds::new(rules.ll_hold.unwrap_or(rules.hold), topology.cores(), &timing),
            timing,
            geometry,
            random: Random::new(seed),
            meter,
            order: 0,
            #[cfg(test)]
            broken: None,
            #[cfg(test)]
            chances: 0,
            live: 0,
        }
    }

    /// Puts a program on a core; it starts at a time between zero and what a hundred steps take.
    pub(crate) fn start(&mut self, core: u32, mailbox: Rc<Mailbox>, program: Program, works: bool) {
        let thread = u32::try_from(self.threads.len()).expect("fewer threads than events can name");
        self.threads.push(Thread {
            core,
            sibling: self.cores[core as usize].first.replace(thread),
            access: Access::Load,
            line: 0,
            waits: Waits::Nothing,
            order: 0,
            reservation: None,
            mailbox,
            program,
            works,
        });
        self.live += u32::from(works);
        let delay = self.random.below(100 * self.timing.alu + 1);
        self.reply(thread, Reply::default(), delay);
    }

    /// Gives a thread its reply, which it sees so much later, and lets it go on to its next access.
    pub(super) fn reply(&mut self, thread: u32, reply: Reply, later: Picos) {
        if self.breaks(Law::EveryAnswer) {
            return;
        }
        let state = &mut self.threads[thread as usize];
        state.waits = Waits::Nothing;
        state.mailbox.reply.set(reply);
        state.mailbox.clock.set(self.now + later);
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(()) = state.program.as_mut().poll(&mut context) {
            self.live -= u32::from(state.works);
            return;
        }
        let (line, access) = state.mailbox.access.take().expect("a program waits for accesses alone");
        (state.line, state.access) = (line.0, access);
        let mut at = state.mailbox.clock.get();
        if self.breaks(Law::Time) {
            at = self.now.saturating_sub(1);
        }
        self.events.plan(at, Event::Issue(thread));
    }

    /// Lets the next event happen; `false` where there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some((at, event)) = self.events.next() else {
            return false;
        };
        self.now = at;
        self.meter.tick(at);
        match event {
            Event::Issue(thread) => self.issue(thread),
            Event::Copy(thread) => self.copy_arrives(thread),
            Event::Arrive(thread) => self.request(thread, Want::Far),
            Event::Fill(line) => self.fill(line),
            Event::Done(line) => self.done(line),
            Event::Probe(line) => self.probed(line),
            Event::Kick(line) => {
                self.lines[line as usize].kick_at = None;
                self.kick(line);
            }
        }
        true
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Picos {
        self.now
    }

    /// How many workers have not come to their end.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// What each line holds.
    pub(crate) fn values(&self) -> Vec<u64> {
        self.lines.iter().map(|line| line.value).collect()
    }

    /// Numbers the next access.
    pub(super) fn order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// The threads of a core that wait for a line to come, the longest wait first.
    pub(super) fn waiting(&self, core: u32, line: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut next = self.cores[core as usize].first;
        while let Some(thread) = next {
            let state = &self.threads[thread as usize];
            if state.waits == Waits::Fill && state.line == line {
                found.push(thread);
            }
            next = state.sibling;
        }
        found.sort_unstable_by_key(|&thread| self.threads[thread as usize].order);
        found
    }

    /// The same in the order in which they are served: by age, but which of them is the first is chance. Were it always the
    /// oldest, the one that had succeeded last would be it every time.
    pub(super) fn in_turn(&mut self, core: u32, line: u32) -> Vec<u32> {
        let mut waiting = self.waiting(core, line);
        if waiting.len() > 1 {
            let first = self.random.below(waiting.len() as u64);
            waiting.rotate_left(usize::try_from(first).expect("an index"));
        }
        waiting
    }

    /// Whether a thread's reservation on a line still holds.
    pub(super) fn is_reserved(&self, thread: u32, line: u32) -> bool {
        self.threads[thread as usize].reservation == Some((line, self.lines[line as usize].epoch))
    }

    /// Plans to look again at whether the line may go on.
    pub(super) fn kick_later(&mut self, line: u32, at: Picos) {
        let state = &mut self.lines[line as usize];
        if state.kick_at.is_none_or(|planned| at < planned) {
            state.kick_at = Some(at);
            self.events.plan(at, Event::Kick(line));
        }
    }

    /// What is under way with a line.
    pub(super) fn stage(&self, line: u32) -> Stage {
        self.lines[line as usize].stage
    }
}
