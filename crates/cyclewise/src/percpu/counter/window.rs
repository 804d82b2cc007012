//! [`Window`]: the numbers between which a slot's total may move without a change of the shared sum.
//!
//! Both ends are in one word, so that one store moves the window. They are modulo 2^32: a total is less than 2^31 away from both
//! ends of its window, so differences tell which comes first.

/// The largest batch; a larger one behaves like this. The difference of a total and an end of its window, before and after an
/// addition, then fits in 32 bits.
pub(super) const LARGEST_BATCH: u64 = 1 << 30;

/// The largest total in the lower half, the smallest in the upper half. All zeroes if the slot was never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window(pub(super) u64);

impl Window {
    const UNUSED: Self = Self(0);

    /// All totals that are less than a batch from the middle. A batch above 1 makes it differ from [`UNUSED`](Self::UNUSED).
    fn around(middle: u32, batch_less_one: u64) -> Self {
        let reach = batch_less_one as u32;
        let (largest, smallest) = (middle.wrapping_add(reach), middle.wrapping_sub(reach));
        Self(u64::from(smallest) << 32 | u64::from(largest))
    }

    /// The middle, modulo 2^32: what was added to the shared sum.
    pub(super) fn middle(self, batch_less_one: u64) -> u32 {
        match self {
            Self::UNUSED => 0,
            Self(ends) => (ends as u32).wrapping_sub(batch_less_one as u32),
        }
    }

    /// The window for a total: this one if it has room, else one around the total.
    pub(super) fn for_total(self, total: u64, batch_less_one: u64) -> Self {
        let middle = self.middle(batch_less_one);
        let difference = (total as u32).wrapping_sub(middle) as i32;
        if u64::from(difference.unsigned_abs()) <= batch_less_one {
            Self::around(middle, batch_less_one)
        } else {
            Self::around(total as u32, batch_less_one)
        }
    }
}
