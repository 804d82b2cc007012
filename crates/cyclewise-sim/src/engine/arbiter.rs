//! The requests that wait for a line at its home, and the choice of the next one.
//!
//! # Laws
//! - Fifo: the oldest request.
//! - Nearest: the oldest request of the line's cluster, else of its socket, else of all. After a number of requests in a row have overtaken
//!   the oldest of all, that comes first.
//! - Random: any request, with equal probabilities.
//! - Batch: any request of the socket's cores that have not been served in this round, with equal probabilities. When there are
//!   none left, the next round begins. So no core is served twice before each other waiting core of its socket is served once.
//!   The line stays in a socket for a number of requests in a row while another socket waits.
//!
//! # References
//! The `fetch_add` rows of Skylake match first come, first served (T. Downs, concurrency-hierarchy-bench: 1.2 transfers per
//! operation for any number of threads). A cap by count is from Intel's patents on remote atomic operations. Batches are the assured access of Futurebus and Multibus II (M. K. Vernon and U. Manber,
//! "Distributed round-robin and first-come first-serve protocols", 1988).
//!
//! # Limits
//! A request waits from the moment it is made; its way to the home is part of the transfer. So of two racing requests the older
//! one wins, never the one with the shorter way.

use super::copies::Copies;
use super::random::Random;
use super::timing::Picos;
use crate::machine::{Arbiter, Topology};
use std::collections::VecDeque;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A copy.
    Copy,
    /// The line, exclusively.
    LineId,
    /// A far atomic: an operation at the home.
    FarAtomic,
    /// A far addition of this value, for which no thread waits.
    PostedAdd(u64),
}

impl RequestKind {
    /// Whether the home executes it.
    pub(crate) fn is_far(self) -> bool {
        matches!(self, Self::FarAtomic | Self::PostedAdd(_))
    }
}

/// The thread of a request that no thread waits for.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A request at the home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) core: u32,
    /// The thread that made it.
    pub(crate) thread: u32,
    pub(crate) kind: RequestKind,
    pub(crate) since: Picos,
}

/// The requests that wait for one line.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    law: Law,
    count: usize,
    /// Numbers the requests.
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
    pub(crate) fn new(arbiter: Arbiter, topology: Topology) -> Self {
        let law = match arbiter {
            Arbiter::Fifo => Law::Fifo(VecDeque::new()),
            Arbiter::Random => Law::Random(Vec::new()),
            Arbiter::Batch { stay } => Law::Batch(Batch {
                sockets: vec![Round::default(); topology.sockets as usize],
                cores_per_socket: topology.cores_per_socket(),
                stay,
                stayed: 0,
            }),
            Arbiter::Nearest { cap } => Law::Nearest(Nearest {
                clusters: Vec::new(),
                count: (topology.sockets * topology.clusters_per_socket) as usize,
                clusters_per_socket: topology.clusters_per_socket as usize,
                cores_per_cluster: topology.cores_per_cluster,
                cap,
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

    /// Removes and returns the next request; the line is at core `at`.
    pub(crate) fn pick(&mut self, at: u32, random: &mut Random) -> Option<Request> {
        if self.count == 0 {
            return None;
        }
        self.count -= 1;
        match &mut self.law {
            Law::Fifo(queue) => queue.pop_front(),
            Law::Random(requests) => Some(any(requests, random)),
            Law::Batch(batch) => batch.pick(at, random),
            Law::Nearest(nearest) => nearest.pick(at),
        }
    }

    /// Whether all are additions that this core has posted.
    pub(crate) fn all_posted_by(&self, core: u32) -> bool {
        let is = |request: &Request| request.core == core && matches!(request.kind, RequestKind::PostedAdd(_));
        match &self.law {
            Law::Fifo(queue) => queue.iter().all(is),
            Law::Random(requests) => requests.iter().all(is),
            Law::Batch(batch) => batch
                .sockets
                .iter()
                .all(|round| round.now.iter().chain(&round.next).all(is)),
            Law::Nearest(nearest) => nearest.clusters.iter().flatten().all(|(_, request)| is(request)),
        }
    }

    /// Removes a core's requests, except for far atomics.
    pub(crate) fn withdraw(&mut self, core: u32) {
        let other = |request: &Request| request.core != core || request.kind.is_far();
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

/// Removes a random request.
fn any(requests: &mut Vec<Request>, random: &mut Random) -> Request {
    let index = usize::try_from(random.below(requests.len() as u64)).expect("an index");
    requests.swap_remove(index)
}

/// The rounds of each socket; a round serves each core at most once.
#[derive(Clone, Debug)]
struct Batch {
    sockets: Vec<Round>,
    cores_per_socket: u32,
    /// How many requests in a row are served in one socket while another waits.
    stay: u32,
    stayed: u32,
}

#[derive(Clone, Debug, Default)]
struct Round {
    now: Vec<Request>,
    /// Requests of cores that have been served in this round.
    next: Vec<Request>,
    /// Those cores. A set, because a number for each core in each line would be quadratic.
    served: Copies,
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
        if round.served.has(request.core) {
            round.next.push(request);
        } else {
            round.now.push(request);
        }
    }

    fn pick(&mut self, at: u32, random: &mut Random) -> Option<Request> {
        let (current, count) = (self.socket(at), self.sockets.len());
        let others = (1..count).map(|step| (current + step) % count);
        let other = others.into_iter().find(|&socket| self.sockets[socket].waiting() > 0);
        let stays = self.sockets[current].waiting() > 0 && (self.stayed < self.stay || other.is_none());
        self.stayed = if stays { self.stayed.saturating_add(1) } else { 0 };
        let round = &mut self.sockets[if stays { current } else { other? }];
        if round.now.is_empty() {
            std::mem::swap(&mut round.now, &mut round.next);
            round.served.clear();
        }
        let request = any(&mut round.now, random);
        round.served.add(request.core);
        Some(request)
    }
}

/// One queue per cluster.
#[derive(Clone, Debug)]
struct Nearest {
    /// Allocated with the first request, because most lines never have one.
    clusters: Vec<VecDeque<(u64, Request)>>,
    /// The number of clusters.
    count: usize,
    clusters_per_socket: usize,
    cores_per_cluster: u32,
    cap: u32,
    /// How many requests in a row have overtaken an older one.
    overtaken: u32,
}

impl Nearest {
    fn cluster(&self, core: u32) -> usize {
        (core / self.cores_per_cluster) as usize
    }

    /// Which of these clusters has the oldest request.
    fn oldest(&self, clusters: std::ops::Range<usize>) -> Option<usize> {
        let heads = clusters.filter_map(|cluster| Some((self.clusters[cluster].front()?.0, cluster)));
        heads.min().map(|(_, cluster)| cluster)
    }

    fn pick(&mut self, at: u32) -> Option<Request> {
        let oldest = self.oldest(0..self.clusters.len())?;
        let current = self.cluster(at);
        let near = if self.clusters[current].is_empty() {
            let first = current - current % self.clusters_per_socket;
            let socket = first..first + self.clusters_per_socket;
            self.oldest(socket).unwrap_or(oldest)
        } else {
            current
        };
        let next = if self.overtaken >= self.cap { oldest } else { near };
        self.overtaken = if next == oldest { 0 } else { self.overtaken + 1 };
        self.clusters[next].pop_front().map(|(_, request)| request)
    }
}
