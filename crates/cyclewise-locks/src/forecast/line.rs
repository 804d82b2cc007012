//! What is left of a locked instruction's price after code of some length: the model.
//!
//! # Model
//! A locked instruction takes `L` ticks, what it adds back to back. A CPU that executes out of order does other work
//! meanwhile, unless that waits for the lock: loads on some CPUs, the store buffer on others. So of each tick of the code
//! between two locked instructions some share `h` is hidden beside one, and the program pays `max(rest, L - h t)` for a
//! locked instruction with code of `t` ticks before the next. A column of the matrix is one point of that line for one kind
//! of code: what is added there, `a`, after code of `own` ticks.
//!
//! - Up to `own`, what is saved falls from the price back to back to `a`. In the middle reading it falls by the largest share
//!   that the matrix shows, which is that of a pair where a single instruction is hidden before the code ends; pessimistically
//!   by half of that.
//! - Beyond `own`, `a` is the middle and the pessimistic reading: a delay of something on the critical path, which more code
//!   does not hide. (Loops of loads that wait for each other pay it at any length on Zen 3.) The optimistic one falls to
//!   nothing, but for the chain of loads.
//! - The second locked instruction of a pair is hidden only by what the first has left over, but beyond `own` by more code, too.
//!
//! # References
//! The bound by the slower of two overlapped activities is that of S. Eyerman and others, "A mechanistic performance model
//! for superscalar out-of-order processors" (ACM TOCS 27:2, 2009), with the locked instruction for their long miss.

/// One column's points of the line of what is saved.
#[derive(Clone, Copy, Debug)]
pub(super) struct SavedLine {
    /// Back to back: the least and the most.
    pub(super) nothing: [f64; 2],
    /// After the column's code.
    pub(super) cell: f64,
    /// Ticks of that code.
    pub(super) own: f64,
    /// The largest share of the code that is known to be hidden beside the locked instruction.
    pub(super) share: f64,
    /// Whether more code never hides what is left in the column.
    pub(super) stays: bool,
    /// Ticks of the code that are used up by the first of a pair.
    pub(super) used: f64,
}

impl SavedLine {
    /// The optimistic reading of what is saved after code of `t` ticks, that is the least.
    pub(super) fn least(&self, t: f64) -> f64 {
        if t <= self.own {
            return self.between(self.nothing[0], t).min(self.fast(self.nothing[1], t));
        }
        if self.stays {
            return self.cell;
        }
        // What saves nothing in the column does not come to save less by more code.
        (self.cell - self.slope() * (t - self.own)).max(self.cell.min(0.0))
    }

    pub(super) fn middle(&self, t: f64) -> f64 {
        if t <= self.own {
            let [least, most] = self.nothing.map(|nothing| self.fast(nothing, t));
            return least.midpoint(most);
        }
        if self.used > 0.0 {
            // A second one is hidden by more code to some extent.
            return self.cell.midpoint(self.least(t));
        }
        self.cell
    }

    /// The pessimistic one, that is the most.
    pub(super) fn most(&self, t: f64) -> f64 {
        if t <= self.own {
            let line = self.between(self.nothing[1], t);
            let fast = self.fast(self.nothing[1], t);
            return line.min(fast.max(self.nothing[1] - self.slope() / 2.0 * t)).max(fast);
        }
        self.cell.max(0.0)
    }

    fn slope(&self) -> f64 {
        self.share.max((self.nothing[1] - self.cell).max(0.0) / self.own)
    }

    fn fast(&self, nothing: f64, t: f64) -> f64 {
        let left = self.own - self.used;
        if nothing < self.cell || left <= 0.0 {
            return self.between(nothing, t);
        }
        // What the first of a pair uses up is not left for the second, and yet the matrix's point is met.
        let slope = self.slope().max((nothing - self.cell) / left);
        (nothing - slope * (t - self.used).max(0.0)).max(self.cell)
    }

    fn between(&self, nothing: f64, t: f64) -> f64 {
        nothing + (self.cell - nothing) * t / self.own
    }
}

#[cfg(test)]
mod tests {
    use super::SavedLine;

    /// LOCK INC on Zen 3 beside independent loads, and beside loads that wait for each other.
    const LOADS: SavedLine = SavedLine {
        nothing: [4.2, 4.2],
        cell: 0.2,
        own: 8.4,
        share: 0.9,
        stays: false,
        used: 0.0,
    };
    const CHAIN: SavedLine = SavedLine {
        nothing: [4.2, 4.2],
        cell: 2.4,
        own: 25.0,
        share: 1.0,
        stays: true,
        used: 0.0,
    };

    #[test]
    fn readings_are_ordered_and_meet_the_two_points_of_the_matrix() {
        for line in [LOADS, CHAIN, SavedLine { used: 4.6, ..LOADS }] {
            for tenths in 0..2000 {
                let t = f64::from(tenths) / 10.0;
                let [least, middle, most] = [line.least(t), line.middle(t), line.most(t)];
                assert!(least <= middle + 1e-12 && middle <= most + 1e-12, "{t} {line:?}");
            }
            assert_eq!([line.least(0.0), line.middle(0.0), line.most(0.0)], [4.2; 3]);
            assert!((line.most(line.own) - line.cell).abs() < 1e-12);
        }
    }

    #[test]
    fn independent_code_hides_it_and_a_chain_pays_at_any_length() {
        assert!(LOADS.middle(5.0) < 0.3 && LOADS.least(20.0) == 0.0);
        assert_eq!([CHAIN.least(200.0), CHAIN.middle(7.0), CHAIN.most(200.0)], [2.4; 3]);
    }

    #[test]
    fn the_second_of_a_pair_is_hidden_later() {
        let second = SavedLine { used: 4.6, ..LOADS };
        assert_eq!(second.middle(4.6), 4.2);
        assert!(second.middle(6.0) > LOADS.middle(6.0) + 1.0);
    }

    #[test]
    fn code_in_which_eliding_costs_stays_so() {
        let loses = SavedLine { cell: -1.4, ..LOADS };
        assert_eq!(
            [loses.least(50.0), loses.middle(50.0), loses.most(50.0)],
            [-1.4, -1.4, 0.0]
        );
    }
}
