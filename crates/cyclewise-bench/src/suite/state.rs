//! A program's run: the record under construction, what went wrong, and the end of both.
//!
//! Two threads may end it: the main one, and the one that watches the limits. Whoever takes the state is the one.

use super::options::Options;
use super::{baseline, output};
use crate::error::{Error, Result, Status};
use crate::record::{Experiment, Missing, Record};
use crate::runner::{Ended, Heading, Measurement, Session, SetupOf};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, PoisonError};

/// What there is so far.
pub(super) struct State {
    /// `None` where nothing is measured.
    pub(super) session: Option<Session>,
    /// What went wrong, in the order of time; each was told at once.
    pub(super) failures: Vec<Status>,
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

    /// Adds a measured group; the number of its rounds.
    ///
    /// # Errors
    /// No row kept two samples.
    pub(super) fn add(
        &self,
        heading: Heading<'_>,
        setup: &SetupOf<'_>,
        measured: Measurement,
        complete: impl Fn(Experiment) -> Experiment,
    ) -> Result<usize> {
        let mut added = Ok(0);
        self.with_session(|session| {
            added = session
                .add(heading, setup, measured, complete)
                .map(|e| e.map_or(0, |e| e.rounds));
        });
        added
    }

    /// What the first process of the run decided about this, of which `own` is this one's.
    pub(super) fn first<T: Serialize + DeserializeOwned>(&self, what: &str, own: T) -> T {
        let mut first = None;
        self.with_session(|session| first = session.first(what, &own));
        first.unwrap_or(own)
    }

    /// Whether the row failed in a process before this one.
    pub(super) fn has_failed(&self, group: &str, row: &str) -> bool {
        let mut failed = false;
        self.with_session(|session| failed = session.part().has_failed(group, row));
        failed
    }

    /// No further process shall begin: it would end as this one does.
    pub(super) fn end_run(&self) {
        self.with_session(Session::end_run);
    }

    fn with_session(&self, work: impl FnOnce(&mut Session)) {
        self.change(|state| state.session.as_mut().map_or((), work));
    }

    /// Enters what is missing though this machine can measure it.
    pub(super) fn miss(&self, group: &str, row: Option<&str>, why: &str) {
        self.enter_missing(Missing {
            experiment: group.to_string(),
            variant: row.map(str::to_string),
            why: why.to_string(),
            possible: true,
        });
    }

    pub(super) fn enter_missing(&self, missing: Missing) {
        self.with_session(|session| session.miss(missing));
    }

    /// The session, for a program that ends it itself.
    pub(super) fn take_session(&self) -> Option<Session> {
        let mut session = None;
        self.change(|state| session = state.session.take());
        session
    }

    /// Tells a failure in one line, and remembers its status.
    pub(super) fn fail(&self, error: Error) {
        self.tell(&error);
        self.change(|state| state.failures.push(error.status));
    }

    /// Tells a failure in one line, unless a process before has.
    pub(super) fn tell(&self, error: &Error) {
        let error = error.clone().in_one_line();
        let mut is_new = true;
        self.with_session(|session| is_new = session.is_new(&error.message));
        if is_new {
            output::tell(&format!("cyclewise-bench: {error}"));
        }
    }

    /// Ends the run: prints and writes what there is. The exit status; 0 if it was ended before.
    pub(super) fn end(&self) -> u8 {
        // The lock is held to the end: whoever comes second waits, and finds nothing.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(State {
            session,
            mut failures,
            options,
        }) = state.take()
        else {
            return 0;
        };
        let ended = match session {
            Some(session) if session.part().is_one_of_several() => session.hand_on(),
            Some(session) => {
                let ended = session.end();
                failures.extend(tell_too_few(&ended));
                written(&ended.record, &options)
            }
            None => Ok(()),
        };
        if let Err(error) = ended {
            output::tell(&format!("cyclewise-bench: {error}"));
            failures.push(error.status);
        }
        status(&failures)
    }
}

/// Tells which rows kept too few samples.
pub(super) fn tell_too_few(ended: &Ended) -> Option<Status> {
    for missing in &ended.too_few {
        let row = missing.variant.as_deref().unwrap_or_default();
        output::tell(&format!(
            "cyclewise-bench: {}/{row}: {}",
            missing.experiment, missing.why
        ));
    }
    (!ended.too_few.is_empty()).then_some(Status::Unsupported)
}

/// Prints and writes a record that has groups, and keeps it as the baseline of the next.
pub(super) fn written(record: &Record, options: &Options) -> Result<()> {
    if record.experiments.is_empty() {
        return Ok(());
    }
    let (before, kept) = match baseline::follow(record, options) {
        Ok(before) => (before, Ok(())),
        Err(error) => (String::new(), Err(error)),
    };
    output::write(record, &before, options).and(kept)
}

/// The exit status of these failures: a usage error before a failed check, and that before what a machine lacks.
pub(super) fn status(failures: &[Status]) -> u8 {
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
            failures: vec![Status::CheckFailed],
            options: Options::default(),
        });
        assert_eq!((shared.end(), shared.end()), (1, 0));
    }
}
