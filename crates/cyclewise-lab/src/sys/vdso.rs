//! getcpu(2) as libc offers it: a call into the vDSO on x86-64.
//!
//! # Safety
//! The symbol is looked up by name and called with the type the manual page gives it.
#![expect(unsafe_code, reason = "calls a symbol found by its name")]

use super::dlsym;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::NonNull;

type Getcpu = unsafe extern "C" fn(*mut c_uint, *mut c_uint) -> c_int;

/// libc's `getcpu`, where it has one (glibc since 2.29).
#[derive(Clone, Copy)]
pub(crate) struct GetCpu(Getcpu);

impl GetCpu {
    /// Looks it up.
    pub(crate) fn find() -> Option<Self> {
        let symbol = dlsym::default(c"getcpu")?;
        // SAFETY: libc's symbol of this name has this type (getcpu(2)).
        Some(Self(unsafe { std::mem::transmute::<NonNull<c_void>, Getcpu>(symbol) }))
    }

    /// The CPU the thread was on.
    #[inline(always)]
    pub(crate) fn call(self) -> u32 {
        let mut cpu: c_uint = 0;
        // SAFETY: writes one integer; a null node is allowed.
        unsafe { (self.0)(&mut cpu, std::ptr::null_mut()) };
        cpu
    }
}
