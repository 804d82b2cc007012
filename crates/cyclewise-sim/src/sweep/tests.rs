//! A sweep in shards, and the bands of its points.

use super::*;
use crate::machine::HeldOut;
use crate::{Machine, Topology, Workload};

fn of(shard: Option<Shard>) -> Simulation {
    let topology = Topology::new(1, 1, 4, 1);
    let mut machine = Machine::plain(topology);
    let row = |threads| {
        let predicted = 100.0 + f64::from(threads) / 3.0;
        HeldOut::of(&Job::new(Workload::FetchAdd, threads), 100.0, predicted)
    };
    machine.held_out = (1..=4).map(row).collect();
    let sweep = Sweep {
        machines: vec![machine],
        workloads: vec![Workload::FetchAdd, Workload::Lockref],
        retry_limits: vec![Some(2), None],
        parallel_cycles: Some(10),
        ops: Some(50),
        ..crate::record::testing::sweep(&[1, 2, 4])
    };
    run(sweep, shard, Tool::this(), &|_, _| ())
}

#[test]
fn the_points_of_all_shards_are_those_of_the_whole() {
    let whole = of(None);
    assert_eq!(whole.points.len(), 9, "fetch-add once, lockref with two limits");
    for count in [4, 12] {
        let shards = (1..=count).flat_map(|index| of(Some(Shard { index, count })).points);
        let mut points: Vec<Point> = shards.collect();
        points.sort_by_key(|point| point.index);
        assert_eq!(points, whole.points);
    }
}

#[test]
fn every_point_has_its_band_and_is_read_back_with_it() {
    let whole = of(None);
    let is_known = |job: &Job| job.workload == Workload::FetchAdd && job.threads > 1;
    let known = |p: &Point| p.band.is_some() == is_known(&p.job);
    assert!(whole.points.iter().all(known), "of exchanges no row was held out");
    let text = crate::export::json::simulation(&whole).unwrap();
    assert_eq!(crate::record::from_str("w", &text).unwrap(), whole);
}
