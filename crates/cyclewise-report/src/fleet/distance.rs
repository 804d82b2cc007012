//! How far a machine is from its group.

use super::row::{FEWEST, GroupFit, ModeFit};
use crate::stats::{Prior, Robust};

/// The least share of a mode that belongs to it.
const LEAST_BELONGING: f64 = 0.8;

/// How far a machine is from the nearest mode of its group, in standard deviations, and their degrees of freedom; `None` if that
/// cannot be said.
pub(super) fn distance(group: &GroupFit, log: f64, runs: &[f64], prior: Option<&Prior>) -> Option<(f64, f64)> {
    let mode = group.mode(log);
    let is_member = mode.has(log);
    let is_known = can_tell(mode) || (mode.is_borrowed && !is_member);
    let fit = mode.fit.as_ref().filter(|_| is_known)?;
    // A machine of no mode is none of the values.
    let own = if is_member { log } else { f64::INFINITY };
    let of_centre = if mode.is_borrowed {
        fit.sd * fit.sd / mode.machines as f64
    } else {
        0.0
    };
    let extra = of_centre + group.run_spread.map_or(0.0, |spread| spread.extra(runs));
    let by_median = fit.distance(log, own, extra, prior);
    let nearest = group
        .run_spread
        .and_then(|spread| Some((nearest(runs, mode.median)?, spread.extra_of_one(runs)?)));
    // A machine whose runs disagree may be beyond its group in all of them.
    let by_nearest = nearest.map(|(run, extra)| fit.distance(run, own, of_centre + extra, prior));
    by_nearest
        .filter(|far| far.0.abs() > by_median.0.abs())
        .or(Some(by_median))
}

/// The run nearest to `centre`, if all are on one side of it.
fn nearest(runs: &[f64], centre: f64) -> Option<f64> {
    let least = runs.iter().copied().reduce(f64::min)?;
    let most = runs.iter().copied().reduce(f64::max)?;
    match () {
        () if least > centre => Some(least),
        () if most < centre => Some(most),
        () => None,
    }
}

/// Whether a mode has a centre that its machines can be far from.
pub(super) fn can_tell(mode: &ModeFit) -> bool {
    let belongs = |fit: Robust| fit.kept as f64 >= LEAST_BELONGING * fit.n as f64;
    mode.machines >= FEWEST && mode.fit.is_some_and(belongs)
}
