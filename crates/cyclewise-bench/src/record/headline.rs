//! The figures that a record is read by: those of the headline, and in records without one those of all samples.

use super::{Comparison, Control, Figure, Interval, Paired, State, Variant};

impl Variant {
    /// The headline figure; of an older record, the median of all samples, whose interval is unknown.
    pub fn figure(&self) -> Figure {
        self.headline.clone().unwrap_or_else(|| Figure {
            state: State::All,
            n: self.n,
            median: self.median,
            ci95: [None, None],
            effective_n: self.n as f64,
            ..Figure::default()
        })
    }

    /// The value of the row and its 95 % interval: of several runs where there were several, else of the headline.
    pub fn value(&self) -> (f64, Interval) {
        match &self.between {
            Some(between) => (between.value, between.ci95),
            None => {
                let figure = self.figure();
                (figure.median, figure.ci95)
            }
        }
    }

    /// Whether the time of the row is known not to be linear in its copies, so that a slope is no cost.
    pub fn is_not_linear(&self) -> bool {
        self.linearity.as_ref().is_some_and(|l| l.linear == Some(false))
    }
}

impl Control {
    /// The noise floor of a state: the tighter bound of its own rounds and of all, because what the apparatus adds does not
    /// depend on the neighbour. The floor of a state of fewer than `fewest` pairs may be small by chance, and bounds nothing.
    pub fn floor_in(&self, state: State, fewest: f64) -> f64 {
        let own = self.states.iter().find(|s| s.state == state && s.n as f64 >= fewest);
        own.map_or(self.floor, |own| own.floor.min(self.floor))
    }
}

impl Comparison {
    /// The headline's paired figures; of an older record, the ratio of means.
    pub fn paired(&self) -> Paired {
        self.headline.clone().unwrap_or_else(|| Paired {
            state: State::All,
            difference: self.difference,
            ci95: self.ci95.map(Some),
            ratio: self.ratio,
            ratio_ci95: self.ratio_ci95,
            p: self.p,
            verdict: self.verdict,
            ..Paired::default()
        })
    }

    /// The ratio and its 95 % interval: over several runs where there were several, else of the headline.
    pub fn ratio_of(&self) -> (f64, Interval) {
        match &self.between {
            Some(between) => (between.value, between.ci95),
            None => {
                let paired = self.paired();
                (paired.ratio, paired.ratio_ci95)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::BetweenRuns;

    #[test]
    fn several_runs_go_before_the_headline_and_that_before_the_mean() {
        let mut v = Variant {
            mean: 9.0,
            median: 7.0,
            ..Variant::default()
        };
        assert_eq!(v.value(), (7.0, [None, None]));
        v.headline = Some(Figure {
            median: 6.5,
            ci95: [Some(6.4), None],
            ..Figure::default()
        });
        assert_eq!(v.value(), (6.5, [Some(6.4), None]));
        v.between = Some(BetweenRuns {
            runs: 3,
            value: 6.6,
            ci95: [Some(6.1), Some(7.0)],
        });
        assert_eq!(v.value(), (6.6, [Some(6.1), Some(7.0)]));
    }

    #[test]
    fn a_comparison_without_a_headline_is_of_means() {
        let mut c = Comparison {
            ratio: 1.3,
            ratio_ci95: [Some(1.2), Some(1.4)],
            ..Comparison::default()
        };
        assert_eq!(c.ratio_of(), (1.3, [Some(1.2), Some(1.4)]));
        c.headline = Some(Paired {
            state: State::Quiet,
            ratio: 0.97,
            ..Paired::default()
        });
        assert_eq!(c.ratio_of(), (0.97, [None, None]));
    }
}
