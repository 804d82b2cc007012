//! Which points of a sweep a shard has.
//!
//! # Invariants
//! 1. By index, point i is in shard i mod N + 1 of N.
//! 2. By cost, points in descending order of [`cost::of`], equal ones by index, go each to the shard whose points cost least so
//!    far, equal ones to the lowest number.
//!
//! Both depend on the sweep alone, so shards can be computed without knowledge of each other, and a reader can check them.
//!
//! # References
//! R. Graham, "Bounds on multiprocessing timing anomalies", 1969: the rule of 2, longest processing time first. The longest
//! shard takes at most 4/3 of the shortest possible.

use super::{Sweep, cost};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, from 1.
    pub index: u32,
    /// The number of shards.
    pub count: u32,
    /// How points were assigned to shards.
    #[serde(default, skip_serializing_if = "ShardBy::is_index")]
    pub by: ShardBy,
}

/// How points are assigned to shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ShardBy {
    /// Point i to shard i mod N + 1
    #[default]
    Index,
    /// By predicted time, so that shards take about equally long
    Cost,
}

impl ShardBy {
    fn is_index(&self) -> bool {
        *self == Self::Index
    }

    /// The name on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Cost => "cost",
        }
    }
}

/// The shards of a sweep: which of them has each point.
#[derive(Clone, Debug)]
pub struct Shards {
    count: u32,
    points: usize,
    /// `None` where it follows from the index.
    chosen: Option<Chosen>,
}

/// A choice of a shard for each point.
#[derive(Clone, Debug)]
struct Chosen {
    /// For each point the number of its shard, from 0.
    owner: Vec<u32>,
    /// The points of all shards, one shard after the other, each ascending.
    points: Vec<u32>,
    /// Where in `points` each shard begins, and its end. Shards beyond it have no points.
    begins: Vec<usize>,
}

impl Shards {
    /// Assigns the points of `sweep` to `count` shards. `count` is at least 1.
    pub fn of(sweep: &Sweep, count: u32, by: ShardBy) -> Self {
        Self {
            count,
            points: sweep.points(),
            chosen: (by == ShardBy::Cost).then(|| Chosen::longest_first(sweep, count)),
        }
    }

    /// The indices of the points of the shard with number `index`, counted from 1, ascending.
    pub fn points(&self, index: u32) -> Vec<usize> {
        let number = index as usize - 1;
        let Some(chosen) = &self.chosen else {
            return (number..self.points).step_by(self.count as usize).collect();
        };
        match chosen.begins.get(number..number + 2) {
            Some(&[begin, end]) => chosen.points[begin..end].iter().map(|p| *p as usize).collect(),
            _ => Vec::new(),
        }
    }

    /// The number, from 1, of the shard that has this point.
    pub fn owner(&self, point: usize) -> u32 {
        match &self.chosen {
            None => (point % self.count as usize) as u32 + 1,
            Some(chosen) => chosen.owner[point] + 1,
        }
    }
}

impl Chosen {
    /// Invariant 2.
    fn longest_first(sweep: &Sweep, count: u32) -> Self {
        let points = sweep.points();
        let mut order: Vec<(Reverse<u64>, u32)> = (0..points).map(|i| (Reverse(cost_of(sweep, i)), i as u32)).collect();
        order.sort_unstable();
        // A file may claim to be one of 4294967295 shards. Costs are positive, so no more have points than there are points.
        let used = (count as usize).min(points) as u32;
        let mut loads: BinaryHeap<Reverse<(u128, u32)>> = (0..used).map(|shard| Reverse((0, shard))).collect();
        let mut owner = vec![0; points];
        let mut begins = vec![0; used as usize + 1];
        for (Reverse(cost), point) in order {
            if let Some(mut least) = loads.peek_mut() {
                owner[point as usize] = least.0.1;
                begins[least.0.1 as usize + 1] += 1;
                least.0.0 += u128::from(cost);
            }
        }
        for shard in 1..begins.len() {
            begins[shard] += begins[shard - 1];
        }
        let mut next = begins.clone();
        let mut members = vec![0; points];
        for (point, shard) in (0..).zip(&owner) {
            let place = &mut next[*shard as usize];
            members[*place] = point;
            *place += 1;
        }
        Self {
            owner,
            points: members,
            begins,
        }
    }
}

/// The indices of the points of a shard, ascending; of the whole sweep without one.
pub(crate) fn due(sweep: &Sweep, shard: Option<Shard>) -> Vec<usize> {
    match shard {
        None => (0..sweep.points()).collect(),
        Some(Shard { index, count, by }) => Shards::of(sweep, count, by).points(index),
    }
}

/// The points of `sweep` in descending order of cost, equal ones by index.
pub(crate) fn by_descending_cost(sweep: &Sweep, mut points: Vec<usize>) -> Vec<usize> {
    points.sort_by_cached_key(|i| Reverse(cost_of(sweep, *i)));
    points
}

fn cost_of(sweep: &Sweep, point: usize) -> u64 {
    let (machine, job) = sweep.job_at(point);
    cost::of(&sweep.machines[machine], &job)
}

#[cfg(test)]
mod tests;
