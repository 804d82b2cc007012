//! Accesses of threads: executed at once if the core has the copy or line they need, else requested.
//!
//! # Laws
//! - A load hits a copy. If a sibling wrote last, it costs as much as a transfer between siblings.
//! - A load that precedes a write requests a copy or the line, according to the machine's first access.
//! - A compare-and-exchange takes the line even if it fails.
//! - A conditional store fails as soon as its reservation ends, also while it waits for the line.
//! - Far atomics go to the home unless the core owns the line, that is, unless no other core has it.
//!
//! # References
//! Arm Cortex-A76 technical reference manual, A6.4.1: an atomic that hits a unique line in L1 is near, any other is far; a register can make
//! types of atomics near.

use super::access::{Access, Reply};
use super::arbiter::{Request, RequestKind};
use super::events::Event;
use super::line::Local;
use super::model::{Law, Model};
use super::thread::{Thread, WaitsFor};
use crate::machine::FirstAccess;

impl Model {
    /// A thread makes its access.
    pub(super) fn issue(&mut self, thread: u32) {
        if self.timing.buffers_stores && self.is_buffered(thread) {
            return;
        }
        self.issue_past_buffer(thread);
    }

    /// A thread makes its access, which its store buffer does not concern.
    pub(super) fn issue_past_buffer(&mut self, thread: u32) {
        let order = self.order();
        let state = &mut self.threads[thread as usize];
        state.order = order;
        let (core, number, access) = (state.core, state.line, state.access);
        let line = &self.lines[number as usize];
        let owns = line.owner == Some(core);
        let cached = line.is_cached(core);
        match access {
            Access::Load { .. } | Access::LoadChanged { .. } => self.load(thread, cached, RequestKind::Copy),
            Access::LoadToWrite { .. } => self.load_first(thread, owns, cached, self.rules.first_access),
            Access::LoadExclusive => {
                let first = self.rules.ll_first_access.unwrap_or(self.rules.first_access);
                self.load_first(thread, owns, cached, first);
            }
            Access::StoreExclusive { .. } if !self.is_reserved(thread, number) => self.store_fails(thread),
            Access::StoreExclusive { .. } if !owns => {
                self.lines[number as usize].reserved.push(thread);
                self.request(thread, RequestKind::LineId);
            }
            _ if owns => self.queue_at_port(thread, false),
            Access::PostedAdd { value } if self.timing.far.is_some() => self.post(thread, value),
            _ if access.is_rmw() && self.timing.far.is_some() && !self.timing.only_posted => {
                let distance = self.geometry.to_home(core);
                self.threads[thread as usize].waits_for = WaitsFor::FarAtomic;
                self.events
                    .plan(self.now + self.timing.transfer(distance) / 2, Event::Arrive(thread));
            }
            _ => self.request(thread, RequestKind::LineId),
        }
    }

    fn load_first(&mut self, thread: u32, owns: bool, cached: bool, first: FirstAccess) {
        match first {
            FirstAccess::Shared => self.load(thread, cached, RequestKind::Copy),
            FirstAccess::Exclusive => self.load(thread, owns, RequestKind::LineId),
        }
    }

    fn load(&mut self, thread: u32, hits: bool, kind: RequestKind) {
        if hits {
            self.read(thread);
        } else {
            self.request(thread, kind);
        }
    }

    /// A load hits.
    pub(super) fn read(&mut self, thread: u32) {
        let state = &mut self.threads[thread as usize];
        let number = state.line;
        let line = &mut self.lines[number as usize];
        match state.access {
            Access::LoadChanged { seen, mask, .. } if (line.value ^ seen) & mask == 0 => {
                state.waits_for = WaitsFor::Change;
                line.watchers.push(thread);
                return;
            }
            Access::LoadExclusive => {
                state.reservation = Some((number, line.epoch));
            }
            _ => {}
        }
        let mut cost = match state.access {
            Access::LoadExclusive => self.timing.ll_sc,
            _ => self.timing.hit,
        };
        let value = line.value;
        if is_sibling(&self.threads, line.last_writer, thread) {
            cost = cost.max(self.timing.sibling);
            // From now on the core's cache has the value for both.
            line.last_writer = u32::MAX;
        }
        self.reply(thread, Reply { value, done: true }, cost);
    }

    fn store_fails(&mut self, thread: u32) {
        let state = &self.threads[thread as usize];
        let value = self.lines[state.line as usize].value;
        self.reply(thread, Reply { value, done: false }, self.timing.ll_sc);
    }

    /// The thread waits for the line or a copy, and requests it unless its core already has.
    pub(super) fn request(&mut self, thread: u32, kind: RequestKind) {
        let state = &mut self.threads[thread as usize];
        let (core, number) = (state.core, state.line);
        if !kind.is_far() {
            state.waits_for = WaitsFor::Fill;
            let requested = &mut self.cores[core as usize].requested;
            if requested.contains(&number) {
                return;
            }
            requested.push(number);
        }
        let since = self.now;
        self.lines[number as usize].requests.push(Request {
            core,
            thread,
            kind,
            since,
        });
        self.kick(number);
    }

    /// The thread waits for its core's port; the core owns the line.
    pub(super) fn queue_at_port(&mut self, thread: u32, promised: bool) {
        let state = &mut self.threads[thread as usize];
        state.waits_for = WaitsFor::Port;
        let number = state.line;
        let line = &mut self.lines[number as usize];
        line.local.push_back(Local { thread, promised });
        line.promised += u32::from(promised);
        self.start_local(number);
    }

    /// The owner starts the next access, unless another core wants the line and may have it.
    pub(super) fn start_local(&mut self, number: u32) {
        let line = &mut self.lines[number as usize];
        if line.owner.is_none() || line.executing.is_some() {
            return;
        }
        let Some(&next) = line.local.front() else {
            return;
        };
        if !next.promised && line.is_wanted(self.timing.probes()) && line.may_leave(self.now) {
            return;
        }
        line.local.pop_front();
        line.executing = Some(next);
        let last = std::mem::replace(&mut line.last_writer, next.thread);
        let state = &self.threads[next.thread as usize];
        let mut cost = match state.access {
            Access::Store { .. } => self.timing.store,
            Access::StoreExclusive { .. } | Access::LoadExclusive => self.timing.ll_sc,
            Access::Cas { .. } => self.timing.cas,
            _ => self.timing.rmw,
        };
        if is_sibling(&self.threads, last, next.thread) {
            cost += self.timing.sibling;
        }
        let cost = self.timing.vary(cost, &mut self.random);
        self.events.plan(self.now + cost, Event::Done(number));
    }

    /// The owner has executed an access.
    pub(super) fn done(&mut self, number: u32) {
        let line = &mut self.lines[number as usize];
        let Some(local) = line.executing.take() else {
            return;
        };
        line.promised -= u32::from(local.promised);
        let reserved = self.is_reserved(local.thread, number);
        let state = &mut self.threads[local.thread as usize];
        let (core, access) = (state.core, state.access);
        let line = &mut self.lines[number as usize];
        let old = line.value;
        let reply = access.apply(&mut line.value, reserved);
        line.epoch += u64::from(reply.done);
        let changed = line.value != old;
        if changed && self.breaks(Law::NoLostWrite) {
            self.lines[number as usize].value = old;
        }
        if changed && self.breaks(Law::NoInventedWrite) {
            let line = &mut self.lines[number as usize];
            line.value = line.value.wrapping_add(1);
        }
        self.reply(local.thread, reply, 0);
        if changed {
            self.wake_watchers(number, |watcher| watcher == core);
        }
        self.kick(number);
        self.start_local(number);
    }

    /// Lets the watchers of a line at some cores load again, each at a random time within its period.
    pub(super) fn wake_watchers(&mut self, number: u32, from: impl Fn(u32) -> bool) {
        let line = &mut self.lines[number as usize];
        if line.watchers.is_empty() {
            return;
        }
        let mut watchers = std::mem::take(&mut line.watchers);
        watchers.retain(|&thread| {
            let state = &mut self.threads[thread as usize];
            if !from(state.core) {
                return true;
            }
            state.waits_for = WaitsFor::Nothing;
            let period = match state.access {
                Access::LoadChanged { period, .. } => period,
                _ => 0,
            };
            let at = self.now + self.random.below(period + 1);
            self.events.plan(at, Event::Issue(thread));
            false
        });
        self.lines[number as usize].watchers = watchers;
    }

    /// Fails a conditional store that waited for the line and lost its reservation.
    pub(super) fn cancel_store(&mut self, thread: u32) {
        let state = &mut self.threads[thread as usize];
        let (core, number) = (state.core, state.line);
        state.waits_for = WaitsFor::Nothing;
        if self.waiting(core, number).is_empty() {
            self.lines[number as usize].requests.withdraw(core);
            self.cores[core as usize]
                .requested
                .retain(|&requested| requested != number);
        }
        self.store_fails(thread);
    }
}

/// Whether two threads are different hardware threads of one core; false if either does not exist.
fn is_sibling(threads: &[Thread], one: u32, other: u32) -> bool {
    let (Some(a), Some(b)) = (threads.get(one as usize), threads.get(other as usize)) else {
        return false;
    };
    a.core == b.core && a.hardware(one) != b.hardware(other)
}
