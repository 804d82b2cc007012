//! Objects that are taken and given back: a free list, stacks and rings.
//!
//! Each object has a mark that says whether somebody has it. Who takes an object that somebody else has finds the mark set;
//! what nobody has in the end must be in the bag, once.

mod real;
mod twin;

pub(super) use self::real::{free_list, ring, stack};

use super::Tried;
use crate::sys::percpu::storm::StormTarget;
use crate::sys::percpu::unprotected::between;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::SeqCst};

/// How many.
const OBJECTS: usize = 128;

const INSIDE: u8 = 0; // nobody has it
const TAKEN: u8 = 1; // somebody has it
const ASIDE: u8 = 2; // it was not let in

/// What holds objects by number.
trait Bag: Sync {
    /// An object that somebody has.
    type Held<'a>
    where
        Self: 'a;

    /// Takes one. `chance` is for what a twin does meanwhile.
    fn take(&self, chance: u64) -> Option<Self::Held<'_>>;
    /// Its number.
    fn number(held: &Self::Held<'_>) -> usize;
    /// Gives it back; false where there is no room.
    fn give(&self, held: Self::Held<'_>, chance: u64) -> bool;
    /// Takes some by the other ways that there are, and hands each to `each`, which gives it back. Not for handlers.
    fn take_some<'a>(&'a self, _chance: u64, _each: impl FnMut(Self::Held<'a>)) {}
    /// Tells of each object inside, when no other thread is at it. No allocation.
    fn look(&self, each: impl FnMut(usize));
}

/// A bag and what is known of its objects.
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

    /// A number past the last is one that a twin has made up.
    fn mark(&self, held: &B::Held<'_>) {
        let mark = self.marks.get(B::number(held));
        let was = mark.map_or(TAKEN, |mark| mark.swap(TAKEN, SeqCst));
        self.doubled.fetch_add(u64::from(was != INSIDE), SeqCst);
    }

    fn give<'a>(&'a self, held: B::Held<'a>, chance: u64) {
        let Some(mark) = self.marks.get(B::number(&held)) else {
            return;
        };
        // Before, since it is anybody's from then on.
        mark.store(INSIDE, SeqCst);
        if !self.bag.give(held, chance) {
            mark.store(ASIDE, SeqCst);
        }
    }

    /// Takes two, and gives them back in the other order: what was first is first again, and what it led to is another.
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

    /// What is inside, and whether something is there twice.
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
