//! What a child does with the lock that fork copied.

use super::{lock, owner_word, text, words};
use crate::error::Refusal;
use crate::sys::atfork::register_atfork;
use crate::sys::fork_generation;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Registers the child's atfork handler. Two threads may both do so, which is harmless.
pub(super) fn register() -> Result<(), Refusal> {
    // Acquire: pairs with the Release below.
    if !REGISTERED.load(Acquire) {
        register_atfork(None, None, Some(in_child))?;
        // Release: pairs with the Acquire above.
        REGISTERED.store(true, Release);
    }
    Ok(())
}

extern "C" fn in_child() {
    let words = words();
    owner_word::adopt(&words.owner, fork_generation::current_in(&words.generation));
    // Relaxed: the child reads what fork copied.
    let is_left = words.owner.load(Relaxed) != 0 || text::is_recorded() || text::is_memory_kept();
    // If this thread is inside its own change, `lock` refuses and the change continues: then a descriptor of the parent's memory stays,
    // unused, until LOCK is restored.
    if is_left && let Ok(held) = lock() {
        text::renew_memory(&held);
    }
}
