//! One machine's record: its template's rows, times what its group, the machine, the run and the sample add.
//!
//! Values are products of factors whose logarithms are normal, so a share means the same in every row.

use super::groups::{self, GROUPS, Group};
use super::plant::{self, Outlier};
use super::templates::Template;
use cyclewise_lab::record::{BetweenRuns, Figure, Identity, Job, Record, Run, State, Variant};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Dice;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::time::{Duration, UNIX_EPOCH};

/// What the fleet's spread is made of, as standard deviations of logarithms, and the size of its records.
#[derive(Clone, Serialize)]
pub(crate) struct Settings {
    pub(crate) seed: u64,
    pub(crate) runs: usize,
    pub(crate) samples: usize,
    /// Between machines of a group, the same for all rows of a machine.
    machine_sd: f64,
    /// Between machines of a group, of each row by itself.
    row_sd: f64,
    /// Between runs of a machine.
    run_sd: f64,
    /// Between samples of a run.
    sample_sd: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            runs: 3,
            samples: 40,
            machine_sd: 0.012,
            row_sd: 0.016,
            run_sd: 0.01,
            sample_sd: 0.01,
        }
    }
}

impl Settings {
    /// The standard deviation of a row over the machines of a group: of the mean of each machine's runs.
    pub(crate) fn sigma(&self) -> f64 {
        let of_runs = self.run_sd * self.run_sd / self.runs as f64;
        (self.machine_sd * self.machine_sd + self.row_sd * self.row_sd + of_runs).sqrt()
    }
}

/// A machine of the fleet.
pub(crate) struct Machine {
    number: usize,
    pub(crate) group: usize,
    pub(crate) outlier: Option<&'static Outlier>,
}

/// Machine `number` of `machines`.
pub(crate) fn place(number: usize, machines: usize) -> Machine {
    Machine {
        number,
        group: groups::of(number),
        outlier: plant::of(number, machines),
    }
}

impl Machine {
    pub(crate) fn node(&self) -> String {
        format!("node{:06}", self.number)
    }

    pub(crate) fn template(&self) -> usize {
        self.definition().template
    }

    fn definition(&self) -> &'static Group {
        &GROUPS[self.group]
    }
}

/// The text of a machine's record.
pub(crate) fn text(m: &Machine, templates: &[Template], settings: &Settings) -> String {
    let mut dice = Dice::seed_from_u64(settings.seed.wrapping_mul(1_000_003) ^ m.number as u64);
    let mut record = templates[m.template()].0.clone();
    identify(&mut record, m, &mut dice);
    let mut runs: Vec<Run> = (0..settings.runs)
        .map(|n| Run {
            seed: n as u64 + 1,
            created: record.created.clone(),
            ..Run::default()
        })
        .collect();
    let machine = settings.machine_sd * normal(&mut dice);
    for e in &mut record.experiments {
        let factor = m
            .definition()
            .factors
            .iter()
            .find(|(name, _)| *name == e.name)
            .map_or(1.0, |f| f.1);
        for v in &mut e.variants {
            let mut logs: Vec<f64> = (0..settings.runs)
                .map(|_| settings.run_sd * normal(&mut dice))
                .collect();
            let own = machine + settings.row_sd * normal(&mut dice);
            let planted = m
                .outlier
                .filter(|o| o.rows.contains(&(e.name.as_str(), v.name.as_str())));
            shift(&mut logs, own, planted.map(|o| o.sigmas * settings.sigma()));
            let values: Vec<f64> = logs.iter().map(|log| v.median * factor * log.exp()).collect();
            fill(v, values[0], settings, &mut dice);
            v.between = between(&values);
            for (run, value) in runs.iter_mut().zip(&values) {
                run.medians.push((e.name.clone(), v.name.clone(), *value));
                run.states.push(State::All);
            }
        }
    }
    if settings.runs > 1 {
        record.runs = runs;
    }
    serde_json::to_string(&record).expect("a record is JSON") + "\n"
}

/// Gives the record its machine's name, facts and time.
fn identify(record: &mut Record, m: &Machine, dice: &mut Dice) {
    let group = m.definition();
    let at = Duration::from_micros(1_795_000_000_000_000 + 37_000_003 * m.number as u64);
    record.created = humantime::format_rfc3339_micros(UNIX_EPOCH + at).to_string();
    let machine = &mut record.machine;
    machine.kernel = group.kernel.to_owned();
    machine.hypervisor = group.hypervisor.map(str::to_owned);
    machine
        .mitigations
        .insert("spectre_v2".to_owned(), group.spectre_v2.to_owned());
    machine.steal_ticks = m.outlier.map_or(0, |o| o.steal_ticks);
    machine.tsc_hz *= 1.0 + 1e-7 * normal(dice);
    machine.warnings.clear();
    machine.identity = Identity {
        node: Some(m.node()),
        boot_id: Some(format!("{:016x}", dice.next_u64())),
        microcode: Some(group.microcode.to_owned()),
        instance_type: Some(group.instance_type.to_owned()),
        job: Some(Job {
            engine: "slurm".to_owned(),
            id: "4711".to_owned(),
            task: u32::try_from(m.number).ok(),
            restarts: 0,
        }),
        ..Identity::default()
    };
}

/// Moves the runs' logarithms by `own`; of a planted row, so that their mean is exactly as planted.
fn shift(logs: &mut [f64], own: f64, planted: Option<f64>) {
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let by = planted.map_or(own, |planted| planted - mean);
    logs.iter_mut().for_each(|log| *log += by);
}

/// Gives the variant samples whose median is `value`.
fn fill(v: &mut Variant, value: f64, settings: &Settings, dice: &mut Dice) {
    let mut samples: Vec<f64> = (0..settings.samples)
        .map(|_| (settings.sample_sd * normal(dice)).exp())
        .collect();
    let scale = value / median(&samples);
    samples.iter_mut().for_each(|s| *s *= scale);
    let n = samples.len() as f64;
    v.n = samples.len();
    v.mean = samples.iter().sum::<f64>() / n;
    v.sd = (samples.iter().map(|s| (s - v.mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    v.min = samples.iter().copied().fold(f64::INFINITY, f64::min);
    v.median = median(&samples);
    let half = 1.96 * v.sd / n.sqrt();
    v.ci95 = [v.mean - half, v.mean + half];
    v.headline = Some(Figure {
        state: State::All,
        n: v.n,
        median: v.median,
        ci95: [Some(v.median - half), Some(v.median + half)],
        effective_n: n,
        ..Figure::default()
    });
    if let Some(batches) = &mut v.batches {
        let copies = batches.copies.map(|c| f64::from(c.max(1)) * batches.iterations as f64);
        for (ticks, copies) in batches.ticks.iter_mut().zip(copies) {
            // An empty loop and two stamps take about 30 ticks.
            *ticks = samples.iter().map(|s| (s.abs() * copies) as u64 + 30).collect();
        }
    }
    v.samples = samples;
}

fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// The geometric mean of runs, and its interval by Student's t over the logarithms; none of one run, or of values with a sign.
fn between(values: &[f64]) -> Option<BetweenRuns> {
    let n = values.len() as f64;
    if values.len() < 2 || values.iter().any(|v| *v <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    let half = t * (variance / n).sqrt();
    Some(BetweenRuns {
        runs: values.len(),
        value: mean.exp(),
        ci95: [Some((mean - half).exp()), Some((mean + half).exp())],
    })
}

/// A standard normal number, by Box and Muller.
fn normal(dice: &mut Dice) -> f64 {
    let radius = (-2.0 * (1.0 - dice.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * dice.random::<f64>()).cos()
}
