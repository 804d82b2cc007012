//! One row over the fleet: what each group's machines have, how far they spread, and where that comes from.

use super::columns::Fleet;
use super::figures::Column;
use crate::record::fleet_report::{GroupSpread, MachineValue, RowSpread};
use crate::stats::{self, LEAST_SHARE, Machines, Robust, RunSpread};

/// Bins of a strip.
const BINS: usize = 48;

/// No spread between machines counts as less, as a share: below it, figures differ by the timer's resolution.
pub(super) const RESOLUTION: f64 = 0.001;

/// A row that has been described.
pub(super) struct Row {
    pub spread: RowSpread,
    pub fits: Vec<GroupFit>,
    /// The index in `fits` of each of `spread.values`.
    pub fit_of: Vec<usize>,
    /// Logarithms of the figures of the runs, and where those of each of `spread.values` begin; only of headline rows.
    pub runs: Vec<f64>,
    pub starts: Vec<usize>,
}

/// One group's machines as a distribution.
pub(super) struct GroupFit {
    pub group: usize,
    /// The modes by value: one, unless the group's machines lie around several values.
    pub modes: Vec<ModeFit>,
    /// The spread of the runs of a machine.
    pub run_spread: Option<RunSpread>,
}

/// One mode of a group.
pub(super) struct ModeFit {
    /// Logarithms above this and up to the next mode's belong to it.
    pub above: f64,
    /// The logarithm of its median.
    pub median: f64,
    pub machines: usize,
    pub fit: Option<Robust>,
}

impl GroupFit {
    /// The mode that a logarithm belongs to.
    pub(super) fn mode(&self, log: f64) -> &ModeFit {
        let place = self.modes.iter().rposition(|mode| log > mode.above);
        &self.modes[place.unwrap_or(0)]
    }
}

/// Describes a column.
pub(super) fn describe(column: Column, fleet: &Fleet, headline: bool) -> Row {
    let logs: Vec<f64> = column.values.iter().map(|v| v.value.ln()).collect();
    let runs: Vec<f64> = column.runs.iter().map(|x| x.ln()).collect();
    let starts = starts(&column.values);
    let range = range(&column.values);
    let mut by_group: Vec<Vec<usize>> = vec![Vec::new(); fleet.groups.len()];
    for (i, value) in column.values.iter().enumerate() {
        by_group[fleet.machines[value.machine as usize].group].push(i);
    }
    let mut groups = Vec::new();
    let mut fits = Vec::new();
    let mut fit_of = vec![0; logs.len()];
    let mut steady: Vec<Machines> = Vec::new();
    for (group, members) in by_group.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
        let runs_of: Vec<&[f64]> = members.iter().map(|&i| &runs[starts[i]..starts[i + 1]]).collect();
        let mut sorted: Vec<f64> = members.iter().map(|&i| logs[i]).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let fit = GroupFit {
            group,
            modes: modes(&sorted),
            run_spread: RunSpread::of(&runs_of, RESOLUTION),
        };
        groups.push(spread(group, &sorted, range));
        let belongs = |i: usize, of: &[f64]| {
            fit.mode(logs[i]).fit.is_none_or(|fit| fit.keeps(logs[i]))
                && !fit.run_spread.is_some_and(|s| s.is_unsteady(of))
        };
        let kept = members.iter().zip(&runs_of).filter(|(i, of)| belongs(**i, of));
        steady.push(kept.map(|(_, of)| of.to_vec()).collect());
        for i in members {
            fit_of[*i] = fits.len();
        }
        fits.push(fit);
    }
    let spread = RowSpread {
        experiment: column.experiment.to_string(),
        variant: column.variant.to_string(),
        unit: column.unit,
        headline,
        machines: column.values.len(),
        range,
        groups,
        components: stats::components(&steady),
        values: column.values,
        distances: Vec::new(),
    };
    let (runs, starts) = if headline {
        (runs, starts)
    } else {
        (Vec::new(), Vec::new())
    };
    Row {
        spread,
        fits,
        fit_of,
        runs,
        starts,
    }
}

/// Where the runs of each value begin, and where the last end.
fn starts(values: &[MachineValue]) -> Vec<usize> {
    let mut end = 0;
    let mut starts = vec![0];
    starts.extend(values.iter().map(|value| {
        end += value.runs as usize;
        end
    }));
    starts
}

/// The range of a strip: not empty, even if all values are the same.
fn range(values: &[MachineValue]) -> [f64; 2] {
    let least = values.iter().map(|v| v.value).fold(f64::INFINITY, f64::min);
    let most = values.iter().map(|v| v.value).fold(0.0, f64::max);
    if most / least > 1.0 + RESOLUTION {
        [least, most]
    } else {
        [least / (1.0 + RESOLUTION), most * (1.0 + RESOLUTION)]
    }
}

/// The modes of a group's logarithms.
fn modes(sorted: &[f64]) -> Vec<ModeFit> {
    let middle = median(sorted);
    let shares: Vec<f64> = sorted.iter().map(|log| (log - middle).exp()).collect();
    let mut above = vec![f64::NEG_INFINITY];
    above.extend(stats::cuts(&shares, LEAST_SHARE).iter().map(|cut| cut.ln() + middle));
    if above.len() == 1 {
        above.extend(stats::minor_cut(sorted, RESOLUTION));
    }
    let ends = above
        .iter()
        .skip(1)
        .map(|end| sorted.partition_point(|log| log <= end))
        .chain([sorted.len()]);
    let mut start = 0;
    ends.zip(&above)
        .map(|(end, above)| {
            let part = &sorted[start..end];
            start = end;
            ModeFit {
                above: *above,
                median: median(part),
                machines: part.len(),
                fit: Robust::of(part, RESOLUTION),
            }
        })
        .collect()
}

/// One group's part of a row's strip.
fn spread(group: usize, sorted: &[f64], range: [f64; 2]) -> GroupSpread {
    let quantile = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        let (below, part) = (sorted[place as usize], place.fract());
        let above = sorted[(place as usize + 1).min(sorted.len() - 1)];
        (below + part * (above - below)).exp()
    };
    let [low, high] = range.map(f64::ln);
    let mut bins = vec![0; BINS];
    for log in sorted {
        let bin = ((log - low) / (high - low) * BINS as f64) as usize;
        bins[bin.min(BINS - 1)] += 1;
    }
    GroupSpread {
        group,
        machines: sorted.len(),
        median: median(sorted).exp(),
        ci95: stats::order_interval(sorted, 0.95).map(|bound| bound.map(f64::exp)),
        spread: Robust::of(sorted, 0.0).map(|fit| fit.sd),
        quantiles: [0.05, 0.25, 0.75, 0.95].map(quantile),
        bins,
    }
}

fn median(sorted: &[f64]) -> f64 {
    stats::middle(sorted).unwrap_or(f64::NAN)
}
