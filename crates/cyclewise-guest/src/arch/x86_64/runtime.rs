//! What the runtimes of both modes have: the same routines at the same addresses.

use crate::arch::code::Code;

/// The routines that every image has.
pub(crate) struct Routines {
    /// Runs a batch.
    pub(crate) start: Code,
    /// Leaves the guest.
    pub(crate) finish: Code,
    /// Reports an exception.
    pub(crate) fault: Code,
    /// Enters ring 3.
    pub(crate) enter_user: Code,
    /// Where ring 3 ends.
    pub(crate) user_return: Code,
    /// A system call by SYSENTER, where the mode has one.
    pub(crate) sysenter_stub: Option<Code>,
}
