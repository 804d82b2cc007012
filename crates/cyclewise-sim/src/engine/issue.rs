//! A thread's access: done at once where its core has what it takes, and asked for where not.
//!
//! # The law
//! - A load hits a copy. Where a sibling wrote last, that costs what the siblings' transfer costs.
//! - A load that a write follows to asks for a copy, or for the line, as the machine's first access goes.
//! - A compare-and-exchange takes the line whether it fails or not; where failed ones stay shared, it looks at a copy first
//!   and asks for the line only if the value is as expected.
//! - A conditional store fails as soon as its reservation is gone, also while it waits for the line.
//! - Where atomics are far, they go to the home unless the core owns the line.

use super::access::{Access, Reply};
use super::arbiter::{Request, Want};
use super::events::Event;
use super::law::Law;
use super::line::Local;
use super::model::{Model, Thread, Waits};
use crate::machine::{FailedCas, FirstAccess};

impl Model {
    /// A thread makes its access.
    pub(super) fn issue(&mut self, thread: u32) {
        let order = self.order();
        let state = &mut self.threads[thread as usize];
        state.order = order;
        let (core, number, access) = (state.core, state.line, state.access);
        let line = &self.lines[number as usize];
        let owns = line.owner == Some(core);
        let cached = line.is_cached(core);
        match access {
            Access::Load | Access::LoadChanged { .. } => self.load(thread, cached, Want::Copy),
            Access::LoadToWrite => self.load_first(thread, owns, cached, self.rules.first_access),
            Access::LoadExclusive => {
                let first = self.rules.ll_first_access.unwrap_or(self.rules.first_access);
                self.load_first(thread, owns, cached, first);
            }
            Access::StoreExclusive { .. } if !self.is_reserved(thread, number) => self.store_fails(thread),
            Access::StoreExclusive { .. } if !owns => {
                self.lines[number as usize].reserved.push(thread);
                self.request(thread, Want::Line);
            }
            _ if owns => self.queue_at_port(thread, false),
            _ if access.is_rmw() && self.timing.far.is_some() => {
                let distance = self.geometry.to_home(core, line.home);
                self.threads[thread as usize].waits = Waits::Far;
                self.events
                    .plan(self.now + self.timing.transfer(distance) / 2, Event::Arrive(thread));
            }
            Access::Cas { .. } if self.rules.failed_cas == FailedCas::StaysShared && !cached => {
                self.request(thread, Want::Copy);
            }
            Access::Cas { .. } if self.rules.failed_cas == FailedCas::StaysShared && access.would_fail(line.value) => {
                let reply = Reply {
                    value: line.value,
                    done: false,
                };
                self.holds.lost(core);
                self.reply(thread, reply, self.timing.cas);
            }
            _ => self.request(thread, Want::Line),
        }
    }

    fn load_first(&mut self, thread: u32, owns: bool, cached: bool, first: FirstAccess) {
        match first {
            FirstAccess::Shared => self.load(thread, cached, Want::Copy),
            FirstAccess::Exclusive => self.load(thread, owns, Want::Line),
        }
    }

    fn load(&mut self, thread: u32, hits: bool, want: Want) {
        if hits {
            self.read(thread);
        } else {
            self.request(thread, want);
        }
    }

    /// A load hits.
    pub(super) fn read(&mut self, thread: u32) {
        let state = &mut self.threads[thread as usize];
        let number = state.line;
        let line = &mut self.lines[number as usize];
        match state.access {
            Access::LoadChanged { seen, mask, .. } if (line.value ^ seen) & mask == 0 => {
                state.waits = Waits::Change;
                line.watchers.push(thread);
                return;
            }
            Access::LoadExclusive => state.reservation = Some((number, line.epoch)),
            _ => {}
        }
        let mut cost = match state.access {
            Access::LoadExclusive => self.timing.ll_sc,
            _ => self.timing.hit,
        };
        let value = line.value;
        if is_sibling(&self.threads, line.last_writer, thread) {
            cost = cost.max(self.timing.sibling);
            // From here on the core's cache has it for both.
            line.last_writer = u32::MAX;
        }
        self.reply(thread, Reply { value, done: true }, cost);
    }

    fn store_fails(&mut self, thread: u32) {
        let state = &self.threads[thread as usize];
        let value = self.lines[state.line as usize].value;
        self.ll_holds.lost(state.core);
        self.reply(thread, Reply { value, done: false }, self.timing.ll_sc);
    }

    /// The thread waits until its core has the line or a copy, which is asked for unless it is already.
    pub(super) fn request(&mut self, thread: u32, want: Want) {
        let state = &mut self.threads[thread as usize];
        let (core, number) = (state.core, state.line);
        if want != Want::Far {
            state.waits = Waits::Fill;
            let asked = &mut self.cores[core as usize].asked;
            if asked.contains(&number) {
                return;
            }
            asked.push(number);
        }
        let since = self.now;
        self.lines[number as usize].requests.push(Request {
            core,
            thread,
            want,
            since,
        });
        self.kick(number);
    }

    /// The thread waits for its core's port to a line that the core owns.
    pub(super) fn queue_at_port(&mut self, thread: u32, promised: bool) {
        let state = &mut self.threads[thread as usize];
        state.waits = Waits::Port;
        let number = state.line;
        let line = &mut self.lines[number as usize];
        line.local.push_back(Local { thread, promised });
        line.promised += u32::from(promised);
        self.start_local(number);
    }

    /// The owner turns to the next access, unless the line is wanted and there is no reason to keep it.
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

    /// The owner has done an access.
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
        if reply.done {
            line.epoch += 1;
        } else if matches!(access, Access::Cas { .. }) {
            self.holds.lost(core);
        } else {
            self.ll_holds.lost(core);
        }
        let changed = line.value != old;
        if changed && self.breaks(Law::NoneLost) {
            self.lines[number as usize].value = old;
        }
        if changed && self.breaks(Law::NoneInvented) {
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

    /// Lets those who watch a line from some cores look again, each at some time within its period.
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
            state.waits = Waits::Nothing;
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

    /// A thread whose conditional store waited for the line has lost its reservation.
    pub(super) fn give_up_store(&mut self, thread: u32) {
        let state = &mut self.threads[thread as usize];
        let (core, number) = (state.core, state.line);
        state.waits = Waits::Nothing;
        if self.waiting(core, number).is_empty() {
            self.lines[number as usize].requests.withdraw(core);
            self.cores[core as usize].asked.retain(|&asked| asked != number);
        }
        self.store_fails(thread);
    }
}

/// Whether the one of these threads is another of the same core; no thread at all is not.
fn is_sibling(threads: &[Thread], one: u32, other: u32) -> bool {
    let core = |thread: u32| threads.get(thread as usize).map(|thread| thread.core);
    one != other && core(one).is_some() && core(one) == core(other)
}
