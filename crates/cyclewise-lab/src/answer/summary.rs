//! One line about all comparisons of an experiment: how many of each verdict, and the largest difference.

use super::finding::Finding;
use crate::record::Verdict;

/// The verdicts in the order in which they are counted.
const ORDER: [Verdict; 6] = [
    Verdict::Faster,
    Verdict::Slower,
    Verdict::Same,
    Verdict::Undecided,
    Verdict::Depends,
    Verdict::None,
];

/// `2 of 13 faster, 1 slower, 8 same, 2 undecided; largest: inc 1.30× ds-inc`; `None` if there are no findings.
///
/// `name` is what the largest difference is called.
pub(crate) fn summary<'a>(findings: &[Finding<'a>], name: impl Fn(&Finding<'a>) -> String) -> Option<String> {
    if findings.is_empty() {
        return None;
    }
    let mut counts = Vec::new();
    for verdict in ORDER {
        let count = findings.iter().filter(|f| f.verdict == verdict).count();
        if count > 0 {
            let of = if counts.is_empty() {
                format!(" of {}", findings.len())
            } else {
                String::new()
            };
            counts.push(format!("{count}{of} {}", verdict.in_words()));
        }
    }
    let mut out = counts.join(", ");
    if let Some(largest) = largest(findings) {
        out.push_str(&format!("; largest: {} {}", name(largest), largest.times()));
    }
    Some(out)
}

/// The claim with the largest factor, up or down.
fn largest<'a, 'b>(findings: &'b [Finding<'a>]) -> Option<&'b Finding<'a>> {
    let factor = |f: &&Finding| f.ratio.ln().abs();
    let claims = findings
        .iter()
        .filter(|f| f.verdict.is_claim() && f.ratio.is_finite() && f.ratio > 0.0);
    claims.max_by(|x, y| factor(x).total_cmp(&factor(y)))
}

#[cfg(test)]
mod tests {
    use super::super::finding::tests::comparison;
    use super::*;
    use crate::record::Unit;

    #[test]
    fn verdicts_are_counted_and_the_largest_claim_is_named() {
        let all = [
            comparison(Verdict::Slower, 1.3, [1.2, 1.4]),
            comparison(Verdict::Faster, 0.2, [0.19, 0.21]),
            comparison(Verdict::Same, 1.0, [0.999, 1.001]),
            // Larger than any claim, and none.
            comparison(Verdict::Undecided, 90.0, [0.1, 900.0]),
        ];
        let findings: Vec<Finding> = all.iter().map(|c| Finding::of(c, Unit::TicksPerOp)).collect();
        assert_eq!(
            summary(&findings, |f| format!("{} beside {}", f.a, f.b)).unwrap(),
            "1 of 4 faster, 1 slower, 1 same, 1 undecided; largest: lock beside ds 0.200×"
        );
        assert_eq!(summary(&[], |_| String::new()), None);
    }

    #[test]
    fn without_a_claim_nothing_is_the_largest() {
        let all = [comparison(Verdict::Undecided, 2.0, [0.5, 4.0])];
        let findings: Vec<Finding> = all.iter().map(|c| Finding::of(c, Unit::TicksPerOp)).collect();
        assert_eq!(summary(&findings, |_| String::new()).unwrap(), "1 of 1 undecided");
    }
}
