//! Stores that a thread has executed and that have not reached their lines, and additions without a result.
//!
//! # Laws
//! - A store enters the buffer if there is room, and the thread goes on. Stores reach their lines in program order, one after another.
//! - Only the oldest store waits for its line; a later one requests its line early, and may lose it again before its turn.
//! - A load gets what its own thread's buffer has, if that covers the bits that it reads; if only some of them, it waits until the
//!   buffer is empty. If none, it passes the stores.
//! - A read-modify-write and a load-exclusive wait until the buffer is empty. The line does not stay for them: a request that has
//!   reached the core by then is served first.
//! - A posted addition is a store of which several may be on their way to the home. If all that wait there are of one core, the line
//!   moves to that core.
//!
//! # References
//! Intel SDM vol. 3, "Memory Ordering" and "Locked Instructions and Memory Ordering": stores in order, loads may pass them and are
//! forwarded, and locked instructions drain the buffer. P. Sewell and others, "x86-TSO", 2010. Arm Architecture Reference Manual, `ST<OP>`:
//! the atomics that return no value.

use super::access::{Access, Reply};
use super::arbiter::{NOBODY, Request, RequestKind};
use super::events::Event;
use super::geometry::HOME;
use super::model::{Law, Model};
use super::thread::{Forwarded, Role, Running, Store, WaitsFor};

impl Model {
    fn running(&mut self, thread: u32) -> Option<&mut Running> {
        match &mut self.threads[thread as usize].role {
            Role::Runs(running) => Some(running),
            Role::Drains(_) => None,
        }
    }

    /// Whether a thread's access was a matter of its buffer alone, for now.
    pub(super) fn is_buffered(&mut self, thread: u32) -> bool {
        let (line, access) = (self.threads[thread as usize].line, self.threads[thread as usize].access);
        let capacity = self.mechanism.store_buffer as usize;
        let posts = self.timing.posts_rmws;
        let stale = self.breaks(Law::Forwarding);
        let Some(running) = self.running(thread) else {
            return false;
        };
        let buffer = &running.buffer;
        match access {
            Access::Store { .. } => {}
            Access::PostedAdd { .. } if posts => {}
            _ if buffer.stores.is_empty() => return false,
            Access::Load { mask } | Access::LoadToWrite { mask } => {
                return match buffer.find(line, mask) {
                    _ if stale => false,
                    Forwarded::Nothing => false,
                    Forwarded::Part => self.wait_for(thread, WaitsFor::Drain),
                    Forwarded::All(value) => self.forward(thread, value),
                };
            }
            Access::LoadChanged { seen, mask, .. } => {
                return match buffer.find(line, mask) {
                    Forwarded::Nothing => false,
                    Forwarded::All(value) if (value ^ seen) & mask != 0 => self.forward(thread, value),
                    Forwarded::All(_) | Forwarded::Part => self.wait_for(thread, WaitsFor::Drain),
                };
            }
            _ => return self.wait_for(thread, WaitsFor::Drain),
        }
        if buffer.stores.len() >= capacity {
            return self.wait_for(thread, WaitsFor::Room);
        }
        self.enter(thread, line, access);
        self.reply(thread, Reply { value: 0, done: true }, 0);
        true
    }

    fn wait_for(&mut self, thread: u32, what: WaitsFor) -> bool {
        self.threads[thread as usize].waits_for = what;
        true
    }

    fn forward(&mut self, thread: u32, value: u64) -> bool {
        self.reply(thread, Reply { value, done: true }, self.timing.hit);
        true
    }

    /// A store enters a buffer that has room.
    fn enter(&mut self, thread: u32, line: u32, access: Access) {
        self.buffered += 1;
        let number = self.order();
        let core = self.threads[thread as usize].core;
        let overtakes = self.breaks(Law::StoreOrder);
        let Some(running) = self.running(thread) else { return };
        let store = Store { line, access, number };
        if overtakes {
            running.buffer.stores.push_front(store);
        } else {
            running.buffer.stores.push_back(store);
        }
        if running.buffer.stores.len() == 1 {
            self.drain(thread);
        } else if matches!(access, Access::Store { .. }) {
            self.request_early(core, line);
        }
    }

    /// Requests the line of a store whose turn is later.
    fn request_early(&mut self, core: u32, line: u32) {
        let requested = &mut self.cores[core as usize].requested;
        if self.lines[line as usize].owner == Some(core) || requested.contains(&line) {
            return;
        }
        requested.push(line);
        self.lines[line as usize].requests.push(Request {
            core,
            thread: NOBODY,
            kind: RequestKind::LineId,
            since: self.now,
        });
        self.kick(line);
    }

    /// The oldest store of a thread's buffer is made.
    fn drain(&mut self, thread: u32) {
        let Some(running) = self.running(thread) else { return };
        let Some(&Store { line, access, .. }) = running.buffer.stores.front() else {
            return;
        };
        let drain = &mut self.threads[thread as usize + 1];
        (drain.line, drain.access) = (line, access);
        self.issue_past_buffer(thread + 1);
    }

    /// The oldest store of a thread's buffer has reached its line, or is on its way to the home.
    pub(super) fn drained(&mut self, thread: u32) {
        self.buffered -= 1;
        let waits_for = self.threads[thread as usize].waits_for;
        let Some(running) = self.running(thread) else { return };
        running.buffer.stores.pop_front();
        if running.buffer.stores.is_empty() {
            if waits_for == WaitsFor::Drain {
                self.threads[thread as usize].waits_for = WaitsFor::Nothing;
                return self.issue_past_buffer(thread);
            }
        } else {
            self.drain(thread);
        }
        // Asked for again: a posted addition is answered at once, and then the next one has let the thread go on already.
        if self.threads[thread as usize].waits_for == WaitsFor::Room {
            self.threads[thread as usize].waits_for = WaitsFor::Nothing;
            self.issue(thread);
        }
    }

    /// Posts an addition to the home, for the thread whose buffer this one drains.
    pub(super) fn post(&mut self, drain: u32, value: u64) {
        let state = &self.threads[drain as usize];
        let (core, line, thread) = (state.core, state.line, state.hardware(drain));
        if self.cores[core as usize].requested.contains(&line) {
            // The line is on its way to this core.
            return self.request(drain, RequestKind::LineId);
        }
        let most = self.mechanism.posted_rmws;
        let Some(running) = self.running(thread) else { return };
        if running.buffer.posted >= most {
            self.wait_for(drain, WaitsFor::Posted);
            return;
        }
        running.buffer.posted += 1;
        // Until it is answered, the buffer is empty, but the addition is not made.
        self.buffered += 1;
        self.lines[line as usize].requests.push(Request {
            core,
            thread,
            kind: RequestKind::PostedAdd(value),
            since: self.now,
        });
        self.reply(drain, Reply::default(), 0);
        self.kick(line);
    }

    /// The home executes a posted addition.
    pub(super) fn add_posted(&mut self, number: u32, request: Request, value: u64) {
        let line = &mut self.lines[number as usize];
        (line.at, line.last_far) = (HOME, Some(request.core));
        line.value = line.value.wrapping_add(value);
        self.end_reservations(number, None);
        let way = self.timing.transfer(self.geometry.to_home(request.core));
        self.events.plan(self.now + way, Event::Posted(request.thread));
    }

    /// The home has answered a posted addition.
    pub(super) fn posted(&mut self, thread: u32) {
        self.buffered -= 1;
        let Some(running) = self.running(thread) else { return };
        running.buffer.posted -= 1;
        if self.threads[thread as usize + 1].waits_for == WaitsFor::Posted {
            self.threads[thread as usize + 1].waits_for = WaitsFor::Nothing;
            self.issue_past_buffer(thread + 1);
        }
    }

    /// Turns a posted addition into a request for the line if its core made the last one, and all that wait are of this core. The home
    /// makes those before the line leaves.
    pub(super) fn near_if_posts_alone(&mut self, number: u32, mut request: Request, value: u64) -> Request {
        let line = &self.lines[number as usize];
        let core = request.core;
        let is_alone = line.owner.is_none() && line.copies.is_empty() && line.requests.all_posted_by(core);
        if !is_alone || line.last_far != Some(core) || self.cores[core as usize].requested.contains(&number) {
            self.lines[number as usize].last_far = None;
            return request;
        }
        self.add_posted(number, request, value);
        let line = &mut self.lines[number as usize];
        let mut left = Vec::new();
        while let Some(other) = line.requests.pick(line.at, &mut self.random) {
            left.push(other);
        }
        for other in left {
            if let RequestKind::PostedAdd(value) = other.kind {
                self.add_posted(number, other, value);
            }
        }
        self.lines[number as usize].last_far = None;
        self.cores[core as usize].requested.push(number);
        (request.kind, request.thread) = (RequestKind::LineId, NOBODY);
        request
    }
}
