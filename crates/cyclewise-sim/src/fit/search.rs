//! The choice of laws by the error on rows held out.
//!
//! For each family of laws and each fold, the values are those with the least badness on the other folds, and the error is the mean
//! absolute logarithm on the fold. The best family has the least mean over the folds. The one taken is the one with the fewest laws whose
//! errors exceed the best one's by no more than one standard error, of the differences fold by fold: what is common to all families,
//! such as a workload that none predicts, then decides nothing.
//!
//! Rows of one workload differ in nothing but their threads, and three of them decide nothing by folds. The family taken is then the one
//! with the least badness on all rows, plus [`LAW`] for each law.
//!
//! # References
//! L. Breiman, J. Friedman, R. Olshen and C. Stone, "Classification and Regression Trees", 1984, section 3.4.3: the rule of one
//! standard error.

use super::candidates::Family;
use super::folds::{folds, others};
use super::table::{SCALES, Table, Tried};

/// For how many of a family's best candidates scales are tried.
const KEPT: usize = 2;

/// By how much a law beyond the simplest must reduce the badness, where rows held out decide nothing.
const LAW: f64 = 1.0;

/// A family, with its mean error in each fold.
#[derive(Clone, Debug)]
pub(super) struct Score {
    pub(super) family: Family,
    by_fold: Vec<f64>,
}

/// The laws that are taken, and how all families did.
pub(super) struct Choice {
    pub(super) tried: Tried,
    pub(super) family: Family,
    pub(super) scores: Vec<Score>,
}

/// Chooses the laws on some rows.
pub(super) fn choose(table: &mut Table<'_>, rows: &[usize]) -> Choice {
    let families = families(table);
    let folds = folds(table.rows, rows);
    let mut scores = Vec::new();
    for family in families {
        let mut by_fold = Vec::new();
        for fold in &folds {
            let learned = best_of(table, family, &others(table.rows, rows, fold));
            let errors: f64 = fold.iter().map(|row| table.error(learned, *row).abs()).sum();
            by_fold.push(errors / count(fold.len()));
        }
        scores.push(Score { family, by_fold });
    }
    let family = match is_of_one_workload(table, rows) {
        true => least_penalized(table, rows, &scores),
        false => simplest_of_the_best(&scores),
    };
    Choice {
        tried: best_of(table, family, &others(table.rows, rows, &[])),
        family,
        scores,
    }
}

/// The kinds of a law that do as well as the best, by the best family of each kind.
pub(super) fn kinds_as_good(scores: &[Score], key: &str) -> Vec<&'static str> {
    let Some(best) = best(scores) else {
        return Vec::new();
    };
    let kind = |score: &Score| {
        score
            .family
            .kinds()
            .iter()
            .find(|(k, _)| *k == key)
            .map(|(_, kind)| *kind)
    };
    let mut kinds: Vec<&'static str> = Vec::new();
    for score in scores.iter().filter(|score| score.is_as_good_as(best)) {
        if let Some(kind) = kind(score).filter(|kind| !kinds.contains(kind)) {
            kinds.push(kind);
        }
    }
    kinds
}

fn families(table: &Table<'_>) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for candidate in &table.candidates {
        let family = candidate.family();
        if !families.contains(&family) {
            families.push(family);
        }
    }
    families
}

fn is_of_one_workload(table: &Table<'_>, rows: &[usize]) -> bool {
    let mut workloads = rows.iter().map(|row| table.rows[*row].workload);
    let first = workloads.next();
    workloads.all(|workload| Some(workload) == first)
}

fn least_penalized(table: &mut Table<'_>, rows: &[usize], scores: &[Score]) -> Family {
    let rows = others(table.rows, rows, &[]);
    let judged = scores.iter().map(|score| {
        let tried = best_of(table, score.family, &rows);
        let laws = LAW * f64::from(score.family.laws());
        (table.badness(tried, &rows) + laws, score.family)
    });
    let best = judged.min_by(|a, b| a.0.total_cmp(&b.0));
    best.expect("there is a candidate, so there is a family").1
}

/// The family's candidate and scale with the least badness on the rows.
fn best_of(table: &mut Table<'_>, family: Family, rows: &[usize]) -> Tried {
    let own = 0..table.candidates.len();
    let own = own.filter(|&candidate| table.candidates[candidate].family() == family);
    let own: Vec<usize> = own.collect();
    let mut judged: Vec<(f64, usize)> = own
        .into_iter()
        .map(|candidate| (table.badness((candidate, 0), rows), candidate))
        .collect();
    // A stable sort, so that of equal candidates the first wins.
    judged.sort_by(|a, b| a.0.total_cmp(&b.0));
    let kept = judged.iter().take(KEPT);
    let scaled = kept.flat_map(|(_, candidate)| (0..SCALES.len()).map(|scale| (*candidate, scale)));
    let scaled: Vec<Tried> = scaled.collect();
    let judged: Vec<(f64, Tried)> = scaled
        .into_iter()
        .map(|tried| (table.badness(tried, rows), tried))
        .collect();
    let best = judged.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or((0, 0), |(_, tried)| *tried)
}

fn best(scores: &[Score]) -> Option<&Score> {
    scores.iter().min_by(|a, b| a.mean().total_cmp(&b.mean()))
}

/// The family with the fewest laws that is as good as the best; of several, the best of them.
fn simplest_of_the_best(scores: &[Score]) -> Family {
    let best = best(scores).expect("there is a candidate, so there is a family");
    let as_good = scores.iter().filter(|score| score.is_as_good_as(best));
    let simplest = as_good.min_by(|a, b| {
        let laws = a.family.laws().cmp(&b.family.laws());
        laws.then(a.mean().total_cmp(&b.mean()))
    });
    simplest.map_or(best.family, |score| score.family)
}

impl Score {
    fn mean(&self) -> f64 {
        mean(&self.by_fold)
    }

    /// Whether its errors exceed those of `best` by at most one standard error.
    fn is_as_good_as(&self, best: &Self) -> bool {
        let differences: Vec<f64> = self.by_fold.iter().zip(&best.by_fold).map(|(a, b)| a - b).collect();
        let (mean, n) = (mean(&differences), count(differences.len()));
        let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
        // With one fold there is no spread: only the best is as good.
        let error = if n > 1.0 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        mean <= error
    }
}

/// The mean; 0 of none, as for rows that are all of one thread.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len()).max(1.0)
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred rows")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(arbiter: &'static str, by_fold: &[f64]) -> Score {
        Score {
            family: Family {
                arbiter,
                hold: "none",
                probe_share: "0",
                queue: "at-owner",
                rmw: "near",
                store_buffer: "some",
            },
            by_fold: by_fold.to_vec(),
        }
    }

    #[test]
    fn a_law_is_taken_only_if_the_folds_agree_that_it_helps() {
        // Better in every fold by about as much, although the folds differ by far more.
        let told = [
            score("fifo", &[9.0, 2.0, 4.0, 30.0]),
            score("random", &[7.0, 0.2, 1.8, 28.1]),
        ];
        assert_eq!(simplest_of_the_best(&told).arbiter, "random");
        assert_eq!(kinds_as_good(&told, "line.arbiter"), ["random"]);
        // The twin: better on average, by one fold alone.
        let not = [
            score("fifo", &[9.0, 2.0, 4.0, 30.0]),
            score("random", &[9.1, 2.1, 4.1, 20.0]),
        ];
        assert_eq!(simplest_of_the_best(&not).arbiter, "fifo");
        assert_eq!(kinds_as_good(&not, "line.arbiter"), ["fifo", "random"]);
    }
}
