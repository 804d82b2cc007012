//! A user's function in a loop between two stamps.
//!
//! # Invariants
//! 1. Inputs are made before the first stamp, and results dropped after the last.
//! 2. What a function returns is opaque to the compiler, so that its work cannot be left out.

use crate::arch::{Length, opaque};
use crate::runner::{CALLS, calls, ticks};
use crate::sys::allocations::{self, Allocated};
use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

/// A function that one thread calls.
pub(super) trait Body {
    /// Copies in an iteration of the shortest loop; 0 where one call cannot stand beside the next, as each has its input.
    fn copies(&self) -> u32;

    /// Whether a call has an input that is made for it, or a result that is kept for its drop.
    fn has_inputs(&self) -> bool {
        self.copies() == 0
    }

    /// The ticks of `n` iterations of the loop of this length.
    fn batch(&mut self, length: Length, n: u64) -> u64;

    /// The ticks of `n` calls one after another.
    fn repeat(&mut self, n: u64) -> u64;

    /// One call: what it allocated.
    fn once(&mut self) -> Allocated;
}

/// A function without inputs, whose results need no drop.
pub(super) struct Plain<F>(pub(super) F);

impl<O, F: FnMut() -> O> Body for Plain<F> {
    fn copies(&self) -> u32 {
        CALLS
    }

    fn batch(&mut self, length: Length, n: u64) -> u64 {
        let mut call = || {
            black_box((self.0)());
        };
        ticks(|| calls(length, n, &mut call))
    }

    fn repeat(&mut self, n: u64) -> u64 {
        ticks(|| {
            for _ in 0..n {
                black_box((self.0)());
            }
        })
    }

    fn once(&mut self) -> Allocated {
        let (used, result) = allocated(&mut self.0);
        drop(black_box(result));
        used
    }
}

/// A function with inputs, or with results that need a drop.
pub(super) struct WithInputs<M, F> {
    pub(super) make: M,
    pub(super) run: F,
}

impl<I, O, M: FnMut() -> I, F: FnMut(I) -> O> Body for WithInputs<M, F> {
    fn copies(&self) -> u32 {
        0
    }

    fn batch(&mut self, _: Length, n: u64) -> u64 {
        self.repeat(n)
    }

    fn repeat(&mut self, n: u64) -> u64 {
        let n = n as usize;
        let mut inputs: Vec<I> = (0..n).map(|_| (self.make)()).collect();
        black_box(&mut inputs);
        let mut results: Vec<O> = Vec::with_capacity(n);
        let spent = ticks(|| results.extend(inputs.drain(..).map(&mut self.run)));
        black_box(&mut results);
        spent
    }

    fn once(&mut self) -> Allocated {
        let input = black_box((self.make)());
        let (used, result) = allocated(|| (self.run)(input));
        drop(black_box(result));
        used
    }
}

/// The body of a function without inputs.
pub(super) fn plain<'a, O: 'a>(run: impl FnMut() -> O + 'a) -> Box<dyn Body + 'a> {
    match std::mem::needs_drop::<O>() {
        false => Box::new(Plain(run)),
        true => {
            let mut run = run;
            Box::new(WithInputs {
                make: || (),
                run: move |()| run(),
            })
        }
    }
}

/// A function that is called with a parameter, which its rows share.
pub(super) type Shared<F> = Rc<RefCell<F>>;

/// A function of a parameter, which is opaque, so that no row is compiled for its own.
struct OfParameter<M, F> {
    make: M,
    run: Shared<F>,
    parameter: u64,
    copies: u32,
}

pub(super) fn of_parameter<'a, O: 'a>(run: &Shared<impl FnMut(usize) -> O + 'a>, n: usize) -> Box<dyn Body + 'a> {
    Box::new(OfParameter {
        make: (),
        run: Rc::clone(run),
        parameter: n as u64,
        copies: if std::mem::needs_drop::<O>() { 0 } else { CALLS },
    })
}

/// The same with inputs that are made of the parameter.
pub(super) fn of_parameter_with<'a, I: 'a, O: 'a>(
    make: &Shared<impl FnMut(usize) -> I + 'a>,
    run: &Shared<impl FnMut(I) -> O + 'a>,
    n: usize,
) -> Box<dyn Body + 'a> {
    Box::new(OfParameter {
        make: Rc::clone(make),
        run: Rc::clone(run),
        parameter: n as u64,
        copies: 0,
    })
}

/// Lends a body for as long as its functions are borrowed, so that no call pays for the sharing.
trait Lend {
    fn lend<R>(&mut self, work: impl FnOnce(&mut dyn Body) -> R) -> R;
}

impl<O, F: FnMut(usize) -> O> Lend for OfParameter<(), F> {
    fn lend<R>(&mut self, work: impl FnOnce(&mut dyn Body) -> R) -> R {
        let mut run = self.run.borrow_mut();
        let n = self.parameter;
        work(&mut *plain(|| run(opaque(n) as usize)))
    }
}

impl<I, O, M: FnMut(usize) -> I, F: FnMut(I) -> O> Lend for OfParameter<Shared<M>, F> {
    fn lend<R>(&mut self, work: impl FnOnce(&mut dyn Body) -> R) -> R {
        let (mut make, mut run) = (self.make.borrow_mut(), self.run.borrow_mut());
        let n = self.parameter;
        work(&mut WithInputs {
            make: || make(opaque(n) as usize),
            run: |input| run(input),
        })
    }
}

impl<M, F> Body for OfParameter<M, F>
where
    Self: Lend,
{
    fn copies(&self) -> u32 {
        self.copies
    }

    fn batch(&mut self, length: Length, n: u64) -> u64 {
        self.lend(|body| body.batch(length, n))
    }

    fn repeat(&mut self, n: u64) -> u64 {
        self.lend(|body| body.repeat(n))
    }

    fn once(&mut self) -> Allocated {
        self.lend(|body| body.once())
    }
}

fn allocated<O>(run: impl FnOnce() -> O) -> (Allocated, O) {
    let before = allocations::so_far();
    let result = run();
    let after = allocations::so_far();
    let used = Allocated {
        calls: after.calls - before.calls,
        bytes: after.bytes - before.bytes,
    };
    (used, result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Counts how many of it live.
    struct Alive<'a>(&'a Cell<i32>);

    impl<'a> Alive<'a> {
        fn new(alive: &'a Cell<i32>) -> Self {
            alive.set(alive.get() + 1);
            Alive(alive)
        }
    }

    impl Drop for Alive<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }

    #[test]
    fn inputs_are_made_before_the_first_call_and_results_dropped_after_the_last() {
        let (made, alive, calls) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let mut body = WithInputs {
            make: || made.set(made.get() + 1),
            run: |()| {
                assert_eq!(made.get(), 8, "all inputs are there");
                assert_eq!(alive.get(), calls.get(), "no result is dropped yet");
                calls.set(calls.get() + 1);
                Alive::new(&alive)
            },
        };
        assert!(body.repeat(8) > 0);
        assert_eq!((calls.get(), alive.get()), (8, 0));
    }

    #[test]
    fn results_that_need_a_drop_wait_for_it() {
        let alive = Cell::new(0);
        let most = Cell::new(0);
        let mut body = plain(|| {
            let one = Alive::new(&alive);
            most.set(most.get().max(alive.get()));
            one
        });
        assert_eq!(body.copies(), 0);
        body.batch(Length::Once, 5);
        assert_eq!((most.get(), alive.get()), (5, 0));
        // The twin: what needs no drop is called in loops of copies.
        assert_eq!(plain(|| 7u64).copies(), CALLS);
    }

    #[test]
    fn a_batch_calls_as_often_as_its_length_says() {
        let n = Cell::new(0);
        let mut body = plain(|| n.set(n.get() + 1));
        body.batch(Length::FourTimes, 3);
        assert_eq!(n.get(), 48);
        body.repeat(2);
        body.once();
        assert_eq!(n.get(), 51);
    }
}
