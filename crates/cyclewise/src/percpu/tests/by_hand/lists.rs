//! The sequences of counters, lists, stacks and rings, run with an area that is not registered: their effects without
//! interruption, compared with `Vec` and `VecDeque`. So they also run under an emulator.
//!
//! # Safety
//! Areas and variables belong to the test, and one thread uses them.
#![expect(unsafe_code, reason = "words by address, and areas that the test writes")]

use super::{CID, CPU, area};
use crate::arch::rseq::Area;
use crate::arch::rseq::{array, free_list};
use crate::arch::{AWAY, Cid, Cpu, EMPTY, Id, Outcome, STOPPED};
use crate::percpu::{PerCpu, Slot};
use std::collections::VecDeque;
use std::vec::Vec;

/// Words of a copy: more than any sequence here uses.
const WORDS: usize = 16;
/// The capacity of a stack: odd, so that it can be filled by batches of odd and even length.
const N: usize = 5;
const RING: usize = 4;

/// A variable, an area whose ids are [`CPU`] and [`CID`], and the number of the copy that a sequence must find.
struct Copy {
    area: Area,
    all: PerCpu<[u64; WORDS]>,
    number: u32,
}

impl Copy {
    fn new(number: u32) -> Self {
        let (area, all) = (area(CPU, CID), PerCpu::new());
        Self { area, all, number }
    }

    /// The address passed to the sequences: the copy of id 0.
    fn first(&self) -> *mut u64 {
        self.all.as_ptr().cast()
    }

    fn words(&self) -> [u64; WORDS] {
        // SAFETY: the test's own words and area.
        unsafe { self.all.slot_ptr(Slot::from_id(self.number).unwrap()).read() }
    }

    fn set(&self, words: [u64; WORDS]) {
        // SAFETY: the test's own words and area.
        unsafe { self.all.slot_ptr(Slot::from_id(self.number).unwrap()).write(words) }
    }

    /// Sets or clears the guard, the second word.
    fn guard(&self, guard: u64) {
        let mut words = self.words();
        words[1] = guard;
        self.set(words);
    }

    /// Whether all other copies are still zero.
    fn is_alone(&self) -> bool {
        let others = Slot::all().filter(|slot| slot.number() != self.number);
        // SAFETY: the test's own words and area.
        others
            .map(|slot| unsafe { self.all.slot_ptr(slot).read() })
            .all(|copy| copy == [0; WORDS])
    }
}

/// These words, then zeroes.
fn filled<const COUNT: usize>(first: [u64; COUNT]) -> [u64; WORDS] {
    core::array::from_fn(|n| first.get(n).copied().unwrap_or(0))
}

/// A window of totals from 6 to 14 modulo 2^32, and totals on both sides of a multiple of 2^32.
fn counters<I: Id>(number: u32) {
    let copy = Copy::new(number);
    for base in [0, 1 << 32, u64::MAX << 32] {
        let window = 14 | 6 << 32;
        let with = |total: u64| filled([base.wrapping_add(total), window]);
        copy.set(with(10));
        // SAFETY: the test's own words and area.
        let below = |amount: u64| unsafe { free_list::add_below::<I>(copy.area, copy.first(), amount) };
        // SAFETY: the test's own words and area.
        let above = |amount: i64| unsafe { free_list::add_above::<I>(copy.area, copy.first(), amount as u64) };
        for (amount, outcome, total) in [
            (4, Outcome::Done, 14),
            (0, Outcome::Done, 14),
            (1, Outcome::Ne, 14),
            (1 << 30, Outcome::Ne, 14),
        ] {
            assert_eq!((below(amount), copy.words()), (outcome, with(total)));
        }
        for (amount, outcome, total) in [
            (-8, Outcome::Done, 6),
            (-1, Outcome::Ne, 6),
            (-(1 << 30), Outcome::Ne, 6),
        ] {
            assert_eq!((above(amount), copy.words()), (outcome, with(total)));
        }
    }
    // The ends and the sum on different sides.
    copy.set(filled([u64::from(u32::MAX), 2 | 0xffff_fffd << 32]));
    // SAFETY: the test's own words and area.
    let outcome = unsafe { free_list::add_below::<I>(copy.area, copy.first(), 3) };
    assert_eq!((outcome, copy.words()[0]), (Outcome::Done, (1 << 32) + 2));
    // SAFETY: the test's own words and area.
    let outcome = unsafe { free_list::add_above::<I>(copy.area, copy.first(), -6i64 as u64) };
    assert_eq!((outcome, copy.words()[0]), (Outcome::Ne, (1 << 32) + 2));
    assert!(copy.is_alone());
}

/// An addition under a guard, which is not in the copy.
fn references<I: Id>(number: u32) {
    let copy = Copy::new(number);
    for (guard, outcome, total) in [(0, Outcome::Done, 5), (1, Outcome::Stopped, 5), (0, Outcome::Done, 10)] {
        // SAFETY: the test's own words and area.
        let found = unsafe { free_list::add_if_open::<I>(copy.area, &guard, copy.first(), 5) };
        assert_eq!((found, copy.words()), (outcome, filled([total])));
    }
    assert!(copy.is_alone());
}

#[test]
fn a_reference_is_counted_while_its_guard_is_open() {
    references::<Cpu>(CPU);
    references::<Cid>(CID);
}

#[test]
fn a_counter_is_added_to_in_its_window() {
    counters::<Cpu>(CPU);
    counters::<Cid>(CID);
}

#[test]
fn a_list_is_pushed_to_popped_from_and_taken() {
    let copy = Copy::new(CPU);
    let (area, lists) = (copy.area, copy.first());
    let mut nodes = [[0u64, 7]; 3];
    let nodes: Vec<*mut u64> = nodes.iter_mut().map(|node| (&raw mut *node).cast()).collect();
    let at = |n: usize| nodes[n].expose_provenance() as u64;
    // SAFETY: the test's own words and area.
    let push = |first: usize, last: usize| unsafe { free_list::list_push::<Cpu>(area, lists, at(first), nodes[last]) };
    // SAFETY: the test's own words and area.
    let pop = || unsafe { free_list::list_pop::<Cpu>(area, lists) };
    // SAFETY: the test's own words and area.
    let take = || unsafe { free_list::list_take::<Cpu>(area, lists) };
    // SAFETY: the test's own words and area.
    let next = |n: usize| unsafe { nodes[n].read() };

    assert_eq!((pop(), take()), (0, 0));
    assert_eq!((push(0, 0), next(0)), (Outcome::Done, 0));
    // A chain of two nodes.
    // SAFETY: the test's own words and area.
    unsafe { nodes[1].write(at(2)) };
    assert_eq!((push(1, 2), next(1), next(2)), (Outcome::Done, at(2), at(0)));
    assert_eq!(copy.words(), filled([at(1)]));

    copy.guard(1);
    let stopped = filled([at(1), 1]);
    assert_eq!((pop(), take(), push(0, 0)), (STOPPED, STOPPED, Outcome::Stopped));
    assert_eq!((copy.words(), next(0)), (stopped, 0));
    copy.guard(0);

    assert_eq!((pop(), copy.words()), (at(1), filled([at(2)])));
    assert_eq!((take(), copy.words()), (at(2), filled([])));
    assert_eq!(pop(), 0);
    assert!(copy.is_alone());
}

fn stack_of(values: &[u64]) -> Copy {
    let copy = Copy::new(CPU);
    let mut words = filled([values.len() as u64]);
    words[2..2 + values.len()].copy_from_slice(values);
    copy.set(words);
    copy
}

fn stacked(copy: &Copy) -> Vec<u64> {
    let words = copy.words();
    words[2..2 + words[0] as usize].to_vec()
}

#[test]
fn a_stack_is_pushed_to_and_popped_from() {
    for count in 0..=N {
        let oracle: Vec<u64> = (0..count as u64).map(|n| 100 + n).collect();
        let copy = stack_of(&oracle);
        // SAFETY: the test's own words and area.
        let push = || unsafe { array::stack_push::<Cpu, N>(copy.area, copy.first(), 7) };
        // SAFETY: the test's own words and area.
        let pop = || unsafe { array::stack_pop::<Cpu>(copy.area, copy.first()) };
        copy.guard(1);
        let before = copy.words();
        assert_eq!((push(), pop().1, copy.words()), (Outcome::Stopped, AWAY, before));
        copy.guard(0);
        if count == N {
            assert_eq!((push(), stacked(&copy)), (Outcome::Ne, oracle.clone()));
        } else {
            assert_eq!(push(), Outcome::Done);
            assert_eq!(stacked(&copy), [&*oracle, &[7]].concat());
            assert_eq!(pop(), (7, count as i64));
        }
        for (left, value) in oracle.iter().enumerate().rev() {
            assert_eq!(pop(), (*value, left as i64));
        }
        assert_eq!((pop().1, stacked(&copy)), (EMPTY, Vec::new()));
        assert!(copy.is_alone());
    }
}

#[test]
fn a_stack_takes_and_gives_batches() {
    for (count, len) in (0..=N).flat_map(|count| (0..=N + 2).map(move |len| (count, len))) {
        let oracle: Vec<u64> = (0..count as u64).map(|n| 100 + n).collect();
        let words: Vec<u64> = (0..len as u64).map(|n| 200 + n).collect();
        let copy = stack_of(&oracle);
        let end = words.as_ptr().wrapping_add(len);
        // SAFETY: the test's own words and area.
        let push = || unsafe { array::stack_push_many::<Cpu, N>(copy.area, copy.first(), end, len) };
        // One more element, which must not be written.
        let mut out = std::vec![1; len + 1];
        let to = out.as_mut_ptr();
        // SAFETY: the test's own words and area.
        let pop = || unsafe { array::stack_pop_many::<Cpu>(copy.area, copy.first(), to, len) };
        copy.guard(1);
        let before = copy.words();
        assert_eq!((push(), pop(), copy.words()), (AWAY, AWAY, before));
        copy.guard(0);

        let run = len.min(N - count);
        assert_eq!(push(), run as i64, "{count} {len}");
        let full = [&*oracle, &words[len - run..]].concat();
        assert_eq!(stacked(&copy), full, "{count} {len}");

        let taken = len.min(full.len());
        assert_eq!(pop(), taken as i64, "{count} {len}");
        let (left, expected) = full.split_at(full.len() - taken);
        assert_eq!(stacked(&copy), left);
        assert_eq!((&out[..taken], out[len]), (expected, 1), "{count} {len}");
        assert!(copy.is_alone());
    }
}

#[test]
fn a_ring_goes_round() {
    let copy = Copy::new(CPU);
    // SAFETY: the test's own words and area.
    let push = |word| unsafe { array::ring_push::<Cpu, RING>(copy.area, copy.first(), word) };
    // SAFETY: the test's own words and area.
    let pop = || unsafe { array::ring_pop::<Cpu, RING>(copy.area, copy.first()) };
    let mut oracle = VecDeque::new();
    // Pushes three and pops two until it is full, then pushes one and pops two.
    for (round, (put, got)) in [(3, 2); 8].into_iter().chain([(1, 2); 8]).enumerate() {
        for n in 0..put {
            let word = (round * 10 + n) as u64;
            if oracle.len() == RING {
                assert_eq!(push(word), Outcome::Ne);
            } else {
                oracle.push_back(word);
                assert_eq!(push(word), Outcome::Done);
            }
        }
        copy.guard(1);
        let before = copy.words();
        assert_eq!((push(9), pop().1, copy.words()), (Outcome::Stopped, AWAY, before));
        copy.guard(0);
        for _ in 0..got {
            match (oracle.pop_front(), pop()) {
                (Some(word), found) => assert!(found.0 == word && found.1 >= 0, "{word}: {found:?}"),
                (None, found) => assert_eq!(found.1, EMPTY),
            }
        }
        let words = copy.words();
        assert_eq!(words[2] - words[0], oracle.len() as u64);
    }
    assert!(oracle.is_empty() && copy.words()[0] > RING as u64 && copy.is_alone());
}
