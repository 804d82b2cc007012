//! The counterpart where nobody lists link units: none is known, none is adopted.

use super::Unit;
use crate::patch::text_guard::TextGuard;
use core::ops::Range;

pub(in crate::patch) fn examine(_: &Unit) {}

pub(in crate::patch) fn text_around(_: &TextGuard, _: usize) -> Option<Range<usize>> {
    None
}

pub(in crate::patch) fn keep_text(_: &TextGuard, _: usize, _: &Range<usize>) {}
