//! The axis of a plot, and the lanes beside it for values too far out.
//!
//! # Invariants
//! 1. Every marked value is on the axis. It is a median, which a few samples cannot move.
//! 2. Every other finite value is on the axis, or in a lane at its low or high end.

use super::{Strip, ends};
use crate::export::number::fixed;

/// Values whose ratio exceeds this are unreadable on a linear axis.
const LOG_FROM: f64 = 50.0;
/// The share of a strip's samples that determines the axis; the others are on it if they are near.
const BULK: f64 = 0.975;
/// Samples beyond this multiple of the bulk would compress it, so they go to the lane.
const FAR_LINEAR: f64 = 2.0;
/// As [`FAR_LINEAR`] for a log axis, on which a decade takes little room.
const FAR_LOG: f64 = 100.0;
/// A linear axis does not start at 0 if all values lie above this share of it.
const ZOOM: f64 = 0.75;

/// Where a value is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AxisPosition {
    /// On the axis, from 0 to 1.
    At(f64),
    /// In the lane of values below the axis.
    Low,
    /// In the lane of values beyond the axis.
    High,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub lo: f64,
    pub hi: f64,
    pub log: bool,
    pub low_lane: bool,
    pub high_lane: bool,
}

impl Axis {
    /// An axis of all values.
    pub(super) fn without_lanes(lo: f64, hi: f64, log: bool) -> Axis {
        Axis {
            lo,
            hi,
            log,
            low_lane: false,
            high_lane: false,
        }
    }

    /// The axis for these strips; `None` if there is nothing to draw.
    pub(super) fn choose(strips: &[Strip]) -> Option<Axis> {
        let mut all: Vec<f64> = Vec::new();
        let mut bulk = f64::NEG_INFINITY;
        let mut bulk_low = f64::INFINITY;
        let mut values: Vec<f64> = Vec::new();
        for strip in strips {
            let mut sorted: Vec<f64> = strip.finite().collect();
            sorted.sort_by(f64::total_cmp);
            let Some(last) = sorted.len().checked_sub(1) else {
                continue;
            };
            let rank = |share: f64| sorted[(share * last as f64).floor() as usize];
            bulk = bulk.max(rank(BULK));
            bulk_low = bulk_low.min(rank(1.0 - BULK));
            if strip.value.is_finite() {
                values.push(strip.value);
            }
            all.append(&mut sorted);
        }
        let (min, max) = ends(all.iter().copied())?;
        let value_lo = values.iter().copied().fold(bulk_low, f64::min);
        let value_hi = values.iter().copied().fold(bulk, f64::max);
        Some(if value_lo > 0.0 && value_hi / value_lo > LOG_FROM {
            Self::log(min, max, value_lo, value_hi)
        } else {
            Self::linear(min, max, value_lo, value_hi)
        })
    }

    fn linear(min: f64, max: f64, bulk_lo: f64, bulk_hi: f64) -> Axis {
        let reach = bulk_hi.abs().max(bulk_lo.abs());
        let far = |limit: f64| limit + reach * (FAR_LINEAR - 1.0);
        let high_lane = max > far(bulk_hi);
        let low_lane = min < bulk_lo - reach * FAR_LINEAR;
        // Beside a lane, room for the tail of the bulk, so that a far sample does not compress it.
        let tail = (0.5 * (bulk_hi - bulk_lo)).clamp(0.05 * reach, 0.15 * reach);
        let mut hi = if high_lane { bulk_hi + tail } else { max };
        let mut lo = if low_lane { bulk_lo - tail } else { min };
        if lo > ZOOM * hi {
            let margin = ((hi - lo) * 0.08).max(hi * 1e-6);
            lo -= margin;
            hi += margin;
        } else {
            hi += (hi - lo.min(0.0)) * 0.03;
            lo = lo.min(0.0);
        }
        if hi <= lo {
            hi = lo + 1.0;
        }
        Axis {
            lo,
            hi,
            log: false,
            low_lane,
            high_lane,
        }
    }

    fn log(min: f64, max: f64, bulk_lo: f64, bulk_hi: f64) -> Axis {
        let high_lane = max > bulk_hi * FAR_LOG;
        let low_lane = min < bulk_lo / FAR_LOG;
        Axis {
            lo: if low_lane { bulk_lo } else { min } / 1.15,
            hi: if high_lane { bulk_hi } else { max } * 1.15,
            log: true,
            low_lane,
            high_lane,
        }
    }

    /// Whether the axis does not include 0; the caption must say so.
    pub(super) fn zoomed(&self) -> bool {
        !self.log && self.lo > 0.0
    }

    pub(super) fn position(&self, value: f64) -> AxisPosition {
        if value < self.lo {
            AxisPosition::Low
        } else if value > self.hi {
            AxisPosition::High
        } else if self.log {
            AxisPosition::At((value / self.lo).ln() / (self.hi / self.lo).ln())
        } else {
            AxisPosition::At((value - self.lo) / (self.hi - self.lo))
        }
    }

    /// A tick's label; `decimals` are those of [`Axis::ticks`].
    pub(super) fn tick_label(&self, tick: f64, decimals: i32) -> String {
        let decimals = if self.log {
            -(tick.log10().floor() as i32).min(0)
        } else {
            decimals
        };
        fixed(tick, decimals)
    }

    /// Round values on the axis, about `wanted` of them, and the decimals they need.
    pub(super) fn ticks(&self, wanted: usize) -> (Vec<f64>, i32) {
        if self.log {
            self.log_ticks(wanted)
        } else {
            self.linear_ticks(wanted)
        }
    }

    fn linear_ticks(&self, wanted: usize) -> (Vec<f64>, i32) {
        let rough = (self.hi - self.lo) / wanted.max(1) as f64;
        let power = rough.log10().floor();
        let decade = 10f64.powf(power);
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * decade)
            .find(|&s| s >= rough)
            .unwrap_or(rough);
        let first = (self.lo / step).ceil();
        // The bound guards against a step lost to rounding; no axis has 100 ticks.
        let ticks = (0..100)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|&t| t <= self.hi)
            .collect();
        (ticks, (-step.log10()).ceil().max(0.0) as i32)
    }

    fn log_ticks(&self, wanted: usize) -> (Vec<f64>, i32) {
        // The powers of ten that a double holds: an end that is infinite must not be walked to.
        let decade = |power: f64| power.clamp(-308.0, 308.0) as i32;
        let decades = decade(self.lo.log10().floor())..=decade(self.hi.log10().ceil());
        let on_axis = |steps: &[f64]| -> Vec<f64> {
            decades
                .clone()
                .flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)))
                .filter(|t| (self.lo..=self.hi).contains(t))
                .collect()
        };
        let fine = on_axis(&[1.0, 2.0, 5.0]);
        let coarse = on_axis(&[1.0]);
        let mut ticks = if fine.len() <= wanted + 2 { fine } else { coarse };
        while ticks.len() > wanted + 2 {
            ticks = ticks.into_iter().step_by(2).collect();
        }
        let smallest = ticks.first().copied().unwrap_or(1.0);
        (ticks, (-smallest.log10()).ceil().max(0.0) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(strips: &[&[f64]]) -> Axis {
        let strips: Vec<Strip> = strips.iter().map(|s| Strip::of_samples("x", s)).collect();
        Axis::choose(&strips).unwrap()
    }

    #[test]
    fn a_linear_axis_starts_at_zero() {
        let a = axis(&[&[1.0, 1.1], &[20.0, 20.2]]);
        assert_eq!((a.lo, a.log, a.high_lane), (0.0, false, false));
        assert_eq!(a.ticks(5).0, [0.0, 5.0, 10.0, 15.0, 20.0]);
    }

    #[test]
    fn means_decades_apart_get_a_log_axis() {
        let a = axis(&[&[1.0, 1.1], &[900.0, 1000.0]]);
        assert!(a.log);
        assert_eq!(a.ticks(4).0, [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn an_axis_without_an_end_is_not_walked() {
        let a = Axis {
            lo: 0.0,
            hi: f64::INFINITY,
            ..axis(&[&[1.0, 1.1], &[900.0, 1000.0]])
        };
        assert!(a.ticks(4).0.len() <= 6);
    }

    #[test]
    fn near_values_get_an_axis_without_zero() {
        let a = axis(&[&[33.9, 34.1], &[34.0, 35.7]]);
        assert!(a.zoomed() && a.lo > 33.0 && a.hi < 36.5, "{a:?}");
    }

    #[test]
    fn far_samples_go_to_the_lane_and_none_is_lost() {
        let mut samples = vec![1.0; 400];
        samples.push(500.0);
        let a = axis(&[&samples]);
        assert!(a.high_lane && a.hi < 4.0, "{a:?}");
        assert_eq!(a.position(500.0), AxisPosition::High);
        assert!(matches!(
            a.position(samples.iter().sum::<f64>() / 401.0),
            AxisPosition::At(_)
        ));
    }

    #[test]
    fn one_outlier_of_any_size_leaves_the_axis_to_the_others() {
        for outlier in [1e3, 1e9, 1e300] {
            let mut samples: Vec<f64> = (0..400).map(|i| 6.0 + f64::from(i) / 400.0).collect();
            samples[200] = outlier;
            let strip = |value| Strip {
                value,
                ..Strip::of_samples("x", &samples)
            };
            let by_median = Axis::choose(&[strip(6.5)]).unwrap();
            assert!(by_median.high_lane && by_median.hi < 10.0, "{outlier}: {by_median:?}");
            assert_eq!(by_median.position(outlier), AxisPosition::High);
            // The twin: a value that the outlier moves, as a mean is, takes the axis with it.
            let by_mean = Axis::choose(&[strip(samples.iter().sum::<f64>() / 400.0)]).unwrap();
            assert!(outlier < 1e4 || by_mean.hi > 1e4, "{outlier}: {by_mean:?}");
        }
    }

    #[test]
    fn zeros_negatives_and_equals_have_an_axis() {
        for odd in [&[0.0][..], &[-3.0, -3.0], &[5.0], &[-1e9, 1.0, 2.0]] {
            let a = axis(&[odd]);
            assert!(a.hi > a.lo && a.hi.is_finite(), "{odd:?}: {a:?}");
            assert!(a.ticks(5).0.len() < 100);
        }
        assert_eq!(Axis::choose(&[]), None);
        assert_eq!(Axis::choose(&[Strip::of_samples("x", &[f64::NAN])]), None);
    }
}
