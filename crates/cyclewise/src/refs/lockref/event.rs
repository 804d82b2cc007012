//! Where misuse of a count is reported: where `Refcount` reports it.

use super::raw::Word;
use crate::refs::refcount::{self, Event};
use core::panic::Location;
use core::ptr::from_ref;

/// Reports it, if there is any, as the caller's.
#[inline]
#[track_caller]
pub(super) fn report(cell: &Word, event: Option<Event>) {
    if let Some(event) = event {
        report_slow(cell, event, Location::caller());
    }
}

#[cold]
fn report_slow(cell: &Word, event: Event, caller: &'static Location<'static>) {
    refcount::report(event, from_ref(cell).addr(), caller);
}
