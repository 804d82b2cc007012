//! Alternatives: the sequences this CPU allows are put in the place of their defaults, once, before the second thread.
//!
//! A site holds several instructions, and a thread may stand between any two of them; so only a thread that is alone
//! writes, and not from where it may have interrupted a site. Until then, and for ever where this is refused, the
//! defaults run, which are right on every CPU.
//!
//! # Cost
//! Once, tens of microseconds. A site costs its sequence and no test.
//!
//! # References
//! Linux arch/x86/kernel/alternative.c (apply_alternatives).
//!
//! # Safety
//! 1. Default and replacement of a record mean the same wherever they stand (`arch::x86_64::alternative`, Invariant 3).
#![expect(unsafe_code, reason = "edits text")]

use crate::error::Refusal;

/// Puts in place the alternatives that this CPU has the features for, in this link unit, and pads every one with long
/// NOPs. Doing it again changes nothing.
///
/// # Errors
/// [`Refusal::OtherThreads`], and others.  The defaults stay then, all of them.
///
/// # Safety
/// Not from a signal handler, nor from what one calls: it may have interrupted a site.
pub unsafe fn apply_alternatives() -> Result<(), Refusal> {
    imp::apply()
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod imp {
    use crate::arch::alternative::{self, Site};
    use crate::error::Refusal;
    use crate::patch::text::{self, Edit};
    use crate::patch::text_lock;
    use crate::sys::{signals, task};
    use alloc::vec::Vec;

    /// What an edit holds at most; also its alignment, so that no edit crosses a page.
    const CHUNK: usize = 8;

    pub(super) fn apply() -> Result<(), Refusal> {
        let sites = alternative::sites();
        let mut edits = Vec::new();
        let room = sites.clone().map(|site| site.room() / CHUNK + 2).sum();
        let room = edits.try_reserve_exact(room);
        room.map_err(|_| Refusal::NoMemory)?;
        for site in sites {
            let code = match alternative::has(site.feature()) {
                true => site.replacement(),
                false => site.default(),
            };
            edits.extend(chunks(site, code));
        }
        let held = text_lock::lock()?;
        // A handler could create a thread behind the answer, and a site is more than one store.
        let _quiet = signals::Blocked::of_others()?;
        match task::count()? {
            1 => {}
            threads => return Err(Refusal::OtherThreads { threads }),
        }
        // SAFETY: this thread is alone, and as its caller says not inside a site (Invariant 1).
        unsafe { text::apply_held(&held, &mut edits, None) }
    }

    /// The edits that put `code` and padding on a site.
    fn chunks(site: Site, code: &'static [u8]) -> impl Iterator<Item = Edit> {
        let mut offset = 0;
        core::iter::from_fn(move || {
            let at = site.at().wrapping_add(offset);
            let len = (CHUNK - at.addr() % CHUNK).min(site.room() - offset);
            let mut edit = Edit {
                at,
                len: len as u8,
                expect: [0; CHUNK],
                new: [0; CHUNK],
            };
            for i in 0..len {
                edit.expect[i] = site.assembled(offset + i);
                edit.new[i] = site.padded(code, offset + i);
            }
            offset += len;
            (len > 0).then_some(edit)
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_site_is_cut_at_quadwords_and_padded_with_long_nops() {
            let at = core::ptr::without_provenance_mut(0x1006);
            let site = Site::fake(at, 15, &[1, 2, 3, 4], &[5; 15]);
            let bytes = |code, pick: fn(&Edit) -> [u8; 8]| {
                let bytes = chunks(site, code).flat_map(|e| pick(&e).into_iter().take(usize::from(e.len)));
                bytes.collect::<Vec<u8>>()
            };
            let cuts: Vec<_> = chunks(site, site.default()).map(|e| (e.at.addr(), e.len)).collect();
            assert_eq!(cuts, [(0x1006, 2), (0x1008, 8), (0x1010, 5)]);
            assert_eq!(bytes(site.replacement(), |e| e.new), [5; 15]);
            assert_eq!(
                bytes(site.default(), |e| e.expect),
                [
                    1, 2, 3, 4, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90
                ]
            );
            assert_eq!(
                bytes(site.default(), |e| e.new),
                [1, 2, 3, 4, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x66, 0x90]
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod imp {
    use crate::error::Refusal;

    /// There are none: the defaults are what was compiled.
    pub(super) fn apply() -> Result<(), Refusal> {
        Ok(())
    }
}
