//! What a forecast says, and the time that it is a share of.

use serde::{Deserialize, Serialize};

/// The program's own time, without any emulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NativeTime {
    /// Seconds that its processes spent in user mode: the median of the runs.
    pub user_s: f64,
    /// The lowest and the highest of the runs.
    pub range: [f64; 2],
    pub runs: u32,
}

/// What a program would gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Whether a remedy brings 1 % or more.
    pub verdict: Verdict,
    /// One line that says so, or that it is not worth it, or what to measure.
    pub answer: String,
    /// Each remedy, the one that may bring most first.
    pub remedies: Vec<RemedyForecast>,
    /// The program's time that shares are of; none where it is not known, and then there are seconds only.
    pub native: Option<NativeTime>,
    /// The model, its error and on which programs that was found, a line each.
    pub basis: Vec<String>,
}

/// Whether a remedy is worth its work. What no remedy can exceed ([`Remedy::NoLock`]) is not one and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The lower end of a remedy's interval is 1 % of the program's user time, or more.
    WorthIt,
    /// The upper end of every remedy's interval is below 1 %.
    NotWorthIt,
    /// Neither, or the program's time is not known.
    CannotTell,
}

/// A change to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// LOCK elided until a second thread exists: single mode.
    SingleMode,
    /// Counts of references that one thread only touches, without LOCK: Rc in place of Arc.
    PlainCounts,
    /// Counters that many threads add to, by a word for each CPU.
    PerCpuCounter,
    /// Half of the references at the hottest places, by borrowing.
    FewerClones,
    /// Locks whose LOCK is elided until a second thread exists.
    SingleLocks,
    /// Half of the critical sections at the hottest places.
    FewerSections,
    /// Locks that are given back by a store.
    QueuedLock,
    /// Every locked instruction without LOCK: what no remedy can exceed.
    NoLock,
}

/// What one remedy would bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemedyForecast {
    pub remedy: Remedy,
    /// What it is called in the language of most of its executions; empty in documents of older versions.
    #[serde(default)]
    pub name: String,
    /// Indexes into the profile's sites, of those it applies to.
    pub sites: Vec<usize>,
    /// Their executions that it would make cheaper.
    pub executed: u64,
    /// Seconds saved: the least and the most that is plausible.
    pub saved_s: [f64; 2],
    /// The same as a share of the program's time, in percent.
    pub saved_percent: Option<[f64; 2]>,
    /// Seconds saved if each execution cost what it costs back to back: the upper bound.
    pub back_to_back_s: f64,
    pub back_to_back_percent: Option<f64>,
    /// What it rests on, and what would have to hold in the program.
    pub condition: String,
}
