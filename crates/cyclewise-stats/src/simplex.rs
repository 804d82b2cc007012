//! The least value of a smooth function of two or three variables: Nelder and Mead's simplex.
//!
//! It needs no derivatives and does not mind a function that is flat where a variance is nearly zero, at which Newton's method
//! fails. It is started twice, because a simplex can collapse before it has arrived.
//!
//! # References
//! J. A. Nelder, R. Mead, "A Simplex Method for Function Minimization", The Computer Journal 7(4), 1965, pp. 308–313.

/// The most evaluations of one start.
const MOST: usize = 400;

/// The point at which `f` is least, and its value, where only the coordinates `free` may change. The first simplex has edges of
/// `step`; it ends where the values of its corners are within `tolerance` of each other.
pub(super) fn least<const N: usize>(
    start: [f64; N],
    free: &[usize],
    step: f64,
    tolerance: f64,
    f: &impl Fn(&[f64; N]) -> f64,
) -> ([f64; N], f64) {
    let (point, _) = search(start, free, step, tolerance, f);
    search(point, free, step / 4.0, tolerance, f)
}

fn search<const N: usize>(
    start: [f64; N],
    free: &[usize],
    step: f64,
    tolerance: f64,
    f: &impl Fn(&[f64; N]) -> f64,
) -> ([f64; N], f64) {
    let last = free.len();
    let mut corners: Vec<([f64; N], f64)> = vec![(start, f(&start))];
    for &i in free {
        let mut corner = start;
        corner[i] += step;
        corners.push((corner, f(&corner)));
    }
    for _ in 0..MOST {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, second, worst) = (corners[0].1, corners[last.saturating_sub(1)].1, corners[last]);
        if worst.1 - best <= tolerance {
            break;
        }
        let centre: [f64; N] =
            std::array::from_fn(|i| corners[..last].iter().map(|c| c.0[i]).sum::<f64>() / last as f64);
        let at = |share: f64| {
            let point: [f64; N] = std::array::from_fn(|i| centre[i] + share * (worst.0[i] - centre[i]));
            (point, f(&point))
        };
        let reflected = at(-1.0);
        let next = if reflected.1 < best {
            let expanded = at(-2.0);
            if expanded.1 < reflected.1 { expanded } else { reflected }
        } else if reflected.1 < second {
            reflected
        } else if reflected.1 < worst.1 {
            at(-0.5)
        } else {
            at(0.5)
        };
        if next.1 < worst.1.min(reflected.1) || next == reflected && reflected.1 < second {
            corners[last] = next;
        } else {
            let best = corners[0].0;
            for (point, value) in &mut corners[1..] {
                *point = std::array::from_fn(|i| best[i].midpoint(point[i]));
                *value = f(point);
            }
        }
    }
    corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    corners[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_end_of_rosenbrocks_valley() {
        let rosenbrock = |p: &[f64; 2]| 100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2);
        let (point, value) = least([-1.2, 1.0], &[0, 1], 0.5, 1e-14, &rosenbrock);
        assert!(
            (point[0] - 1.0).abs() < 1e-4 && (point[1] - 1.0).abs() < 1e-4 && value < 1e-8,
            "{point:?}"
        );
    }

    #[test]
    fn a_flat_direction_and_no_variable_are_no_trouble() {
        let flat = |p: &[f64; 3]| (p[0] - 2.0).powi(2) + p[2].max(0.0);
        assert!((least([0.0; 3], &[0, 1, 2], 1.0, 1e-12, &flat).0[0] - 2.0).abs() < 1e-4);
        // The coordinate that may not change stays.
        let held = least([5.0, 1.0], &[0], 1.0, 1e-12, &|p: &[f64; 2]| p[0] * p[0] + p[1]);
        assert!(held.0[0].abs() < 1e-4 && held.0[1] == 1.0, "{held:?}");
        assert_eq!(least([3.0], &[], 1.0, 1e-12, &|p| p[0]).1, 3.0);
    }
}
