//! The requests for a line that wait at its home, and whose is next.
//!
//! # The law
//! - First come first served: the oldest.
//! - Nearest: the oldest of those in the cluster where the line is, else of those in that socket, else of all. A cap makes
//!   the oldest of all come first now and then: after so many in a row that went before it, or when it is so old.
//! - Random: any, with equal chances.
//! - Batch: any, with equal chances, of a socket's cores that have not been served in this round. When there are none left,
//!   the next round begins. So no core is served twice before each other of its socket that waits has been served once.
//!   The line stays in a socket for so many requests in a row while another socket waits.
//!
//! # References
//! First come first served is what the rows of `fetch_add` on Skylake look like (T. Downs, concurrency-hierarchy-bench:
//! 1.2 transfers an operation whatever the threads). Caps by count and by pending cycles are those of Intel's patents on
//! remote atomic operations. Batches are the assured access of Futurebus and Multibus II (M. K. Vernon and U. Manber,
//! "Distributed round-robin and first-come first-serve protocols", 1988).
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
    Batch(Batch),
    Nearest(Nearest),
}

impl Requests {
    pub(crate) fn new(arbiter: Arbiter, topology: Topology, timing: &Timing) -> Self {
        let law = match arbiter {
            Arbiter::Fifo => Law::Fifo(VecDeque::new()),
            Arbiter::Random => Law::Random(Vec::new()),
            Arbiter::Batch { stay } => Law::Batch(Batch {
                sockets: vec![Round::default(); topology.sockets as usize],
                cores_per_socket: topology.cores_per_socket(),
                served: vec![0; topology.cores() as usize],
                stay,
                stayed: 0,
            }),
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
            Law::Batch(batch) => batch.push(request),
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
            Law::Random(requests) => Some(any(requests, random)),
            Law::Batch(batch) => batch.pick(at, random),
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
            Law::Batch(batch) => {
                for round in &mut batch.sockets {
                    round.now.retain(other);
                    round.next.retain(other);
                }
                self.count = batch.sockets.iter().map(Round::waiting).sum();
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

/// Takes any of them.
fn any(requests: &mut Vec<Request>, random: &mut Random) -> Request {
    let index = usize::try_from(random.below(requests.len() as u64)).expect("an index");
    requests.swap_remove(index)
}

/// Rounds of each socket, in which each core is served at most once.
#[derive(Clone, Debug)]
struct Batch {
    sockets: Vec<Round>,
    cores_per_socket: u32,
    /// For each core the last round in which it was served.
    served: Vec<u64>,
    /// Most requests in a row that are served in one socket while another waits.
    stay: u32,
    stayed: u32,
}

#[derive(Clone, Debug, Default)]
struct Round {
    now: Vec<Request>,
    /// Of cores that have been served in this round.
    next: Vec<Request>,
    number: u64,
}

impl Round {
    fn waiting(&self) -> usize {
        self.now.len() + self.next.len()
    }
}

impl Batch {
    fn socket(&self, core: u32) -> usize {
        (core / self.cores_per_socket) as usize
    }

    fn push(&mut self, request: Request) {
        let socket = self.socket(request.core);
        let round = &mut self.sockets[socket];
        // Rounds are counted from zero, services from one.
        if self.served[request.core as usize] == round.number + 1 {
            round.next.push(request);
        } else {
            round.now.push(request);
        }
    }

    fn pick(&mut self, at: u32, random: &mut Random) -> Option<Request> {
        let (here, count) = (self.socket(at), self.sockets.len());
        let others = (1..count).map(|step| (here + step) % count);
        let other = others.into_iter().find(|&socket| self.sockets[socket].waiting() > 0);
        let stays = self.sockets[here].waiting() > 0 && (self.stayed < self.stay || other.is_none());
        self.stayed = if stays { self.stayed.saturating_add(1) } else { 0 };
        let round = &mut self.sockets[if stays { here } else { other? }];
        if round.now.is_empty() {
            std::mem::swap(&mut round.now, &mut round.next);
            round.number += 1;
        }
        let request = any(&mut round.now, random);
        self.served[request.core as usize] = round.number + 1;
        Some(request)
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
