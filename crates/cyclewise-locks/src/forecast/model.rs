//! From estimates to intervals, and what these rest on.

use super::costs::Costs;
use super::estimate::{Estimate, HotSite, Pace, estimate};
use super::outcome::{NativeTime, RemedyForecast};
use super::remedies::Applied;
use super::truth::KNOWN;
use super::{answer, stats};
use crate::counts::Method;

/// What all remedies' forecasts have in common.
pub(super) struct Model<'a> {
    pub(super) costs: &'a Costs,
    /// The program's pace.
    pub(super) pace: Pace,
    /// The half-widths of the model's error downwards and upwards, as shares of the price back to back.
    pub(super) error: [f64; 2],
    /// The program's own time.
    pub(super) native: Option<&'a NativeTime>,
    pub(super) method: &'a Method,
}

impl Model<'_> {
    /// What one remedy would bring.
    pub(super) fn remedy(&self, applied: Applied, notes: &mut Vec<String>) -> RemedyForecast {
        let of = |sites: &[HotSite]| estimate(self.costs, sites, self.pace, applied.replacement);
        let (certain, perhaps) = (of(&applied.certain), of(&applied.perhaps));
        for note in certain.notes.iter().chain(&perhaps.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let executed = |sites: &[HotSite]| sites.iter().map(|s| s.executed).sum::<f64>();
        let (fewest, most) = (
            executed(&applied.certain),
            executed(&applied.certain) + executed(&applied.perhaps),
        );
        let both = Estimate {
            saved: certain.saved.plus(perhaps.saved),
            back_to_back: certain.back_to_back + perhaps.back_to_back,
            worst: certain.worst + perhaps.worst,
            notes: Vec::new(),
        };
        let (few, many) = (self.interval(&certain, fewest), self.interval(&both, most));
        let saved_s = [few[0].min(many[0]), few[1].max(many[1])];
        let back_to_back_s = both.back_to_back * self.sampling(most)[1].max(1.0);
        RemedyForecast {
            remedy: applied.remedy,
            name: applied.name.to_owned(),
            sites: applied.sites,
            executed: fewest as u64,
            saved_s,
            saved_percent: self.native.map(|native| percent(saved_s, native)),
            back_to_back_s,
            back_to_back_percent: self.native.map(|native| 100.0 * back_to_back_s / native.user_s),
            condition: applied.condition,
        }
    }

    /// The interval of what is saved, in seconds.
    fn interval(&self, estimate: &Estimate, executed: f64) -> [f64; 2] {
        interval(estimate, self.error, self.sampling(executed))
    }

    /// The 95 % interval of so many executions, as factors.
    fn sampling(&self, executed: f64) -> [f64; 2] {
        match self.method {
            Method::Counter { period, .. } if *period > 0 => stats::poisson(executed / *period as f64),
            _ => [1.0; 2],
        }
    }

    /// What the forecast rests on, a line each.
    pub(super) fn basis(&self, notes: Vec<String>) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.costs.operations.is_empty() {
            lines.push(format!(
                "each locked instruction is priced by what the matrix of {} says for code like that around it, so far from the \
                 locked instruction before it",
                self.costs.cpu
            ));
        }
        let [low, _, high] = self.pace.ns.map(answer::digits);
        lines.push(match self.native {
            Some(native) => format!(
                "code near a site is taken to need {low} to {high} ns an instruction: the program's mean without its locked instructions, times or over 1.5, of {} runs",
                native.runs
            ),
            None => format!("the program's time is not known: code is taken to need {low} to {high} ns an instruction"),
        });
        let (inside, all) = KNOWN.left_out;
        lines.push(format!(
            "the model errs by {} % of the price back to back downwards and {} % upwards, from loops and {all} programs whose truth was \
             measured{}; forecast by the others, {inside} of them lay in their intervals",
            answer::digits(100.0 * self.error[0]),
            answer::digits(100.0 * self.error[1]),
            KNOWN.cpus,
        ));
        if let Method::Counter { event, period } = self.method {
            lines.push(format!(
                "counts are samples of {event}, one in {period}: their error is in the intervals"
            ));
        }
        lines.extend(notes);
        lines
    }
}

/// The interval of what is saved, in seconds, by the model's error and the interval of how many executions there are, as factors.
pub(super) fn interval(estimate: &Estimate, error: [f64; 2], sampling: [f64; 2]) -> [f64; 2] {
    let saved = estimate.saved;
    let [down, up] = error.map(|share| share * estimate.back_to_back);
    let [fewer, more] = sampling.map(|factor| (factor - 1.0).abs() * saved.mid.abs());
    let low = saved.mid - stats::together(&[saved.mid - saved.low, saved.cells, down, fewer]);
    let high = saved.mid + stats::together(&[saved.high - saved.mid, saved.cells, up, more]);
    let bounds = [estimate.worst, estimate.back_to_back].map(|end| end * sampling[1].max(1.0));
    [low, high].map(|end| end.clamp(bounds[0], bounds[1].max(bounds[0])))
}

/// Seconds as shares of the program's time: the farther end of the runs at each end.
fn percent(saved_s: [f64; 2], native: &NativeTime) -> [f64; 2] {
    let [least, most] = native
        .range
        .map(|s| if s > 0.0 && s.is_finite() { s } else { native.user_s });
    let share = |saved: f64, shrinks: f64, grows: f64| 100.0 * saved / if saved < 0.0 { grows } else { shrinks };
    [share(saved_s[0], most, least), share(saved_s[1], least, most)]
}
