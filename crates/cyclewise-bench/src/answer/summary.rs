//! One line about all comparisons of an experiment: how many of each verdict, and the largest difference.

use super::finding::Finding;
use crate::record::Verdict;

const ORDER: [Verdict; 6] = [
    Verdict::Faster,
    Verdict::Slower,
    Verdict::Same,
    Verdict::Undecided,
    Verdict::Depends,
    Verdict::None,
];

/// `13 comparisons: 2 faster, 1 slower, 8 same, 2 undecided; inc takes 1.30× the time of ds-inc`: the largest difference comes
/// last. `None` if there are no findings.
pub fn summary(findings: &[Finding]) -> Option<String> {
    if findings.is_empty() {
        return None;
    }
    let counts = ORDER.iter().filter_map(|verdict| {
        let count = findings.iter().filter(|f| f.verdict == *verdict).count();
        (count > 0).then(|| format!("{count} {}", verdict.in_words()))
    });
    let counts: Vec<String> = counts.collect();
    let what = if findings.len() == 1 {
        "comparison"
    } else {
        "comparisons"
    };
    let largest = largest(findings).map_or(String::new(), |f| format!("; {}", f.relation()));
    Some(format!("{} {what}: {}{largest}", findings.len(), counts.join(", ")))
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
    use super::super::made_up::comparison;
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
        let findings: Vec<Finding> = all
            .iter()
            .map(|c| Finding::of_comparison(c, Unit::TicksPerOp))
            .collect();
        assert_eq!(
            summary(&findings).unwrap(),
            "4 comparisons: 1 faster, 1 slower, 1 same, 1 undecided; lock takes 0.200× the time of ds"
        );
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn without_a_claim_nothing_is_the_largest() {
        let all = [comparison(Verdict::Undecided, 2.0, [0.5, 4.0])];
        let findings: Vec<Finding> = all
            .iter()
            .map(|c| Finding::of_comparison(c, Unit::TicksPerOp))
            .collect();
        assert_eq!(summary(&findings).unwrap(), "1 comparison: 1 undecided");
    }
}
