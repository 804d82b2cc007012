//! The choice of pairs if there are too many.

use crate::machine::CpuTopology;
use crate::record::core_to_core::{Distance, Pair};

/// Every pair, each once.
pub(super) fn all(places: &[CpuTopology]) -> Vec<Pair> {
    let from = |(i, a): (usize, &CpuTopology)| {
        let a = *a;
        let with = move |b: &CpuTopology| Pair {
            cpus: [a.cpu(), b.cpu()],
            distance: a.distance(b),
        };
        places[i + 1..].iter().map(with).collect::<Vec<_>>()
    };
    places.iter().enumerate().flat_map(from).collect()
}

/// At most `most` of `all`, in their order: the same number of each distance while there are any, evenly spread.
pub(super) fn chosen(all: &[Pair], most: usize) -> Vec<Pair> {
    if all.len() <= most {
        return all.to_vec();
    }
    let of = |distance| all.iter().filter(move |p| p.distance == distance);
    let there = Distance::ALL.into_iter().filter(|d| of(*d).next().is_some());
    let classes: Vec<Distance> = there.collect();
    let mut quota = vec![0usize; classes.len()];
    let mut left = most;
    // One each in turn, so that a few siblings are not lost among thousands of remote pairs.
    while left > 0 {
        for (share, class) in quota.iter_mut().zip(&classes) {
            if left > 0 && *share < of(*class).count() {
                *share += 1;
                left -= 1;
            }
        }
    }
    let mut taken: Vec<Pair> = Vec::with_capacity(most);
    for (share, class) in quota.iter().zip(&classes) {
        let members: Vec<&Pair> = of(*class).collect();
        taken.extend((0..*share).map(|i| *members[i * members.len() / share]));
    }
    taken.sort_by_key(|p| p.cpus);
    taken
}
