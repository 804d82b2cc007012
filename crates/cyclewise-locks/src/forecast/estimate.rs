//! What a set of sites would save by the matrix alone, before the model's own error.

use super::columns;
use super::costs::Costs;
use super::price::{Code, Span, saved, worst};
use super::rows::{self, Replacement, Rows};
use crate::counts::saturating_sum;
use crate::profile::{Form, Mix, Operation, SiteProfile};
use serde::{Deserialize, Serialize};

/// What the model knows of a site: little enough to be kept with a measured truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HotSite {
    pub(super) form: Form,
    pub(super) operation: Operation,
    /// Bytes of its word.
    pub(super) width: u8,
    /// Executions that become cheaper.
    pub(super) executed: f64,
    /// All its executions by the distance to the locked instruction before.
    pub(super) distances: [u64; 8],
    /// The instructions around it.
    pub(super) mix: Mix,
    /// Instructions that a remedy removes with each execution, beside the locked one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) removed: f64,
}

fn is_zero(n: &f64) -> bool {
    *n == 0.0
}

impl HotSite {
    /// So many executions of a site.
    pub(super) fn new(site: &SiteProfile, executed: f64) -> Self {
        Self {
            form: site.form,
            operation: site.operation,
            width: site.width,
            executed,
            distances: site.distances,
            mix: site.mix,
            removed: 0.0,
        }
    }

    /// The same, with so many instructions removed beside each locked one.
    pub(super) fn removing(self, removed: f64) -> Self {
        Self { removed, ..self }
    }
}

/// How fast the program runs, and how far apart its locked instructions are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// Nanoseconds an instruction of the code between locked instructions: the least, the middle and the most that is
    /// plausible near a site.
    pub(super) ns: [f64; 3],
    /// Instructions between groups of locked instructions that are close together, in the mean.
    pub(super) gap: f64,
}

/// The code near a site may run so many times as fast or as slow as the program does in the mean. A guess.
const LOCAL: f64 = 1.5;
/// Nanoseconds an instruction of the fastest programs: four a cycle at 4 GHz, which whole programs do not reach.
pub(super) const FASTEST_NS: f64 = 0.0625;
/// Nanoseconds an instruction where the program's time is not known: ten in a nanosecond are three a cycle at 3.3 GHz, and
/// one in a nanosecond is a program that waits for memory.
const UNKNOWN_NS: [f64; 3] = [0.1, 0.3, 1.0];

impl Pace {
    /// The pace of a program that executes so many instructions in so many seconds, with these locked instructions.
    ///
    /// The seconds have the locked instructions in them: all of what these cost back to back at most, half in the middle.
    pub(super) fn new(costs: &Costs, instructions: f64, user_s: Option<f64>, sites: &[HotSite]) -> Self {
        let groups: f64 = sites.iter().map(|site| site.executed * (1.0 - bins(site).0[0])).sum();
        let locked_s: f64 = sites
            .iter()
            .map(|site| site.executed * back_to_back_ns(costs, site) * 1e-9)
            .sum();
        let ns = |seconds: f64| (seconds * 1e9 / instructions).max(FASTEST_NS);
        let known = user_s
            .filter(|_| instructions > 0.0)
            .map(|s| [ns((s - locked_s) / LOCAL), ns(s - locked_s / 2.0), ns(s * LOCAL)]);
        Self {
            ns: known.unwrap_or(UNKNOWN_NS),
            gap: instructions / groups.max(1.0),
        }
    }
}

fn back_to_back_ns(costs: &Costs, site: &HotSite) -> f64 {
    let rows = rows::rows(costs, site.form, site.operation, Replacement::Absent);
    rows.map_or(NO_MATRIX_NS, |rows| rows.locked.nothing.ticks * costs.tick_ns)
}

/// Instructions that stand for a bin of the histogram: the geometric middle, half of the first and twice the last's begin.
const MIDDLES: [f64; 8] = [4.0, 11.3, 22.6, 45.3, 90.5, 181.0, 362.0, 1024.0];

/// The shares of executions by distance, and the share whose distance is not known.
fn bins(site: &HotSite) -> ([f64; 8], f64) {
    let sum = saturating_sum(site.distances);
    if sum == 0 {
        return ([0.0; 8], 1.0);
    }
    (site.distances.map(|n| n as f64 / sum as f64), 0.0)
}

/// What sites save, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    /// By the matrix.
    pub(super) saved: Span,
    /// If each execution cost what it costs back to back: no more is saved.
    pub(super) back_to_back: f64,
    /// If each were in the code of the matrix where eliding LOCK costs most: no less is saved. Not above 0.
    pub(super) worst: f64,
    /// What stood in for what is not known.
    pub(super) notes: Vec<String>,
}

/// Nanoseconds that a locked instruction costs back to back where there is no matrix: the dearest of published figures, LOCK
/// ADD of 18 to 20 cycles on Intel and AMD CPUs since 2013 (A. Fog, Instruction tables; uops.info), at 2.5 GHz.
const NO_MATRIX_NS: f64 = 8.0;

/// Rows that are narrower than a full word, or wider, may cost more than the matrix's 32 or 64 bits.
///
/// A lock of one byte takes 1.8 times what one of a full word does on Zen 3, and the same on an Intel Xeon
/// (`design/lab.md`, pairs of widths). For 16 bytes it is a guess.
fn dearer(width: u8) -> Option<f64> {
    match width {
        4 | 8 => None,
        1 | 2 => Some(1.8),
        _ => Some(2.0),
    }
}

/// How much of what is not known of the code around sites is the same for all sites of a program. A guess: a program that
/// follows pointers does so at most of its sites.
const COMMON: f64 = 0.5;

/// What these sites would save.
///
/// What is not known of each site's code averages out over sites as far as it is not common to all: the half-widths of the
/// sum have the variance of a sum of equally correlated terms (L. Kish, Survey Sampling, 1965, on the effect of clusters).
pub(super) fn estimate(costs: &Costs, sites: &[HotSite], pace: Pace, replacement: Replacement) -> Estimate {
    let (mut sum, mut squares) = (Estimate::default(), [0.0; 2]);
    for site in sites.iter().filter(|site| site.executed > 0.0) {
        let (price, [worst, back_to_back], notes) = one(costs, site, pace, replacement);
        let beside = beside(site, pace);
        let (saved, back_to_back) = (
            price.plus(beside).times(site.executed * 1e-9),
            back_to_back + beside.high,
        );
        squares[0] += (saved.mid - saved.low).powi(2);
        squares[1] += (saved.high - saved.mid).powi(2);
        sum.saved = sum.saved.plus(saved);
        sum.back_to_back += back_to_back * site.executed * 1e-9;
        sum.worst += worst * site.executed * 1e-9;
        for note in notes {
            if !sum.notes.contains(&note) {
                sum.notes.push(note);
            }
        }
    }
    let half = |sum: f64, squares: f64| (COMMON * sum * sum + (1.0 - COMMON) * squares).sqrt();
    let Span { low, mid, high, .. } = sum.saved;
    sum.saved.low = mid - half(mid - low, squares[0]);
    sum.saved.high = mid + half(high - mid, squares[1]);
    sum
}

/// What the instructions that are removed beside it take, in nanoseconds: nothing where the CPU executes them beside others, the program's
/// mean at most. The middle is a guess.
fn beside(site: &HotSite, pace: Pace) -> Span {
    Span {
        low: 0.0,
        mid: site.removed * pace.ns[1] / 2.0,
        high: site.removed * pace.ns[1],
        cells: 0.0,
    }
}

/// What an execution of a site saves, in nanoseconds; the worst and the price back to back; and notes.
fn one(costs: &Costs, site: &HotSite, pace: Pace, replacement: Replacement) -> (Span, [f64; 2], Vec<String>) {
    let rows = rows::rows(costs, site.form, site.operation, replacement).filter(|_| costs.tick_ns > 0.0);
    let Some(rows) = rows else {
        let anything = Span {
            low: 0.0,
            mid: NO_MATRIX_NS / 2.0,
            high: NO_MATRIX_NS,
            cells: 0.0,
        };
        let note = format!(
            "no matrix of this machine: a locked instruction is taken to cost 0 to {NO_MATRIX_NS} ns; `cyclewise run in-context` \
             measures one"
        );
        return (anything, [0.0, NO_MATRIX_NS], vec![note]);
    };
    let (mut price, mut bounds) = (
        in_the_program(costs, &rows, site, pace),
        [worst(&rows), rows.locked.nothing.ticks],
    );
    let mut notes = rows.notes;
    if bins(site).1 > 0.0 {
        notes.push("distances between locked instructions were not counted: from back to back to evenly spread".into());
    }
    if let Some(factor) = dearer(site.width) {
        price.high = price.high.max(price.high * factor);
        bounds = bounds.map(|ticks| ticks * factor);
        notes.push(format!(
            "the matrix has words of 8 bytes: others may cost up to {factor} times as much"
        ));
    }
    (
        price.times(costs.tick_ns),
        bounds.map(|ticks| ticks * costs.tick_ns),
        notes,
    )
}

/// What an execution saves in ticks, over its distances.
fn in_the_program(costs: &Costs, rows: &Rows, site: &HotSite, pace: Pace) -> Span {
    let shares = columns::shares(&site.mix);
    let ticks = pace.ns.map(|ns| ns / costs.tick_ns);
    let after = |instructions: f64| Code {
        shares,
        t: ticks.map(|ticks| instructions * ticks),
        waiting: ticks.map(|ticks| columns::waiting(costs, &shares, ticks)),
    };
    let alone = |instructions| saved(costs, rows, false, &after(instructions));
    let second = saved(costs, rows, true, &after(pace.gap));
    let (known, unknown) = bins(site);
    let mut sum = second.times(known[0]);
    for (share, middle) in known.iter().zip(MIDDLES).skip(1).filter(|(share, _)| **share > 0.0) {
        sum = sum.plus(alone(middle).times(*share));
    }
    if unknown > 0.0 {
        let spread = alone(pace.gap);
        let either = Span {
            low: spread.low.min(second.low),
            mid: spread.mid.midpoint(second.mid),
            high: spread.high.max(second.high),
            cells: spread.cells.max(second.cells),
        };
        sum = sum.plus(either.times(unknown));
    }
    sum
}
