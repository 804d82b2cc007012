//! The machine's state (threads, cores and lines) and the effect of events on it.
//!
//! # Law
//! The usual cache coherence: to read, a core needs a copy; to write, it needs the line, and all copies are invalidated. A core that
//! requests a copy when there is no other becomes the owner. Siblings share their core's cache, so a fill serves all of them. The
//! home serves the requests for a line one after another, except requests for copies while the line has no owner, which it serves
//! in parallel.
//!
//! # References
//! D. Sorin, M. Hill and D. Wood, "A primer on memory consistency and cache coherence", 2011: a blocking directory.
//!
//! # Limits
//! Only waiting for lines is modelled: lines are never evicted, memory is never slow, and the interconnect is never full.

use super::access::{Access, Reply};
use super::arbiter::{RequestKind, Requests};
use super::cpu::Mailbox;
use super::events::{Event, Events};
use super::geometry::Geometry;
use super::line::{LineState, Stage};
use super::meter::Meter;
use super::random::Random;
use super::thread::{Buffer, Core, Program, Role, Running, Thread, WaitsFor};
use super::timing::{Picos, Timing};
use crate::machine::{LineRules, Machine, Mechanisms};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A law of every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// If a core owns a line, no other core has a copy.
    OneOwner,
    /// No write is lost.
    NoLostWrite,
    /// No write is invented.
    NoInventedWrite,
    /// Every access gets a reply.
    EveryReply,
    /// Time never goes back.
    MonotonicTime,
    /// Buffered stores reach their lines in program order.
    StoreOrder,
    /// A load finds its own thread's buffered stores.
    Forwarding,
    /// A request's way to the owner is drawn.
    DrawnWay,
}

/// The state of a run.
pub(crate) struct Model {
    pub(super) now: Picos,
    pub(super) events: Events,
    pub(super) lines: Vec<LineState>,
    pub(super) threads: Vec<Thread>,
    pub(super) cores: Vec<Core>,
    pub(super) rules: LineRules,
    pub(super) timing: Rc<Timing>,
    pub(super) geometry: Geometry,
    pub(super) random: Random,
    pub(super) meter: Rc<Meter>,
    pub(super) mechanism: Mechanisms,
    /// Buffered stores of all threads.
    pub(super) buffered: u32,
    /// Workers that wait for the others at the first line, and how many are not there.
    gathered: Vec<u32>,
    missing: u32,
    order: u64,
    /// The law that a test breaks, and the opportunities so far.
    #[cfg(test)]
    pub(crate) broken: Option<Law>,
    #[cfg(test)]
    pub(super) opportunities: u64,
    /// Workers that have not ended.
    live: u32,
}

impl Model {
    pub(crate) fn new(machine: &Machine, timing: Rc<Timing>, meter: Rc<Meter>, seed: u64, lines: &[u64]) -> Self {
        let (topology, rules) = (machine.topology, machine.line);
        let line = |&value: &u64| LineState::new(value, Requests::new(rules.arbiter, topology));
        Self {
            now: 0,
            events: Events::default(),
            lines: lines.iter().map(line).collect(),
            threads: Vec::new(),
            cores: (0..topology.cores()).map(|_| Core::default()).collect(),
            rules,
            timing,
            geometry: Geometry::new(topology),
            random: Random::new(seed),
            meter,
            mechanism: machine.mechanism,
            buffered: 0,
            gathered: Vec::new(),
            missing: 0,
            order: 0,
            #[cfg(test)]
            broken: None,
            #[cfg(test)]
            opportunities: 0,
            live: 0,
        }
    }

    /// Starts a program on a core, at a random time within a number of steps.
    pub(crate) fn start(&mut self, core: u32, mailbox: Rc<Mailbox>, program: Program, is_worker: bool, steps: u64) {
        let thread = u32::try_from(self.threads.len()).expect("fewer threads than events can name");
        let running = Running {
            mailbox,
            program,
            is_worker,
            buffer: Buffer::default(),
        };
        self.add(core, Role::Runs(running));
        if self.timing.buffers_stores {
            // Its number is the thread's plus one.
            self.add(core, Role::Drains(thread));
        }
        self.live += u32::from(is_worker);
        let delay = self.random.below(steps * self.timing.alu + 1);
        self.meter.all_begin(delay);
        self.reply(thread, Reply::default(), delay);
    }

    fn add(&mut self, core: u32, role: Role) {
        let thread = u32::try_from(self.threads.len()).expect("fewer threads than events can name");
        self.threads.push(Thread {
            core,
            sibling: self.cores[core as usize].first.replace(thread),
            access: Access::Load { mask: 0 },
            line: 0,
            waits_for: WaitsFor::Nothing,
            order: 0,
            reservation: None,
            role,
        });
    }

    /// Replies to a thread after a delay, and runs its program up to the next access.
    pub(super) fn reply(&mut self, thread: u32, reply: Reply, delay: Picos) {
        if self.breaks(Law::EveryReply) {
            return;
        }
        let state = &mut self.threads[thread as usize];
        state.waits_for = WaitsFor::Nothing;
        let running = match &mut state.role {
            Role::Runs(running) => running,
            Role::Drains(of) => {
                let of = *of;
                return self.drained(of);
            }
        };
        running.mailbox.reply.set(reply);
        running.mailbox.clock.set(self.now + delay);
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(()) = running.program.as_mut().poll(&mut context) {
            self.live -= u32::from(running.is_worker);
            return;
        }
        let (line, access) = running
            .mailbox
            .access
            .take()
            .expect("a program waits only for accesses");
        let mut at = running.mailbox.clock.get();
        (state.line, state.access) = (line.0, access);
        if self.breaks(Law::MonotonicTime) {
            at = self.now.saturating_sub(1);
        }
        self.events.plan(at, Event::Issue(thread));
    }

    /// Processes the next event; returns false if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some((at, event)) = self.events.next() else {
            return false;
        };
        self.now = at;
        match event {
            Event::Issue(thread) if self.missing > 0 && self.gathers(thread) => {}
            Event::Issue(thread) => self.issue(thread),
            Event::Copy(thread) => self.copy_arrives(thread),
            Event::Arrive(thread) => self.request(thread, RequestKind::FarAtomic),
            Event::Fill(line) => self.fill(line),
            Event::Done(line) => self.done(line),
            Event::Probe(line) => self.probed(line),
            Event::Kick(line) => {
                self.lines[line as usize].kick_at = None;
                self.kick(line);
            }
            Event::Posted(thread) => self.posted(thread),
        }
        true
    }

    /// Lets this many workers wait for each other before their first access to the first line.
    pub(crate) fn gather(&mut self, workers: u32) {
        self.meter.all_begin(Picos::MAX);
        self.missing = workers;
    }

    /// Whether a thread waits for others at the first line; the last to arrive lets all go.
    fn gathers(&mut self, thread: u32) -> bool {
        let state = &self.threads[thread as usize];
        let is_worker = matches!(&state.role, Role::Runs(running) if running.is_worker);
        if state.line != 0 || !is_worker {
            return false;
        }
        self.gathered.push(thread);
        self.missing -= 1;
        if self.missing == 0 {
            self.meter.have_begun(self.now);
            for thread in std::mem::take(&mut self.gathered) {
                self.issue(thread);
            }
        }
        true
    }

    /// The current time.
    pub(crate) fn now(&self) -> Picos {
        self.now
    }

    /// The number of workers that have not ended, and of stores that have not reached their lines.
    pub(crate) fn live(&self) -> u32 {
        self.live + self.buffered
    }

    /// The value of each line.
    pub(crate) fn values(&self) -> Vec<u64> {
        self.lines.iter().map(|line| line.value).collect()
    }

    /// Numbers the next access.
    pub(super) fn order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// The threads of a core that wait for a line, the longest wait first.
    pub(super) fn waiting(&self, core: u32, line: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut next = self.cores[core as usize].first;
        while let Some(thread) = next {
            let state = &self.threads[thread as usize];
            if state.waits_for == WaitsFor::Fill && state.line == line {
                found.push(thread);
            }
            next = state.sibling;
        }
        found.sort_unstable_by_key(|&thread| self.threads[thread as usize].order);
        found
    }

    /// The same threads in the order of service: by age, but rotated by a random number. Otherwise the thread that succeeded last
    /// would always be the first.
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

    /// Plans a check whether the line can serve a request.
    pub(super) fn kick_later(&mut self, line: u32, at: Picos) {
        let state = &mut self.lines[line as usize];
        if state.kick_at.is_none_or(|planned| at < planned) {
            state.kick_at = Some(at);
            self.events.plan(at, Event::Kick(line));
        }
    }

    /// The stage of a line.
    pub(super) fn stage(&self, line: u32) -> Stage {
        self.lines[line as usize].stage
    }
}
