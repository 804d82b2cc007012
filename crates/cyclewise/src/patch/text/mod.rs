//! The text writer: checks edits of the program's own instructions, writes them in batches, and reads them back.
//!
//! # Protocol
//! 1. Every edit is checked: its shape, that it lies in executable text, that the site holds the old bytes or already
//!    the new ones. Nothing is written before the last one has passed.
//! 2. Where other threads run, every edit must be one store: one byte, or inside one aligned quadword. membarrier is
//!    registered, so that it cannot be refused later.
//! 3. Pages are opened, each edit is written and read back, pages are closed (`write`).
//! 4. Every core that runs the process is serialized.
//!
//! A failure in 1 or 2 leaves the text untouched. A failure in 3 or 4 rolls it back.
//!
//! # Two ways to write
//! | way | needs | other threads see | refused by |
//! |---|---|---|---|
//! | mprotect RWX, store, mprotect RX | two calls per run of adjacent pages | one store | W^X: SELinux execmem, PR_SET_MDWE |
//! | pwrite to `/proc/self/mem` | one call per stretch of pages | bytes, in an order of the kernel's choice | `proc_mem.force_override=` |
//!
//! The second way never makes a page writable and comes first, but only where each edit changes one byte, or no other thread
//! runs: the kernel copies with `rep movsb`, and no manual promises that an aligned quadword arrives whole. Text is never
//! made non-executable, because other threads execute it.
//!
//! # Pages at a time
//! One pwrite writes the edits of several adjacent pages (`groups`), and what lies between them as it was read. Code
//! that changes text without the lock may change bytes between the reading and the writing, and its change is lost. So
//! several pages are written only where no other thread runs; a debugger that stops the process in that microsecond
//! remains, as it does within a page.
//!
//! One mprotect opens a run of adjacent pages, each of which holds an edit. Pages without edits are left alone, although
//! each pair of calls interrupts every CPU that runs the process: since the text was first looked at, other code may have
//! given such a page another protection, and closing it would undo that.
//!
//! # Signals
//! Asynchronous signals are blocked from before the kernel is asked for other threads until the end of the batch. A
//! handler could create a thread after the check. It could also fork: in the child a descriptor of `/proc/self/mem`
//! still shows the parent's memory, so the child would finish the batch in its parent's text. Where a filter refuses to
//! block signals, the process counts as multithreaded, and the kernel does not write the bytes. A filter's SIGSYS is
//! not blocked, so each page is preceded by a check of the process's generation.
//!
//! Where this thread is alone and an edit changes more than one byte, all signals are blocked, so that no handler
//! executes half of a change. This holds even if each edit is one store: edits may be parts of one sequence.
//!
//! # Forks
//! A fork in the middle of a batch leaves half of it in the child. The batch is recorded (`journal`), and the first
//! thread that takes the lock in the child settles it.
//!
//! # Cost
//! Three system calls per run of adjacent pages, or one per stretch of at most 8 pages and seven for the descriptor, plus
//! looking at `/proc/self/task` and a membarrier. `/proc/self/maps` is read once. Nothing is allocated. The example
//! `flip` times a thousand sites on fifty pages; `design/library.md` has the steps.
//!
//! # Sandboxes
//! A filter, Landlock, chroot or a limit on open files can disable each of these calls at any time. LOCK must be
//! restorable even so: the batch that elides keeps a descriptor open (`mem_fd`), and where the caller is known to be
//! alone nothing else is asked of the kernel. A filter can also report success without making the call. So the
//! descriptor is checked for whose memory it shows, pages that mprotect reports writable are checked, and the bytes are
//! read back.
//!
//! # References
//! Linux arch/x86/kernel/alternative.c (smp_text_poke); AMD APM vol. 2, 7.6.1; Intel SDM vol. 3, 8.1.3.
//!
//! # Safety
//! 1. Between a successful check and the end of the batch no other code of this process writes the sites: the lock is
//!    held. Code that writes text without the lock (a debugger) is detected by the check and the read-back, not
//!    excluded.
#![expect(unsafe_code, reason = "unsafe contracts passed on")]

mod buffer;
mod check;
mod groups;
mod journal;
#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) mod kept;
#[cfg_attr(not(all(feature = "std", target_env = "gnu")), path = "no_mem_fd.rs")]
mod mem_fd;
mod write;

use self::write::{KernelWrites, Source};
pub(crate) use super::text_edit::{Edit, Goal, Others};
use super::text_guard::TextGuard;
use crate::arch::code;
use crate::arch::sync_core::sync_core;
use crate::error::Refusal;
use crate::sys::signal_mask::{self, block_signals_and_faults};
use crate::sys::{membarrier, proc_task};
pub(crate) use journal::{any as is_recorded, forget};
pub(crate) use mem_fd::{is_kept as is_memory_kept, renew as renew_memory};

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

    /// Zeroes the bytes past its length, so that comparisons need not look at it. It is 1 to 8 bytes long.
    fn clear_past_length(&mut self) {
        let mask = u64::MAX >> (64 - 8 * self.len());
        for bytes in [&mut self.expect, &mut self.new] {
            *bytes = (u64::from_le_bytes(*bytes) & mask).to_le_bytes();
        }
    }

    /// Whether it writes the same bytes to the same site as `other`. Both were cleared past their lengths.
    fn is_same(&self, other: &Self) -> bool {
        (self.at, self.len, self.new) == (other.at, other.len, other.new)
    }

    /// Whether its bytes may be written in any order: at most one of them changes. It was cleared past its length.
    fn is_one_byte(&self) -> bool {
        let changed = u64::from_le_bytes(self.expect) ^ u64::from_le_bytes(self.new);
        changed.leading_zeros() / 8 + changed.trailing_zeros() / 8 >= 7
    }

    /// Whether one store writes it, so that other threads see the old or the new bytes.
    fn is_one_store(&self) -> bool {
        self.is_one_byte() || code::is_in_one_slot(self.at, self.len())
    }
}

/// Applies all edits or none, under the text lock. Sorts them. Where a site already holds the new bytes, its edit
/// expects those. The record of the batch stays until the lock is released; the caller sets the state of `goal` before
/// that.
///
/// Ordering: when this returns, every thread of the process has executed a full barrier since the last store, and
/// executes the new instructions.
///
/// # Errors
/// See [`Refusal`]; the text is unchanged unless the reason says otherwise.
///
/// # Safety
/// - Old and new bytes of each site are right at any time, and no thread stands inside a site: it is one instruction
///   before and after, or this thread is alone and not inside the site.
/// - Where other threads run, one store may replace any site with more than one byte to change.
pub(crate) unsafe fn apply_held(held: &TextGuard, edits: &mut [Edit], goal: Option<Goal>) -> Result<(), Refusal> {
    // SAFETY: the caller's contract is the same.
    unsafe { change(held, edits, goal, Others::Asked, Source::Opened) }
}

/// [`apply_held`] with what is known about other threads, preferring a descriptor from `first`.
///
/// # Errors
/// As [`apply_held`].
///
/// # Safety
/// As [`apply_held`]; with [`Others::None`], the calling thread is the only one of the process that can run its code, and
/// creates none before this returns, in a handler either.
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
    // After that: a handler could create a thread after the check. The kernel also counts threads that have run their last
    // instruction, so a caller who has looked closer says so.
    let alone = others == Others::None || quiet.is_ok() && proc_task::is_alone();
    if !alone {
        check::live(edits)?;
        membarrier::register_sync_core()?;
    }
    let one_byte_each = edits.iter().all(Edit::is_one_byte);
    let half_seen = (alone && !one_byte_each).then(block_signals_and_faults).transpose()?;
    let kernel = match (quiet.is_ok(), alone) {
        (true, true) => KernelWrites::Stretches,
        (true, false) if one_byte_each => KernelWrites::Pages,
        _ => KernelWrites::Nothing,
    };
    journal::record(held, edits, goal);
    // SAFETY: checked above. Bytes may be written in any order where one byte changes, or where no code executes them:
    // this thread is alone and its signals are blocked. No handler of an asynchronous signal forks while a descriptor
    // is used.
    unsafe { write::all(held, edits, kernel, first) }?;
    let synced = synchronize(alone);
    if synced.is_err() {
        reverse(edits);
        journal::record(held, edits, goal.map(Goal::reversed));
        // SAFETY: the same edits reversed; by the caller's contract the old bytes are right at any time too.
        unsafe { write::all(held, edits, kernel, first) }?;
    }
    drop(half_seen);
    synced
}

/// In a child of fork: settles the batch of a thread that exists only in the parent. Completes or reverses it,
/// according to the state of its goal, and makes its pages read-only. Where that is refused the sites stay as they are,
/// each a whole instruction.
pub(crate) fn settle(held: &TextGuard) {
    // SAFETY: the caller has just taken the lock.
    let Some((edits, has_followed)) = (unsafe { journal::left(held) }) else {
        return;
    };
    if let Some(has_followed) = has_followed {
        if !has_followed {
            reverse(edits);
        }
        // SAFETY: the batch was in progress, so it was checked, and by its caller's contract old and new bytes are
        // right at any time.
        let _ = unsafe { apply_held(held, edits, None) };
    }
    // SAFETY: the batch may have opened these pages of text.
    unsafe { write::close(held, edits) };
}

fn reverse(edits: &mut [Edit]) {
    for edit in edits {
        core::mem::swap(&mut edit.expect, &mut edit.new);
    }
}

/// Serializes every core that runs this process, so that it refetches instructions.
fn synchronize(alone: bool) -> Result<(), Refusal> {
    // Needed on this core too: the bytes may have been written through another address.
    sync_core();
    if alone { Ok(()) } else { membarrier::sync_core() }
}
