//! The bounded stacks: one thread compared with `Vec`, many with the multiset of the words that they pushed, and boxes with the
//! number of drops.

use super::steps::{Step, steps};
use crate::percpu::{CurrentSlot, Slot, Stack};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use proptest::prelude::*;
use std::boxed::Box;
use std::sync::Mutex;
use std::thread;
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

/// The number of `Counted` that exist.
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
    const EACH: u64 = 8_000;
    let stack = Stack::<u64, 64>::new();
    let (taken, pushed) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    let threads = 8 * thread::available_parallelism().map_or(1, usize::from).min(4) as u64;
    thread::scope(|scope| {
        for thread in 0..threads {
            let (stack, taken, pushed) = (&stack, &taken, &pushed);
            scope.spawn(move || {
                let (mut mine, mut n) = (Vec::new(), 0);
                let mut turn = thread;
                while n < EACH {
                    turn = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
                    // Reversed, because `push_many` takes from the end.
                    let mut batch: Vec<u64> = (n..EACH.min(n + turn % 9)).rev().map(|n| thread * EACH + n).collect();
                    let done = match batch[..] {
                        [one] => u64::from(stack.push(one).is_ok()),
                        _ => stack.push_many(&mut batch) as u64,
                    };
                    pushed.fetch_add(done, Relaxed);
                    n += done;
                    match turn >> 60 {
                        0 => {
                            let slot = Slot::of((turn >> 32 & 3) as u32).unwrap_or(CurrentSlot::now().slot());
                            stack.steal(slot, &mut mine).unwrap();
                        }
                        1..9 => mine.extend(stack.pop()),
                        _ => {
                            stack.pop_many(&mut mine, 7);
                        }
                    }
                    if turn >> 40 & 63 == 0 {
                        thread::yield_now();
                    }
                }
                taken.lock().unwrap().append(&mut mine);
            });
        }
    });
    let mut all = taken.into_inner().unwrap();
    stack.drain(&mut all).unwrap();
    all.sort_unstable();
    assert_eq!(pushed.load(Relaxed), threads * EACH);
    assert!(
        all.iter().copied().eq(0..threads * EACH),
        "{} of {}",
        all.len(),
        threads * EACH
    );
}
