//! The noise floor: the difference that measuring the same variant twice can show.
//!
//! Two columns of one variant differ by chance and by whatever the apparatus adds (where memory was allocated, which
//! copy of the code ran). A t-test accounts only for chance. So one variant is measured twice in the same rounds, and a
//! difference between variants counts only if it is larger than the far end of the 99 % interval of that A/A
//! difference.
//!
//! # Halves of one column
//! Without a second measurement, the odd samples are compared with the even ones. With spread σ and n samples
//! a full A/A difference has variance σ²/n + σ²/n = 2σ²/n; the halves' difference has σ²/(n/2) + σ²/(n/2) = 4σ²/n,
//! twice as much. Difference and interval are therefore divided by √2. The quantile stays that of n − 2 degrees of
//! freedom where a full A/A has 2n − 2, which errs on the wide side. Halves do not show the effect of a
//! second copy of the code: prefer [`noise_floor`].
//!
//! # What it does not do
//! One control bounds noise that both measurements share. Variants measured one after the other under a drift differ
//! by the drift, which no floor corrects; interleaved rounds do.
//!
//! # References
//! - R. Kohavi, R. Longbotham, D. Sommerfield, R. M. Henne, "Controlled Experiments on the Web: Survey and Practical
//!   Guide", Data Mining and Knowledge Discovery 18(1), 2009, section 3.2: the A/A test.
//! - T. Mytkowicz, A. Diwan, M. Hauswirth, P. F. Sweeney, "Producing Wrong Data Without Doing Anything Obviously
//!   Wrong!", ASPLOS 2009: why chance is not the only noise.

use super::moments::Moments;
use super::student;
use super::ttest::welch;
use std::f64::consts::FRAC_1_SQRT_2;

/// The probability that the floor covers a repeat: 99 %, so that it fails five times less often than the tests' 5 %.
const LEVEL: f64 = 0.99;

/// The result of an A/A control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// mean(first) − mean(second).
    pub difference: f64,
    /// 99 % confidence interval of the difference.
    pub ci99: [f64; 2],
    /// The end of that interval farther from 0, as a share of the mean.
    pub share: f64,
}

/// The noise floor of one variant measured twice; the share is of mean(`a`).
///
/// `None` for fewer than two samples on a side, a sample that is not finite, or a mean of 0.
pub fn noise_floor(a: &[f64], again: &[f64]) -> Option<Floor> {
    let test = welch(a, again)?;
    Floor::new(test.difference, test.ci(LEVEL), Moments::of_samples(a)?.mean)
}

/// The noise floor of one variant measured once: its odd samples against its even ones, scaled to the whole column.
///
/// `None` for fewer than four samples, a sample that is not finite, or a mean of 0.
pub fn split_floor(samples: &[f64]) -> Option<Floor> {
    let every_second = |start: usize| samples.iter().skip(start).step_by(2).copied().collect::<Vec<f64>>();
    let test = welch(&every_second(0), &every_second(1))?;
    let difference = test.difference * FRAC_1_SQRT_2;
    let reach = student::quantile(LEVEL, test.df) * test.se * FRAC_1_SQRT_2;
    Floor::new(
        difference,
        student::around(difference, reach),
        Moments::of_samples(samples)?.mean,
    )
}

impl Floor {
    fn new(difference: f64, ci99: [f64; 2], mean: f64) -> Option<Self> {
        let share = ci99[0].abs().max(ci99[1].abs()) / mean.abs();
        share.is_finite().then_some(Self {
            difference,
            ci99,
            share,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_the_far_end_over_the_mean() {
        let a = [9.0, 10.0, 11.0, 10.0];
        let floor = noise_floor(&a, &[9.5, 10.5, 11.5, 10.5]).unwrap();
        assert_eq!(floor.difference, -0.5);
        assert_eq!(floor.share, -floor.ci99[0] / 10.0);
        assert!(floor.ci99[0].abs() > floor.ci99[1]);
    }

    #[test]
    fn equal_samples_have_a_floor_of_zero() {
        assert_eq!(noise_floor(&[3.0; 4], &[3.0; 4]).unwrap().share, 0.0);
        assert_eq!(split_floor(&[3.0; 4]).unwrap().share, 0.0);
    }

    #[test]
    fn too_little_has_no_floor() {
        assert_eq!(noise_floor(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(split_floor(&[1.0, 2.0, 3.0]), None);
        assert_eq!(noise_floor(&[-1.0, 1.0], &[1.0, 2.0]), None, "a share of nothing");
        assert_eq!(split_floor(&[1.0, 2.0, f64::NAN, 1.0]), None);
    }
}
