//! Samples that use the whole machine, and the time that the hypervisor, or the quota of a control group, took from them.
//!
//! On a shared machine no sample of a second is without stolen time, so a limit on it would keep none. Samples are kept with
//! their stolen share and compared in pairs of the same round, which meet the same neighbours. Two things remain to be
//! refused: a sample that lost far more than the run's others, and a difference that is no larger than what the two
//! sides' unequal shares explain.

use super::guard::Rejection;
use super::samples::VariantSamples;
use crate::record::Variant;
use crate::stats;
use std::ops::Range;

/// The steal account of a pinned CPU during one round, which advances in ticks of 10 ms.
///
/// A tick applies to the samples since the reading before the last: the kernel may enter at its own next tick what was taken
/// a few milliseconds ago. A short round is between two readings and is rejected whole; a round of hundreds of samples is not.
pub(super) struct StealInRound {
    ticks: Option<u64>,
    /// The places in the round's order at the last reading and at the one before.
    last: usize,
    before: usize,
}

impl StealInRound {
    /// A round that begins at this reading.
    pub(super) fn new(ticks: Option<u64>) -> Self {
        Self {
            ticks,
            last: 0,
            before: 0,
        }
    }

    /// The places to reject, after a reading before the sample at place `at`; none if time was not taken or nobody can tell.
    pub(super) fn read(&mut self, at: usize, ticks: Option<u64>) -> Range<usize> {
        let grown = self.ticks.zip(ticks).is_some_and(|(before, now)| now > before);
        let places = if grown { self.before..at } else { at..at };
        (self.before, self.last, self.ticks) = (self.last, at, ticks.or(self.ticks));
        places
    }
}

/// A sample is rejected if its stolen share is above the run's median, and its own variant's, by this much …
const FAR_SHARE: f64 = 0.10;
/// … and above the run's by this many robust standard deviations, of which a normal sample in 10⁹ has more.
const FAR_DEVIATIONS: f64 = 6.0;

/// The standard deviation of normal values over their median absolute deviation.
const NORMAL_MAD: f64 = 1.4826;

/// Rejects the samples that lost far more than the median of all of the run's, and than that of their own variant: one that
/// computes has more to lose than one that sleeps.
pub(super) fn reject_far(columns: &mut [&mut VariantSamples]) {
    let shares: Vec<f64> = columns.iter().flat_map(|c| c.stolen()).collect();
    let Some(median) = stats::median(shares.iter().copied()) else {
        return;
    };
    let deviation = stats::median(shares.iter().map(|s| (s - median).abs())).unwrap_or(0.0);
    let limit = median + FAR_SHARE.max(FAR_DEVIATIONS * NORMAL_MAD * deviation);
    for column in columns {
        let own = stats::median(column.stolen().into_iter()).unwrap_or(median);
        let limit = limit.max(own + FAR_SHARE);
        let far = |sample: &Option<super::Sample>| sample.as_ref().and_then(|s| s.stolen).is_some_and(|s| s > limit);
        let rounds: Vec<usize> = (0..column.rounds.len())
            .filter(|&round| far(&column.rounds[round]))
            .collect();
        for round in rounds {
            column.reject(round, Rejection::Stolen);
        }
    }
}

/// Why the stolen shares forbid a verdict on a pair with this ratio; `None` if they do not.
///
/// What takes the CPU time c takes the wall time c / (1 − s) at a stolen share s. Shares that differ beyond noise (the 95 %
/// interval of the paired differences) explain a ratio of (1 − s_b) / (1 − s_a). A ratio twice as far from 1 as that is more
/// than they explain.
pub(super) fn forbids(a: &Variant, b: &Variant, ratio: f64) -> Option<String> {
    let share = |v: &Variant| stats::median(v.stolen.iter().copied());
    let (of_a, of_b) = (share(a)?, share(b)?);
    let differences: Vec<f64> = by_round(a, b);
    let [low, high] = stats::Median::of_series(&differences)?.interval(0.95);
    let differ = low.is_some_and(|x| x > 0.0) || high.is_some_and(|x| x < 0.0);
    let explained = ((1.0 - of_b) / (1.0 - of_a)).ln();
    // A ratio that is not positive has no logarithm, and is not explained by shares.
    (differ && ratio.ln().abs() <= 2.0 * explained.abs()).then(|| {
        format!(
            "the hypervisor or a quota took {:.1} % of {} and {:.1} % of {}, which alone makes a ratio of {:.3}; run it again on a calmer \
             machine",
            100.0 * of_a,
            a.name,
            100.0 * of_b,
            b.name,
            explained.exp()
        )
    })
}

/// The differences of the stolen shares in rounds that kept both.
fn by_round(a: &Variant, b: &Variant) -> Vec<f64> {
    let rounds = |v: &Variant| -> Vec<(usize, f64)> {
        let kept = (0..).filter(|round| !v.rejected_rounds.contains(round));
        kept.zip(v.stolen.iter().copied()).collect()
    };
    let of_b = rounds(b);
    rounds(a)
        .into_iter()
        .filter_map(|(round, share)| {
            let at = of_b.binary_search_by_key(&round, |(r, _)| *r).ok()?;
            Some(share - of_b[at].1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Sample;

    fn column(shares: &[f64]) -> VariantSamples {
        let sample = |share: &f64| {
            Some(Sample {
                stolen: Some(*share),
                ..Sample::new(1.0)
            })
        };
        VariantSamples {
            rounds: shares.iter().map(sample).collect(),
            ..VariantSamples::default()
        }
    }

    #[test]
    fn only_what_lost_far_more_than_the_others_is_rejected() {
        // 5 to 9 % stolen everywhere: a limit of 1 % would keep nothing.
        let shares: Vec<f64> = (0..20).map(|i| 0.05 + 0.002 * f64::from(i)).collect();
        let mut columns = [column(&shares), column(&shares)];
        columns[1].rounds[7].as_mut().unwrap().stolen = Some(0.6);
        reject_far(&mut columns.each_mut());
        assert_eq!((columns[0].kept().len(), columns[1].kept().len()), (20, 19));
        assert_eq!(columns[1].rejected[&Rejection::Stolen], 1);
        assert_eq!(
            (
                columns[1].rejected_samples[0].round,
                columns[1].rejected_samples[0].reason
            ),
            (7, Rejection::Stolen)
        );
        // Without shares nothing is rejected.
        let mut unknown = [VariantSamples {
            rounds: vec![Some(Sample::new(1.0)); 5],
            ..VariantSamples::default()
        }];
        reject_far(&mut unknown.each_mut());
        assert_eq!(unknown[0].kept().len(), 5);
    }

    #[test]
    fn a_stolen_tick_rejects_the_samples_near_it_and_not_a_long_round() {
        let mut round = StealInRound::new(Some(7));
        assert_eq!(round.read(16, Some(7)), 16..16, "nothing was taken");
        assert_eq!(round.read(32, Some(7)), 32..32);
        assert_eq!(round.read(48, Some(8)), 16..48, "entered late");
        assert_eq!(round.read(64, Some(8)), 64..64, "once");
        // The twin: a short round is rejected whole, and without an account nothing is.
        assert_eq!(StealInRound::new(Some(7)).read(5, Some(9)), 0..5);
        assert_eq!(StealInRound::new(None).read(5, None), 5..5);
    }

    #[test]
    fn a_variant_that_computes_among_sleepers_keeps_its_samples() {
        // Sleepers lose nothing, at a median of 0 without deviation; what computes beside them loses 15 %.
        let idle = [0.0; 10];
        let mut columns = [column(&idle), column(&idle), column(&[0.15; 10])];
        columns[2].rounds[3].as_mut().unwrap().stolen = Some(0.4);
        reject_far(&mut columns.each_mut());
        assert_eq!(columns.map(|c| c.kept().len()), [10, 10, 9]);
    }

    fn variant(name: &str, share: f64) -> Variant {
        Variant {
            name: name.to_string(),
            stolen: (0..12).map(|i| share + 0.0001 * f64::from(i)).collect(),
            ..Variant::default()
        }
    }

    #[test]
    fn shares_that_differ_forbid_what_they_explain_and_no_more() {
        let (a, b) = (variant("a", 0.08), variant("b", 0.02));
        let why = forbids(&a, &b, 1.06).unwrap();
        assert!(
            why.contains("8.1 % of a") && why.contains("2.1 % of b") && why.contains("1.065"),
            "{why}"
        );
        assert_eq!(forbids(&a, &b, 6.7), None, "a factor of six is not made by 6 %");
        assert_eq!(
            forbids(&a, &variant("c", 0.08), 1.06),
            None,
            "the same share explains nothing"
        );
        assert_eq!(forbids(&a, &Variant::default(), 1.06), None);
    }

    #[test]
    fn shares_are_paired_by_round() {
        let (mut a, b) = (variant("a", 0.05), variant("b", 0.05));
        a.stolen.remove(0);
        a.rejected_rounds = vec![0];
        assert!(by_round(&a, &b).iter().all(|d| d.abs() < 1e-12));
    }
}
