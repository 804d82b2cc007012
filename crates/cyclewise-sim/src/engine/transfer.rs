//! The home: chooses the next request, and moves the line to it.
//!
//! # Laws
//! - A line leaves its owner when the access that requested it is done, the hold is over, and a request waits. If the machine has a
//!   probe share, the owner continues until the request reaches it. A request that has waited at the owner has already reached it, so
//!   queued requests are served faster; one that has waited at the home has not, so the owner works for longer.
//! - A request reaches its owner at a moment that does not depend on what the owner does: the way is drawn, uniformly up to twice its mean.
//!   So how many operations the owner makes meanwhile depends on the times without a step.
//! - A transfer to a new owner takes the longest of: the data from the old owner, else from the nearest copy, else from home; and the
//!   farthest copy's invalidation, plus a cost for each further copy. It varies as pairs of CPUs do.
//! - The owner provides the first copy and keeps one; then any copy provides further ones, in parallel, as fast as the directory
//!   serves the requests. The first copy may make the home busy for a while. A reader of another socket than the home's costs as much more as
//!   its way is longer, and so does the invalidation of its copy.
//! - For a far atomic, the line returns to the home and stays there. If the next request is another far atomic of the same core, the
//!   line moves to the core: a core alone works near. An exchange that fails there leaves copies where they are.

use super::arbiter::{Request, RequestKind};
use super::events::Event;
use super::geometry::HOME;
use super::line::Stage;
use super::model::{Law, Model};
use super::thread::WaitsFor;
use super::timing::Picos;
use crate::machine::{Distance, Fill};

impl Model {
    /// Serves the requests that can be served now.
    pub(super) fn kick(&mut self, number: u32) {
        loop {
            let line = &mut self.lines[number as usize];
            let request = match line.stage {
                Stage::Moving(_) | Stage::Probing(_) => return,
                Stage::Requested(request) => {
                    if self.may_leave(number) {
                        self.depart(number, request);
                    }
                    return;
                }
                Stage::Idle if line.requests.is_empty() => return,
                Stage::Idle if self.now < line.directory_free => {
                    let at = line.directory_free;
                    return self.kick_later(number, at);
                }
                Stage::Idle => {
                    if line.owner.is_some() && !self.timing.probes() && !self.may_leave(number) {
                        return;
                    }
                    let line = &mut self.lines[number as usize];
                    match line.requests.pick(line.at, &mut self.random) {
                        Some(request) => request,
                        None => return,
                    }
                }
            };
            let request = self.near_if_alone(number, request);
            let line = &mut self.lines[number as usize];
            if line.owner.is_some() && self.timing.probes() {
                let sent = if self.timing.queues_at_home {
                    self.now
                } else {
                    request.since
                };
                let way = self.timing.probe(self.duration(number, request));
                let way = if self.breaks(Law::DrawnWay) {
                    way
                } else {
                    self.random.below(2 * way + 1)
                };
                let reached = sent + way;
                let line = &mut self.lines[number as usize];
                if reached > self.now {
                    line.stage = Stage::Probing(request);
                    return self.events.plan(reached, Event::Probe(number));
                }
                line.stage = Stage::Requested(request);
                continue;
            }
            let first = line.copies.is_empty() && self.now >= line.copies_arrive;
            if line.owner.is_some() || request.kind != RequestKind::Copy || first {
                return self.depart(number, request);
            }
            self.send_copy(number, request);
        }
    }

    /// Turns a far atomic into a request for the line if the core also made the last one and no other core wants the line.
    fn near_if_alone(&mut self, number: u32, mut request: Request) -> Request {
        if let RequestKind::PostedAdd(value) = request.kind {
            return self.near_if_posts_alone(number, request, value);
        }
        let line = &mut self.lines[number as usize];
        let last = line.last_far.take();
        let is_alone = line.owner.is_none() && line.copies.is_empty() && line.requests.is_empty();
        let requested = &mut self.cores[request.core as usize].requested;
        if request.kind == RequestKind::FarAtomic
            && is_alone
            && last == Some(request.core)
            && !requested.contains(&number)
        {
            requested.push(number);
            request.kind = RequestKind::LineId;
            self.threads[request.thread as usize].waits_for = WaitsFor::Fill;
        }
        request
    }

    /// Whether the owner may release the line now; if only the hold prevents it, plans a check for its end.
    fn may_leave(&mut self, number: u32) -> bool {
        let line = &self.lines[number as usize];
        let leaves = line.may_leave(self.now);
        if !leaves && line.executing.is_none() && line.promised == 0 {
            self.kick_later(number, line.hold_until);
        }
        leaves
    }

    /// The request reaches the owner.
    pub(super) fn probed(&mut self, number: u32) {
        if let Stage::Probing(request) = self.stage(number) {
            self.lines[number as usize].stage = Stage::Requested(request);
            self.kick(number);
        }
    }

    /// The duration of the line's transfer to a request.
    fn duration(&self, number: u32, request: Request) -> Picos {
        let (line, geometry, timing) = (&self.lines[number as usize], &self.geometry, &*self.timing);
        let target = match request.kind {
            RequestKind::FarAtomic | RequestKind::PostedAdd(_) => HOME,
            RequestKind::Copy | RequestKind::LineId => request.core,
        };
        let others = line.copies.count() - u32::from(line.copies.has(target));
        let data = match line.owner {
            Some(owner) if request.kind.is_far() => Some(geometry.to_home(owner)),
            Some(owner) => Some(geometry.distance(owner, target)),
            None if request.kind.is_far() => None,
            None if line.copies.has(target) && others > 0 => None,
            None if line.copies.has(target) => Some(geometry.to_home(target)),
            None => geometry
                .nearest(target, &line.copies)
                .or_else(|| Some(geometry.to_home(target))),
        };
        let transfer = |distance: Option<Distance>| distance.map_or(0, |distance| timing.transfer(distance));
        let mut duration = transfer(data);
        let only_reads = request.kind == RequestKind::Copy || self.fails_at_home(number, request);
        if !only_reads && others > 0 {
            let farthest = geometry.farthest(target, &line.copies);
            // Of all copies, that of the target and the farthest one take no further time.
            let (near, far) = geometry.by_socket(&line.copies);
            let one = |count: u32, at: Option<Distance>| {
                u64::from(count) * timing.for_reader(timing.invalidate, at.unwrap_or(Distance::Socket))
            };
            let each = one(near, None) + one(far, Some(Distance::Remote));
            let share = each / u64::from(near + far);
            duration = duration.max(transfer(farthest) + share * Picos::from(others - 1));
        }
        match timing.far {
            Some(far) if request.kind.is_far() => duration + far,
            _ => duration,
        }
    }

    /// Whether it is an exchange that would fail at the home now.
    fn fails_at_home(&self, number: u32, request: Request) -> bool {
        request.kind == RequestKind::FarAtomic
            && self.threads[request.thread as usize]
                .access
                .would_fail(self.lines[number as usize].value)
    }

    /// The rest of that duration, without the time that the request has already traveled.
    fn remaining(&self, number: u32, request: Request) -> Picos {
        let duration = self.duration(number, request);
        let traveled = self.now.saturating_sub(request.since);
        // The home's own work is not a way.
        let work = match self.timing.far {
            Some(far) if request.kind.is_far() => far,
            _ => 0,
        };
        // From the home, only an owner is asked before the line leaves.
        let is_asked = !self.timing.queues_at_home || self.lines[number as usize].owner.is_some();
        let behind = if is_asked {
            self.timing.probe(duration - work).min(traveled)
        } else {
            0
        };
        duration - behind
    }

    /// The line leaves for the request.
    fn depart(&mut self, number: u32, request: Request) {
        let remaining = self.remaining(number, request);
        let arrival = self.now + self.timing.draw(remaining, &mut self.random);
        let line = &mut self.lines[number as usize];
        // Copies in transit must arrive before they can be invalidated.
        let arrival = arrival.max(line.copies_arrive + 1);
        line.stage = Stage::Moving(request);
        let owner = line.owner.take();
        if owner.is_some_and(|owner| owner != request.core) || (owner.is_none() && !request.kind.is_far()) {
            self.meter.moved();
        }
        self.events.plan(arrival, Event::Fill(number));
        let only_reads = request.kind == RequestKind::Copy || self.fails_at_home(number, request);
        match (request.kind, owner) {
            (_, Some(owner)) if only_reads => self.lines[number as usize].copies.add(owner),
            (_, None) if only_reads => {}
            (RequestKind::LineId, _) => self.invalidate(number, Some(request.core)),
            _ => self.invalidate(number, None),
        }
        // The old owner's pending accesses request the line again.
        let pending = std::mem::take(&mut self.lines[number as usize].local);
        for local in &pending {
            self.issue(local.thread);
        }
    }

    /// Invalidates all copies, and ends the reservations of other cores' threads.
    fn invalidate(&mut self, number: u32, target: Option<u32>) {
        if !self.breaks(Law::OneOwner) {
            self.lines[number as usize].copies.clear();
        }
        self.end_reservations(number, target);
        self.wake_watchers(number, |core| Some(core) != target);
    }

    /// Ends the reservations on a line, except those of core `except`.
    pub(super) fn end_reservations(&mut self, number: u32, except: Option<u32>) {
        let line = &mut self.lines[number as usize];
        let old = line.epoch;
        line.epoch += 1;
        let new = line.epoch;
        let mut next = except.and_then(|core| self.cores[core as usize].first);
        while let Some(thread) = next {
            let state = &mut self.threads[thread as usize];
            if state.reservation == Some((number, old)) {
                state.reservation = Some((number, new));
            }
            next = state.sibling;
        }
        let line = &mut self.lines[number as usize];
        if line.reserved.is_empty() {
            return;
        }
        let reserved = std::mem::take(&mut line.reserved);
        for thread in reserved {
            if self.is_reserved(thread, number) {
                self.lines[number as usize].reserved.push(thread);
            } else {
                self.cancel_store(thread);
            }
        }
    }

    /// A copy leaves for a core; the line has no owner.
    fn send_copy(&mut self, number: u32, request: Request) {
        let remaining = self.remaining(number, request);
        let arrival = self.now + self.timing.draw(remaining, &mut self.random);
        let line = &mut self.lines[number as usize];
        line.copies_arrive = line.copies_arrive.max(arrival);
        let distance = self.geometry.to_home(request.core);
        line.directory_free = self.now + self.timing.for_reader(self.timing.read, distance);
        self.meter.moved();
        self.events.plan(arrival, Event::Copy(request.thread));
    }

    /// A copy arrives.
    pub(super) fn copy_arrives(&mut self, thread: u32) {
        let state = &self.threads[thread as usize];
        let (core, number) = (state.core, state.line);
        self.lines[number as usize].copies.add(core);
        self.serve(core, number);
        self.drop_invalidated(core, number);
    }

    /// If a copy that arrived is already invalidated, it served one load.
    fn drop_invalidated(&mut self, core: u32, number: u32) {
        if let Stage::Moving(request) = self.stage(number)
            && !self.fails_at_home(number, request)
        {
            self.lines[number as usize].copies.clear();
            self.wake_watchers(number, |watcher| watcher == core);
        }
    }

    /// The line arrives.
    pub(super) fn fill(&mut self, number: u32) {
        let Stage::Moving(request) = self.stage(number) else {
            return;
        };
        let core = request.core;
        let line = &mut self.lines[number as usize];
        line.stage = Stage::Idle;
        match request.kind {
            RequestKind::FarAtomic => {
                line.at = HOME;
                line.last_far = Some(core);
                let access = self.threads[request.thread as usize].access;
                let reply = access.apply(&mut line.value, false);
                let back = self.geometry.to_home(core);
                if reply.done {
                    self.end_reservations(number, None);
                }
                self.reply(request.thread, reply, self.timing.transfer(back) / 2);
            }
            RequestKind::PostedAdd(value) => self.add_posted(number, request, value),
            RequestKind::Copy if !line.copies.is_empty() => {
                line.copies.add(core);
                line.directory_free = line.directory_free.max(self.now + self.timing.downgrade);
                self.serve(core, number);
            }
            RequestKind::Copy => {
                // It is the only copy.
                (line.owner, line.at, line.hold_until) = (Some(core), core, self.now);
                self.serve(core, number);
            }
            RequestKind::LineId => {
                (line.owner, line.at) = (Some(core), core);
                self.meter.filled();
                self.end_reservations(number, Some(core));
                let (hold, ll_hold) = (self.timing.hold, self.timing.ll_hold);
                let is_ll = hold != ll_hold && self.waits_for_load_exclusive(core, number);
                let hold = if is_ll { ll_hold } else { hold };
                self.lines[number as usize].hold_until = self.now.saturating_add(hold);
                self.serve(core, number);
            }
        }
        self.kick(number);
    }

    fn waits_for_load_exclusive(&self, core: u32, number: u32) -> bool {
        use super::access::Access;
        let waiting = self.waiting(core, number);
        let access = |thread: &u32| self.threads[*thread as usize].access;
        waiting.iter().any(|thread| access(thread) == Access::LoadExclusive)
    }

    /// Continues a core's threads after its request was served.
    pub(super) fn serve(&mut self, core: u32, number: u32) {
        self.cores[core as usize]
            .requested
            .retain(|&requested| requested != number);
        let waiting = self.in_turn(core, number);
        let mut served = false;
        for thread in waiting {
            let owns = self.lines[number as usize].owner == Some(core);
            let access = self.threads[thread as usize].access;
            if owns && !access.only_reads() {
                self.lines[number as usize]
                    .reserved
                    .retain(|&reserved| reserved != thread);
                let is_promised = !served || self.mechanism.fill == Fill::Core;
                served = true;
                self.queue_at_port(thread, is_promised);
            } else {
                self.issue(thread);
            }
        }
    }
}
