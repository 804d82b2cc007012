//! Accesses of threads to lines, and their replies.

/// An access to one line. A mask restricts it to the masked bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads the masked bits.
    Load { mask: u64 },
    /// Reads the masked bits of a line that the same thread will write.
    LoadToWrite { mask: u64 },
    /// Reads every `period` picoseconds until the masked bits differ from `seen`.
    LoadChanged { seen: u64, mask: u64, period: u64 },
    /// Reads, with a reservation for a conditional store.
    LoadExclusive,
    /// Writes.
    Store { mask: u64, value: u64 },
    /// Writes if the reservation of the thread's load-exclusive still holds.
    StoreExclusive { value: u64 },
    /// Adds, wrapping.
    Add { value: u64 },
    /// Adds, wrapping, and gives no result, so that the thread need not wait.
    PostedAdd { value: u64 },
    /// Sets bits.
    Or { bits: u64 },
    /// Clears bits.
    Clear { bits: u64 },
    /// Exchanges.
    Swap { mask: u64, value: u64 },
    /// Exchanges if the masked bits are as expected.
    Cas { mask: u64, expected: u64, value: u64 },
}

/// The reply to an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The line's previous value.
    pub(crate) value: u64,
    /// Whether a conditional access has written; true for the others.
    pub(crate) done: bool,
}

/// Replaces the masked bits of a value.
pub(crate) fn merge(old: u64, mask: u64, new: u64) -> u64 {
    old & !mask | new & mask
}

impl Access {
    /// Whether it only reads.
    pub(crate) fn only_reads(self) -> bool {
        matches!(
            self,
            Self::Load { .. } | Self::LoadToWrite { .. } | Self::LoadChanged { .. } | Self::LoadExclusive
        )
    }

    /// Whether a home can execute it.
    pub(crate) fn is_rmw(self) -> bool {
        match self {
            Self::Add { .. }
            | Self::PostedAdd { .. }
            | Self::Or { .. }
            | Self::Clear { .. }
            | Self::Swap { .. }
            | Self::Cas { .. } => true,
            Self::Load { .. }
            | Self::LoadToWrite { .. }
            | Self::LoadChanged { .. }
            | Self::LoadExclusive
            | Self::Store { .. }
            | Self::StoreExclusive { .. } => false,
        }
    }

    /// Whether it is an exchange that would fail on this value.
    pub(crate) fn would_fail(self, now: u64) -> bool {
        matches!(self, Self::Cas { mask, expected, .. } if (now ^ expected) & mask != 0)
    }

    /// Applies it to a value. `reserved`: whether a conditional store may write.
    pub(crate) fn apply(self, value: &mut u64, reserved: bool) -> Reply {
        let old = *value;
        let mut done = true;
        match self {
            Self::Load { .. } | Self::LoadToWrite { .. } | Self::LoadChanged { .. } | Self::LoadExclusive => {}
            Self::Store { mask, value: new } | Self::Swap { mask, value: new } => *value = merge(old, mask, new),
            Self::Add { value: addend } | Self::PostedAdd { value: addend } => *value = old.wrapping_add(addend),
            Self::Or { bits } => *value = old | bits,
            Self::Clear { bits } => *value = old & !bits,
            Self::StoreExclusive { value: new } if reserved => *value = new,
            Self::Cas { mask, value: new, .. } if !self.would_fail(old) => *value = merge(old, mask, new),
            Self::StoreExclusive { .. } | Self::Cas { .. } => done = false,
        }
        Reply { value: old, done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_does_what_its_name_says() {
        let cases = [
            (Access::Load { mask: u64::MAX }, false, 0x11, true),
            (
                Access::Store {
                    mask: 0xf0,
                    value: 0x2f,
                },
                false,
                0x21,
                true,
            ),
            (
                Access::Swap {
                    mask: 0x0f,
                    value: 0x2f,
                },
                false,
                0x1f,
                true,
            ),
            (Access::Add { value: u64::MAX }, false, 0x10, true),
            (Access::PostedAdd { value: 1 }, false, 0x12, true),
            (Access::Or { bits: 0x2 }, false, 0x13, true),
            (Access::Clear { bits: 0x3 }, false, 0x10, true),
            (
                Access::Cas {
                    mask: 0xf,
                    expected: 0x91,
                    value: 5,
                },
                false,
                0x15,
                true,
            ),
            (
                Access::Cas {
                    mask: 0xff,
                    expected: 0x91,
                    value: 5,
                },
                false,
                0x11,
                false,
            ),
            (Access::StoreExclusive { value: 5 }, true, 5, true),
            (Access::StoreExclusive { value: 5 }, false, 0x11, false),
        ];
        for (access, reserved, after, done) in cases {
            let mut value = 0x11;
            assert_eq!(
                access.apply(&mut value, reserved),
                Reply { value: 0x11, done },
                "{access:?}"
            );
            assert_eq!(value, after, "{access:?}");
        }
    }
}
