//! A function that another compiler has put into loops, as `cyclewise/bench.h` does: it is timed as a closure is.

use super::body::Body;
use crate::arch::Length;
use crate::runner::{CALLS, ticks};
use crate::sys::allocations::Allocated;

/// The loops around a function.
pub trait Compiled {
    /// Whether each call has an input that is made for it. Only loops of one call are then asked for.
    fn has_inputs(&self) -> bool;

    /// Makes the inputs of so many calls. Not timed; a panic is the row's failure.
    fn prepare(&mut self, calls: u64);

    /// Runs so many iterations of the loop of 1, 4, 8 or 16 `calls`.
    fn run(&mut self, calls: u32, iterations: u64);

    /// Ends the inputs. Not timed.
    fn finish(&mut self);
}

/// Such a function as a row's body.
pub(super) struct Loops<C>(pub(super) C);

impl<C: Compiled> Loops<C> {
    fn time(&mut self, calls: u32, iterations: u64) -> u64 {
        self.0.prepare(u64::from(calls) * iterations);
        let spent = ticks(|| self.0.run(calls, iterations));
        self.0.finish();
        spent
    }
}

impl<C: Compiled> Body for Loops<C> {
    fn copies(&self) -> u32 {
        if self.0.has_inputs() { 0 } else { CALLS }
    }

    fn batch(&mut self, length: Length, n: u64) -> u64 {
        match self.copies() {
            0 => self.time(1, n),
            copies => self.time(length.times() * copies, n),
        }
    }

    fn repeat(&mut self, n: u64) -> u64 {
        self.time(1, n)
    }

    fn once(&mut self) -> Allocated {
        self.time(1, 1);
        // Its allocator is not this program's.
        Allocated::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Noted {
        inputs: bool,
        asked: Vec<(&'static str, u64, u64)>,
    }

    impl Compiled for &mut Noted {
        fn has_inputs(&self) -> bool {
            self.inputs
        }

        fn prepare(&mut self, calls: u64) {
            self.asked.push(("prepare", calls, 0));
        }

        fn run(&mut self, calls: u32, iterations: u64) {
            self.asked.push(("run", calls.into(), iterations));
        }

        fn finish(&mut self) {
            self.asked.push(("finish", 0, 0));
        }
    }

    #[test]
    fn a_batch_is_the_loop_of_its_length() {
        let mut noted = Noted::default();
        let mut body = Loops(&mut noted);
        body.batch(Length::FourTimes, 3);
        body.repeat(5);
        let expected = [
            ("prepare", 48, 0),
            ("run", 16, 3),
            ("finish", 0, 0),
            ("prepare", 5, 0),
            ("run", 1, 5),
            ("finish", 0, 0),
        ];
        assert_eq!(noted.asked, expected);
    }

    #[test]
    fn calls_with_inputs_have_one_loop() {
        let mut noted = Noted {
            inputs: true,
            ..Noted::default()
        };
        let mut body = Loops(&mut noted);
        assert_eq!(body.copies(), 0);
        body.batch(Length::FourTimes, 3);
        body.once();
        assert_eq!(noted.asked[..2], [("prepare", 3, 0), ("run", 1, 3)]);
        assert_eq!(noted.asked[3..5], [("prepare", 1, 0), ("run", 1, 1)]);
    }
}
