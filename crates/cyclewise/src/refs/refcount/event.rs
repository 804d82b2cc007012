//! What can be wrong with a reference count, and the report of it.

use core::fmt;
use core::panic::Location;

/// What was wrong; the kernel's `enum refcount_saturation_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// `inc_not_zero` or a form of it passed the maximum, or found the count saturated.
    #[doc(alias = "REFCOUNT_ADD_NOT_ZERO_OVF")]
    AddNotZeroOverflow,
    /// `inc` or `add` passed the maximum, or found the count saturated.
    #[doc(alias = "REFCOUNT_ADD_OVF")]
    AddOverflow,
    /// `inc` or `add` of a count that was zero.
    #[doc(alias = "REFCOUNT_ADD_UAF")]
    AddUseAfterFree,
    /// More references were given up than there were, or the count is saturated.
    #[doc(alias = "REFCOUNT_SUB_UAF")]
    SubUseAfterFree,
    /// `dec`, which tells nobody to free, of a count that was one or less, or saturated.
    #[doc(alias = "REFCOUNT_DEC_LEAK")]
    DecLeak,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 5] = [
        Self::AddNotZeroOverflow,
        Self::AddOverflow,
        Self::AddUseAfterFree,
        Self::SubUseAfterFree,
        Self::DecLeak,
    ];
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddNotZeroOverflow | Self::AddOverflow => "saturated; what it counts leaks",
            Self::AddUseAfterFree => "incremented from zero; use after free",
            Self::SubUseAfterFree => "underflowed; use after free",
            Self::DecLeak => "decrement hit zero and nobody was told; what it counts leaks",
        })
    }
}

/// One misuse of one count.
#[derive(Clone, Copy, Debug)]
pub struct Misuse {
    /// What was wrong.
    pub event: Event,
    /// The address of the count, to tell one from another. It may be gone.
    pub address: usize,
    /// The call of the operation.
    pub caller: &'static Location<'static>,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "reference count at {:#x} {} (called at {})",
            self.address, self.event, self.caller
        )
    }
}
