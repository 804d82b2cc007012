//! A measuring session, which becomes a record: the machine's fingerprint, its clock rate, and the time stolen meanwhile.

use super::{self as runner, timer::Anchor};
use crate::machine::{self, StealWatch};
use crate::record::{self, CyclesPerTick, Estimator, Experiment, Machine, Missing, Record, Run, SCHEMA, Tool, Warning};
use crate::sys::perf;

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
    experiments: Vec<Experiment>,
    missing: Vec<Missing>,
}

impl Session {
    /// Starts a session: takes the fingerprint, the clock and the steal counter.
    pub fn begin(seed: u64, estimator: Estimator, pinned_cpu: Option<u32>) -> Self {
        let mut machine = machine::fingerprint();
        machine.pinned_cpu = pinned_cpu;
        let mut steal = StealWatch::open().ok();
        let steal_before = steal.as_mut().and_then(StealWatch::read).unwrap_or(0);
        Self {
            machine,
            seed,
            estimator,
            begun: Anchor::now(),
            steal,
            steal_before,
            experiments: Vec::new(),
            missing: Vec::new(),
        }
    }

    /// Adds a measured experiment.
    pub fn add(&mut self, experiment: Experiment) {
        self.experiments.push(experiment);
    }

    /// Adds something that was asked for and is not measured, or not whole.
    pub fn miss(&mut self, missing: Missing) {
        self.missing.push(missing);
    }

    /// Adds a warning.
    fn warn(&mut self, warning: String) {
        self.machine.warnings.push(Warning::Other(warning));
    }

    /// Ends the session: computes rates over its whole length, and verdicts over all comparisons.
    pub fn end(mut self, add_chain: &[f64]) -> Record {
        let now = Anchor::now();
        self.machine.tsc_hz = self.begun.rate_to(now);
        self.count_steal(now);
        self.machine.core_cycles_per_tick = self.cycles_per_tick(add_chain);
        let mut record = Record {
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
        runner::give_verdicts_by(&mut record, self.estimator);
        record::note_agreement(&mut record);
        record.runs = vec![Run::of(&record)];
        record
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
