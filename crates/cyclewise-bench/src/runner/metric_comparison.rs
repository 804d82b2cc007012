//! A metric of two variants, compared.

use crate::record::Variant;
use crate::stats;

/// One metric of two variants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricComparison {
    pub means: [f64; 2],
    /// 95 % confidence interval of the difference of the two, the first less the second.
    pub ci95: [f64; 2],
}

impl MetricComparison {
    /// The metric `name` of the variants `a` and `b`; `None` if one has too few samples of it.
    pub fn between(all: &[Variant], [a, b]: [&str; 2], name: &str) -> Option<Self> {
        let metric = |of: &str| all.iter().find(|v| v.name == of)?.metrics.get(name);
        let (a, b) = (metric(a)?, metric(b)?);
        Some(Self {
            means: [a.mean, b.mean],
            ci95: stats::welch(&a.samples, &b.samples)?.ci95,
        })
    }

    /// The first relative to the second, if the interval excludes 0.
    pub fn direction(&self) -> &'static str {
        match self.ci95 {
            [_, high] if high < 0.0 => "below",
            [low, _] if low > 0.0 => "above",
            _ => "undecided",
        }
    }
}
