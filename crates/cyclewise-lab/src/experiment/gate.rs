//! Where the threads of a crowd wait until all of them are there, or one of them cannot come.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A start for many.
#[derive(Default)]
pub(in crate::experiment) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    arrived: usize,
    open: bool,
    failure: Option<io::Error>,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        // A state half changed does not exist: each change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, done: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        self.changed
            .wait_while(self.state(), |state| !done(state))
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread is there, or says why it cannot be; waits, and says whether to begin.
    pub(in crate::experiment) fn pass(&self, ready: io::Result<()>) -> bool {
        match ready {
            Ok(()) => self.state().arrived += 1,
            Err(e) => self.fail(e),
        }
        self.changed.notify_all();
        self.wait_until(|state| state.open || state.failure.is_some())
            .failure
            .is_none()
    }

    /// Sends everybody home.
    pub(in crate::experiment) fn fail(&self, why: io::Error) {
        self.state().failure.get_or_insert(why);
        self.changed.notify_all();
    }

    /// Waits until so many are there, and lets them begin; `false` where somebody failed.
    pub(in crate::experiment) fn open(&self, threads: usize) -> bool {
        let mut state = self.wait_until(|state| state.arrived >= threads || state.failure.is_some());
        state.open = state.failure.is_none();
        self.changed.notify_all();
        state.open
    }

    /// Why it did not open.
    pub(in crate::experiment) fn into_failure(self) -> Option<io::Error> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).failure
    }
}
