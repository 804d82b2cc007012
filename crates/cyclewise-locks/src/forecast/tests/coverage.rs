//! Whether intervals hold what they say, on made-up programs whose truth is drawn, and that a model which overlooks its own
//! error is caught.

use crate::forecast::stats::{Residual, Z, error_share, together};

/// Numbers that look random, the same ones each time.
struct Draws(u64);

impl Draws {
    /// From 0 to 1: the upper bits of a linear congruential generator (D. Knuth's MMIX constants).
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A program of a machine whose model errs by `tau`: locked instructions take 1 to 20 % of its time, of which its truth is
    /// known to half a percent or two.
    fn program(&mut self, tau: f64) -> Residual {
        let scale = 1.0 + 19.0 * self.uniform();
        let known = together(&[0.5 + 1.5 * self.uniform(), 0.1 * scale]);
        Residual {
            difference: known * self.normal() + tau * scale * self.normal(),
            known,
            scale,
        }
    }
}

/// The share of programs inside the interval that `error` makes of other programs' truths.
fn coverage(tau: f64, error: fn(&[Residual]) -> f64) -> f64 {
    let mut draws = Draws(20_261_124);
    let programs = 400;
    let inside = (0..programs).filter(|_| {
        let truths: Vec<Residual> = (0..12).map(|_| draws.program(tau)).collect();
        let one = draws.program(tau);
        one.difference.abs() <= together(&[error(&truths) * one.scale, Z * one.known])
    });
    inside.count() as f64 / f64::from(programs)
}

#[test]
fn nearly_all_programs_lie_in_intervals_of_95_percent() {
    for tau in [0.0, 0.1, 0.3, 0.6] {
        let share = coverage(tau, error_share);
        assert!(share >= 0.93, "{share} at an error of {tau}");
    }
}

#[test]
fn a_model_that_overlooks_its_error_is_caught() {
    assert!(coverage(0.0, |_| 0.0) >= 0.93);
    let share = coverage(0.6, |_| 0.0);
    assert!(share < 0.6, "{share}");
}

#[test]
fn intervals_are_not_wider_than_the_error_asks() {
    let mut draws = Draws(7);
    for (tau, most) in [(0.0, 0.4), (0.1, 0.5), (0.3, 1.0)] {
        let shares = (0..50).map(|_| {
            let truths: Vec<Residual> = (0..12).map(|_| draws.program(tau)).collect();
            error_share(&truths)
        });
        let mean = shares.sum::<f64>() / 50.0;
        assert!(mean < most, "{mean} at an error of {tau}");
    }
}
