//! Machines that are not like their group, over all machines and headline rows at one false discovery rate.
//!
//! A machine is compared with the others of its group (with the nearest mode, where that has several), in every headline row and in
//! all of them `together`. The tail is that of all groups and rows together (of its own row, where that has very many machines), because a
//! group of 20 does not show its own; and where the groups' spreads are alike, each is estimated better with the others'. Only a row that
//! makes a difference ([`Row::is_apart`]) names a machine. A group with fewer than [`FEWEST`] machines, and one of which more than a fifth
//! is far from any centre, cannot reveal outliers: its machines are counted as untested.

use super::columns::Fleet;
use super::distance::{can_tell, distance};
use super::row::{FEWEST, ModeFit, Row};
use super::together::{self, Statement};
use super::{evidence, words};
use crate::number;
use crate::record::fleet_report::{Distance, Outlier, Search, UnlikeMachine};
use crate::stats::{self, FAR, NEAR, Prior, Tail};
use std::collections::BTreeMap;

/// Rows of at least this many machines show their own tails, with two standard errors' certainty of what matters.
const OWN_TAIL: usize = 10_000;

/// A run is beyond its group at this many of its standard deviations.
const BEYOND: f64 = 3.0;

/// The most notes about modes, and about unsteady machines.
const MOST_NOTES: usize = 10;

/// The most machines of a mode that a note names.
const MOST_NAMES: usize = 10;

pub(super) struct FoundOutliers {
    pub unlike: Vec<UnlikeMachine>,
    pub outliers: Vec<Outlier>,
    pub search: Search,
    pub notes: Vec<String>,
}

/// Tests every machine in every headline row of `rows` and in all of them together, and puts the distances in these.
pub(super) fn search(rows: &mut [Row], fleet: &Fleet, rate: f64) -> FoundOutliers {
    let mut tested = vec![false; fleet.machines.len()];
    let mut tests: Vec<(usize, usize)> = Vec::new();
    let mut p = Vec::new();
    let far: Vec<Vec<Option<(f64, f64)>>> = rows.iter().map(far).collect();
    let pooled = far
        .iter()
        .fold(Counts::default(), |sum, far| sum.plus(Counts::of_outliers(far)));
    for ((place, row), far) in rows.iter_mut().enumerate().zip(&far) {
        if !row.spread.headline {
            continue;
        }
        row.spread.distances = distances(far, &pooled);
        for (i, distance) in row.spread.distances.iter().enumerate().filter(|(_, d)| !d.p.is_nan()) {
            tested[row.spread.values[i].machine as usize] = true;
            tests.push((place, i));
            // One that makes no difference is a test, and no discovery.
            p.push(if row.is_apart(i) { distance.p } else { 1.0 });
        }
    }
    let statements = together::statements(rows, &far, fleet, |far| {
        let far: Vec<_> = far.iter().copied().map(Some).collect();
        let own = distances(&far, &Counts::of_outliers(&far));
        own.into_iter().map(|distance| distance.p).collect()
    });
    let q = rates(p, statements.iter().map(|statement| statement.p).collect());
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
    let q = &q[tests.len()..];
    let told: Vec<(&Statement, f64)> = statements
        .iter()
        .zip(q.iter().copied())
        .filter(|(_, q)| *q <= rate)
        .collect();
    FoundOutliers {
        unlike: unlike(&outliers, &told, rows, fleet),
        outliers,
        search: Search {
            tests: tests.len(),
            together: statements.len(),
            untested_machines: tested.iter().filter(|tested| !**tested).count(),
            rate,
        },
        notes,
    }
}

/// The share of the false discoveries that machines' statements may have; the other tests are many more, and each has less.
const OF_STATEMENTS: f64 = 0.2;

/// The least false discovery rate of each test, of rows and then of statements, whose p are weighted so that each kind has its share
/// (C. R. Genovese, K. Roeder, L. Wasserman, "False discovery control with p-value weighting", Biometrika 93(3), 2006).
fn rates(mut p: Vec<f64>, statements: Vec<f64>) -> Vec<f64> {
    if statements.is_empty() {
        return stats::discovery_rates(&p);
    }
    let all = (p.len() + statements.len()) as f64;
    let weights = [
        all * (1.0 - OF_STATEMENTS) / p.len() as f64,
        all * OF_STATEMENTS / statements.len() as f64,
    ];
    p.iter_mut().for_each(|p| *p /= weights[0]);
    p.extend(statements.iter().map(|p| p / weights[1]));
    stats::discovery_rates(&p)
}

/// One entry for each machine: those with a row that is far by itself, then those that their rows name together.
fn unlike(outliers: &[Outlier], told: &[(&Statement, f64)], rows: &[Row], fleet: &Fleet) -> Vec<UnlikeMachine> {
    let together = |machine: usize| {
        let (statement, q) = told.iter().find(|(statement, _)| statement.machine == machine)?;
        Some(statement.told(rows, *q))
    };
    let mut unlike: Vec<UnlikeMachine> = outliers
        .chunk_by(|a, b| a.machine == b.machine)
        .map(|own| UnlikeMachine {
            machine: own[0].machine,
            slower: own[0].unit.more_is_faster() != (own[0].ratio > 1.0),
            together: together(own[0].machine),
            sentence: own[0].sentence.clone(),
        })
        .collect();
    let mut others: Vec<_> = told
        .iter()
        .filter(|(s, _)| unlike.iter().all(|u| u.machine != s.machine))
        .collect();
    others.sort_by(|a, b| b.0.sigmas.total_cmp(&a.0.sigmas));
    let others: Vec<UnlikeMachine> = others
        .into_iter()
        .map(|(statement, q)| UnlikeMachine {
            machine: statement.machine,
            slower: statement.slower,
            together: Some(statement.told(rows, *q)),
            sentence: statement.sentence(rows, fleet),
        })
        .collect();
    unlike.extend(others);
    unlike
}

/// The farthest machine first, with all of its rows.
fn sort(outliers: &mut [Outlier]) {
    let mut farthest: BTreeMap<usize, f64> = BTreeMap::new();
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

/// How many standard deviations each value of a headline row is from its group, and their degrees of freedom.
fn far(row: &Row) -> Vec<Option<(f64, f64)>> {
    if !row.spread.headline {
        return Vec::new();
    }
    let prior = prior(row);
    let one = |i: usize| {
        let log = row.spread.values[i].value.ln();
        let runs = &row.runs[row.starts[i]..row.starts[i + 1]];
        distance(&row.fits[row.fit_of[i]], log, runs, prior.as_ref())
    };
    (0..row.spread.values.len()).map(one).collect()
}

/// How far each value of a row is from its group; q is not known yet.
fn distances(far: &[Option<(f64, f64)>], pooled: &Counts) -> Vec<Distance> {
    let own = Counts::of_outliers(far);
    let tails = if own.all >= OWN_TAIL {
        own.sides()
    } else {
        let [below, above] = own.sides();
        let [pooled_below, pooled_above] = pooled.sides();
        let both = pooled.both();
        [below.or_heavier(pooled_below), above.or_heavier(pooled_above)].map(|tail| tail.or_heavier(both))
    };
    let known = far.iter().map(|far| match *far {
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

/// What the groups of a row say of each other's spread.
fn prior(row: &Row) -> Option<Prior> {
    let modes = row
        .fits
        .iter()
        .flat_map(|group| &group.modes)
        .filter(|mode| can_tell(mode));
    let variances: Vec<(f64, f64)> = modes.filter_map(|mode| mode.fit).map(|fit| fit.variance()).collect();
    Prior::of_groups(&variances)
}

/// How many distances there are, and how many of them are in the tails.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// Those that are not beyond [`FAR`].
    all: usize,
    /// Those from [`NEAR`] to [`FAR`], below and above.
    between: [usize; 2],
}

impl Counts {
    fn of_outliers(far: &[Option<(f64, f64)>]) -> Self {
        let mut counts = Self::default();
        for &(sigmas, df) in far.iter().flatten() {
            let score = stats::normal_score(sigmas, df).abs();
            counts.all += usize::from(score <= FAR);
            counts.between[usize::from(sigmas > 0.0)] += usize::from((NEAR..=FAR).contains(&score));
        }
        counts
    }

    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            between: [0, 1].map(|side| self.between[side] + other.between[side]),
        }
    }

    /// The tails below and above, each by itself.
    fn sides(&self) -> [Tail; 2] {
        self.between.map(|between| Tail::surely(between, self.all))
    }

    /// The tail of both sides together.
    fn both(&self) -> Tail {
        Tail::holding(self.between.iter().sum(), self.all)
    }
}

fn outlier(row: &Row, i: usize, rows: &[Row], fleet: &Fleet) -> Outlier {
    let (value, far) = (row.spread.values[i], row.spread.distances[i]);
    let machine = value.machine as usize;
    let log = value.value.ln();
    let runs = &row.runs[row.starts[i]..row.starts[i + 1]];
    let group = &row.fits[row.fit_of[i]];
    let mode = group.mode(log);
    let ratio = row.ratio(i);
    let spread = mode.fit.map_or(0.0, |fit| fit.sd);
    let is_beyond = |run: &&f64| (*run - mode.median) * far.sigmas.signum() > BEYOND * spread;
    let runs_beyond = runs.iter().filter(is_beyond).count();
    let evidence = evidence::of_row(machine, row, i, rows, fleet);
    let name = words::row(&row.spread.experiment, &row.spread.variant);
    let largest = group.largest();
    let centre = match group.modes.len() {
        1 => "its group's median".to_owned(),
        _ if std::ptr::eq(mode, largest) => "the median of its group's largest mode".to_owned(),
        _ => format!(
            "the median of its group's nearest mode, {} times that of the largest,",
            words::times((log - largest.median).exp())
        ),
    };
    let mut sentence = format!(
        "{}: {name} {} times {centre}{} in {runs_beyond} of {}",
        fleet.machines[machine].name,
        words::times(ratio),
        words::sense(row.spread.unit, ratio),
        number::counted(runs.len(), "run"),
    );
    for part in &evidence {
        sentence.push_str(", ");
        sentence.push_str(part);
    }
    Outlier {
        machine,
        experiment: row.spread.experiment.clone(),
        variant: row.spread.variant.clone(),
        unit: row.spread.unit,
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
    // Of each machine the row in which it is least steady, and how many there are.
    let mut unsteady: BTreeMap<u32, (f64, String, usize)> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.spread.headline) {
        let name = words::row(&row.spread.experiment, &row.spread.variant);
        modes.extend((0..row.fits.len()).filter_map(|place| about_modes(&name, row, place, fleet)));
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
                number::counted(runs.len(), "run"),
                words::times(apart),
                number::percent(spread.sd()),
            );
            let least = unsteady.entry(value.machine).or_default();
            least.2 += 1;
            if apart.ln() / spread.sd() > least.0 {
                (least.0, least.1) = (apart.ln() / spread.sd(), text);
            }
        }
    }
    let mut unsteady: Vec<(f64, String, usize)> = unsteady.into_values().collect();
    unsteady.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let of_machine = |(_, text, rows): (f64, String, usize)| match rows {
        1 => text,
        _ => format!("{text}; and in {}", number::counted(rows - 1, "more row")),
    };
    let mut notes = at_most(modes, "more groups with several modes");
    notes.extend(at_most(
        unsteady.into_iter().map(of_machine).collect(),
        "more unsteady machines",
    ));
    notes
}

fn about_modes(name: &str, row: &Row, place: usize, fleet: &Fleet) -> Option<String> {
    let fit = &row.fits[place];
    let group = &fleet.groups[fit.group].name;
    let all = row.fit_of.iter().filter(|of| **of == place).count();
    let most = fit.largest();
    let minor: Vec<&ModeFit> = fit.modes.iter().filter(|mode| !std::ptr::eq(*mode, most)).collect();
    if let [minor] = minor[..]
        && 4 * minor.machines < all
    {
        return Some(format!(
            "{name}: {} of {} machines of group {group} lie at {} times the others: {}{}",
            number::count(minor.machines),
            number::count(all),
            words::times((minor.median - most.median).exp()),
            members(row, place, minor, fleet),
            untold(minor)
        ));
    }
    if fit.modes.len() > 1 {
        let mode = |mode: &ModeFit| {
            let share = number::percent(mode.machines as f64 / all as f64);
            format!("{} ({share})", words::times((mode.median - fit.modes[0].median).exp()))
        };
        let modes: Vec<String> = fit.modes.iter().map(mode).collect();
        let named = minor.iter().map(|minor| {
            let times = words::times((minor.median - fit.modes[0].median).exp());
            format!("; at {times}: {}{}", members(row, place, minor, fleet), untold(minor))
        });
        return Some(format!(
            "{name}: the machines of group {group} lie around {} values, {} times the least; each is compared with its own{}",
            modes.len(),
            modes.join(", "),
            named.collect::<String>()
        ));
    }
    let mode = fit
        .modes
        .first()
        .filter(|mode| mode.machines >= FEWEST && !can_tell(mode))?;
    let fit = mode.fit?;
    Some(format!(
        "{name}: {} of {} machines of group {group} are far from its centre, so no outliers are reported",
        fit.n - fit.kept,
        fit.n
    ))
}

/// The names of the first machines of a mode.
fn members(row: &Row, place: usize, mode: &ModeFit, fleet: &Fleet) -> String {
    let is_of = |i: &usize| row.fit_of[*i] == place && mode.has(row.spread.values[*i].value.ln());
    let first = (0..row.spread.values.len()).filter(is_of).take(MOST_NAMES);
    let first: Vec<&str> = first
        .map(|i| fleet.machines[row.spread.values[i].machine as usize].name.as_str())
        .collect();
    match mode.machines - first.len() {
        0 => first.join(", "),
        more => format!("{} and {} more", first.join(", "), number::count(more)),
    }
}

/// Says so of a mode whose machines are not tested.
fn untold(mode: &ModeFit) -> &'static str {
    if can_tell(mode) {
        ""
    } else {
        " (not tested in this row: too few, or without a centre)"
    }
}

fn at_most(mut notes: Vec<String>, what: &str) -> Vec<String> {
    let more = notes.len().saturating_sub(MOST_NOTES);
    notes.truncate(MOST_NOTES);
    if more > 0 {
        notes.push(format!("and {} {what}", number::count(more)));
    }
    notes
}
