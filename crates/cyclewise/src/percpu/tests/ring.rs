//! The rings: one thread compared with `VecDeque`, many with the number and multiset of the words that they pushed.

use super::steps::{self, Step, steps};
use crate::percpu::Ring;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::vec::Vec;

/// Runs the steps on a ring of 8 and on the oracle. `None` if the thread was moved, since its words are then in several slots.
fn same(steps: &[Step]) -> Option<bool> {
    let (ring, mut oracle) = (Ring::<u64, 8>::new(), VecDeque::new());
    let slot = crate::percpu::CurrentSlot::now().slot();
    let mut right = true;
    for step in steps {
        right &= match step {
            Step::Push(word) => {
                let room = oracle.len() < 8;
                if room {
                    oracle.push_back(*word);
                }
                ring.push(*word) == if room { Ok(()) } else { Err(*word) }
            }
            Step::PushMany(words) => {
                let room = words.len().min(8 - oracle.len());
                oracle.extend(&words[..room]);
                ring.push_many(words) == room
            }
            Step::Pop => ring.pop() == oracle.pop_front(),
            Step::PopMany(most) => {
                let mut words = std::vec![0; *most];
                let got = ring.pop_many(&mut words);
                let expected: Vec<u64> = oracle.drain(..oracle.len().min(*most)).collect();
                words[..got] == expected
            }
        };
    }
    let mut left = Vec::new();
    ring.steal(slot, &mut left).expect("membarrier");
    right &= oracle == left;
    // A thread that was moved away and back also finds a difference, so the caller retries on a difference.
    (right || crate::percpu::CurrentSlot::now().slot() == slot).then_some(right)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_a_queue_of_eight(steps in steps()) {
        prop_assert!((0..1000).any(|_| same(&steps) == Some(true)));
    }
}

#[test]
fn words_come_out_as_they_went_in() {
    let ring = Ring::<i64, 4>::new();
    assert_eq!(ring.push(-1), Ok(()));
    let mut out = std::vec![7];
    assert_eq!((ring.drain(&mut out), ring.drain(&mut out)), (Ok(1), Ok(0)));
    assert_eq!(out, [7, -1]);
    assert_eq!(ring.push_many(&[]), 0);
    assert_eq!(ring.pop_many(&mut []), 0);
}

#[test]
fn all_that_threads_push_is_taken_once() {
    let ring = Ring::<u64, 64>::new();
    steps::all_that_threads_push_is_taken_once(
        |batch| match batch[..] {
            [one] => u64::from(ring.push(one).is_ok()),
            _ => ring.push_many(batch) as u64,
        },
        |turn, mine| match turn >> 60 {
            0 => {
                ring.steal(steps::victim(turn), mine).unwrap();
            }
            1..9 => mine.extend(ring.pop()),
            _ => {
                let mut words = [0; 7];
                let got = ring.pop_many(&mut words);
                mine.extend(&words[..got]);
            }
        },
        |all| {
            ring.drain(all).unwrap();
        },
    );
}

/// The twin keeps a length in place of head and tail, so it does not notice pops and pushes that cancel out.
#[test]
fn the_twin_with_a_length_pops_a_word_twice() {
    let words = [AtomicU64::new(1), AtomicU64::new(2)];
    let count = AtomicU64::new(2);
    // A pop of the last: reads the count and the word, is interrupted, compares the count, commits.
    let (seen, word) = (count.load(Relaxed), words[1].load(Relaxed));
    // Meanwhile another thread pops 2 and pushes 3.
    words[1].store(3, Relaxed);
    assert_eq!(count.compare_exchange(seen, seen - 1, Relaxed, Relaxed), Ok(2));
    assert_eq!(word, 2, "2 was popped before, and 3 is lost");
}
