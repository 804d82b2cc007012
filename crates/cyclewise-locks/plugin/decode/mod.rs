//! Which instructions are sites, from their bytes.

pub mod aarch64;
pub mod x86_64;

/// An instruction that is a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decoded {
    /// Its form.
    pub form: Form,
    /// What it does to a count.
    pub step: Step,
}

/// The form of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A LOCK prefix.
    Lock,
    /// XCHG with memory.
    Xchg,
    /// An LSE atomic.
    Lse,
    /// A store-exclusive.
    Exclusive,
    /// Orders memory and changes nothing.
    Fence,
}

/// What a site adds to its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// It does not add.
    None,
    /// This much.
    By(i64),
    /// What a register holds.
    Register,
}

/// What a block's last instruction does to the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Nothing.
    #[default]
    Next,
    /// Calls, and comes back to this address.
    Call(u64),
    /// Goes back.
    Return,
}

impl Form {
    /// The form's bit in `layout::Control::leave_out`.
    pub fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl Step {
    /// Whether a word that held 0 before may hold `value`, of `bits` bits, now. What a register holds is taken to be 1 or
    /// -1, since it is counts of references that come to zero and begin anew.
    pub fn from_zero(self, value: u64, bits: u32) -> bool {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        match self {
            Self::None => true,
            Self::By(step) => value == step.cast_unsigned() & mask,
            Self::Register => value == 1 || value == mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Step;

    #[test]
    fn a_word_that_was_zero() {
        assert!(Step::By(1).from_zero(1, 32));
        assert!(!Step::By(1).from_zero(2, 32), "another life has begun");
        assert!(!Step::By(-1).from_zero(0, 64), "it held 1");
        assert!(Step::By(-1).from_zero(u64::MAX, 64));
        assert!(Step::By(-1).from_zero(0xff, 8));
        assert!(Step::Register.from_zero(1, 64));
        assert!(!Step::Register.from_zero(2, 64));
        assert!(Step::None.from_zero(77, 64), "nothing is known");
    }
}
