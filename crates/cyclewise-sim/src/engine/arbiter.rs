//! The requests for a line that wait at its home, and whose is next.
//!
//! # The law
//! - First come first served: the oldest.
//! - Nearest: the oldest of those in the cluster where the line is, else of those in that socket, else of all. A cap makes
//!   the oldest of all come first now and then: after so many in a row that went before it, or when it is so old.
//! - Random: any, with equal chances.
//!
//! # References
//! First come first served is what the rows of `fetch_add` on Skylake look like (T. Downs, concurrency-hierarchy-bench:
//! 1.2 transfers an operation whatever the threads). Caps by count and by pending cycles are those of Intel's patents on
//! remote atomic operations.
//!
//! # Limits
//! A request waits from the moment it is made. What it takes to the home is part of the transfer, so of two requests that
//! race the older wins, and never the one with the shorter way.

use super::random::Random;
use super::timing::{Picos, Timing};
use crate::machine::{Arbiter, Cap, Topology};
use std::collections::VecDeque;

/// What a core, or the home for it, needs the line for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// A copy.
    Copy,
    /// The line itself.
    Line,
    /// An atomic at the home.
    Far,
}

/// A request at the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) core: u32,
    /// The thread that made it.
    pub(crate) thread: u32,
    pub(crate) want: Want,
    pub(crate) since: Picos,
}

/// Requests that wait for one line.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    law: Law,
    count: usize,
    /// Numbers requests as they come.
    next: u64,
}

#[derive(Clone, Debug)]
enum Law {
    Fifo(VecDeque<Request>),
    Random(Vec<Request>),
    Nearest(Nearest),
}

impl Requests {
    pub(crate) fn new(arbiter: Arbiter, topology: Topology, timing: &Timing) -> Self {
        let law = match arbiter {
            Arbiter::Fifo => Law::Fifo(VecDeque::new()),
            Arbiter::Random => Law::Random(Vec::new()),
            Arbiter::Nearest { cap } => Law::Nearest(Nearest {
                clusters: Vec::new(),
                count: (topology.sockets * topology.clusters_per_socket) as usize,
                clusters_per_socket: topology.clusters_per_socket as usize,
                cores_per_cluster: topology.cores_per_cluster,
                cap: match cap {
                    Cap::Count(count) => Limit::Count(count),
                    Cap::Cycles(cycles) => Limit::Time(timing.cycles(cycles)),
                },
                overtaken: 0,
            }),
        };
        Self { law, count: 0, next: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn push(&mut self, request: Request) {
        self.count += 1;
        self.next += 1;
        match &mut self.law {
            Law::Fifo(queue) => queue.push_back(request),
            Law::Random(requests) => requests.push(request),
            Law::Nearest(nearest) => {
                nearest.clusters.resize(nearest.count, VecDeque::new());
                let cluster = nearest.cluster(request.core);
                nearest.clusters[cluster].push_back((self.next, request));
            }
        }
    }

    /// Takes the next one, while the line is at this core.
    pub(crate) fn pick(&mut self, at: u32, now: Picos, random: &mut Random) -> Option<Request> {
        if self.count == 0 {
            return None;
        }
        self.count -= 1;
        match &mut self.law {
            Law::Fifo(queue) => queue.pop_front(),
            Law::Random(requests) => {
                let index = usize::try_from(random.below(requests.len() as u64)).expect("an index");
                Some(requests.swap_remove(index))
            }
            Law::Nearest(nearest) => nearest.pick(at, now),
        }
    }

    /// Takes back what a core has asked for itself.
    pub(crate) fn withdraw(&mut self, core: u32) {
        let other = |request: &Request| request.core != core || request.want == Want::Far;
        match &mut self.law {
            Law::Fifo(queue) => {
                queue.retain(other);
                self.count = queue.len();
            }
            Law::Random(requests) => {
                requests.retain(other);
                self.count = requests.len();
            }
            Law::Nearest(nearest) => {
                for queue in &mut nearest.clusters {
                    queue.retain(|(_, request)| other(request));
                }
                self.count = nearest.clusters.iter().map(VecDeque::len).sum();
            }
        }
    }
}

/// A queue for each cluster.
#[derive(Clone, Debug)]
struct Nearest {
    /// Empty until there is a request, for most lines never have one that waits.
    clusters: Vec<VecDeque<(u64, Request)>>,
    /// How many clusters there are.
    count: usize,
    clusters_per_socket: usize,
    cores_per_cluster: u32,
    cap: Limit,
    /// How many in a row went before an older one.
    overtaken: u32,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Count(u32),
    Time(Picos),
}

impl Nearest {
    fn cluster(&self, core: u32) -> usize {
        (core / self.cores_per_cluster) as usize
    }

    /// Which of these clusters has the oldest request, and how old that is.
    fn oldest(&self, clusters: std::ops::Range<usize>) -> Option<(usize, Picos)> {
        let heads = clusters.filter_map(|cluster| self.clusters[cluster].front().map(|head| (cluster, head)));
        let (cluster, (_, request)) = heads.min_by_key(|(_, (number, _))| *number)?;
        Some((cluster, request.since))
    }

    fn pick(&mut self, at: u32, now: Picos) -> Option<Request> {
        let (oldest, since) = self.oldest(0..self.clusters.len())?;
        let here = self.cluster(at);
        let near = if self.clusters[here].is_empty() {
            let first = here - here % self.clusters_per_socket;
            let socket = first..first + self.clusters_per_socket;
            self.oldest(socket).map_or(oldest, |(cluster, _)| cluster)
        } else {
            here
        };
        let turn = match self.cap {
            Limit::Count(count) => self.overtaken >= count,
            Limit::Time(time) => now.saturating_sub(since) >= time,
        };
        let next = if turn { oldest } else { near };
        self.overtaken = if next == oldest { 0 } else { self.overtaken + 1 };
        self.clusters[next].pop_front().map(|(_, request)| request)
    }
}
