//! Copies that no thread waits for: the other line of an aligned pair.
//!
//! # Law
//! When a core requests a line, it also requests a copy of the other line of the pair, unless it has that or has requested it. The
//! request waits its turn like any other; so a neighbour is taken from its owner although nobody needs it.
//!
//! # References
//! Intel 64 and IA-32 Architectures Optimization Reference Manual, "Data Prefetching": the spatial prefetcher of the L2 cache.

use super::arbiter::{Request, RequestKind};
use super::events::Event;
use super::model::Model;

/// The thread of a request that no thread waits for.
pub(super) const NOBODY: u32 = u32::MAX;

impl Model {
    /// Requests the neighbour of a line that a core requests.
    pub(super) fn prefetch(&mut self, core: u32, number: u32) {
        let neighbour = number ^ 1;
        let Some(line) = self.lines.get(neighbour as usize) else {
            return;
        };
        let requested = &mut self.cores[core as usize].requested;
        if line.is_cached(core) || requested.contains(&neighbour) {
            return;
        }
        requested.push(neighbour);
        self.lines[neighbour as usize].requests.push(Request {
            core,
            thread: NOBODY,
            kind: RequestKind::Copy,
            since: self.now,
        });
        self.kick(neighbour);
    }

    /// A prefetched copy leaves for a core; returns the event of its arrival.
    pub(super) fn prefetch_leaves(&mut self, core: u32, number: u32) -> Event {
        let place = self.prefetch_free.pop().unwrap_or_else(|| {
            self.prefetched.push((core, number));
            u32::try_from(self.prefetched.len() - 1).expect("fewer than events can name")
        });
        self.prefetched[place as usize] = (core, number);
        Event::Prefetched(place)
    }

    /// A prefetched copy arrives.
    pub(super) fn prefetch_arrives(&mut self, place: u32) {
        let (core, number) = self.prefetched[place as usize];
        self.prefetch_free.push(place);
        self.lines[number as usize].copies.add(core);
        self.serve(core, number);
        self.drop_invalidated(core, number);
    }
}
