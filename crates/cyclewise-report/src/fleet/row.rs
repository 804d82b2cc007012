//! One row over the fleet: what each group's machines have, how far they spread, and where that comes from.

use super::columns::Fleet;
use super::figures::Column;
use crate::record::fleet_report::{GroupSpread, MachineValue, RowSpread};
use crate::stats::{self, LEAST_SHARE, Machines, Robust, RunSpread};

const BINS: usize = 48;

/// No spread between machines counts as less, as a share: below it, figures differ by the timer's resolution.
pub(super) const RESOLUTION: f64 = 0.001;

/// The fewest machines of a group, or of a mode, in which one can be found.
pub(super) const FEWEST: usize = 5;

/// The least distance from the median that makes a difference, as a share.
const LEAST_APART: f64 = 0.02;

pub(super) struct Row {
    pub spread: RowSpread,
    pub fits: Vec<GroupFit>,
    /// The index in `fits` of each of `spread.values`.
    pub fit_of: Vec<usize>,
    /// Logarithms of the figures of the runs, and where those of each of `spread.values` begin; only of headline rows.
    pub runs: Vec<f64>,
    pub starts: Vec<usize>,
}

impl Row {
    /// A value over the median of its group's nearest mode.
    pub(super) fn ratio(&self, i: usize) -> f64 {
        self.apart(i).exp()
    }

    /// Whether a value is so far from the median of its mode that it makes a difference: a timer's step may be as large as less.
    pub(super) fn is_apart(&self, i: usize) -> bool {
        self.apart(i).abs() >= LEAST_APART.ln_1p()
    }

    fn apart(&self, i: usize) -> f64 {
        let log = self.spread.values[i].value.ln();
        log - self.fits[self.fit_of[i]].mode(log).median
    }
}

/// One group's machines as a distribution.
pub(super) struct GroupFit {
    pub group: usize,
    /// The modes by value: one, unless the group's machines lie around several values.
    pub modes: Vec<ModeFit>,
    pub run_spread: Option<RunSpread>,
}

pub(super) struct ModeFit {
    /// The logarithms of the least and the greatest of its machines.
    between: [f64; 2],
    /// The logarithm of its median.
    pub median: f64,
    pub machines: usize,
    /// Its centre and spread.
    pub fit: Option<Robust>,
    /// Whether the spread is that of the largest mode, because its own machines are few.
    pub is_borrowed: bool,
}

impl ModeFit {
    /// Whether a logarithm of the group is one of this mode's.
    pub(super) fn has(&self, log: f64) -> bool {
        (self.between[0]..=self.between[1]).contains(&log) && self.fit.is_none_or(|fit| fit.keeps(log))
    }

    /// How far a logarithm is from its median, in its spreads.
    fn apart(&self, log: f64) -> f64 {
        self.fit.map_or(f64::INFINITY, |fit| (log - self.median).abs() / fit.sd)
    }
}

impl GroupFit {
    /// The mode that a logarithm belongs to, else the nearest.
    pub(super) fn mode(&self, log: f64) -> &ModeFit {
        let nearest = || self.modes.iter().min_by(|a, b| a.apart(log).total_cmp(&b.apart(log)));
        let own = self.modes.iter().find(|mode| mode.has(log));
        own.or_else(nearest).unwrap_or(&self.modes[0])
    }

    /// The mode of most machines.
    pub(super) fn largest(&self) -> &ModeFit {
        let largest = self.modes.iter().rev().max_by_key(|mode| mode.machines);
        largest.unwrap_or(&self.modes[0])
    }
}

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
            run_spread: RunSpread::between_machines(&runs_of, RESOLUTION),
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

/// The modes of a group's logarithms. A machine that is beyond a minor mode is in none.
fn modes(sorted: &[f64]) -> Vec<ModeFit> {
    let middle = median(sorted);
    let shares: Vec<f64> = sorted.iter().map(|log| (log - middle).exp()).collect();
    let cuts = stats::cuts(&shares, LEAST_SHARE);
    let ends = cuts
        .iter()
        .map(|cut| sorted.partition_point(|log| *log <= cut.ln() + middle))
        .chain([sorted.len()]);
    let mut start = 0;
    let mut parts = Vec::new();
    for end in ends {
        let part = start..end;
        match stats::minor_mode(&sorted[part.clone()], RESOLUTION) {
            None => parts.push(part),
            Some(minor) => {
                let minor = start + minor.start..start + minor.end;
                // The others are on the side of more machines.
                if minor.start - start > end - minor.end {
                    parts.extend([start..minor.start, minor]);
                } else {
                    parts.extend([minor.clone(), minor.end..end]);
                }
            }
        }
        start = end;
    }
    let is_one = parts.len() == 1;
    let mut modes: Vec<ModeFit> = parts.into_iter().map(|part| mode(&sorted[part], is_one)).collect();
    let largest = modes.iter().max_by_key(|mode| mode.machines).and_then(|mode| mode.fit);
    for mode in modes.iter_mut().filter(|mode| mode.machines < FEWEST) {
        if let Some(fit) = largest.filter(|fit| fit.n >= FEWEST) {
            mode.fit = Some(fit.around(mode.median));
            mode.is_borrowed = true;
        }
    }
    modes
}

/// A mode of these; of several modes, those far from it are in none, if they are at most a third.
fn mode(part: &[f64], is_one: bool) -> ModeFit {
    let fit = Robust::of_sorted(part, RESOLUTION).filter(|fit| !is_one && 3 * fit.kept >= 2 * fit.n);
    let belongs = |log: &f64| fit.is_none_or(|fit| fit.keeps(*log));
    let start = part.iter().position(belongs).unwrap_or(0);
    let end = part.iter().rposition(belongs).unwrap_or(part.len() - 1);
    let members = &part[start..=end];
    ModeFit {
        between: [part[start], part[end]],
        median: median(members),
        machines: members.len(),
        fit: Robust::of_sorted(members, RESOLUTION),
        is_borrowed: false,
    }
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
        spread: Robust::of_sorted(sorted, 0.0).map(|fit| fit.sd),
        quantiles: [0.05, 0.25, 0.75, 0.95].map(quantile),
        bins,
    }
}

fn median(sorted: &[f64]) -> f64 {
    stats::middle(sorted).unwrap_or(f64::NAN)
}
