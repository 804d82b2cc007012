//! The examination: predicts every contended row of the examined half, or refuses it with the reason.

use super::anchor::{Anchored, anchored};
use super::band::{self, Band, HeldOutRow};
use super::data::{PublishedMachine, PublishedRow};
use super::learn::{self, Learned};
use super::split::{Half, half};
use super::{Group, WorkloadKind, data, pairs};
use crate::Relax;
use cyclewise_bench::stats::median;
use rayon::prelude::*;

/// A row of the examination.
#[derive(Clone, Debug, PartialEq)]
pub struct ExamRow {
    /// The machine.
    pub machine: String,
    /// Its group.
    pub group: Group,
    /// The published row.
    pub published: PublishedRow,
    /// The simulated time, also where it is refused as a prediction; `None` if the program made no progress.
    pub simulated: Option<f64>,
    /// The least and the most of the prediction's runs.
    pub range: [f64; 2],
    /// The band around it, or why there is no prediction.
    pub verdict: Result<Band, Refusal>,
}

/// Why a row is not predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Nothing gives its transfer times.
    NoTransfers,
    /// No transfer time gives its row of additions under the learned laws.
    NoAnchor,
    /// That row and the matrix disagree about transfers, which a lock that is handed on takes.
    Disagree,
    /// Its family has too few machines to learn from.
    NoFamily,
    /// Too few machines of the family have rows of the group.
    NoHeldOut,
    /// Held-out rows are too far from the predictions for them.
    WideBand,
    /// Held-out rows had a larger error than is asked of a prediction.
    Inexact,
    /// The program makes no progress in the simulation.
    NoProgress,
}

impl Refusal {
    /// The reason in a sentence.
    pub const fn why(self) -> &'static str {
        match self {
            Self::NoTransfers => {
                "Neither its own transfer times nor a contended row of additions that moves the line are published."
            }
            Self::NoAnchor => "No transfer time gives its contended row of additions under the learned laws.",
            Self::Disagree => {
                "Its row of additions needs transfers that are more than 1.5 times, or less than two thirds, of the matrix's, and a lock that is handed on takes whole transfers."
            }
            Self::NoFamily => "Fewer than two machines of its family are learned from.",
            Self::NoHeldOut => "Fewer than two machines of its family were held out with rows like these.",
            Self::WideBand => {
                "Held-out rows like these are so far from their predictions that a band around one says nothing."
            }
            Self::Inexact => "Held-out rows like these had a larger median error than is asked of a prediction.",
            Self::NoProgress => "The program makes no progress under the learned laws.",
        }
    }
}

impl ExamRow {
    /// Its kind.
    pub const fn kind(&self) -> WorkloadKind {
        self.group.pattern.kind()
    }

    /// The prediction and its band, unless it is refused.
    pub fn prediction(&self) -> Option<(f64, Band)> {
        Some((self.simulated?, self.verdict.ok()?))
    }

    /// The error relative to the published figure; `None` if it is refused.
    pub fn error(&self) -> Option<f64> {
        Some(self.prediction()?.0 / self.published.ns - 1.0)
    }

    /// Whether the published figure is in the band; `None` if the row is refused.
    pub fn is_inside(&self) -> Option<bool> {
        let (_, band) = self.prediction()?;
        let (low, high) = self.around(band);
        Some((low..=high).contains(&self.published.ns))
    }

    /// Between which figures the published one should be: the range of the runs, widened by the band.
    pub fn around(&self, band: Band) -> (f64, f64) {
        let [least, most] = self.range;
        (band.around(least).0, band.around(most).1)
    }

    /// Whether the prediction is more than twice or less than half the published figure.
    pub fn is_far_off(&self) -> bool {
        self.error().is_some_and(|error| !(-0.5..=1.0).contains(&error))
    }

    /// The workload and its relax policy.
    pub fn workload(&self) -> String {
        label(&self.published)
    }
}

/// The workload of a row with its relax policy, and whether it has work of its own.
pub(super) fn label(row: &PublishedRow) -> String {
    let relax = match row.relax {
        Relax::None => "",
        Relax::Pause => ", pause",
        Relax::Exponential { .. } => ", exponential",
    };
    let work = if row.critical_ns > 0.0 { ", with work" } else { "" };
    format!("{}{relax}{work}", row.workload)
}

/// The predictions of a kind against what is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindResult {
    /// The kind.
    pub kind: WorkloadKind,
    /// Predicted rows.
    pub rows: usize,
    /// Refused rows.
    pub refused: usize,
    /// The median error; NaN for no rows.
    pub median_error: f64,
    /// Rows off by more than a factor of 2.
    pub far_off: usize,
    /// Rows whose published figure is in the band.
    pub inside: usize,
}

impl KindResult {
    /// Whether the median error is as small as asked and no row is off by more than a factor of 2; `None` for no predictions.
    pub fn is_met(&self) -> Option<bool> {
        (self.rows > 0).then_some(self.median_error <= self.kind.asked() && self.far_off == 0)
    }
}

/// The result of the examination.
#[derive(Clone, Debug, PartialEq)]
pub struct Examination {
    /// The rows of the examined half.
    pub rows: Vec<ExamRow>,
    /// What was learned, with the held-out rows of each family.
    pub learned: Vec<(Learned, Vec<HeldOutRow>)>,
    /// The machines to learn from, by which held-out rows are numbered.
    pub learners: Vec<PublishedMachine>,
}

impl Examination {
    /// The result of each kind.
    pub fn kinds(&self) -> Vec<KindResult> {
        WorkloadKind::ALL.iter().map(|kind| result(*kind, &self.rows)).collect()
    }
}

fn result(kind: WorkloadKind, rows: &[ExamRow]) -> KindResult {
    let of: Vec<&ExamRow> = rows.iter().filter(|row| row.kind() == kind).collect();
    let errors: Vec<f64> = of.iter().filter_map(|row| Some(row.error()?.abs())).collect();
    KindResult {
        kind,
        rows: errors.len(),
        refused: of.len() - errors.len(),
        median_error: median(errors.iter().copied()).unwrap_or(f64::NAN),
        far_off: of.iter().filter(|row| row.is_far_off()).count(),
        inside: of.iter().filter(|row| row.is_inside() == Some(true)).count(),
    }
}

/// Predicts the examined half, and the held-out machines again, with the laws and bands of `data/laws.toml`.
pub fn run() -> Examination {
    let learners = learn::learners();
    let held_out = |learned: &Learned| {
        let rows = learn::held_out(&learners, &learned.folds);
        let (bands, pairs) = (band::bands(&rows), pairs::pairs(&rows));
        (
            Learned {
                bands,
                pairs,
                ..learned.clone()
            },
            rows,
        )
    };
    let learned: Vec<_> = learn::learned().par_iter().map(held_out).collect();
    let known: Vec<Learned> = learned.iter().map(|(learned, _)| learned.clone()).collect();
    let machines: Vec<_> = data::machines()
        .into_iter()
        .filter(|m| half(&m.name) == Half::Examine)
        .collect();
    let rows: Vec<Vec<ExamRow>> = machines.par_iter().map(|machine| examine(machine, &known)).collect();
    Examination {
        rows: rows.concat(),
        learned,
        learners,
    }
}

/// The rows of a machine.
pub(super) fn examine(machine: &PublishedMachine, learned: &[Learned]) -> Vec<ExamRow> {
    let learned = learned.iter().find(|learned| learned.family == machine.family);
    let built = learned.and_then(|learned| anchored(machine, &learned.laws));
    let row = |(group, published): (Group, PublishedRow)| {
        let mut prediction = None;
        let (simulated, verdict) = match learned {
            None => (None, Err(Refusal::NoFamily)),
            Some(learned) => {
                prediction = built.as_ref().and_then(|built| built.predict(&published));
                let simulated = prediction.as_ref().map(|prediction| prediction.middle().ns_per_op);
                (simulated, verdict(machine, learned, group, built.as_ref(), simulated))
            }
        };
        ExamRow {
            machine: machine.name.clone(),
            group,
            published,
            simulated,
            range: prediction.map_or([f64::NAN; 2], |prediction| prediction.range().ns),
            verdict,
        }
    };
    machine.contended().map(row).collect()
}

fn verdict(
    machine: &PublishedMachine,
    learned: &Learned,
    group: Group,
    built: Option<&Anchored>,
    simulated: Option<f64>,
) -> Result<Band, Refusal> {
    if machine.transfers().is_none() {
        return Err(Refusal::NoTransfers);
    }
    let built = built.ok_or(Refusal::NoAnchor)?;
    if !built.knows(group.pattern) {
        return Err(Refusal::Disagree);
    }
    let band = learned.band(group).ok_or(Refusal::NoHeldOut)?;
    if !band.is_narrow() {
        return Err(Refusal::WideBand);
    }
    if !band.is_exact() {
        return Err(Refusal::Inexact);
    }
    simulated.map(|_| band).ok_or(Refusal::NoProgress)
}
