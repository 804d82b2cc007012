//! Who looks, what is kept of a look, and what a reading uses meanwhile. Under loom the first readings are a model.

use super::*;
use crate::primitive::threads::{Arc, caught, model, thread};

const AHEAD_NS: u64 = 1_000_000;

fn anchor(ahead_ns: u64) -> UnixAnchor {
    UnixAnchor { ahead_ns, error_ns: 20 }
}

/// What two threads read that use the clock first, at the same time.
fn first_readings(wall: WallClock) -> [u64; 2] {
    let wall = Arc::new(wall);
    let other = Arc::clone(&wall);
    let other = thread::spawn(move || other.ahead_ns(5, || anchor(AHEAD_NS)));
    let own = wall.ahead_ns(6, || anchor(AHEAD_NS));
    [own, other.join().unwrap()]
}

#[test]
fn nobody_reads_a_distance_that_was_not_measured() {
    model(|| assert_eq!(first_readings(WallClock::new()), [AHEAD_NS; 2]));
}

caught! {
    /// A clock whose empty word is 0, a time in 1970.
    a_word_that_does_not_say_that_it_is_empty_is_caught: "not measured" by model(|| {
        let wall = WallClock::new();
        wall.ahead_ns.store(0, Relaxed);
        assert_eq!(first_readings(wall), [AHEAD_NS; 2], "not measured");
    });
}

/// With real threads, or none.
#[cfg(not(loom))]
mod real {
    use super::*;

    fn started() -> WallClock {
        let wall = WallClock::new();
        assert_eq!(wall.ahead_ns(0, || anchor(AHEAD_NS)), AHEAD_NS);
        wall
    }

    fn nobody_looks() -> UnixAnchor {
        panic!("a look that is not due")
    }

    #[test]
    fn a_step_is_followed_and_an_error_of_measurement_is_not() {
        let wall = started();
        let mut now_ns = 0;
        let mut look = |ahead_ns| {
            assert_eq!(wall.ahead_ns(now_ns + 1, nobody_looks), wall.ahead_ns.load(Relaxed));
            now_ns += INTERVAL_NS;
            wall.ahead_ns(now_ns, || anchor(ahead_ns))
        };
        assert_eq!(look(1_000_040), AHEAD_NS, "as far as two errors reach");
        assert_eq!(look(999_960), AHEAD_NS, "as far as two errors reach");
        assert_eq!(look(1_000_041), 1_000_041, "further");
        let back = 0u64.wrapping_sub(5_000_000_000);
        assert_eq!(look(back), back);
        let instant = Instant::<super::super::super::super::LoadOrdered>::from_ns(7_000_000_000);
        assert_eq!(instant.as_unix_nanos(&anchor(back)), 2_000_000_000);
    }

    #[test]
    fn a_distance_that_was_measured_far_better_is_taken() {
        let wall = WallClock::new();
        let look = |turn: u64, ahead_ns, error_ns| {
            wall.ahead_ns(turn * INTERVAL_NS, || UnixAnchor { ahead_ns, error_ns });
            (wall.ahead_ns.load(Relaxed), wall.error_ns.load(Relaxed))
        };
        assert_eq!(look(0, 0, super::super::super::UNKNOWN_NS), (0, u64::MAX), "refused");
        assert_eq!(look(1, 500_000, 400_000), (500_000, 400_000), "and no longer");
        assert_eq!(look(2, 510_000, 200_000), (500_000, 400_000), "half as wide");
        assert_eq!(look(3, 490_000, 199_999), (490_000, 199_999));
        assert_eq!(
            look(4, 0, super::super::super::UNKNOWN_NS),
            (490_000, 199_999),
            "refused later"
        );
    }

    #[test]
    fn one_looks_and_the_others_use_what_there_is() {
        let wall = WallClock::new();
        let first = wall.ahead_ns(1, || {
            let beside = wall.ahead_ns(2, || anchor(7));
            assert_eq!(
                (beside, wall.ahead_ns.load(Relaxed)),
                (7, NONE),
                "one of its own, for once"
            );
            anchor(AHEAD_NS)
        });
        assert_eq!(first, AHEAD_NS);
        let stepped = wall.ahead_ns(1 + INTERVAL_NS, || {
            assert_eq!(wall.ahead_ns(2 + INTERVAL_NS, nobody_looks), AHEAD_NS);
            anchor(5_000_000)
        });
        assert_eq!(stepped, 5_000_000);
    }

    /// A thread is stopped in its look, during which the clock is set and another looks.
    #[test]
    fn an_older_look_does_not_undo_a_newer_one() {
        for before in [WallClock::new(), started()] {
            let used = before.ahead_ns(INTERVAL_NS, || {
                let newer = before.ahead_ns(2 * INTERVAL_NS, || anchor(5_000_000));
                assert_eq!(newer, 5_000_000);
                anchor(3_000_000)
            });
            assert_eq!((used, before.ahead_ns.load(Relaxed)), (5_000_000, 5_000_000));
        }
        // The newer look found nothing new: what the older one saw was set back since.
        let wall = started();
        wall.ahead_ns(INTERVAL_NS, || {
            wall.ahead_ns(2 * INTERVAL_NS, || anchor(AHEAD_NS));
            anchor(3_000_000)
        });
        assert_eq!(wall.ahead_ns.load(Relaxed), AHEAD_NS);
    }

    /// The twin: as looks were before, each of which stored what it had read.
    #[test]
    fn looks_that_all_store_undo_each_other() {
        let wall = started();
        let look = |between: &dyn Fn()| {
            let anchor = anchor(if wall.ahead_ns.load(Relaxed) == AHEAD_NS {
                3_000_000
            } else {
                5_000_000
            });
            between();
            wall.ahead_ns.store(anchor.ahead_ns, Relaxed);
        };
        look(&|| wall.ahead_ns.store(5_000_000, Relaxed));
        assert_eq!(wall.ahead_ns.load(Relaxed), 3_000_000, "the older one");
    }

    /// In another time namespace, or restored from a checkpoint: the distance is another, and the look of before is far away.
    #[test]
    fn a_clock_that_was_set_back_is_looked_at() {
        let wall = WallClock::new();
        assert_eq!(wall.ahead_ns(50 * INTERVAL_NS, || anchor(AHEAD_NS)), AHEAD_NS);
        // The twin: as little as another reader's look may be later than this one's time.
        assert_eq!(wall.ahead_ns(49 * INTERVAL_NS, nobody_looks), AHEAD_NS);
        assert_eq!(
            wall.ahead_ns(10 * INTERVAL_NS, || anchor(41 * INTERVAL_NS)),
            41 * INTERVAL_NS
        );
        assert_eq!(wall.ahead_ns(10 * INTERVAL_NS, nobody_looks), 41 * INTERVAL_NS);
    }
}
