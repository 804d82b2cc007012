//! Handlers of signals that the soft mask defers.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A registered function is async-signal-safe, does not leave by longjmp, and takes its argument on any thread.
//! 3. A `struct cw_refusal *` is null or may be written to.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, and handlers that C promises something about"
)]

use crate::memory::boxed;
use crate::refusal::{Refused, answer, cw_refusal};
use crate::sys::{callback, errno};
use core::ffi::{c_int, c_void};
use cyclewise::error::Refusal;
use cyclewise::mask::{Handler, Hold, Info, Signals};
use std::boxed::Box;

/// A signal: what of its siginfo_t the kernel fills.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cw_signal_info {
    /// Its number.
    pub signal: c_int,
    /// si_code: SI_USER, SI_QUEUE, SI_TIMER.
    pub code: c_int,
    /// si_pid: the process that sent it, if one did.
    pub sender: c_int,
    /// si_uid: the user of that process.
    pub user: u32,
    /// si_value, of sigqueue, a timer or a message queue; si_status of SIGCHLD is its low half.
    pub value: usize,
}

/// For cw_signal_on: system calls that the signal interrupts fail with EINTR, also where the signal is only recorded. Otherwise they
/// are restarted where that is possible.
pub const CW_SIGNAL_INTERRUPTS: c_int = 1;

type Function = unsafe extern "C-unwind" fn(*const cw_signal_info, *mut c_void);

/// A function of C.
struct Registered {
    function: Function,
    argument: *mut c_void,
}

// SAFETY: a handler's argument is for any thread (Safety 2).
unsafe impl Send for Registered {}
// SAFETY: the same.
unsafe impl Sync for Registered {}

// SAFETY: async-signal-safe and without longjmp, by the word of who registered it (Safety 2).
unsafe impl Handler for Registered {
    fn handle(&self, info: &Info, _: &Hold) {
        let info = cw_signal_info {
            signal: info.signal(),
            code: info.code(),
            sender: info.sender(),
            user: info.user(),
            value: info.value(),
        };
        // SAFETY: Safety 2.
        callback::call(|| unsafe { (self.function)(&raw const info, self.argument) });
    }
}

/// Registers a handler: `handler` is called with the signal and `argument`, on the thread that received it, and under a hold at its
/// release. No other handler of this library runs on that thread meanwhile. Each signal has one.
///
/// A handler that was installed before is called first, at once, even under a hold. `flags` is 0 or CW_SIGNAL_INTERRUPTS. What a call
/// that succeeds allocates, about 224 bytes, is never freed: a signal on another thread may be in the handler. cw_signal_off frees none
/// of it.
///
/// The handler is async-signal-safe, signal-safety(7). It does not leave by siglongjmp, nor by an exception: the thread would stay held
/// and run no handler any more. The object that contains the handler stays mapped after a dlclose, also after cw_signal_off, which does
/// not wait for calls on other threads; the object that contains `argument` does so only if it is the same.
///
/// The handler runs on the thread's alternate stack (SA_ONSTACK, sigaltstack(2)) if it has one, and at a release on the stack of the
/// code that releases. The stack needs getauxval(AT_MINSIGSTKSZ) bytes for the kernel, 1 KiB for this library and what the handler takes.
/// A thread whose stack is small or not its own, such as a goroutine's or a coroutine's, needs an alternate one.
///
/// Returns 0, or CW_REFUSED_FAULT, CW_REFUSED_SIGNAL_TAKEN, CW_REFUSED_SIGNAL, CW_REFUSED_SIGNALS_BUSY, CW_REFUSED_ARGUMENT.
///
/// # Safety
/// Safety 2 and 3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_signal_on(
    signal: c_int,
    handler: Option<unsafe extern "C-unwind" fn(*const cw_signal_info, *mut c_void)>,
    argument: *mut c_void,
    flags: c_int,
    why: *mut cw_refusal,
) -> c_int {
    let _errno = errno::keep();
    let registered = register(signal, handler, argument, flags);
    // SAFETY: Safety 3.
    unsafe { answer(registered, why) }
}

fn register(signal: c_int, function: Option<Function>, argument: *mut c_void, flags: c_int) -> Result<(), Refused> {
    let function = function.ok_or(Refused::Argument(
        "the handler is null; to remove one, call cw_signal_off",
    ))?;
    if flags & !CW_SIGNAL_INTERRUPTS != 0 {
        return Err(Refused::Argument(
            "the flags of a handler are 0 or CW_SIGNAL_INTERRUPTS",
        ));
    }
    let handler = boxed(Registered { function, argument });
    if handler.is_null() {
        return Err(Refusal::NoMemory.into());
    }
    // SAFETY: made with the allocator and the layout of a box, and not null.
    let handler = unsafe { Box::from_raw(handler) };
    Signals::__on_boxed(signal, handler, function as *const c_void, flags == 0).map_err(Refused::from)
}

/// Removes a handler and restores the action before it. Signals that are recorded already are dropped at the release.
///
/// Returns 0, or CW_REFUSED_SIGNAL_NOT_OURS.
///
/// # Safety
/// Safety 3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_signal_off(signal: c_int, why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 3.
    unsafe { answer(Signals::off(signal), why) }
}
