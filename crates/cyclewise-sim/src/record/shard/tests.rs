//! Every point is in one shard, shards by cost cost the same, and the assignment does not change from version to version.

use super::super::testing::{by_cost, document, sweep};
use super::super::{from_str, testing};
use super::*;
use crate::export::json;

/// The cost of each shard.
fn loads(sweep: &Sweep, count: u32, by: ShardBy) -> Vec<u64> {
    let shards = Shards::of(sweep, count, by);
    let load = |i| shards.points(i).iter().map(|p| cost_of(sweep, *p)).sum();
    (1..=count).map(load).collect()
}

#[test]
fn every_point_is_in_one_shard() {
    let sweep = sweep(&[1, 2, 8, 28, 56, 224]);
    let points = sweep.points();
    for by in [ShardBy::Index, ShardBy::Cost] {
        for count in [1, 2, 5, points as u32, 100] {
            let shards = Shards::of(&sweep, count, by);
            let mut seen = vec![0; points];
            for index in 1..=count {
                let mine = shards.points(index);
                assert!(mine.is_sorted());
                for point in mine {
                    seen[point] += 1;
                    assert_eq!(shards.owner(point), index);
                }
            }
            assert_eq!(seen, vec![1; points], "{count} {by:?}");
        }
        // A file may claim anything; what it claims takes no memory.
        let many = Shards::of(&sweep, u32::MAX, by);
        assert_eq!(many.points(u32::MAX), [0; 0]);
        assert_eq!(many.points(1).len(), 1);
    }
}

#[test]
fn shards_by_cost_differ_by_less_than_a_point_and_those_by_index_by_more() {
    let sweep = sweep(&(1..=224).collect::<Vec<_>>());
    let longest = (0..sweep.points()).map(|p| cost_of(&sweep, p)).max().unwrap();
    let spread = |by| {
        let loads = loads(&sweep, 8, by);
        loads.iter().max().unwrap() - loads.iter().min().unwrap()
    };
    // The rule's property: the last point of the longest shard went to the one that was then the shortest.
    assert!(spread(ShardBy::Cost) <= longest);
    assert!(spread(ShardBy::Index) > longest, "{}", spread(ShardBy::Index));
}

#[test]
fn the_assignment_is_that_of_the_format() {
    let sweep = sweep(&[1, 28, 224]);
    let shards = Shards::of(&sweep, 3, ShardBy::Cost);
    let owners: Vec<u32> = (0..sweep.points()).map(|p| shards.owner(p)).collect();
    // Documents of this schema exist with these: a change needs a new name in `ShardBy`.
    assert_eq!(owners, OWNERS);
}

const OWNERS: [u32; 12] = [3, 2, 3, 3, 3, 2, 2, 3, 1, 2, 2, 3];

#[test]
fn a_document_says_how_points_were_assigned_and_its_reader_checks_it() {
    let sweep = sweep(&[1, 28, 224]);
    let text = json::simulation(&document(&sweep, by_cost(1, 3))).unwrap();
    assert!(
        text.contains("\"shard\":{\"index\":1,\"count\":3,\"by\":\"cost\"}"),
        "{text}"
    );
    assert_eq!(from_str("s", &text).unwrap().shard, by_cost(1, 3));
    let error = from_str("s", &text.replace(",\"by\":\"cost\"", ""))
        .unwrap_err()
        .message;
    assert!(error.contains("was modified"), "{error}");
    // Documents of earlier versions have no `by`, and it is still left out.
    let shard = Shard {
        index: 2,
        count: 3,
        by: ShardBy::Index,
    };
    let text = json::simulation(&testing::document(&sweep, Some(shard))).unwrap();
    assert!(text.contains("\"shard\":{\"index\":2,\"count\":3}"), "{text}");
    assert_eq!(from_str("s", &text).unwrap().shard, Some(shard));
}
