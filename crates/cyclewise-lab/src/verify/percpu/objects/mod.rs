//! Objects that are taken and given back: a free list, stacks and rings.
//!
//! Each object has a mark that is set while the object is taken. Taking an object twice finds the mark set; in the end,
//! every object that is not taken must be in the bag exactly once.

mod real;
mod twin;

pub(super) use self::real::{free_list, ring, stack};

use super::Tried;
use crate::sys::percpu::storm::StormTarget;
use crate::sys::percpu::unprotected::between;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::SeqCst};

const OBJECTS: usize = 128;

const INSIDE: u8 = 0; // in the bag
const TAKEN: u8 = 1; // out of the bag
const ASIDE: u8 = 2; // the bag had no room

/// A container of numbered objects.
trait Bag: Sync {
    type Held<'a>
    where
        Self: 'a;

    /// Takes one. `chance` selects what a twin does between its load and its store.
    fn take(&self, chance: u64) -> Option<Self::Held<'_>>;
    fn number(held: &Self::Held<'_>) -> usize;
    /// Gives it back; false if there is no room.
    fn give(&self, held: Self::Held<'_>, chance: u64) -> bool;
    /// Takes some by the bag's other operations; `each` gives each of them back. Not for signal handlers.
    fn take_some<'a>(&'a self, _chance: u64, _each: impl FnMut(Self::Held<'a>)) {}
    /// Calls `each` with every object inside. No other thread uses the bag. Does not allocate.
    fn look(&self, each: impl FnMut(usize));
}

struct Marked<B> {
    bag: B,
    marks: [AtomicU8; OBJECTS],
    doubled: AtomicU64,
}

impl<B: Bag> Marked<B> {
    fn new(bag: B) -> Self {
        Self {
            bag,
            marks: [const { AtomicU8::new(INSIDE) }; OBJECTS],
            doubled: AtomicU64::new(0),
        }
    }

    /// Marks it as taken. A number out of range comes from a broken twin.
    fn mark(&self, held: &B::Held<'_>) {
        let mark = self.marks.get(B::number(held));
        let was = mark.map_or(TAKEN, |mark| mark.swap(TAKEN, SeqCst));
        self.doubled.fetch_add(u64::from(was != INSIDE), SeqCst);
    }

    fn give<'a>(&'a self, held: B::Held<'a>, chance: u64) {
        let Some(mark) = self.marks.get(B::number(&held)) else {
            return;
        };
        // First: once it is in the bag, another thread may take it.
        mark.store(INSIDE, SeqCst);
        if !self.bag.give(held, chance) {
            mark.store(ASIDE, SeqCst);
        }
    }

    /// Takes two and gives them back in the order they were taken, which swaps them in a list or stack.
    fn turn_over(&self, chance: u64) {
        let two = [self.bag.take(chance), self.bag.take(chance >> 8)];
        two.iter().flatten().for_each(|held| self.mark(held));
        if chance.is_multiple_of(32) {
            between(chance >> 5);
        }
        two.into_iter().flatten().for_each(|held| self.give(held, chance >> 16));
    }

    fn turn_some_over(&self, chance: u64) {
        self.bag.take_some(chance, |held| {
            self.mark(&held);
            self.give(held, 1);
        });
    }

    /// The objects inside, and whether one of them is there twice.
    fn contents(&self) -> ([bool; OBJECTS], bool) {
        let (mut seen, mut twice) = ([false; OBJECTS], false);
        self.bag.look(|object| match seen.get_mut(object) {
            Some(seen) => twice |= std::mem::replace(seen, true),
            None => twice = true,
        });
        (seen, twice)
    }

    fn wrong(&self) -> u64 {
        let (seen, twice) = self.contents();
        let inside = |n: &usize| self.marks.get(*n).is_some_and(|mark| mark.load(SeqCst) == INSIDE);
        let lost = (0..OBJECTS).filter(|n| seen.get(*n) != Some(&inside(n))).count();
        self.doubled.load(SeqCst) + u64::from(twice) + lost as u64
    }
}

/// A bag, and its twin beside it.
struct Both<B, T> {
    real: Marked<B>,
    twin: Marked<T>,
}

impl<B: Bag, T: Bag> StormTarget for Both<B, T> {
    fn step(&self, chance: u64) {
        self.real.turn_over(chance);
        self.twin.turn_over(chance);
        if chance.is_multiple_of(64) {
            self.real.turn_some_over(chance >> 6);
        }
    }

    fn interrupt(&self) {
        self.real.turn_over(1);
        self.twin.turn_over(1);
    }

    fn in_child(&self) -> bool {
        let (before, twice) = self.real.contents();
        for _ in 0..100 {
            self.real.turn_over(1);
        }
        let (after, again) = self.real.contents();
        !twice && !again && before == after
    }
}

impl<B: Bag, T: Bag> Tried for Both<B, T> {
    fn wrong(self: Box<Self>) -> (u64, u64) {
        (self.real.wrong(), self.twin.wrong())
    }
}
