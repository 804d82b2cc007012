//! Verdicts and noise floors as sentences.

use crate::answer::Finding;
use crate::export::number::{count, decimals, fixed, half_width, percent};
use crate::record::{Control, Unit, Verdict};

/// A verdict for the template: a sign and a word, so that it does not depend on colour.
pub struct Sentence {
    /// The verdict's name in the JSON: also the CSS class.
    pub word: &'static str,
    /// A sign that is visible in black and white.
    pub sign: &'static str,
    pub text: String,
}

pub fn sentence(finding: &Finding) -> Sentence {
    Sentence {
        word: finding.verdict.as_str(),
        sign: sign(finding.verdict),
        text: finding.sentence(),
    }
}

pub fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Same => "≈",
        Verdict::Undecided => "?",
        Verdict::None => "–",
        Verdict::Depends => "◆",
    }
}

pub fn floor(control: Option<&Control>, unit: Unit) -> String {
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
         (99\u{a0}% CI {} to {}), so a difference smaller than {} is treated as noise.",
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

    #[test]
    fn each_verdict_has_a_sign_of_its_own() {
        use Verdict::{Depends, Faster, None, Same, Slower, Undecided};
        let mut signs = [Faster, Slower, Same, Undecided, None, Depends].map(sign);
        signs.sort_unstable();
        assert!(signs.windows(2).all(|pair| pair[0] != pair[1]), "{signs:?}");
    }
}
