//! The text writer: edits of the program's own instructions, checked, written in batches, read back.
//!
//! # Protocol
//! 1. Every edit is checked: its shape, that it lies in executable text, that the site holds the old bytes or already
//!    the new ones. Nothing is written before the last one has passed.
//! 2. Where other threads run, every edit has to be one store: one byte, or inside one aligned quadword. membarrier is
//!    registered, so that it cannot be refused later.
//! 3. Pages are opened, each edit is written, read back, pages are closed (`write`).
//! 4. Every core that runs the process is serialized. From here on only the new instructions are executed.
//!
//! A failure in 1 and 2 leaves the text untouched; one in 3 and 4 rolls it back.
//!
//! # Two ways to write
//! | way | needs | other threads see | refused by |
//! |---|---|---|---|
//! | mprotect RWX, store, mprotect RX | two calls per run of pages | one store | W^X: SELinux execmem, PR_SET_MDWE |
//! | pwrite to `/proc/self/mem` | one call per page | bytes, in an order of the kernel's choice | `proc_mem.force_override=` |
//!
//! The second leaves no page writable at any time and comes first, but only where bytes in any order are harmless: each
//! edit changes one byte, or no other thread runs. Otherwise it is the first or nothing: the kernel copies with
//! `rep movsb`, of which no manual promises that an aligned quadword arrives whole. Text is never made
//! non-executable: other threads execute it.
//!
//! # Signals
//! Signals that the thread does not raise itself are blocked from before it is asked who else is here to the end of the
//! batch. A handler could create a thread behind the answer. And it could fork: a descriptor of `/proc/self/mem` goes on to
//! show the parent's memory in the child, which would end the batch in its parent's text. Where a filter refuses to block
//! them, the thread counts as one of several, and the bytes do not go through the kernel. The handler of SIGSYS, which a
//! filter sends, is not kept out; so each page is preceded by a look at the process's generation.
//!
//! Where this thread is alone and an edit changes more than one byte, all are blocked, so that no handler runs through a
//! half. One store each is not enough: edits may be parts of one sequence.
//!
//! # Forks
//! A fork in the middle of a batch leaves the child half of it. The batch is recorded (`journal`), and the first who takes
//! the lock in the child settles it.
//!
//! # Cost
//! Three system calls per run of adjacent pages or one per page and two for the descriptor, plus reading
//! `/proc/self/task` and a membarrier; once, reading `/proc/self/maps`. Nothing is allocated.
//!
//! # Sandboxes
//! A filter, Landlock, chroot or a limit of open files can take each of these calls away at any time. What was elided has
//! to come back even so: its batch keeps a descriptor open (`mem_fd`), and where the caller is known to be alone nothing
//! else is asked of the kernel. A filter can also answer for a call that it does not make. So a descriptor is asked
//! whose memory it shows, pages that mprotect made writable are asked whether they are, and the bytes are read back.
//!
//! # References
//! Linux arch/x86/kernel/alternative.c (smp_text_poke); AMD APM vol. 2, 7.6.1; Intel SDM vol. 3, 8.1.3.
//!
//! # Safety
//! 1. Between a successful check and the end of the batch nobody else writes the sites: the lock is held, and code that
//!    writes text without it (a debugger) is caught by the check and the read-back, not excluded.
#![expect(unsafe_code, reason = "unsafe contracts passed on")]

mod check;
mod journal;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod mem_fd;
#[cfg(not(all(feature = "std", target_env = "gnu")))]
#[path = "no_mem_fd.rs"]
mod mem_fd;
mod write;

use self::write::Source;
use super::text_lock::TextGuard;
use crate::arch::{code, sync};
use crate::error::Refusal;
use crate::sys::signal_mask::{self, block_signals_and_faults};
use crate::sys::{membarrier, proc_task};
pub(crate) use journal::{Goal, any as is_recorded, forget};

/// One edit of the program's text: at most 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    /// The first byte.
    pub(crate) at: *mut u8,
    /// How many of the bytes below count.
    pub(crate) len: u8,
    /// What has to be there, if `new` is not there already.
    pub(crate) expect: [u8; 8],
    /// What will be there.
    pub(crate) new: [u8; 8],
}

impl Edit {
    fn start(&self) -> usize {
        self.at.addr()
    }

    fn len(&self) -> usize {
        usize::from(self.len)
    }

    fn end(&self) -> usize {
        self.start() + self.len()
    }

    /// Whether it puts the same bytes on the same site as `other`.
    fn is_same(&self, other: &Self) -> bool {
        let mut counted = self.new.iter().zip(&other.new).take(self.len());
        (self.at, self.len) == (other.at, other.len) && counted.all(|(a, b)| a == b)
    }

    /// Whether any order of its bytes will do: at most one of them changes.
    fn is_one_byte(&self) -> bool {
        let changed = self.expect.iter().zip(&self.new).take(self.len());
        changed.filter(|(old, new)| old != new).count() <= 1
    }

    /// Whether one store does it, so that other threads see the old or the new.
    fn is_one_store(&self) -> bool {
        self.is_one_byte() || code::is_in_one_slot(self.at, self.len())
    }
}

/// What is known of the process's other threads.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "for the modes, which a build without std does not have")]
pub(crate) enum Others {
    /// There may be some: the kernel is asked.
    Asked,
    /// There are none, so nothing is asked that a sandbox could refuse.
    None,
}

/// Applies the edits, all or none, under the lock of the text. Sorts them, and where a site holds the new bytes
/// already, makes them what its edit expects. What is recorded of the batch stays until the lock is given back: until then the
/// caller brings the state of `goal` to its value.
///
/// Ordering: when this returns, every thread of the process has passed a full barrier since the last store, and
/// executes the new instructions.
///
/// # Errors
/// See [`Refusal`]; the text is as it was but for the reasons that say otherwise.
///
/// # Safety
/// - The sites are instructions of which the old and the new bytes are both right at any time, and no thread stands
///   inside one: it is one instruction before and after, or this thread is alone and not between its instructions.
/// - Sites with more than one byte to change and other threads running are naturally safe to replace by one store.
pub(crate) unsafe fn apply_held(held: &TextGuard, edits: &mut [Edit], goal: Option<Goal>) -> Result<(), Refusal> {
    // SAFETY: the caller's contract is the same.
    unsafe { change(held, edits, goal, Others::Asked, Source::Opened) }
}

/// [`apply_held`] of edits that will be taken back: keeps open what that needs, so that it cannot be refused then.
///
/// # Errors
/// As [`apply_held`]; then nothing is kept, unless the text is neither as it was nor as it was to be.
///
/// # Safety
/// As [`apply_held`].
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) unsafe fn apply_and_keep(held: &TextGuard, edits: &mut [Edit]) -> Result<(), Refusal> {
    mem_fd::keep(held);
    // SAFETY: the caller's contract is the same.
    let applied = unsafe { change(held, edits, None, Others::Asked, Source::Kept) };
    if applied.is_err_and(|refusal| !matches!(refusal, Refusal::HalfWritten { .. })) {
        mem_fd::release(held);
    }
    applied
}

/// Takes such edits back, and closes what was kept for it.
///
/// # Errors
/// As [`apply_held`]; what was kept stays open then.
///
/// # Safety
/// As [`apply_held`]; with [`Others::None`], the calling thread is the only one of the process.
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) unsafe fn apply_and_release(held: &TextGuard, edits: &mut [Edit], others: Others) -> Result<(), Refusal> {
    let first = match others {
        Others::Asked => Source::Opened,
        Others::None => Source::Kept,
    };
    // SAFETY: the caller's contract is the same, and says how it knows of others.
    unsafe { change(held, edits, None, others, first) }?;
    mem_fd::release(held);
    Ok(())
}

/// [`apply_held`], with what is known of others, and by the descriptor from `first` where there is a choice.
///
/// # Errors
/// As [`apply_held`].
///
/// # Safety
/// As [`apply_held`]; with [`Others::None`], the calling thread is the only one of the process.
unsafe fn change(
    held: &TextGuard,
    edits: &mut [Edit],
    goal: Option<Goal>,
    others: Others,
    first: Source,
) -> Result<(), Refusal> {
    edits.sort_unstable_by_key(Edit::start);
    check::all(held, edits)?;
    if edits.iter().all(|e| e.expect == e.new) {
        return Ok(());
    }
    let quiet = signal_mask::block_signals();
    // Asked behind that: a handler could create a thread after the answer.
    let alone = others == Others::None || quiet.is_ok() && proc_task::is_alone();
    if !alone {
        check::live(edits)?;
        membarrier::register_sync_core()?;
    }
    let one_byte_each = edits.iter().all(Edit::is_one_byte);
    let half_seen = (alone && !one_byte_each).then(block_signals_and_faults).transpose()?;
    let through_kernel = quiet.is_ok() && (alone || one_byte_each);
    journal::record(held, edits, goal);
    // SAFETY: checked above. Any order is harmless where one byte changes, and where nobody executes the bytes: this
    // thread is alone, and its signals are blocked. No handler of another's signal forks while a descriptor is used.
    unsafe { write::all(held, edits, through_kernel, first) }?;
    let synced = synchronize(alone);
    if synced.is_err() {
        reverse(edits);
        journal::record(held, edits, goal.map(Goal::reversed));
        // SAFETY: the same edits in the other direction, which the caller's contract has right at any time as well.
        unsafe { write::all(held, edits, through_kernel, first) }?;
    }
    drop(half_seen);
    synced
}

/// Makes whole what a thread has left that is not in this child of fork: ends or undoes its batch, as the state of its goal
/// says, and takes write access from its pages. Where that is refused the sites stay as they are, each of them whole.
pub(crate) fn settle(held: &TextGuard) {
    // SAFETY: who calls has just taken the lock.
    let Some((edits, has_followed)) = (unsafe { journal::left(held) }) else {
        return;
    };
    if let Some(has_followed) = has_followed {
        if !has_followed {
            reverse(edits);
        }
        // SAFETY: a batch that was under way: it was checked, and old and new bytes are right at any time, said its caller.
        let _ = unsafe { apply_held(held, edits, None) };
    }
    // SAFETY: pages of text that the batch may have opened.
    unsafe { write::close(edits) };
}

fn reverse(edits: &mut [Edit]) {
    for edit in edits {
        core::mem::swap(&mut edit.expect, &mut edit.new);
    }
}

/// Makes every core that runs this process forget what it fetched.
fn synchronize(alone: bool) -> Result<(), Refusal> {
    // The bytes may have come by another address than the one they are fetched from.
    sync::this_core();
    if alone { Ok(()) } else { membarrier::sync_core() }
}
