//! A measuring session, which becomes a record: the machine's fingerprint, its clock rate, and the time stolen meanwhile.

use super::parts::{self, Ended, Part, SoFar, figures_between};
use super::samples::Measurement;
use super::{self as runner, Heading, SetupOf, timer::Anchor};
use crate::error::Result;
use crate::machine::{self, StealWatch, ThrottleWatch};
use crate::record::{
    self, CyclesPerTick, Estimator, Experiment, Machine, Missing, Record, SCHEMA, Throttled, Tool, Unit, Warning, clean,
};
use crate::sys::perf;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Steal above this share of all CPUs' time is worth a warning.
const STEAL_SHARE: f64 = 0.01;

/// A record under construction.
pub struct Session {
    machine: Machine,
    seed: u64,
    estimator: Estimator,
    begun: Anchor,
    steal: Option<StealWatch>,
    steal_before: u64,
    throttle: ThrottleWatch,
    throttled_before: Throttled,
    /// Concluded from the samples of all parts so far.
    experiments: Vec<Experiment>,
    measured: BTreeMap<String, Measurement>,
    missing: Vec<Missing>,
    part: Part,
    /// Rows with too few samples of all parts so far.
    too_few: Vec<Missing>,
    told: Vec<String>,
    decided: BTreeMap<String, String>,
    ended: bool,
}

impl Session {
    /// Starts a session: takes the fingerprint, the clock and the steal counter.
    pub fn begin(seed: u64, estimator: Estimator, pinned_cpu: Option<u32>, part: Part) -> Self {
        let mut machine = machine::fingerprint();
        machine.pinned_cpu = pinned_cpu;
        let mut steal = StealWatch::open().ok();
        let steal_before = steal.as_mut().and_then(StealWatch::read).unwrap_or(0);
        let throttle = ThrottleWatch::open();
        let throttled_before = throttle.read().unwrap_or_default();
        Self {
            machine,
            seed,
            estimator,
            begun: Anchor::now(),
            steal,
            steal_before,
            throttle,
            throttled_before,
            experiments: Vec::new(),
            measured: BTreeMap::new(),
            missing: Vec::new(),
            part,
            too_few: Vec::new(),
            told: Vec::new(),
            decided: BTreeMap::new(),
            ended: false,
        }
    }

    pub fn part(&self) -> &Part {
        &self.part
    }

    /// Whether no process of the run has told this before.
    pub fn is_new(&mut self, line: &str) -> bool {
        let known = self.part.earlier.iter().flat_map(|so_far| &so_far.told);
        let is_new = known.chain(&self.told).all(|told| told != line);
        self.told.push(line.to_string());
        is_new
    }

    /// What the first process of the run decided about `what`; `None`: this one is the first, and decides `own`.
    pub fn first<T: Serialize + DeserializeOwned>(&mut self, what: &str, own: &T) -> Option<T> {
        let decided = self.part.earlier.as_ref().and_then(|so_far| so_far.decided.get(what));
        let value = decided.cloned().or_else(|| serde_json::to_string(own).ok())?;
        let first = decided.is_some().then(|| serde_json::from_str(&value).ok()).flatten();
        self.decided.insert(what.to_string(), value);
        first
    }

    /// No further process of the run shall begin.
    pub fn end_run(&mut self) {
        self.ended = true;
    }

    /// Adds a measured experiment, as it is with the samples of the parts before; `complete` adds what samples do not carry. `None`: no row
    /// has two samples yet, but the parts that follow may.
    pub fn add(
        &mut self,
        heading: Heading<'_>,
        setup: &SetupOf<'_>,
        mut measured: Measurement,
        complete: impl Fn(Experiment) -> Experiment,
    ) -> Result<Option<&Experiment>> {
        measured.parts = vec![(self.part.index, 0)];
        let earlier = self.part.earlier.as_mut();
        if let Some(earlier) = earlier.and_then(|so_far| so_far.measured.remove(heading.name)) {
            measured.follow(earlier, heading.unit == Unit::TicksPerOp);
        }
        let concluded = runner::conclude(heading, setup, &measured, self.seed);
        self.too_few.extend(measured.too_few(heading.name));
        self.measured.insert(heading.name.to_string(), measured);
        match concluded {
            Ok(experiment) => {
                let mut experiment = complete(experiment);
                clean::experiment(&mut experiment);
                self.experiments.push(experiment);
                Ok(self.experiments.last())
            }
            Err(_) if self.part.index + 1 < self.part.of => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The record as it is while a measurement goes on, in a run of one process; `None` while no row has two samples.
    pub fn preview(
        &self,
        heading: Heading<'_>,
        setup: &SetupOf<'_>,
        so_far: Measurement,
        complete: impl Fn(Experiment) -> Experiment,
    ) -> Option<Record> {
        let mut copy = Self {
            machine: self.machine.clone(),
            steal: StealWatch::open().ok(),
            throttle: ThrottleWatch::open(),
            experiments: self.experiments.clone(),
            measured: BTreeMap::new(),
            missing: self.missing.clone(),
            part: Part::whole(),
            too_few: self.too_few.clone(),
            told: Vec::new(),
            decided: BTreeMap::new(),
            ..*self
        };
        copy.add(heading, setup, so_far, complete).ok()?;
        Some(copy.end().record)
    }

    /// Adds something that was asked for and is not measured, or not whole.
    pub fn miss(&mut self, missing: Missing) {
        self.missing.push(missing);
    }

    fn warn(&mut self, warning: String) {
        self.machine.warnings.push(Warning::Other(warning));
    }

    /// Ends the session: computes rates over its whole length, and verdicts over all comparisons.
    pub fn end(self) -> Ended {
        self.finish().0.into()
    }

    /// Ends the session of a part: hands what there is so far to the next.
    pub fn hand_on(self) -> Result<()> {
        let (so_far, part) = self.finish();
        part.hand_on(so_far)
    }

    fn finish(mut self) -> (SoFar, Part) {
        let chains = self.measured.values().filter_map(|m| m.add_chain.as_ref());
        let add_chain: Vec<f64> = chains.flat_map(|chain| chain.kept()).collect();
        let now = Anchor::now();
        self.machine.tsc_hz = self.begun.rate_to(now);
        self.count_steal(now);
        self.machine.throttled = self.throttle.read().map(|now| now.since(self.throttled_before));
        let stopped = self.machine.throttled.filter(|t| t.throttled > 0);
        self.machine.warnings.extend(stopped.map(Warning::of_quota));
        self.machine.core_cycles_per_tick = self.cycles_per_tick(&add_chain);
        let mut so_far = SoFar {
            failed: parts::rows(&self.missing),
            too_few: self.too_few,
            told: self.told,
            decided: self.decided,
            ended: self.ended,
            measured: self.measured,
            record: Record::default(),
        };
        so_far.record = Record {
            schema: SCHEMA.to_string(),
            created: humantime::format_rfc3339_micros(std::time::SystemTime::now()).to_string(),
            tool: Tool::this(),
            seed: self.seed,
            command: command_line(),
            machine: self.machine,
            experiments: self.experiments,
            missing: self.missing,
            ..Record::default()
        };
        so_far.join(self.part.earlier.take());
        let record = &mut so_far.record;
        runner::give_verdicts_by(record, self.estimator);
        for e in &mut record.experiments {
            figures_between(e, &record.runs);
        }
        record::note_agreement(record);
        (so_far, self.part)
    }

    fn count_steal(&mut self, now: Anchor) {
        let Some(steal) = self.steal.as_mut().and_then(StealWatch::read) else {
            let what = match self.steal {
                Some(_) => "/proc/stat has no steal column",
                None => "/proc/stat cannot be read",
            };
            return self.warn(format!("{what}: time taken by a hypervisor is not detected"));
        };
        self.machine.steal_ticks = steal.saturating_sub(self.steal_before);
        let seconds = (now.raw_ns - self.begun.raw_ns) as f64 / 1e9;
        let share = self.machine.steal_ticks as f64 / 100.0 / (seconds * f64::from(self.machine.cpus.max(1)));
        self.machine.steal_share = share.is_finite().then_some(share);
        if share > STEAL_SHARE {
            self.machine.warnings.push(Warning::of_steal(share));
        }
    }

    /// Core cycles per tick by the add chain, with the reason why not by the PMU.
    fn cycles_per_tick(&mut self, add_chain: &[f64]) -> Option<CyclesPerTick> {
        let refused = perf::Group::core().err();
        let chain = runner::cycles_per_tick(add_chain);
        match (chain, refused) {
            (Some(chain), Some(e)) => {
                let why =
                    format!("no PMU (perf_event_open: {e}); core cycles are derived from a chain of dependent adds");
                Some(CyclesPerTick { why, ..chain })
            }
            (Some(chain), None) => {
                let why =
                    "the PMU counts each variant's cycles; this rate comes from a chain of dependent adds measured with them"
                        .to_string();
                Some(CyclesPerTick { why, ..chain })
            }
            (None, _) => None,
        }
    }
}

/// The command line after the program's name.
pub fn command_line() -> Vec<String> {
    std::env::args_os()
        .skip(1)
        .map(|a| a.to_string_lossy().into_owned())
        .collect()
}
