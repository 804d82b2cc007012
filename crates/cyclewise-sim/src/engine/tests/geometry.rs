//! Distances between cores, to homes, and to copies.

use super::super::copies::Copies;
use super::super::geometry::Geometry;
use super::TOPOLOGY;
use crate::machine::Distance;

fn copies(cores: &[u32]) -> Copies {
    let mut copies = Copies::default();
    for &core in cores {
        copies.add(core);
    }
    copies
}

#[test]
fn distance_goes_by_core_cluster_and_socket() {
    let geometry = Geometry::new(TOPOLOGY);
    let from_1 = [0, 1, 2, 3, 4, 7].map(|core| geometry.distance(1, core));
    let (cluster, socket, remote) = (Distance::Cluster, Distance::Socket, Distance::Remote);
    assert_eq!(from_1, [cluster, Distance::Same, socket, socket, remote, remote]);
    for a in 0..8 {
        for b in 0..8 {
            assert_eq!(geometry.distance(a, b), TOPOLOGY.distance(a, b));
            assert_eq!(geometry.distance(a, b), geometry.distance(b, a));
        }
    }
}

#[test]
fn the_nearest_and_the_farthest_copy_are_found() {
    let geometry = Geometry::new(TOPOLOGY);
    let all = 0..8_u32;
    for core in all.clone() {
        for set in 1..256_u32 {
            let others: Vec<u32> = all
                .clone()
                .filter(|&other| other != core && set & 1 << other != 0)
                .collect();
            let distances = || others.iter().map(|&other| geometry.distance(core, other));
            assert_eq!(geometry.nearest(core, &copies(&others)), distances().min());
            assert_eq!(geometry.farthest(core, &copies(&others)), distances().max());
            // Its own copy does not count.
            let own: Vec<u32> = others.iter().copied().chain([core]).collect();
            assert_eq!(geometry.farthest(core, &copies(&own)), distances().max());
        }
    }
}
