//! Single mode, and what is elided now.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. A `struct cw_refusal *` is null or may be written to, and so is a `struct cw_state *`.
#![expect(
    unsafe_code,
    reason = "functions under names of their own, and places that the caller gives"
)]

#[cfg(target_env = "gnu")]
use crate::hooks;
use crate::refusal::{Refused, answer, cw_refusal};
use crate::sys::errno;
use core::ffi::c_int;
#[cfg(target_env = "gnu")]
use cyclewise::error::Refusal;
use cyclewise::patch;

/// Why LOCK prefixes may be elided.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cw_mode {
    /// They are not: LOCK is in force everywhere.
    CW_MODE_LOCKED = 0,
    /// No other thread of the process can run.
    CW_MODE_SINGLE = 1,
    /// All threads of the process are confined to one CPU.
    CW_MODE_CONFINED = 2,
}

/// What cw_get_state found.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cw_state {
    /// The mode in force: an enum cw_mode.
    pub mode: c_int,
    /// Sites in the link unit of the library.
    pub sites: usize,
    /// Those that are elided.
    pub elided: usize,
    /// Other link units, such as a program with sites of its own beside the shared library, whose sites are elided and restored
    /// together with these.
    pub units: usize,
    /// Sites in those.
    pub unit_sites: usize,
    /// Those of them that are elided.
    pub unit_elided: usize,
    /// Link units with a descriptor that were there when LOCK was last elided or one registered, the coordinator's own among them.
    pub units_seen: usize,
    /// Those of them in which LOCK stays, as they are of another version or their text cannot be patched.
    pub units_refused: usize,
    /// 0; for later versions.
    pub reserved: [u64; 2],
}

/// Opts the program into single mode, and elides LOCK prefixes while it has one thread. Call it once, at the start of
/// main.
///
/// The program is linked with cyclewise-hooks.o, whose functions restore LOCK before a second thread exists.
///
/// For the rest of the process: threads are created by the C library's functions only, not by clone(2) with CLONE_VM, nor
/// by a second copy of the C library; and what cyclewise's atomics change is memory of this process alone, and nothing
/// relies on them to order accesses of other processes, the kernel or devices.
///
/// Returns 0, or why LOCK stays: CW_REFUSED_NOT_HOOKED without the hooks, CW_REFUSED_UNWATCHED in a static program,
/// CW_REFUSED_OTHER_THREADS if there are other threads; then cw_reelide_lock may succeed later.
///
/// # Safety
/// What is said above, and Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_enable_single(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: the caller promises what `enable` asks for.
    let enabled = unsafe { enable() };
    // SAFETY: Safety 2.
    unsafe { answer(enabled, why) }
}

/// # Safety
/// The contract of `enable_single!`.
#[cfg(not(target_env = "gnu"))]
unsafe fn enable() -> Result<(), Refused> {
    // SAFETY: needs nothing.
    unsafe { patch::single::refuse() }.map_err(Refused::from)
}

/// # Safety
/// The contract of `enable_single!`.
#[cfg(target_env = "gnu")]
unsafe fn enable() -> Result<(), Refused> {
    if cfg!(not(target_arch = "x86_64")) {
        return Err(Refusal::NoLockPrefix.into());
    }
    if !patch::hooks::has_dynamic_linker() {
        return Err(Refusal::Unwatched.into());
    }
    let hooks = match hooks::registered() {
        Ok(hooks) => hooks,
        // The program's own copy of the library may have hooks in force: then it elides these sites with its own.
        Err(refused) => {
            return match patch::reelide() {
                Err(Refusal::NotEnabled) => Err(refused),
                elided => elided.map_err(Refused::from),
            };
        }
    };
    // SAFETY: the caller's contract is this one.
    unsafe { patch::single::enable(hooks) }.map_err(Refused::from)
}

/// Elides again, after cw_enable_single, when the other threads were joined.
///
/// Returns 0, or why LOCK stays.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_reelide_lock(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { answer(patch::reelide(), why) }
}

/// Restores LOCK until cw_reelide_lock is called. Call it before a sandbox is entered.
///
/// Returns 0, or why the text could not be written; CW_REFUSED_WRONG_MODE in confined mode.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_restore_lock(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: Safety 2.
    unsafe { answer(patch::lock(), why) }
}

/// Selects the instruction sequences that this CPU supports, in the code of the library. Call it at the start of main, not
/// in a signal handler. A second call changes nothing.
///
/// Returns 0, or why the defaults stay: CW_REFUSED_OTHER_THREADS if there is a second thread.
///
/// # Safety
/// Not called in a signal handler, directly or indirectly; Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_apply_alternatives(why: *mut cw_refusal) -> c_int {
    let _errno = errno::keep();
    // SAFETY: the caller promises that no handler calls this.
    let applied = unsafe { patch::apply_alternatives() };
    // SAFETY: Safety 2.
    unsafe { answer(applied, why) }
}

/// The mode in force and a count of sites. Another thread may change both at any time.
///
/// # Safety
/// `state` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_get_state(state: *mut cw_state) {
    let _errno = errno::keep();
    let found = patch::state();
    let mode = match found.mode {
        patch::Mode::Locked => cw_mode::CW_MODE_LOCKED,
        patch::Mode::Single => cw_mode::CW_MODE_SINGLE,
        patch::Mode::Confined => cw_mode::CW_MODE_CONFINED,
    };
    if !state.is_null() {
        let found = cw_state {
            mode: mode as c_int,
            sites: found.sites,
            elided: found.elided,
            units: found.units,
            unit_sites: found.unit_sites,
            unit_elided: found.unit_elided,
            units_seen: found.units_seen,
            units_refused: found.units_refused,
            reserved: [0; 2],
        };
        // SAFETY: not null, so the caller lets us write to it.
        unsafe { state.write(found) };
    }
}
