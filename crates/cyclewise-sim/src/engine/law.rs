//! Breaks the laws that every machine obeys, for tests, and finds out whether one was broken.

use super::model::{Law, Model};

#[cfg(not(test))]
impl Model {
    /// Whether to break this law now: never, except in tests.
    #[inline]
    pub(super) const fn breaks(&self, _: Law) -> bool {
        false
    }
}

#[cfg(test)]
impl Model {
    /// Whether to break this law now: at every seventh opportunity, and a way that is not drawn at each.
    pub(super) fn breaks(&mut self, law: Law) -> bool {
        if self.broken != Some(law) {
            return false;
        }
        self.opportunities += 1;
        law == Law::DrawnWay || self.opportunities.is_multiple_of(7)
    }

    /// Replaces the random numbers' seed.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.random = super::random::Random::new(seed);
    }

    /// Clears a line, like a stray store.
    pub(crate) fn disturb(&mut self, line: usize) {
        self.lines[line].value = 0;
    }

    /// The law that is violated in the current state, if any.
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
        let is_disordered = |thread: &super::thread::Thread| match &thread.role {
            super::thread::Role::Runs(running) => !running.buffer.is_ordered(),
            super::thread::Role::Drains(_) => false,
        };
        if self.threads.iter().any(is_disordered) {
            return Some(Law::StoreOrder);
        }
        (self.now < before).then_some(Law::MonotonicTime)
    }
}
