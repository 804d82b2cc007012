//! How far the runs of a machine usually lie apart, and which machine's lie much farther apart than that.
//!
//! A machine with s² over r runs is as good as its group's machines are where s²(r − 1)/σ² has a chi-squared distribution with r − 1
//! degrees of freedom. σ² is the median of the machines' s², each over the median of its own chi-squared: half of the machines
//! may be unsteady without changing it much. A machine whose s² would be that large by chance once in ten thousand times may be
//! unsteady: what its figure is, its own runs do not agree on, and its figure has that uncertainty.
//!
//! The median of few is uncertain itself, so that it is *said* of a machine by the F distribution: σ² has the degrees of freedom
//! that the median of m chi-squared variables with d has, by the median's asymptotic variance 1/(4 m f²): 0.368 m for d = 1,
//! 0.961 m for d = 2 and (2/π) m d for many.
//!
//! # References
//! E. B. Wilson, M. M. Hilferty, "The Distribution of Chi-Square", Proceedings of the National Academy of Sciences 17(12), 1931.

use super::median::middle;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

/// A machine is unsteady whose runs lie so far apart by chance this rarely.
const RARELY: f64 = 1e-4;

/// The fewest machines with several runs of which a usual spread is known.
const FEWEST: usize = 5;

/// The usual spread of a machine's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSpread {
    /// The usual variance between the runs of a machine.
    variance: f64,
    /// The degrees of freedom of that variance.
    df: f64,
    /// Runs of the usual machine.
    runs: f64,
}

impl RunSpread {
    /// Of the runs of each machine. No spread is called less than `least`. `None` if fewer than five machines have two runs.
    pub fn between_machines(machines: &[&[f64]], least: f64) -> Option<Self> {
        let several = machines.iter().filter(|runs| runs.len() > 1);
        let mut variances: Vec<f64> = several
            .map(|runs| variance(runs) / chi2_median(runs.len() as f64 - 1.0))
            .collect();
        if variances.len() < FEWEST {
            return None;
        }
        variances.sort_unstable_by(f64::total_cmp);
        let mut counts: Vec<f64> = machines.iter().map(|runs| runs.len() as f64).collect();
        counts.sort_unstable_by(f64::total_cmp);
        let runs = middle(&counts)?;
        Some(Self {
            variance: middle(&variances)?.max(least * least),
            df: variances.len() as f64 * median_df((runs - 1.0).max(1.0)),
            runs,
        })
    }

    /// The usual standard deviation between the runs of a machine.
    pub fn sd(&self) -> f64 {
        self.variance.sqrt()
    }

    /// Whether these runs of one machine lie much farther apart than usual, for certain.
    pub fn is_unsteady(&self, runs: &[f64]) -> bool {
        let ratio = variance(runs) / self.variance;
        self.may_be_unsteady(runs)
            && FisherSnedecor::new(runs.len() as f64 - 1.0, self.df).is_ok_and(|f| f.sf(ratio) < RARELY)
    }

    /// The same if the usual spread were known exactly.
    fn may_be_unsteady(&self, runs: &[f64]) -> bool {
        let df = runs.len() as f64 - 1.0;
        let ratio = variance(runs) * df / self.variance;
        // The distribution is asked only where it may say yes: at this multiple of the degrees of freedom it is rarer than one in ten.
        df > 0.0 && ratio > 2.5 * df && ChiSquared::new(df).is_ok_and(|chi2| chi2.sf(ratio) < RARELY)
    }

    /// The variance that a machine's figure has in addition to that of the usual machine: of fewer runs, or of unsteady ones.
    pub fn extra(&self, runs: &[f64]) -> f64 {
        let usual = self.variance / self.runs;
        let own = if self.may_be_unsteady(runs) {
            variance(runs)
        } else {
            self.variance
        };
        (own / runs.len().max(1) as f64 - usual).max(0.0)
    }

    /// The variance that one run of the usual machine has in addition to that machine's figure; `None` unless these runs may be
    /// unsteady, because the figure of all of them is the better one otherwise.
    pub fn extra_of_one(&self, runs: &[f64]) -> Option<f64> {
        self.may_be_unsteady(runs)
            .then_some((self.variance * (1.0 - 1.0 / self.runs)).max(0.0))
    }
}

/// The sample variance; 0 of one value.
fn variance(runs: &[f64]) -> f64 {
    let n = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / n;
    let squares: f64 = runs.iter().map(|x| (x - mean).powi(2)).sum();
    if n > 1.0 { squares / (n - 1.0) } else { 0.0 }
}

/// The degrees of freedom of a variance that is the median of many with `df`, for each of these.
fn median_df(df: f64) -> f64 {
    if df < 1.5 {
        return 0.368;
    }
    (std::f64::consts::FRAC_2_PI * df - 0.27).max(0.368)
}

/// The median of chi-squared over its degrees of freedom: Wilson and Hilferty's, which is within 1 % from two on.
fn chi2_median(df: f64) -> f64 {
    if df < 1.5 {
        return 0.454_936; // the square of the normal quantile 0.75
    }
    (1.0 - 2.0 / (9.0 * df)).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Source, column};

    fn machines(s: &mut Source, n: usize, runs: usize) -> Vec<Vec<f64>> {
        (0..n).map(|_| column(runs, || 0.02 * s.normal())).collect()
    }

    fn of(machines: &[Vec<f64>]) -> RunSpread {
        let runs: Vec<&[f64]> = machines.iter().map(Vec::as_slice).collect();
        RunSpread::between_machines(&runs, 0.0).unwrap()
    }

    #[test]
    fn the_usual_spread_is_right_and_unsteady_machines_do_not_change_it() {
        for runs in [2, 3, 5] {
            let mut s = Source::new(3);
            let mut all = machines(&mut s, 2000, runs);
            let well = of(&all);
            assert!((well.sd() / 0.02 - 1.0).abs() < 0.05, "{runs}: {}", well.sd());
            for machine in all.iter_mut().take(200) {
                machine[0] += 1.0;
            }
            let some = of(&all);
            assert!((some.sd() / 0.02 - 1.0).abs() < 0.15, "{runs}: {}", some.sd());
            assert!(all[..200].iter().all(|m| some.is_unsteady(m)));
            let called = all[200..].iter().filter(|m| some.is_unsteady(m)).count();
            assert!(
                called <= 2,
                "{runs}: {called} of 1800 steady machines are called unsteady"
            );
        }
    }

    #[test]
    fn ordinary_machines_of_a_small_group_are_not_called_unsteady() {
        for (n, runs) in [(5, 2), (8, 2), (20, 3)] {
            let mut s = Source::new(9);
            let (mut called, mut would_be) = (0, 0);
            for _ in 0..400 {
                let all = machines(&mut s, n, runs);
                let usual = of(&all);
                called += all.iter().filter(|m| usual.is_unsteady(m)).count();
                would_be += all.iter().filter(|m| usual.may_be_unsteady(m)).count();
            }
            // 0.2 to 2.4 are expected; taking the usual spread as known calls many.
            assert!(called <= 8 && would_be > called, "{n}, {runs}: {called} {would_be}");
        }
    }

    #[test]
    fn an_unsteady_machine_has_its_own_uncertainty_and_one_of_fewer_runs_more() {
        let mut s = Source::new(4);
        let usual = of(&machines(&mut s, 100, 3));
        assert_eq!(usual.extra(&[0.0, 0.01, -0.01]), 0.0);
        assert!((usual.extra(&[0.5]) / (usual.sd().powi(2) * 2.0 / 3.0) - 1.0).abs() < 1e-9);
        assert!(usual.extra(&[0.0, 0.0, 1.0]) > 0.1);
        assert_eq!(RunSpread::between_machines(&[[1.0, 2.0].as_slice(); 4], 0.0), None);
        assert_eq!(RunSpread::between_machines(&[[1.0].as_slice(); 40], 0.0), None);
    }
}
