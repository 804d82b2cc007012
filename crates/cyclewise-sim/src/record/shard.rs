//! Which points of a sweep a shard has.
//!
//! # Invariants
//! 1. Points are dealt to the shards like cards, those with the most threads first, because these take nearly all of the time; of as many
//!    threads by index. Each round begins one shard later, so that no shard has one workload's points alone.
//!
//! That depends on the sweep alone, so shards can be computed without knowledge of each other, and a reader can check them.

use super::Sweep;
use serde::{Deserialize, Serialize};

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, from 1.
    pub index: u32,
    /// The number of shards.
    pub count: u32,
}

/// The shards of a sweep: which of them has each point.
#[derive(Clone, Copy, Debug)]
pub struct Shards {
    count: usize,
    /// Numbers of threads; the last index of a point is theirs, ascending.
    threads: usize,
    /// Points of each.
    rows: usize,
}

impl Shards {
    /// Deals the points of `sweep` to `count` shards. `count` is at least 1.
    pub fn of(sweep: &Sweep, count: u32) -> Self {
        let threads = sweep.threads.len();
        Self {
            count: count as usize,
            threads,
            rows: sweep.points().checked_div(threads).unwrap_or(0),
        }
    }

    /// The indices of the points of the shard with number `index`, counted from 1, ascending.
    pub fn points(self, index: u32) -> impl Iterator<Item = usize> {
        (0..self.rows * self.threads).filter(move |point| self.owner(*point) == index)
    }

    /// The number, from 1, of the shard that has this point.
    pub fn owner(&self, point: usize) -> u32 {
        let turn = (self.threads - 1 - point % self.threads) * self.rows + point / self.threads;
        ((turn + turn / self.count) % self.count) as u32 + 1
    }
}

/// The indices of the points of a shard, ascending; of the whole sweep without one.
pub(crate) fn due(sweep: &Sweep, shard: Option<Shard>) -> impl Iterator<Item = usize> + use<> {
    let Shard { index, count } = shard.unwrap_or(Shard { index: 1, count: 1 });
    Shards::of(sweep, count).points(index)
}

#[cfg(test)]
mod tests {
    use super::super::testing::sweep;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_point_is_in_one_shard() {
        let sweep = sweep(&[1, 2, 8, 28, 56, 224]);
        let points = sweep.points();
        for count in [1, 2, 5, points as u32, 100] {
            let shards = Shards::of(&sweep, count);
            let mut seen = vec![0; points];
            for index in 1..=count {
                assert!(shards.points(index).is_sorted());
                for point in shards.points(index) {
                    seen[point] += 1;
                    assert_eq!(shards.owner(point), index);
                }
            }
            assert_eq!(seen, vec![1; points], "{count}");
        }
        // A file may claim anything; what it claims takes no memory.
        let many = Shards::of(&sweep, u32::MAX);
        assert_eq!((many.points(u32::MAX).count(), many.points(24).count()), (0, 1));
    }

    #[test]
    fn shards_have_points_of_all_numbers_of_threads_and_workloads() {
        let sweep = sweep(&(1..=224).collect::<Vec<_>>());
        let threads = |points: &mut dyn Iterator<Item = usize>| points.map(|i| sweep.job_at(i).1.threads).sum::<u32>();
        let spread = |loads: Vec<u32>| loads.iter().max().unwrap() - loads.iter().min().unwrap();
        let dealt = spread((1..=8).map(|i| threads(&mut Shards::of(&sweep, 8).points(i))).collect());
        // By index alone each of eight, which divides 224, has its own numbers of threads.
        let by_index = spread((0..8).map(|i| threads(&mut (i..sweep.points()).step_by(8))).collect());
        assert!(dealt <= 224 && by_index > 224, "{dealt} {by_index}");
        // Four shards, and four rows of each number of threads.
        for index in 1..=4 {
            let rows: BTreeSet<usize> = Shards::of(&sweep, 4).points(index).map(|point| point / 224).collect();
            assert_eq!(rows.len(), 4);
        }
    }

    #[test]
    fn the_assignment_is_that_of_the_format() {
        let sweep = sweep(&[1, 28, 224]);
        let owners: Vec<u32> = (0..sweep.points()).map(|p| Shards::of(&sweep, 3).owner(p)).collect();
        // Shards of one sweep may be written years apart: another rule needs another schema.
        assert_eq!(owners, [2, 3, 1, 1, 1, 2, 2, 3, 3, 3, 1, 2]);
    }
}
