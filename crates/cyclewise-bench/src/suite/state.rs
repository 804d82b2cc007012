//! A program's run: the record under construction, what went wrong, and the end of both.
//!
//! Two threads may end it: the main one, and the one that watches the limits. Whoever takes the state is the one.

use super::options::Options;
use super::output;
use crate::error::{Error, Status};
use crate::record::{Experiment, Missing};
use crate::runner::Session;
use std::sync::{Arc, Mutex, PoisonError};

/// What there is so far.
pub(super) struct State {
    /// `None` where nothing is measured.
    pub(super) session: Option<Session>,
    pub(super) add_chain: Vec<f64>,
    /// What went wrong, in the order of time; each was told at once.
    pub(super) failures: Vec<Status>,
    /// The experiments of the record are these groups, in this order.
    pub(super) groups: usize,
    pub(super) options: Options,
}

/// The state, until its end.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Option<State>>>);

impl Shared {
    pub(super) fn new(state: State) -> Self {
        Self(Arc::new(Mutex::new(Some(state))))
    }

    /// Changes the state; nothing after its end.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        if let Some(state) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            change(state);
        }
    }

    /// Adds a measured group.
    pub(super) fn add(&self, experiment: Experiment, add_chain: Vec<f64>) {
        self.change(|state| {
            state.add_chain.extend(add_chain);
            state.groups += 1;
            if let Some(session) = &mut state.session {
                session.add(experiment);
            }
        });
    }

    /// Enters what is missing.
    pub(super) fn miss(&self, group: &str, row: Option<&str>, why: &str) {
        let missing = Missing {
            experiment: group.to_string(),
            variant: row.map(str::to_string),
            why: why.to_string(),
            possible: true,
        };
        self.change(|state| {
            if let Some(session) = &mut state.session {
                session.miss(missing);
            }
        });
    }

    /// Tells a failure in one line, and remembers its status.
    pub(super) fn fail(&self, error: Error) {
        let error = error.in_one_line();
        output::tell(&format!("cyclewise-bench: {error}"));
        self.change(|state| state.failures.push(error.status));
    }

    /// Ends the run: prints and writes what there is. The exit status; 0 if it was ended before.
    pub(super) fn end(&self) -> u8 {
        // The lock is held to the end: whoever comes second waits, and finds nothing.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(State {
            session,
            add_chain,
            mut failures,
            groups,
            options,
        }) = state.take()
        else {
            return 0;
        };
        if let Some(session) = session.filter(|_| groups > 0) {
            let record = session.end(&add_chain);
            if let Err(error) = output::write(&record, &options) {
                output::tell(&format!("cyclewise-bench: {error}"));
                failures.push(error.status);
            }
        }
        status(&failures)
    }
}

/// The exit status of these failures: a usage error before a failed check, and that before what a machine lacks.
fn status(failures: &[Status]) -> u8 {
    let rank = [Status::Usage, Status::CheckFailed, Status::Unsupported];
    let worst = rank.into_iter().find(|status| failures.contains(status));
    worst.map_or(0, |status| status as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_use_is_told_before_a_failed_check() {
        assert_eq!(status(&[]), 0);
        assert_eq!(status(&[Status::Unsupported]), 3);
        assert_eq!(status(&[Status::Unsupported, Status::CheckFailed]), 1);
        assert_eq!(status(&[Status::CheckFailed, Status::Usage]), 2);
    }

    #[test]
    fn who_ends_it_second_finds_nothing() {
        let shared = Shared::new(State {
            session: None,
            add_chain: Vec::new(),
            failures: vec![Status::CheckFailed],
            groups: 0,
            options: Options::default(),
        });
        assert_eq!((shared.end(), shared.end()), (1, 0));
    }
}
