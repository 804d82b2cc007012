//! Single steps by the trap flag: the processor traps after each instruction, and the trap is a signal.

use super::signal;

const TRAP_FLAG: i64 = 0x100; // EFLAGS.TF, Intel SDM vol. 1, 3.4.3.3

/// Has `on_trap` called after each instruction between two calls of [`turn`].
pub fn step_by(on_trap: signal::Informed) {
    signal::handle_alone(libc::SIGTRAP, on_trap, 0);
    signal::handle_alone(libc::SIGUSR2, on_turn, 0);
}

/// Begins or ends the steps of this thread.
pub fn turn() {
    signal::raise(libc::SIGUSR2);
}

/// Toggles the flag in the interrupted context.
extern "C" fn on_turn(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel's frame.
    let flags = unsafe { &mut (*context).uc_mcontext.gregs[libc::REG_EFL as usize] };
    *flags ^= TRAP_FLAG;
}
