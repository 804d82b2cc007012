//! Brings the records of all CPUs into the order of time, without keeping them all.
//!
//! # Invariants
//! 1. A round reads every ring once. What a ring gets after it was read in a round is younger than what was in it then. So when a round has
//!    ended, everything as old as the youngest record of the round *before* has been read from every ring, and may be given out.

use cyclewise_bench::sys::perf_record::{Record, Stamped};

/// Records that wait for their turn.
#[derive(Default)]
pub(super) struct Order {
    pending: Vec<Stamped>,
    youngest: u64,
    complete: u64,
}

impl Order {
    pub(super) fn round(&mut self) {
        self.complete = self.youngest;
    }

    /// Adds what a ring had, in its order.
    pub(super) fn add(&mut self, records: Vec<Stamped>) {
        let mut last = 0;
        for mut stamped in records {
            // A record that cannot be read has no time; it stays where it was.
            if stamped.record == Record::Malformed {
                stamped.time_ns = last;
            }
            last = stamped.time_ns;
            self.youngest = self.youngest.max(last);
            self.pending.push(stamped);
        }
    }

    /// Takes those whose turn it is.
    pub(super) fn ready(&mut self) -> Vec<Stamped> {
        self.pending.sort_by_key(|s| s.time_ns);
        let end = self.pending.partition_point(|s| s.time_ns <= self.complete);
        self.pending.drain(..end).collect()
    }

    /// Takes all, after the last round.
    pub(super) fn rest(&mut self) -> Vec<Stamped> {
        self.pending.sort_by_key(|s| s.time_ns);
        std::mem::take(&mut self.pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(time_ns: u64) -> Stamped {
        Stamped {
            time_ns,
            record: Record::Other,
        }
    }

    /// Two rings, read in rounds: each round reads the first ring up to a time and then the second up to a later one. Time goes on: a round
    /// begins when the one before has ended.
    fn in_rounds(times: &[(bool, u64)], rounds: &[u64], give: impl Fn(&mut Order) -> Vec<Stamped>) -> Vec<u64> {
        let mut order = Order::default();
        let mut out = Vec::new();
        let mut from = [0, 0];
        for &now in rounds {
            let now = now.max(from[1]);
            order.round();
            for (ring, until) in [(false, now), (true, now + 3)] {
                let new = times
                    .iter()
                    .filter(|(r, t)| *r == ring && (from[usize::from(ring)]..until).contains(t));
                order.add(new.map(|&(_, t)| at(t)).collect());
                from[usize::from(ring)] = until;
            }
            out.extend(give(&mut order));
        }
        out.extend(order.rest());
        out.iter().map(|s| s.time_ns).collect()
    }

    proptest! {
        #[test]
        fn records_come_out_in_the_order_of_time(
            mut times in proptest::collection::vec((any::<bool>(), 0u64..100), 0..60),
            mut rounds in proptest::collection::vec(0u64..100, 0..8),
        ) {
            times.sort_by_key(|t| t.1);
            rounds.sort_unstable();
            rounds.push(200);
            let out = in_rounds(&times, &rounds, Order::ready);
            prop_assert!(out.is_sorted(), "{:?}", out);
            prop_assert_eq!(out.len(), times.len());
        }
    }

    #[test]
    fn the_twin_that_gives_out_each_round_at_once_mixes_them_up() {
        // The second ring is read later, and so has a record that is younger than one the first ring gives in the next round.
        let times = [(true, 12), (false, 11)];
        assert_eq!(in_rounds(&times, &[10, 20], Order::ready), [11, 12]);
        assert_eq!(in_rounds(&times, &[10, 20], Order::rest), [12, 11]);
    }

    #[test]
    fn a_record_without_a_time_stays_behind_the_one_before() {
        let mut order = Order::default();
        let malformed = Stamped {
            time_ns: 0,
            record: Record::Malformed,
        };
        order.add(vec![at(5), malformed, at(6)]);
        let times: Vec<_> = order.rest().iter().map(|s| s.time_ns).collect();
        assert_eq!(times, [5, 5, 6]);
    }
}
