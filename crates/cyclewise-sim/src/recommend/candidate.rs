//! The candidates: primitives with parameters, by kind.

use super::Question;

use crate::{Job, Length, Relax, Workload};
use serde::Serialize;

/// The retry limits to try: Linux's first, then ascending.
const LIMITS: [u32; 7] = [100, 2, 5, 15, 50, 200, 500];

/// The relax policies to try, the simplest first.
const RELAXES: [Relax; 3] = [Relax::None, Relax::Pause, Relax::Exponential { max: 64 }];

/// The least operations of a short run, in total and per thread.
const SHORT: u64 = 300;
const SHORT_PER_THREAD: u64 = 5;

/// A primitive with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Candidate {
    /// The workload.
    pub workload: Workload,
    /// Its retry limit, if it has one.
    pub retry_limit: Option<u32>,
    /// Its relax policy, if it has a retry loop.
    pub relax: Option<Relax>,
}

impl Candidate {
    /// The name in the table.
    pub(crate) fn name(&self) -> String {
        let mut name = self.workload.name().to_owned();
        if let Some(limit) = self.retry_limit {
            name.push_str(&format!(" limit {limit}"));
        }
        match self.relax {
            None | Some(Relax::None) => {}
            Some(relax) => name.push_str(&format!(" relax {relax}")),
        }
        name
    }

    /// The job of one run: short, or until throughput is stationary.
    pub(super) fn job(&self, question: &Question, threads: u32, seed: u64, long: bool) -> Job {
        let each = u64::from(threads);
        let short = Length::Operations {
            warm_up: each,
            measured: SHORT.max(SHORT_PER_THREAD * each),
        };
        Job {
            length: if long { Length::STEADY } else { short },
            retry_limit: self.retry_limit,
            relax: self.relax.unwrap_or_default(),
            critical_cycles: question.critical_cycles,
            parallel_cycles: question.parallel_cycles,
            seed,
            ..Job::new(self.workload, threads)
        }
    }
}

/// All candidates, by kind.
pub(super) fn kinds() -> [(&'static str, Vec<Candidate>); 3] {
    let plain = |workload| Candidate {
        workload,
        retry_limit: None,
        relax: None,
    };
    let relaxed = |workload, limit| {
        RELAXES.map(|relax| Candidate {
            workload,
            retry_limit: limit,
            relax: Some(relax),
        })
    };
    let mut lockref: Vec<Candidate> = LIMITS
        .iter()
        .flat_map(|limit| relaxed(Workload::Lockref, Some(*limit)))
        .collect();
    // All limits without a relax policy first.
    lockref.sort_by_key(|c| RELAXES.iter().position(|r| Some(*r) == c.relax));
    lockref.extend(relaxed(Workload::LockrefUnbounded, None));
    lockref.extend(relaxed(Workload::LockrefAdaptive, Some(LIMITS[0])));
    lockref.push(plain(Workload::LockrefLocked));
    let mut references = vec![plain(Workload::Refcount), plain(Workload::Rcuref)];
    references.extend(relaxed(Workload::RefcountCasFull, None));
    references.extend(relaxed(Workload::IncNotZero, None));
    let locks = [
        Workload::LockQueued,
        Workload::LockMcs,
        Workload::LockTicket,
        Workload::LockTtas,
        Workload::LockTas,
    ];
    [
        ("lockref", lockref),
        ("reference count", references),
        ("lock", locks.map(plain).into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_candidate_is_listed_once_and_linuxs_first() {
        for (kind, all) in kinds() {
            for (i, candidate) in all.iter().enumerate() {
                assert!(!all[..i].contains(candidate), "{kind}: {}", candidate.name());
            }
        }
        assert_eq!(kinds()[0].1[0].name(), "lockref limit 100");
    }
}
