//! One copy of each name that rows have.

use super::Row;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The names of rows that were read so far, for all threads.
#[derive(Default)]
pub struct Names(Mutex<HashSet<Arc<str>>>);

impl Names {
    /// The shared copy of `name`.
    pub(super) fn shared(&self, name: &str) -> Arc<str> {
        find(&mut self.all(), name)
    }

    /// Makes the names of `rows` shared ones.
    pub(super) fn share(&self, rows: &mut [Row]) {
        let mut all = self.all();
        for row in rows {
            row.experiment = find(&mut all, &row.experiment);
            row.variant = find(&mut all, &row.variant);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashSet<Arc<str>>> {
        // A set is whole whenever a thread panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn find(all: &mut HashSet<Arc<str>>, name: &str) -> Arc<str> {
    if let Some(known) = all.get(name) {
        return known.clone();
    }
    let new: Arc<str> = name.into();
    all.insert(new.clone());
    new
}
