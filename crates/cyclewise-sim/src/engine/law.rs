//! The laws that no machine may break, by name, so that tests can break them on purpose.

use super::model::Model;

/// What holds whatever the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// Where a core owns a line, no other has a copy.
    OneOwner,
    /// What is written is there.
    NoneLost,
    /// Nothing else is.
    NoneInvented,
    /// Every access is answered.
    EveryAnswer,
    /// Time never runs back.
    Time,
}

#[cfg(not(test))]
#[expect(clippy::unused_self, reason = "the twin of the tests' function")]
impl Model {
    /// Whether this law is to be broken now: never, but in tests.
    #[inline]
    pub(super) const fn breaks(&self, _: Law) -> bool {
        false
    }
}

#[cfg(test)]
impl Model {
    /// Whether this law is to be broken now: each seventh time that there is a chance to.
    pub(super) fn breaks(&mut self, law: Law) -> bool {
        if self.broken != Some(law) {
            return false;
        }
        self.chances += 1;
        self.chances.is_multiple_of(7)
    }

    /// Lets chance come from elsewhere.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.random = super::random::Random::new(seed);
    }

    /// Clears a line, as a stray store would.
    pub(crate) fn disturb(&mut self, line: usize) {
        self.lines[line].value = 0;
    }

    /// The law that does not hold as things are now.
    pub(crate) fn violated(&self, before: super::timing::Picos) -> Option<Law> {
        use super::line::Stage;
        let lines = &mut self.lines.iter();
        let shared = |line: &super::line::LineState| {
            let moves = matches!(line.stage, Stage::Moving(_));
            line.owner.is_some() && (!line.copies.is_empty() || moves)
                || line.executing.is_some() && line.owner.is_none()
        };
        if lines.any(shared) {
            return Some(Law::OneOwner);
        }
        (self.now < before).then_some(Law::Time)
    }
}
