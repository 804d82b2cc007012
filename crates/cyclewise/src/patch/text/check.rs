//! The checks before the first byte is written.
//!
//! # Safety
//! 1. An edit's bytes are read only after its address was found in a readable mapping, and the kernel could read that page for this
//!    thread: where a mapping is, is asked once, and what it allows may have changed since.
#![expect(unsafe_code, reason = "reads text by address")]

use super::Edit;
use crate::arch::code;
use crate::error::Refusal;
use crate::patch::sites::TextReader;
use crate::patch::text_edit::unexpected_byte;
use crate::patch::text_guard::TextGuard;
use crate::patch::unit::hosted;
use crate::sys::mprotect::PAGE;
use crate::sys::proc_maps;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Checks every edit: its shape, its address, its bytes. The edits are sorted by address. Where a site already holds
/// the new bytes, the edit then expects them, so that rolling back leaves them.
///
/// # Errors
/// Those of the first edit that fails.
pub(super) fn all(held: &TextGuard, edits: &mut [Edit]) -> Result<(), Refusal> {
    let mut text = own_text(held);
    let mut reader = TextReader::new();
    let mut before: Option<Edit> = None;
    for edit in edits {
        let (start, len) = (edit.start(), edit.len());
        let fits = start != 0 && (1..=8).contains(&len) && start % PAGE + len <= PAGE;
        if !fits {
            return Err(Refusal::Misshapen { at: start });
        }
        // Bytes past the length do not count.
        edit.clear_past_length();
        // A duplicate edit is allowed: a linker may fold two functions and keep both records.
        let apart = before.is_none_or(|b| b.end() <= start || b.is_same(edit));
        if !apart {
            return Err(Refusal::Misshapen { at: start });
        }
        if !(text.contains(&start) && edit.end() <= text.end) {
            text = text_around(held, start)?;
            if edit.end() > text.end {
                return Err(Refusal::NotText { at: text.end });
            }
        }
        if !reader.can_read(start) {
            return Err(Refusal::NotText { at: start });
        }
        before = Some(*edit);
        // SAFETY: in a readable mapping, of which the kernel could read this page (Invariant 1).
        let there = unsafe { code::load(edit.at, len) };
        if there == edit.new {
            edit.expect = edit.new;
        } else if there != edit.expect {
            let differs = there.iter().zip(&edit.expect).position(|(a, b)| a != b).unwrap_or(0);
            let (at, found) = (start + differs, there[differs]);
            return Err(unexpected_byte(at, found));
        }
    }
    Ok(())
}

/// Looks again where the text is mapped, before it is written by stores: what another library has mapped over it since may be shared
/// with other processes, and there mprotect(2) opens the pages of all of them. Where the mappings cannot be read now, as in a sandbox,
/// nothing has changed as far as is known.
///
/// # Errors
/// [`Refusal::NotText`].
pub(super) fn still_text(edits: &[Edit]) -> Result<(), Refusal> {
    let mut text = 0..0;
    for edit in edits {
        if !(text.contains(&edit.start()) && edit.end() <= text.end) {
            match proc_maps::open_text_around(edit.start()) {
                Ok(found) => text = found,
                Err(refusal @ Refusal::NotText { .. }) => return Err(refusal),
                Err(_) => return Ok(()),
            }
        }
    }
    Ok(())
}

/// The additional check while other threads run: each edit is one store.
///
/// # Errors
/// [`Refusal::NotOneStore`].
pub(super) fn live(edits: &[Edit]) -> Result<(), Refusal> {
    match edits.iter().find(|e| !e.is_one_store()) {
        None => Ok(()),
        Some(edit) => Err(Refusal::NotOneStore { at: edit.start() }),
    }
}

/// The text mapping that holds an address.
fn text_around(held: &TextGuard, address: usize) -> Result<Range<usize>, Refusal> {
    let own = own_text(held);
    if own.contains(&address) {
        return Ok(own);
    }
    if let Some(text) = hosted::text_around(held, address) {
        return Ok(text);
    }
    let text = proc_maps::text_around(address)?;
    if text.contains(&(text_around as fn(_, _) -> _ as usize)) {
        // Relaxed: as in `own_text`.
        OWN_TEXT[0].store(text.start, Relaxed);
        OWN_TEXT[1].store(text.end, Relaxed);
    } else {
        hosted::keep_text(held, address, &text);
    }
    Ok(text)
}

/// The text mapping that this function is in. It does not move while this code runs, so reading the mappings once is enough.
static OWN_TEXT: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn own_text(_: &TextGuard) -> Range<usize> {
    // Relaxed: the lock of the text orders it.
    OWN_TEXT[0].load(Relaxed)..OWN_TEXT[1].load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::text_lock;

    fn edit(at: usize, len: u8) -> Edit {
        let (expect, new) = ([0x11; 8], [0x22; 8]);
        Edit {
            at: core::ptr::with_exposed_provenance_mut(at),
            len,
            expect,
            new,
        }
    }

    fn refusal(edits: &mut [Edit]) -> Refusal {
        let held = text_lock::lock().unwrap();
        all(&held, edits).unwrap_err()
    }

    #[test]
    fn shapes_and_places_are_refused() {
        let here = shapes_and_places_are_refused as fn() as usize;
        let across = here / PAGE * PAGE + PAGE - 4;
        for (at, len) in [(0, 1), (here, 0), (here, 9), (across, 5)] {
            assert_eq!(refusal(&mut [edit(at, len)]), Refusal::Misshapen { at });
        }
        let local = [0x11_u8; 8];
        let at = local.as_ptr().addr();
        assert_eq!(refusal(&mut [edit(at, 1)]), Refusal::NotText { at });
        // SAFETY: this function's own code.
        let found = unsafe { code::load(here as *const u8, 1) }[0];
        assert_ne!(found, 0x11);
        assert_eq!(
            refusal(&mut [edit(here, 8)]),
            Refusal::UnexpectedByte { at: here, found }
        );
    }

    #[test]
    fn edits_may_not_overlap() {
        let here = edits_may_not_overlap as fn() as usize;
        // SAFETY: this function's own code.
        let there = unsafe { code::load(here as *const u8, 8) };
        let mut pair = [edit(here, 2), edit(here + 1, 2)];
        for edit in &mut pair {
            edit.expect = there;
            edit.new = there;
        }
        assert_eq!(refusal(&mut pair), Refusal::Misshapen { at: here + 1 });
    }

    #[test]
    fn the_same_edit_twice_is_one() {
        let here = the_same_edit_twice_is_one as fn() as usize;
        // SAFETY: this function's own code.
        let there = unsafe { code::load(here as *const u8, 2) };
        let mut pair = [edit(here, 2), edit(here, 2)];
        for edit in &mut pair {
            edit.expect = there;
        }
        let held = text_lock::lock().unwrap();
        assert_eq!(all(&held, &mut pair), Ok(()));
        pair[1].new[0] += 1;
        assert_eq!(all(&held, &mut pair), Err(Refusal::Misshapen { at: here }));
    }

    #[test]
    fn one_store_is_one_byte_or_one_slot() {
        assert!(live(&[edit(3, 5), edit(15, 1)]).is_ok());
        let mut one_byte = edit(4, 5);
        one_byte.expect = [0x3e, 1, 2, 3, 4, 0, 0, 0];
        one_byte.new = [0xf0, 1, 2, 3, 4, 0, 0, 0];
        assert!(live(&[one_byte]).is_ok());
        assert_eq!(live(&[edit(4, 5)]), Err(Refusal::NotOneStore { at: 4 }));
    }
}
