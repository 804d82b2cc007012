//! Machines that are not like their group, over all machines and headline rows at one false discovery rate.
//!
//! A machine is compared with the others of its group (of its mode, where the group has several), in every headline row. The row's
//! tail is that of all groups together, because a group of 20 does not show its own; and where the groups' spreads are
//! alike, each knows its own better by the others'. A group with fewer than [`FEWEST`] machines,
//! and one of which more than a fifth is far from any centre, says nothing about who is unlike it: its machines are counted as
//! untested.

use super::columns::Fleet;
use super::evidence;
use super::row::{GroupFit, ModeFit, Row};
use super::words;
use crate::number;
use crate::record::fleet_report::{Distance, Outlier, Search};
use crate::stats::{self, FAR, NEAR, Prior, Tail};

/// The fewest machines of a group, or of a mode, in which one can be found.
pub(super) const FEWEST: usize = 5;

/// Groups of at least this many show the tail of a row.
const TAIL_FEWEST: usize = 30;

/// The least share of a mode that belongs to it.
const LEAST_BELONGING: f64 = 0.8;

/// A run is beyond its group at this many of its standard deviations.
const BEYOND: f64 = 3.0;

/// The most notes about modes, and about unsteady machines.
const MOST_NOTES: usize = 10;

/// What was found.
pub(super) struct Found {
    pub outliers: Vec<Outlier>,
    pub search: Search,
    pub notes: Vec<String>,
}

/// Tests every machine in every headline row of `rows`, and puts the distances in these.
pub(super) fn search(rows: &mut [Row], fleet: &Fleet, rate: f64) -> Found {
    let mut tested = vec![false; fleet.machines.len()];
    let mut tests: Vec<(usize, usize)> = Vec::new();
    let mut p = Vec::new();
    for (place, row) in rows.iter_mut().enumerate().filter(|(_, row)| row.spread.headline) {
        row.spread.distances = distances(row);
        for (i, distance) in row.spread.distances.iter().enumerate().filter(|(_, d)| !d.p.is_nan()) {
            tested[row.spread.values[i].machine as usize] = true;
            tests.push((place, i));
            p.push(distance.p);
        }
    }
    let q = stats::discovery_rates(&p);
    let mut named = Vec::new();
    for (&(place, i), &q) in tests.iter().zip(&q) {
        rows[place].spread.distances[i].q = q;
        if q <= rate {
            named.push((place, i));
        }
    }
    let notes = notes(rows, fleet);
    let mut outliers: Vec<Outlier> = named
        .iter()
        .map(|&(place, i)| outlier(&rows[place], i, rows, fleet))
        .collect();
    sort(&mut outliers);
    Found {
        outliers,
        search: Search {
            tests: tests.len(),
            untested_machines: tested.iter().filter(|tested| !**tested).count(),
            rate,
        },
        notes,
    }
}

/// The farthest machine first, with all of its rows.
fn sort(outliers: &mut [Outlier]) {
    let mut farthest: std::collections::BTreeMap<usize, f64> = std::collections::BTreeMap::new();
    for outlier in outliers.iter() {
        let sigmas = farthest.entry(outlier.machine).or_default();
        *sigmas = sigmas.max(outlier.sigmas.abs());
    }
    outliers.sort_by(|a, b| {
        let by_machine = farthest[&b.machine]
            .total_cmp(&farthest[&a.machine])
            .then(a.machine.cmp(&b.machine));
        by_machine.then(b.sigmas.abs().total_cmp(&a.sigmas.abs()))
    });
}

/// How far each value of a row is from its group; q is not known yet.
fn distances(row: &Row) -> Vec<Distance> {
    let prior = prior(row);
    let far: Vec<Option<(f64, f64)>> = (0..row.spread.values.len())
        .map(|i| {
            let log = row.spread.values[i].value.ln();
            distance(
                &row.fits[row.fit_of[i]],
                log,
                &row.runs[row.starts[i]..row.starts[i + 1]],
                prior.as_ref(),
            )
        })
        .collect();
    let tails = tails(&far);
    let known = far.into_iter().map(|far| match far {
        Some((sigmas, df)) => Distance {
            sigmas,
            p: tails[usize::from(sigmas > 0.0)].p(sigmas, df),
            q: f64::NAN,
        },
        None => Distance {
            sigmas: f64::NAN,
            p: f64::NAN,
            q: f64::NAN,
        },
    });
    known.collect()
}

/// How far a machine is from its group, in standard deviations, and their degrees of freedom; `None` if that cannot be said.
pub(super) fn distance(group: &GroupFit, log: f64, runs: &[f64], prior: Option<&Prior>) -> Option<(f64, f64)> {
    let mode = group.mode(log);
    let fit = mode.fit.as_ref().filter(|_| can_tell(mode))?;
    let extra = group.run_spread.map_or(0.0, |spread| spread.extra(runs));
    Some(fit.distance(log, extra, prior))
}

/// What the groups of a row say of each other's spread.
fn prior(row: &Row) -> Option<Prior> {
    let modes = row
        .fits
        .iter()
        .flat_map(|group| &group.modes)
        .filter(|mode| can_tell(mode));
    let variances: Vec<(f64, f64)> = modes.filter_map(|mode| mode.fit).map(|fit| fit.variance()).collect();
    Prior::of(&variances)
}

/// Whether a mode has a centre that machines can be far from.
fn can_tell(mode: &ModeFit) -> bool {
    mode.machines >= FEWEST
        && mode
            .fit
            .is_some_and(|fit| fit.kept as f64 >= LEAST_BELONGING * fit.n as f64)
}

/// The tails of a row below and above.
fn tails(far: &[Option<(f64, f64)>]) -> [Tail; 2] {
    let (mut all, mut between) = (0, [0; 2]);
    for sigmas in far
        .iter()
        .flatten()
        .filter(|(_, df)| *df >= TAIL_FEWEST as f64)
        .map(|far| far.0)
    {
        all += usize::from(sigmas.abs() <= FAR);
        between[usize::from(sigmas > 0.0)] += usize::from((NEAR..=FAR).contains(&sigmas.abs()));
    }
    between.map(|between| Tail::of(between, all))
}

fn outlier(row: &Row, i: usize, rows: &[Row], fleet: &Fleet) -> Outlier {
    let (value, far) = (row.spread.values[i], row.spread.distances[i]);
    let machine = value.machine as usize;
    let log = value.value.ln();
    let runs = &row.runs[row.starts[i]..row.starts[i + 1]];
    let group = &row.fits[row.fit_of[i]];
    let mode = group.mode(log);
    let ratio = (log - mode.median).exp();
    let spread = mode.fit.map_or(0.0, |fit| fit.sd);
    let is_beyond = |run: &&f64| (*run - mode.median) * far.sigmas.signum() > BEYOND * spread;
    let runs_beyond = runs.iter().filter(is_beyond).count();
    let evidence = evidence::of(machine, row, i, rows, fleet);
    let name = words::row(&row.spread.experiment, &row.spread.variant);
    let centre = if group.modes.len() > 1 {
        "median of its group's nearest mode"
    } else {
        "group's median"
    };
    let mut sentence = format!(
        "{}: {name} {} times its {centre}{} in {runs_beyond} of {}",
        fleet.machines[machine].name,
        words::times(ratio),
        words::sense(row.spread.unit, ratio),
        words::counted(runs.len(), "run"),
    );
    for part in &evidence {
        sentence.push_str(", ");
        sentence.push_str(part);
    }
    Outlier {
        machine,
        experiment: row.spread.experiment.clone(),
        variant: row.spread.variant.clone(),
        value: value.value,
        ratio,
        sigmas: far.sigmas,
        p: far.p,
        q: far.q,
        runs_beyond,
        runs: runs.len(),
        evidence,
        sentence,
    }
}

/// What a reader has to know: groups with several modes, groups without a centre, machines whose runs disagree.
fn notes(rows: &[Row], fleet: &Fleet) -> Vec<String> {
    let mut modes = Vec::new();
    let mut unsteady: Vec<(f64, String)> = Vec::new();
    for row in rows.iter().filter(|row| row.spread.headline) {
        let name = words::row(&row.spread.experiment, &row.spread.variant);
        for fit in &row.fits {
            modes.extend(about_modes(&name, fit, fleet));
        }
        for (i, value) in row.spread.values.iter().enumerate() {
            let runs = &row.runs[row.starts[i]..row.starts[i + 1]];
            let Some(spread) = row.fits[row.fit_of[i]]
                .run_spread
                .filter(|spread| spread.is_unsteady(runs))
            else {
                continue;
            };
            let apart = runs
                .last()
                .zip(runs.first())
                .map_or(0.0, |(last, first)| (last - first).exp());
            let text = format!(
                "{} is unsteady in {name}: its {} lie {} times apart, and those of its group have a spread of {}",
                fleet.machines[value.machine as usize].name,
                words::counted(runs.len(), "run"),
                words::times(apart),
                number::percent(spread.sd()),
            );
            unsteady.push((apart.ln() / spread.sd(), text));
        }
    }
    unsteady.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut notes = at_most(modes, "more groups with several modes");
    notes.extend(at_most(
        unsteady.into_iter().map(|(_, text)| text).collect(),
        "more rows of unsteady machines",
    ));
    notes
}

fn about_modes(name: &str, fit: &GroupFit, fleet: &Fleet) -> Option<String> {
    let group = &fleet.groups[fit.group].name;
    let all: usize = fit.modes.iter().map(|mode| mode.machines).sum();
    if fit.modes.len() > 1 {
        let mode = |mode: &ModeFit| {
            let share = number::percent(mode.machines as f64 / all as f64);
            format!("{} ({share})", words::times((mode.median - fit.modes[0].median).exp()))
        };
        let modes: Vec<String> = fit.modes.iter().map(mode).collect();
        return Some(format!(
            "{name}: the machines of group {group} lie around {} values, {} times the least; each is compared with its own",
            modes.len(),
            modes.join(", ")
        ));
    }
    let mode = fit
        .modes
        .first()
        .filter(|mode| mode.machines >= FEWEST && !can_tell(mode))?;
    let fit = mode.fit?;
    Some(format!(
        "{name}: {} of {} machines of group {group} are far from its centre, so nobody is named",
        fit.n - fit.kept,
        fit.n
    ))
}

fn at_most(mut notes: Vec<String>, what: &str) -> Vec<String> {
    let more = notes.len().saturating_sub(MOST_NOTES);
    notes.truncate(MOST_NOTES);
    if more > 0 {
        notes.push(format!("and {} {what}", number::count(more)));
    }
    notes
}
