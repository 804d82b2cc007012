//! Verdicts and noise floors as sentences.

use crate::export::number::{NONE, count, decimals, estimate, fixed, half_width, interval, p_equals, percent};
use crate::record::bounds;
use crate::record::{Comparison, Control, Unit, Verdict};

/// A verdict for the template: a sign and a word, so that it does not depend on colour.
pub(super) struct Sentence {
    /// `faster`, `slower` or `indistinguishable`: also the CSS class.
    pub(super) word: &'static str,
    /// A sign that is visible in black and white.
    pub(super) sign: &'static str,
    /// The sentence.
    pub(super) text: String,
}

/// The result of a comparison, before it is put in words.
pub(super) struct Finding<'a> {
    pub(super) a: &'a str,
    pub(super) b: &'a str,
    pub(super) unit: Unit,
    pub(super) ratio: f64,
    pub(super) ratio_ci95: [f64; 2],
    pub(super) p_holm: f64,
    pub(super) verdict: Verdict,
    pub(super) floor: Option<f64>,
}

impl<'a> Finding<'a> {
    /// The finding of a record's comparison.
    pub(super) fn of(c: &'a Comparison, unit: Unit, control: Option<&Control>) -> Self {
        Finding {
            a: &c.a,
            b: &c.b,
            unit,
            ratio: c.ratio,
            ratio_ci95: bounds(c.ratio_ci95),
            p_holm: c.p_holm,
            verdict: c.verdict,
            floor: control.map(|control| control.floor),
        }
    }

    /// The finding as one sentence.
    pub(super) fn sentence(&self) -> Sentence {
        let Finding { a, b, .. } = self;
        let (claim, of_what) = match (self.verdict, self.unit.more_is_faster()) {
            (verdict, false) if verdict.is_claim() => (format!("{a} is {} than {b}", verdict.as_str()), "the time"),
            (verdict, true) if verdict.is_claim() => (format!("{a} is {} than {b}", verdict.as_str()), "the rate"),
            (verdict, false) => (format!("{a} and {b}: {}", verdict.in_words()), "the time"),
            (verdict, true) => (format!("{a} and {b}: {}", verdict.in_words()), "the rate"),
        };
        let floor = match self.floor {
            Some(floor) if floor.is_finite() => format!("; noise floor {}", percent(floor)),
            _ => "; noise floor unknown".to_owned(),
        };
        Sentence {
            word: self.verdict.as_str(),
            sign: sign(self.verdict),
            text: format!(
                "{claim}: {} {of_what} (95\u{a0}% CI {}), {}{floor}.",
                times(self.ratio, self.ratio_ci95),
                interval(self.ratio, self.ratio_ci95),
                p_equals(self.p_holm)
            ),
        }
    }
}

/// The sign of a verdict.
pub(super) fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Same => "≈",
        Verdict::Undecided => "?",
        Verdict::None => "–",
        Verdict::Depends => "◆",
    }
}

/// A ratio: `20.1×`.
pub(super) fn times(ratio: f64, ci: [f64; 2]) -> String {
    match estimate(ratio, ci) {
        none if none == NONE => none,
        shown => format!("{shown}×"),
    }
}

/// The result of the A/A control, in one sentence.
pub(super) fn floor(control: Option<&Control>, unit: Unit) -> String {
    let Some(c) = control else {
        return "This record contains no A/A control, so its noise floor is unknown.".to_owned();
    };
    if !c.floor.is_finite() || !c.difference.is_finite() {
        return format!(
            "The A/A control of {} kept too few samples to give a noise floor.",
            c.of
        );
    }
    let d = decimals(c.difference, half_width(c.ci99));
    format!(
        "Noise floor {}: {} measured against itself (A/A control, n = {}) differed by {} {unit} \
         (99\u{a0}% CI {} to {}), so a difference smaller than {} of the mean is treated as noise.",
        percent(c.floor),
        c.of,
        count(c.n),
        fixed(c.difference, d),
        fixed(c.ci99[0], d),
        fixed(c.ci99[1], d),
        percent(c.floor),
        unit = unit.as_str(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(verdict: Verdict, unit: Unit, ratio: f64, ci: [f64; 2], p: f64) -> String {
        Finding {
            a: "lock-inc64",
            b: "ds-inc64",
            unit,
            ratio,
            ratio_ci95: ci,
            p_holm: p,
            verdict,
            floor: Some(0.003),
        }
        .sentence()
        .text
    }

    #[test]
    fn a_verdict_reads_as_a_sentence() {
        assert_eq!(
            finding(Verdict::Slower, Unit::TicksPerOp, 20.1, [20.0, 20.2], 0.0),
            "lock-inc64 is slower than ds-inc64: 20.10× the time (95\u{a0}% CI 20.00–20.20), \
             p\u{a0}<\u{a0}1e-99; noise floor 0.30\u{a0}%."
        );
        assert_eq!(
            finding(Verdict::Faster, Unit::OpsPerSecond, 1.98, [1.8, 2.2], 0.002),
            "lock-inc64 is faster than ds-inc64: 1.98× the rate (95\u{a0}% CI 1.80–2.20), \
             p\u{a0}=\u{a0}0.0020; noise floor 0.30\u{a0}%."
        );
        assert!(
            finding(Verdict::Undecided, Unit::Seconds, 1.0, [0.9, 1.1], 0.96)
                .starts_with("lock-inc64 and ds-inc64: undecided: 1.00× the time")
        );
    }

    #[test]
    fn an_odd_finding_is_still_a_sentence() {
        let odd = finding(Verdict::Undecided, Unit::Seconds, f64::NAN, [f64::NAN; 2], f64::NAN);
        assert!(odd.contains("—") && odd.contains("p unknown"), "{odd}");
    }
}
