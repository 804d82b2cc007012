//! The candidates: primitives with parameters, by kind, the simplest first.

use super::Question;
use crate::exam::Program;
use crate::{Job, Relax, Workload};
use serde::Serialize;

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

    /// The program that it is in published rows, none of which has a retry limit.
    pub(super) fn program(&self) -> Program {
        let workload = match self.workload {
            Workload::Lockref => Workload::LockrefUnbounded,
            other => other,
        };
        Program {
            workload,
            relax: self.relax.unwrap_or_default(),
        }
    }

    /// Its job.
    pub(super) fn job(&self, question: &Question, threads: u32) -> Job {
        Job {
            retry_limit: self.retry_limit,
            relax: self.relax.unwrap_or_default(),
            critical_cycles: question.critical_cycles,
            parallel_cycles: question.parallel_cycles,
            seed: question.seed,
            ..Job::new(self.workload, threads)
        }
    }
}

/// Linux's retry limit, first; and others.
const LIMITS: [u32; 3] = [100, 15, 500];

/// All candidates, by kind. A lock that no published row is of, such as this library's, is none: nothing told how far off its predictions are.
pub(super) fn kinds() -> [(&'static str, Vec<Candidate>); 2] {
    let plain = |workload, relax| Candidate {
        workload,
        retry_limit: None,
        relax,
    };
    let lockref = |limit, relax| Candidate {
        retry_limit: Some(limit),
        ..plain(Workload::Lockref, Some(relax))
    };
    let mut lockrefs: Vec<Candidate> = LIMITS.iter().map(|limit| lockref(*limit, Relax::None)).collect();
    lockrefs.push(lockref(LIMITS[0], Relax::Pause));
    lockrefs.push(plain(Workload::LockrefUnbounded, Some(Relax::None)));
    // Linux's first, too.
    let locks = vec![
        plain(Workload::LockQspinlock, Some(Relax::Pause)),
        plain(Workload::LockTicket, Some(Relax::Pause)),
        plain(Workload::LockTas, Some(Relax::None)),
        plain(Workload::LockTtas, Some(Relax::Pause)),
        plain(Workload::LockTtas, Some(Relax::None)),
    ];
    [("lockref", lockrefs), ("lock", locks)]
}
