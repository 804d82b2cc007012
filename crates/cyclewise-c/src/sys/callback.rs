//! Calls of the program's own functions, which return.
//!
//! One that leaves in another way would unwind through this library: what that has locked or counted would stay so. A cancelled
//! thread is not cancelled during the call, since a callback may well call read(2) or write to a log. pthread_exit(3) and C++
//! exceptions end the process with a line that says so. longjmp(3) is not seen.

use super::cancellation::held_off;
use super::stop::stop;

const LINE: &[u8] =
    b"cyclewise: a callback left by pthread_exit or an exception: callbacks return; the process is aborted\n";

/// Does `run`, which calls a function of the program. The function is called as "C-unwind", so that how it leaves can be seen.
pub(crate) fn call(run: impl FnOnce()) {
    let returns = Returns;
    held_off(run);
    core::mem::forget(returns);
}

/// Dropped only where something unwinds through it.
struct Returns;

impl Drop for Returns {
    fn drop(&mut self) {
        stop(LINE);
    }
}
