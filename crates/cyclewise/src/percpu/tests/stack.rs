//! The bounded stacks: one thread compared with `Vec`, many with the multiset of the words that they pushed, and boxes with the
//! number of drops.

use super::steps::{self, Step, steps};
use crate::percpu::{CurrentSlot, Slot, Stack};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use proptest::prelude::*;
use std::boxed::Box;
use std::vec::Vec;

/// Runs the steps on a stack of 7 and on the oracle. `None` if the thread was moved, since its words are then in several slots.
fn same(steps: &[Step]) -> Option<bool> {
    let (stack, mut oracle) = (Stack::<u64, 7>::new(), Vec::new());
    let slot = CurrentSlot::now().slot();
    let mut right = true;
    for step in steps {
        right &= match step {
            Step::Push(word) => {
                let room = oracle.len() < 7;
                if room {
                    oracle.push(*word);
                }
                stack.push(*word) == if room { Ok(()) } else { Err(*word) }
            }
            Step::PushMany(words) => {
                let mut words = words.clone();
                let rest = words.len() - words.len().min(7 - oracle.len());
                let expected = words[..rest].to_vec();
                oracle.extend(&words[rest..]);
                let before = words.len();
                stack.push_many(&mut words) == before - rest && words == expected
            }
            Step::Pop => stack.pop() == oracle.pop(),
            Step::PopMany(most) => {
                let mut words = std::vec![5];
                let got = stack.pop_many(&mut words, *most);
                let expected = oracle.split_off(oracle.len().saturating_sub(*most));
                got == expected.len() && words[0] == 5 && words[1..] == expected
            }
        };
    }
    let mut left = Vec::new();
    stack.steal(slot, &mut left).expect("membarrier");
    right &= oracle == left;
    // A thread that was moved away and back also finds a difference, so the caller retries on a difference.
    (right || CurrentSlot::now().slot() == slot).then_some(right)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_a_stack_of_seven(steps in steps()) {
        prop_assert!((0..1000).any(|_| same(&steps) == Some(true)));
    }
}

#[test]
fn every_kind_of_word_comes_out_as_it_went_in() {
    fn one<T: crate::percpu::WordSized + PartialEq + core::fmt::Debug>(make: impl Fn() -> T) {
        let stack = Stack::<T, 1>::new();
        assert_eq!(stack.push(make()), Ok(()));
        let mut out = Vec::new();
        assert_eq!((stack.drain(&mut out), stack.drain(&mut out)), (Ok(1), Ok(0)));
        assert_eq!(out, [make()]);
    }
    static BYTE: u8 = 7;
    one(|| u64::MAX);
    one(|| i64::MIN);
    one(|| usize::MAX);
    one(|| -3isize);
    one(|| (&raw const BYTE).cast_mut());
    one(|| core::ptr::NonNull::from(&BYTE));
    one(|| Box::new(9));
}

static ALIVE: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Counted {
    fn boxed() -> Box<(Self, u64)> {
        ALIVE.fetch_add(1, Relaxed);
        Box::new((Self, 0))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

#[test]
fn boxes_are_dropped_once_wherever_they_are() {
    let stack = Stack::<Box<(Counted, u64)>, 4>::new();
    let mut back = 0;
    for _ in 0..1000 {
        // More than fit: those that do not fit are returned, and dropped here.
        let mut boxes: Vec<_> = (0..3).map(|_| Counted::boxed()).collect();
        boxes.iter_mut().for_each(|b| b.1 = 1);
        stack.push_many(&mut boxes);
        back += boxes.len() + usize::from(stack.push(Counted::boxed()).is_err());
        drop(boxes);
        drop(stack.pop());
        let mut taken = Vec::new();
        stack.pop_many(&mut taken, 1);
    }
    assert!(back > 0 && ALIVE.load(Relaxed) > 0);
    assert!(ALIVE.load(Relaxed) <= 4 * Slot::all().count());
    drop(stack);
    assert_eq!(ALIVE.load(Relaxed), 0);
}

#[test]
fn all_that_threads_push_is_taken_once() {
    let stack = Stack::<u64, 64>::new();
    steps::all_that_threads_push_is_taken_once(
        |batch| {
            // `push_many` takes from the end.
            batch.reverse();
            match batch[..] {
                [one] => u64::from(stack.push(one).is_ok()),
                _ => stack.push_many(batch) as u64,
            }
        },
        |turn, mine| match turn >> 60 {
            0 => {
                stack.steal(steps::victim(turn), mine).unwrap();
            }
            1..9 => mine.extend(stack.pop()),
            _ => {
                stack.pop_many(mine, 7);
            }
        },
        |all| {
            stack.drain(all).unwrap();
        },
    );
}
