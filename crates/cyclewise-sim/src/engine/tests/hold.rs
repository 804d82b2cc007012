//! The hold time under each law.

use super::super::hold::Holds;
use super::timing;
use crate::machine::Hold;

#[test]
fn none_and_fixed_holds_do_not_adapt() {
    for (hold, time) in [(Hold::None, 0), (Hold::Fixed { cycles: 50 }, 50_000)] {
        let mut holds = Holds::new(hold, 2, &timing());
        assert_eq!(holds.filled(0), time);
        holds.lost(0);
        assert_eq!(holds.filled(0), time);
    }
}

#[test]
fn an_adaptive_hold_grows_with_losses_and_shrinks_with_fills() {
    let hold = Hold::Adaptive {
        cycles: 4,
        up: 4,
        down: 1,
        max: 6,
    };
    let mut holds = Holds::new(hold, 2, &timing());
    assert_eq!(holds.filled(0), 0);
    holds.lost(0);
    // Four steps of four nanoseconds, one step less each time.
    assert_eq!([(); 6].map(|()| holds.filled(0)), [16_000, 12_000, 8_000, 4_000, 0, 0]);
    for _ in 0..9 {
        holds.lost(0);
    }
    assert_eq!(holds.filled(0), 24_000, "the most is six steps");
    assert_eq!(holds.filled(1), 0, "each core adapts separately");
}
