//! The home's part: which request is next, and the line's way to it.
//!
//! # The law
//! - A line leaves its owner when what it came for is done, the hold is over, and a request waits. Where a share of the
//!   transfer is the request's own way, the owner works on until it learns of it; and a request that has waited has that
//!   way behind it, so that a queue is served faster than a request that finds none.
//! - To an owner-to-be it takes what the longest of these takes: the data from the old owner, else from the nearest copy,
//!   else from home; the farthest copy's invalidation, and so much more for each further copy; and the home's detour.
//! - A copy is given by the owner, who keeps one, and then by any copy, side by side, as fast as the directory takes them.
//! - For a far atomic the line is called back to the home, if it is not there, and stays there. The same core's next one,
//!   if nobody else has wanted the line meanwhile, brings it to the core: who is alone works near.

use super::arbiter::{Request, Want};
use super::events::Event;
use super::law::Law;
use super::line::Stage;
use super::model::{Model, Waits};
use super::timing::Picos;
use crate::machine::Distance;

impl Model {
    /// Serves what can be served now.
    pub(super) fn kick(&mut self, number: u32) {
        loop {
            let line = &mut self.lines[number as usize];
            let request = match line.stage {
                Stage::Moving(_) | Stage::Probing(_) => return,
                Stage::Asked(request) => {
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
                    match line.requests.pick(line.at, self.now, &mut self.random) {
                        Some(request) => request,
                        None => return,
                    }
                }
            };
            let request = self.near_if_alone(number, request);
            let line = &mut self.lines[number as usize];
            if line.owner.is_some() && self.timing.probes() {
                let told = request.since + self.timing.probe(self.duration(number, request));
                let line = &mut self.lines[number as usize];
                if told > self.now {
                    line.stage = Stage::Probing(request);
                    return self.events.plan(told, Event::Probe(number));
                }
                line.stage = Stage::Asked(request);
                continue;
            }
            let first = line.copies.is_empty() && self.now >= line.copies_arrive;
            if line.owner.is_some() || request.want != Want::Copy || first {
                return self.depart(number, request);
            }
            self.send_copy(number, request);
        }
    }

    /// A far atomic, or the line itself where the core was the last to do one and nobody else wants it.
    fn near_if_alone(&mut self, number: u32, mut request: Request) -> Request {
        let line = &mut self.lines[number as usize];
        let last = line.last_far.take();
        let alone = line.owner.is_none() && line.copies.is_empty() && line.requests.is_empty();
        let asked = &mut self.cores[request.core as usize].asked;
        if request.want == Want::Far && alone && last == Some(request.core) && !asked.contains(&number) {
            asked.push(number);
            request.want = Want::Line;
            self.threads[request.thread as usize].waits = Waits::Fill;
        }
        request
    }

    /// Whether the owner gives the line up now; if the hold alone forbids it, a look is planned for when that is over.
    fn may_leave(&mut self, number: u32) -> bool {
        let line = &self.lines[number as usize];
        let leaves = line.may_leave(self.now);
        if !leaves && line.executing.is_none() && line.promised == 0 {
            self.kick_later(number, line.hold_until);
        }
        leaves
    }

    /// The owner learns of the request.
    pub(super) fn probed(&mut self, number: u32) {
        if let Stage::Probing(request) = self.stage(number) {
            self.lines[number as usize].stage = Stage::Asked(request);
            self.kick(number);
        }
    }

    /// What the line's way to a request takes from where it is.
    fn duration(&self, number: u32, request: Request) -> Picos {
        let (line, geometry, timing) = (&self.lines[number as usize], &self.geometry, &*self.timing);
        let target = match request.want {
            Want::Far => line.home,
            Want::Copy | Want::Line => request.core,
        };
        let others = line.copies.count() - u32::from(line.copies.has(target));
        let data = match line.owner {
            Some(owner) if request.want == Want::Far => Some(geometry.to_home(owner, target)),
            Some(owner) => Some(geometry.distance(owner, target)),
            None if request.want == Want::Far => None,
            None if line.copies.has(target) && others > 0 => None,
            None if line.copies.has(target) => Some(geometry.to_home(target, line.home)),
            None => geometry
                .nearest(target, &line.copies)
                .or_else(|| Some(geometry.to_home(target, line.home))),
        };
        let transfer = |distance: Option<Distance>| distance.map_or(0, |distance| timing.transfer(distance));
        let mut duration = transfer(data);
        if request.want != Want::Copy && others > 0 {
            let farthest = transfer(geometry.farthest(target, &line.copies));
            duration = duration.max(farthest + timing.invalidate * Picos::from(others - 1));
        }
        match (request.want, timing.far) {
            (Want::Far, Some(far)) => duration + far,
            _ => duration.max(geometry.through_home(request.core, line.home, timing)),
        }
    }

    /// What of that is left: the request has been under way since it was made, and that part is over.
    fn left(&self, number: u32, request: Request) -> Picos {
        let duration = self.duration(number, request);
        let under_way = self.now.saturating_sub(request.since);
        duration - self.timing.probe(duration).min(under_way)
    }

    /// The line leaves for where it is wanted.
    fn depart(&mut self, number: u32, request: Request) {
        let left = self.left(number, request);
        let line = &mut self.lines[number as usize];
        let arrival = self.now + left;
        // The copies that are under way have to arrive before they can be taken back.
        let arrival = arrival.max(line.copies_arrive + 1);
        line.stage = Stage::Moving(request);
        let owner = line.owner.take();
        if owner.is_some_and(|owner| owner != request.core) || (owner.is_none() && request.want != Want::Far) {
            self.meter.moved();
        }
        self.events.plan(arrival, Event::Fill(number));
        match (request.want, owner) {
            (Want::Copy, Some(owner)) => self.lines[number as usize].copies.add(owner),
            (Want::Copy, None) => {}
            (Want::Line, _) => self.take_back(number, Some(request.core)),
            (Want::Far, _) => self.take_back(number, None),
        }
        // What the old owner has not begun, it asks for again.
        let left = std::mem::take(&mut self.lines[number as usize].local);
        for local in &left {
            self.issue(local.thread);
        }
    }

    /// Ends all copies, and what threads of other cores than this one have reserved.
    fn take_back(&mut self, number: u32, target: Option<u32>) {
        if !self.breaks(Law::OneOwner) {
            self.lines[number as usize].copies.clear();
        }
        self.end_reservations(number, target);
        self.wake_watchers(number, |core| Some(core) != target);
    }

    /// Ends the reservations on a line, but for those of a core.
    fn end_reservations(&mut self, number: u32, but: Option<u32>) {
        let line = &mut self.lines[number as usize];
        let old = line.epoch;
        line.epoch += 1;
        let new = line.epoch;
        let mut next = but.and_then(|core| self.cores[core as usize].first);
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
                self.give_up_store(thread);
            }
        }
    }

    /// A copy leaves for a core while nobody owns the line.
    fn send_copy(&mut self, number: u32, request: Request) {
        let arrival = self.now + self.left(number, request);
        let line = &mut self.lines[number as usize];
        line.copies_arrive = line.copies_arrive.max(arrival);
        line.directory_free = self.now + self.timing.read;
        self.meter.moved();
        self.events.plan(arrival, Event::Copy(request.thread));
    }

    /// A copy arrives.
    pub(super) fn copy_arrives(&mut self, thread: u32) {
        let state = &self.threads[thread as usize];
        let (core, number) = (state.core, state.line);
        self.lines[number as usize].copies.add(core);
        self.serve(core, number);
        // It may be taken back already: then it was good for one look.
        if let Stage::Moving(_) = self.stage(number) {
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
        match request.want {
            Want::Far => {
                line.at = line.home;
                line.last_far = Some(core);
                self.end_reservations(number, None);
                let line = &mut self.lines[number as usize];
                let access = self.threads[request.thread as usize].access;
                let reply = access.apply(&mut line.value, false);
                let back = self.geometry.to_home(core, line.home);
                if !reply.done {
                    self.holds.lost(core);
                }
                self.reply(request.thread, reply, self.timing.transfer(back) / 2);
            }
            Want::Copy if !line.copies.is_empty() => {
                line.copies.add(core);
                self.serve(core, number);
            }
            Want::Copy => {
                // The only one.
                (line.owner, line.at, line.hold_until) = (Some(core), core, self.now);
                self.serve(core, number);
            }
            Want::Line => {
                (line.owner, line.at) = (Some(core), core);
                self.meter.filled();
                self.end_reservations(number, Some(core));
                let hold = if self.waits_for_load_exclusive(core, number) {
                    self.ll_holds.filled(core)
                } else {
                    self.holds.filled(core)
                };
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

    /// What a core has asked for is there: its threads go on.
    fn serve(&mut self, core: u32, number: u32) {
        self.cores[core as usize].asked.retain(|&asked| asked != number);
        let waiting = self.in_turn(core, number);
        for thread in waiting {
            let owns = self.lines[number as usize].owner == Some(core);
            let access = self.threads[thread as usize].access;
            if owns && !access.only_reads() {
                self.lines[number as usize]
                    .reserved
                    .retain(|&reserved| reserved != thread);
                self.queue_at_port(thread, true);
            } else {
                self.issue(thread);
            }
        }
    }
}
