//! What a hook does before a thread is created: restores LOCK, or confines the thread.

use crate::error::Refusal;
use crate::patch::confined;
use crate::patch::mode_lock::{CONFINED, SINGLE, before_thread_slow, mode};

/// Restores LOCK where single mode is in force, or confined mode and the thread may be `elsewhere`; called by every hook once it is
/// counted.
#[inline]
pub(super) fn before_thread(elsewhere: bool) -> Result<(), Refusal> {
    // After the hook's additions: pairs with `reelide` of `single` and `enter` of `confined`. In confined mode other threads
    // inherit their CPU.
    match mode() {
        SINGLE => before_thread_slow(),
        CONFINED if elsewhere => confined::before_thread_elsewhere(),
        _ => Ok(()),
    }
}
