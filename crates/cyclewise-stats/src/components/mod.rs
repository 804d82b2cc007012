//! Where the spread of a figure comes from: groups, machines of a group, runs of a machine.
//!
//! The model is y = μ + group + machine + run, all three normal with a variance of their own, on the logarithm of the figure, so
//! that a standard deviation is about a share. The variances are those of greatest restricted likelihood (REML), which has the
//! degrees of freedom right that the mean takes; maximum likelihood underestimates the spread of few groups. Machines
//! with different numbers of runs and groups of different sizes weigh as they should; analysis of variance has no single answer
//! there (Searle, Casella and McCulloch, 1992, chapters 4 to 6).
//!
//! The design is nested, so the likelihood needs no matrices: of each machine its mean and its variance between runs are
//! sufficient. With v = σ²ₘ + σ²ᵣ/r the variance of a machine's mean and u = σ²₉ + 1/Σ1/v that of a group's, minus twice its logarithm
//! is
//!
//! > Σ (r − 1) ln σ²ᵣ + SS/σ²ᵣ  (runs)  + Σ ln v + (ȳ − ȳ₉)²/v + ln Σ1/v  (machines)  + Σ ln u + (ȳ₉ − μ)²/u  (groups)  + ln Σ1/u.
//!
//! # Intervals
//! Profile likelihood: all values of a component that a likelihood-ratio test does not refuse, the others being whatever suits
//! them best. Such an interval is not symmetric and ends at 0 where the data allow 0. Of few groups the ratio is larger than
//! chi-squared with one degree of freedom: of a variance with ν degrees of freedom its mean is ν(ln(ν/2) − ψ(ν/2)),
//! which is 1.27 for two groups. The limit is multiplied by that (Bartlett's correction), with which two groups are covered
//! in 95 % of cases and not in 91 %.
//!
//! # References
//! - H. D. Patterson, R. Thompson, "Recovery of inter-block information when block sizes are unequal", Biometrika 58(3), 1971: REML.
//! - S. R. Searle, G. Casella, C. E. McCulloch, "Variance Components", 1992.
//! - D. M. Bates, M. Mächler, B. Bolker, S. Walker, "Fitting Linear Mixed-Effects Models Using lme4", Journal of Statistical
//!   Software 67(1), 2015: profile intervals, and the examples of the tests.
//! - M. S. Bartlett, "Properties of Sufficiency and Statistical Tests", Proceedings of the Royal Society A 160, 1937.

use super::{Interval, simplex};
use serde::{Deserialize, Serialize};
use statrs::function::gamma::digamma;

/// Where the spread of a row comes from, each as the standard deviation of the logarithm: about a share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// Between groups; `None` with one group, and if no group has two machines.
    pub between_groups: Option<Component>,
    /// Between machines of a group.
    pub between_machines: Option<Component>,
    /// Between runs of a machine; `None` if too few machines have two: that between machines contains it then.
    pub between_runs: Option<Component>,
}

/// One component of the spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// The standard deviation.
    pub sd: f64,
    /// Its 95 % interval.
    pub ci95: Interval,
}

/// The quantile 0.95 of chi-squared with one degree of freedom.
const CHI2: f64 = 3.841_458_820_694_124;

/// A standard deviation below this share of the whole spread is 0.
const NOTHING: f64 = 1e-4;

/// The fewest degrees of freedom between runs, unless there are as few between machines: two runs of one of sixty machines that happen to be
/// far apart would be all of the spread, and nothing would be left between machines.
const FEWEST_RUNS: f64 = 5.0;

/// How exactly minus twice the log-likelihood is minimized for the figure.
const EXACT: f64 = 1e-10;
/// As above, for the limits of 3.84 that intervals end at.
const ROUGH: f64 = 1e-5;

/// The machines of one group: each the figures of its runs.
pub type Machines = Vec<Vec<f64>>;

/// The components of the spread of figures on a logarithmic scale. `None` with fewer than two machines. A component for which there
/// is no replication is `None`, and that between groups if no group has two machines: it cannot be told from that between machines
/// then. Where few machines have two runs, that between machines contains what is between runs (fewer than five degrees of freedom between runs).
pub fn components(groups: &[Machines]) -> Option<Components> {
    let data = Data::of_groups(groups)?;
    if data.df[2] < FEWEST_RUNS.min(data.df[1]) {
        let mean = |runs: &Vec<f64>| vec![runs.iter().sum::<f64>() / runs.len() as f64];
        let has_runs = |runs: &&Vec<f64>| !runs.is_empty();
        let single = |group: &Machines| group.iter().filter(has_runs).map(mean).collect();
        return split(&Data::of_groups(&groups.iter().map(single).collect::<Vec<Machines>>())?);
    }
    split(&data)
}

fn split(data: &Data) -> Option<Components> {
    let fitted = data.fit();
    let component = |which: Which| {
        data.has(which).then(|| Component {
            sd: fitted.sd[which as usize],
            ci95: data.interval(which, &fitted).map(Some),
        })
    };
    Some(Components {
        between_groups: data.has(Which::Machines).then(|| component(Which::Groups)).flatten(),
        between_machines: component(Which::Machines),
        between_runs: component(Which::Runs),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Groups = 0,
    Machines = 1,
    Runs = 2,
}

const ALL: [Which; 3] = [Which::Groups, Which::Machines, Which::Runs];

/// Machines of a group that have the same number of runs.
struct Alike {
    runs: f64,
    machines: f64,
    /// The mean of the machines' means, and the sum of squares about it.
    mean: f64,
    squares: f64,
}

/// What is sufficient, in units of the whole spread and from the middle of all.
struct Data {
    groups: Vec<Vec<Alike>>,
    /// Degrees of freedom between groups, machines and runs.
    df: [f64; 3],
    /// The sum of squares between runs.
    squares: f64,
    /// The unit.
    scale: f64,
}

/// Standard deviations in the data's unit times `scale`, and minus twice the log-likelihood.
struct Fitted {
    sd: [f64; 3],
    value: f64,
}

impl Data {
    fn of_groups(groups: &[Machines]) -> Option<Self> {
        let machines: Vec<&Vec<f64>> = groups.iter().flatten().filter(|runs| !runs.is_empty()).collect();
        if machines.len() < 2 {
            return None;
        }
        let runs: f64 = machines.iter().map(|m| m.len() as f64).sum();
        let centre = machines.iter().copied().flatten().sum::<f64>() / runs;
        let all: f64 = machines.iter().copied().flatten().map(|x| (x - centre).powi(2)).sum();
        let scale = (all / (runs - 1.0)).sqrt();
        // Where all figures are the same, any unit will do.
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let mut squares = 0.0;
        let mut summed = Vec::new();
        for group in groups {
            let mut means: Vec<(usize, f64)> = Vec::with_capacity(group.len());
            for machine in group.iter().filter(|runs| !runs.is_empty()) {
                let mean = machine.iter().map(|x| (x - centre) / scale).sum::<f64>() / machine.len() as f64;
                squares += machine
                    .iter()
                    .map(|x| ((x - centre) / scale - mean).powi(2))
                    .sum::<f64>();
                means.push((machine.len(), mean));
            }
            means.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let alike = means.chunk_by(|a, b| a.0 == b.0).map(|chunk| {
                let n = chunk.len() as f64;
                let mean = chunk.iter().map(|m| m.1).sum::<f64>() / n;
                Alike {
                    runs: chunk[0].0 as f64,
                    machines: n,
                    mean,
                    squares: chunk.iter().map(|m| (m.1 - mean).powi(2)).sum(),
                }
            });
            let alike: Vec<Alike> = alike.collect();
            if !alike.is_empty() {
                summed.push(alike);
            }
        }
        let of_groups = summed.len() as f64;
        Some(Self {
            df: [
                of_groups - 1.0,
                machines.len() as f64 - of_groups,
                runs - machines.len() as f64,
            ],
            groups: summed,
            squares,
            scale,
        })
    }

    fn has(&self, which: Which) -> bool {
        self.df[which as usize] > 0.0
    }

    /// Minus twice the restricted log-likelihood at these standard deviations, in the data's unit.
    fn deviance(&self, sd: &[f64; 3]) -> f64 {
        // A likelihood that grows without limit, where all runs are equal, is held here.
        let [of_groups, of_machines, of_runs] = sd.map(|sd| sd * sd);
        let of_runs = of_runs.max(1e-12);
        let mut sum = 0.0;
        if self.has(Which::Runs) {
            sum += self.df[2] * of_runs.ln() + self.squares / of_runs;
        }
        let (mut weight, mut weighted, mut square) = (0.0, 0.0, 0.0);
        for group in &self.groups {
            let (mut w, mut wy, mut wyy) = (0.0, 0.0, 0.0);
            for alike in group {
                let v = of_machines + of_runs / alike.runs;
                sum += alike.machines * v.ln() + alike.squares / v;
                w += alike.machines / v;
                wy += alike.machines * alike.mean / v;
                wyy += alike.machines * alike.mean * alike.mean / v;
            }
            let mean = wy / w;
            let u = of_groups + 1.0 / w;
            sum += (wyy - mean * wy).max(0.0) + w.ln() + u.ln();
            weight += 1.0 / u;
            weighted += mean / u;
            square += mean * mean / u;
        }
        sum + (square - weighted * weighted / weight).max(0.0) + weight.ln()
    }

    /// Variances from the moments of the nested design: where the search begins.
    fn start(&self) -> [f64; 3] {
        let of_runs = if self.has(Which::Runs) {
            self.squares / self.df[2]
        } else {
            0.0
        };
        let moments = |parts: &mut dyn Iterator<Item = (f64, f64, f64)>| {
            let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
            for (machines, mean, within) in parts {
                n += machines;
                sum += machines * mean;
                squares += within + machines * mean * mean;
            }
            (n, sum / n, (squares - sum * sum / n).max(0.0))
        };
        let groups: Vec<(f64, f64, f64)> = self
            .groups
            .iter()
            .map(|g| moments(&mut g.iter().map(|a| (a.machines, a.mean, a.squares))))
            .collect();
        let of_machines = groups.iter().map(|g| g.2).sum::<f64>() / self.df[1].max(1.0);
        let (_, _, between) = moments(&mut groups.iter().map(|g| (1.0, g.1, 0.0)));
        let of_groups = between / self.df[0].max(1.0);
        [of_groups, of_machines, of_runs].map(|v: f64| v.sqrt().max(0.03))
    }

    /// The least deviance with one component given, from `start`.
    fn profile(&self, given: Option<(Which, f64)>, start: &[f64; 3], tolerance: f64) -> Fitted {
        let is_free = |w: &Which| self.has(*w) && given.is_none_or(|(fixed, _)| fixed != *w);
        let free: Vec<usize> = ALL.into_iter().filter(is_free).map(|w| w as usize).collect();
        let mut sd = ALL.map(|w| if self.has(w) { start[w as usize] } else { 0.0 });
        if let Some((which, value)) = given {
            sd[which as usize] = value;
        }
        let step = free.iter().map(|i| sd[*i]).sum::<f64>() / (4 * free.len().max(1)) as f64;
        // A negative standard deviation is the other side of zero.
        let (found, value) = simplex::least(sd, &free, step, tolerance, &|sd| self.deviance(sd));
        Fitted {
            sd: found.map(f64::abs),
            value,
        }
    }

    fn fit(&self) -> Fitted {
        let mut fitted = self.profile(None, &self.start(), EXACT);
        for which in ALL {
            let sd = &mut fitted.sd[which as usize];
            *sd = if *sd < NOTHING { 0.0 } else { *sd * self.scale };
        }
        fitted
    }

    /// The 95 % interval of a component, by profile likelihood.
    fn interval(&self, which: Which, fitted: &Fitted) -> [f64; 2] {
        let df = self.df[which as usize];
        let limit = fitted.value + CHI2 * bartlett(df);
        let best = fitted.sd[which as usize] / self.scale;
        let start: [f64; 3] = fitted.sd.map(|sd| (sd / self.scale).max(0.03));
        let beyond = |sd: f64| self.profile(Some((which, sd)), &start, ROUGH).value > limit;
        let low = if best == 0.0 || !beyond(0.0) {
            0.0
        } else {
            bisect(0.0, best, &|sd| !beyond(sd))
        };
        // The spread between two groups may be a hundred times what is seen.
        let mut outside = best.max(0.01) * 1.5;
        while !beyond(outside) && outside < 1e6 {
            outside *= 2.0;
        }
        let high = bisect(best, outside, &beyond);
        [low * self.scale, high * self.scale]
    }
}

/// The mean of the likelihood ratio of a variance with `df` degrees of freedom, under the truth.
fn bartlett(df: f64) -> f64 {
    if df > 1e4 {
        return 1.0;
    }
    df * ((df / 2.0).ln() - digamma(df / 2.0))
}

/// Where `is_above` begins to hold between `low` and `high`, to a thousandth of it.
fn bisect(mut low: f64, mut high: f64, is_above: &impl Fn(f64) -> bool) -> f64 {
    for _ in 0..40 {
        if high - low <= 1e-3 * high {
            break;
        }
        let middle = low.midpoint(high);
        *(if is_above(middle) { &mut high } else { &mut low }) = middle;
    }
    low.midpoint(high)
}

#[cfg(test)]
mod tests;
