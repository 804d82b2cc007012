//! The Mann–Whitney U test: whether one set of samples tends to be larger than the other, by ranks alone.
//!
//! A few outliers move a mean and its test; they move a rank by a few places. A verdict needs both to agree.
//!
//! # Few samples
//! The smallest p of this test is 2 / C(n + m, n): 0.1 for three against three, 0.029 for four against four.
//! If that is not under 0.05 the test cannot reject, and the verdict stays
//! "undecided". That is deliberate: three runs cannot rule out chance without assuming Gaussian noise,
//! which timings do not have. Take at least four runs of each.
//!
//! # Cost
//! O(N log N) to rank, and O(n²m), at most 49³ integer additions, for the exact distribution.
//!
//! # References
//! - H. B. Mann, D. R. Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the
//!   Other", Annals of Mathematical Statistics 18(1), 1947, pp. 50–60.
//! - G. E. Andrews, "The Theory of Partitions", 1976, chapter 3: U's distribution as a Gaussian binomial coefficient.
//! - M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods", 1973, pp. 68–71: the normal approximation and its
//!   variance under ties.

use statrs::distribution::{ContinuousCDF, Normal};

/// Largest count on a side for which p is exact; the same limit as in R's `wilcox.test`.
///
/// Beyond it the approximation is good to three digits, and C(n + m, n) still fits an `i128` up to here (C(98, 49) is
/// 2.5 · 10²⁸), so the counts are exact integers.
const EXACT_MAX: usize = 49;

/// Two-sided p of the Mann–Whitney test that neither of `a` and `b` tends to be the larger.
///
/// Exact for at most 49 samples a side without ties; otherwise the normal approximation with the variance corrected
/// for ties and half a rank of continuity correction. All samples equal: 1. `None` for an empty side or a sample that
/// is not finite.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranked = Ranked::two_samples(a, b)?;
    let (n, m) = (a.len(), b.len());
    if !ranked.tied && n <= EXACT_MAX && m <= EXACT_MAX {
        // Without ties U is a whole number between 0 and nm, symmetric about the middle.
        let smaller = ranked.u.min((n * m) as f64 - ranked.u) as usize;
        return Some((2.0 * lower_tail(n, m, smaller)).min(1.0));
    }
    let (n, m) = (n as f64, m as f64);
    let total = n + m;
    let variance = n * m / 12.0 * (total + 1.0 - ranked.tie_sum / (total * (total - 1.0)));
    let distance = (ranked.u - n * m / 2.0).abs() - 0.5;
    // All samples equal have a variance of 0, and a distance below 0 with it.
    if distance <= 0.0 || variance <= 0.0 {
        return Some(1.0);
    }
    Some((2.0 * Normal::standard().sf(distance / variance.sqrt())).min(1.0))
}

/// Both columns ranked together.
struct Ranked {
    /// Pairs in which `a` is the larger, ties counting one half.
    u: f64,
    /// Whether any two samples are equal.
    tied: bool,
    /// Sum of t³ − t over groups of t equal samples.
    tie_sum: f64,
}

impl Ranked {
    fn two_samples(a: &[f64], b: &[f64]) -> Option<Self> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let mut all: Vec<(f64, bool)> = Vec::with_capacity(a.len() + b.len());
        all.extend(a.iter().map(|&x| (x, true)));
        all.extend(b.iter().map(|&x| (x, false)));
        if all.iter().any(|(x, _)| !x.is_finite()) {
            return None;
        }
        all.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut ranked = Self {
            u: 0.0,
            tied: false,
            tie_sum: 0.0,
        };
        let mut smaller_bs = 0.0;
        // By value and not by `total_cmp`: −0.0 and 0.0 sort next to each other and are one timing.
        for group in all.chunk_by(|x, y| x.0 == y.0) {
            let size = group.len() as f64;
            let from_a = group.iter().filter(|(_, of_a)| *of_a).count() as f64;
            let from_b = size - from_a;
            ranked.u += from_a * (smaller_bs + from_b / 2.0);
            smaller_bs += from_b;
            ranked.tied |= group.len() > 1;
            ranked.tie_sum += size * size * size - size;
        }
        Some(ranked)
    }
}

/// The smallest p that `n` against `m` samples can come to: that of samples which do not overlap, 2 / C(n + m, n).
pub fn least_rank_p(n: usize, m: usize) -> f64 {
    let orders = (1..=n.min(m)).map(|i| (n.max(m) + i) as f64 / i as f64);
    (2.0 / orders.product::<f64>()).min(1.0)
}

/// P(U ≤ `u`) for `n` against `m` samples without ties.
///
/// The number of orders with U = k is the coefficient of q^k in ∏ (1 − q^(m+i)) / (1 − q^i), i = 1..n. Multiplying and
/// dividing one factor at a time keeps every step a polynomial with whole coefficients, so nothing is rounded; terms
/// beyond q^u never reach the ones below and are not kept.
fn lower_tail(n: usize, m: usize, u: usize) -> f64 {
    let mut counts = vec![0_i128; u + 1];
    counts[0] = 1;
    let mut orders = 1_i128;
    for i in 1..=n {
        for k in (m + i..=u).rev() {
            counts[k] -= counts[k - m - i];
        }
        for k in i..=u {
            counts[k] += counts[k - i];
        }
        // C(m + i, i) from C(m + i − 1, i − 1); the division has no remainder.
        orders = orders * (m + i) as i128 / i as i128;
    }
    counts.iter().sum::<i128>() as f64 / orders as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(U ≤ u) by listing every choice of the ranks of `a`.
    fn oracle(n: usize, m: usize, u: usize) -> f64 {
        let (mut low, mut all) = (0, 0);
        for chosen in 0_u32..1 << (n + m) {
            if chosen.count_ones() as usize == n {
                let rank_sum: usize = (0..n + m).filter(|i| chosen >> i & 1 == 1).map(|i| i + 1).sum();
                low += usize::from(rank_sum - n * (n + 1) / 2 <= u);
                all += 1;
            }
        }
        f64::from(low as u32) / f64::from(all as u32)
    }

    #[test]
    fn the_exact_tail_counts_what_listing_counts() {
        for (n, m) in [(1, 1), (1, 6), (6, 1), (3, 3), (4, 7), (7, 4), (6, 6)] {
            for u in 0..=n * m {
                assert!((lower_tail(n, m, u) - oracle(n, m, u)).abs() < 1e-14, "{n} {m} {u}");
            }
        }
    }

    #[test]
    fn the_largest_exact_case_neither_overflows_nor_rounds() {
        assert!((lower_tail(49, 49, 49 * 49) - 1.0).abs() < 1e-15);
        // SciPy 1.17: the two-sided p of U = 900 is 0.03261773.
        assert!((2.0 * lower_tail(49, 49, 900) - 0.03261773).abs() < 5e-9);
    }

    #[test]
    fn three_runs_cannot_speak_and_four_can() {
        assert!((mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap() - 0.1).abs() < 1e-15);
        let four = mann_whitney(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
        assert!((four - 2.0 / 70.0).abs() < 1e-15);
    }

    #[test]
    fn the_least_p_is_that_of_samples_which_do_not_overlap() {
        for (n, m) in [(0, 5), (1, 9), (3, 3), (4, 5), (5, 5), (5, 20), (20, 5)] {
            let (a, b) = ((0..n).map(f64::from), (0..m).map(|i| 100.0 + f64::from(i)));
            let p = mann_whitney(&a.collect::<Vec<_>>(), &b.collect::<Vec<_>>()).unwrap_or(1.0);
            assert!((least_rank_p(n as usize, m as usize) - p).abs() < 1e-12, "{n} {m}");
        }
        assert!((least_rank_p(5, 5) - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn degenerate_columns() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), None);
        assert_eq!(mann_whitney(&[f64::INFINITY], &[1.0]), None);
        assert_eq!(mann_whitney(&[2.0; 9], &[2.0; 60]), Some(1.0));
        assert_eq!(mann_whitney(&[0.0], &[-0.0]), Some(1.0));
    }
}
