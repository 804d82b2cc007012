//! Order: the words of one slot come out in the order in which they were pushed, whichever thread takes them. A word pushed
//! while its CPU's slot is stopped for a steal goes to a portable slot, where operations on all slots find it.

use crate::percpu::remote::Stopped;
use crate::percpu::{Backend, Cpu, Guard, Ring, Slot, Stack, backend};
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::boxed::Box;
use std::thread;
use std::vec::Vec;

/// The words taken from each slot, in the order in which they were taken.
type Streams = Vec<Vec<u64>>;

/// Whether each slot's words, from one producer that pushes increasing numbers, came out in order.
fn is_in_order(streams: &Streams) -> bool {
    streams.iter().all(|stream| stream.is_sorted_by(|a, b| a < b))
}

fn streams() -> Streams {
    std::vec![Vec::new(); (0..).map_while(Slot::from_id).count() + 32]
}

fn all(streams: &Streams) -> Vec<u64> {
    let mut all = streams.concat();
    all.sort_unstable();
    all
}

#[test]
fn one_producer_and_one_thief_keep_each_slots_order() {
    const WORDS: u64 = 20_000;
    let (ring, over) = (Ring::<u64, 64>::new(), AtomicBool::new(false));
    let streams = thread::scope(|scope| {
        let thief = scope.spawn(|| {
            let mut streams = streams();
            loop {
                // Loaded before the steals, so that no push follows the last ones.
                let last = over.load(SeqCst);
                for slot in Slot::all() {
                    ring.steal(slot, &mut streams[slot.number() as usize]).unwrap();
                }
                if last {
                    return streams;
                }
            }
        });
        for word in 0..WORDS {
            while ring.push(word).is_err() {
                thread::yield_now();
            }
        }
        over.store(true, SeqCst);
        thief.join().unwrap()
    });
    assert!(is_in_order(&streams));
    assert!(all(&streams).into_iter().eq(0..WORDS));
    let portable: usize = streams
        .iter()
        .skip((0..).map_while(Slot::from_id).count())
        .map(Vec::len)
        .sum();
    std::println!("{portable} of {WORDS} in portable slots");
}

/// The same with a consumer that takes one word at a time from any slot, and ends when none is left.
#[test]
fn one_producer_and_one_consumer_of_all_lose_nothing_and_end() {
    const WORDS: u64 = 1_000;
    let (ring, stack) = (Ring::<u64, 16>::new(), Stack::<Box<u64>, 16>::new());
    let over = AtomicBool::new(false);
    let (mut words, mut boxes) = thread::scope(|scope| {
        let consumer = scope.spawn(|| {
            let (mut words, mut boxes) = (Vec::new(), Vec::new());
            loop {
                let last = over.load(SeqCst);
                let (word, one) = (ring.pop_or_steal().unwrap(), stack.pop_or_steal().unwrap());
                if (last, word, &one) == (true, None, &None) {
                    return (words, boxes);
                }
                words.extend(word);
                boxes.extend(one.map(|one| *one));
            }
        });
        for word in 0..WORDS {
            while ring.push(word).is_err() {
                thread::yield_now();
            }
            let mut one = Box::new(word);
            while let Err(back) = stack.push(one) {
                one = back;
                thread::yield_now();
            }
        }
        over.store(true, SeqCst);
        consumer.join().unwrap()
    });
    words.sort_unstable();
    boxes.sort_unstable();
    assert!(words.into_iter().eq(0..WORDS));
    assert!(boxes.into_iter().eq(0..WORDS));
}

/// Stops every CPU's slot, so that pushes go to portable slots. `None` with the portable backend, which uses no CPU's slot.
fn everywhere<'g>(guard: impl Fn(Slot) -> &'g Guard) -> Option<Vec<Stopped<'g>>> {
    if backend().backend != Backend::Rseq {
        std::println!("skipped: {}", backend());
        return None;
    }
    let stop = |slot: Slot| slot.stop::<Cpu>(guard(slot)).unwrap().expect("not stopped yet");
    Some((0..).map_while(Slot::from_id).map(stop).collect())
}

#[test]
fn words_pushed_during_a_steal_are_found_by_pop_or_steal() {
    let ring = Ring::<u64, 8>::new();
    let Some(stopped) = everywhere(|slot| ring.guard_of(slot)) else {
        return;
    };
    (0..5).for_each(|word| ring.push(word).unwrap());
    drop(stopped);
    // A pop on this CPU finds none, nor does a thief that steals only from CPUs' slots.
    let mut out = Vec::new();
    assert_eq!(ring.pop(), None);
    for slot in (0..).map_while(Slot::from_id) {
        assert_eq!(ring.steal(slot, &mut out), Ok(0));
    }
    // They are in portable slots: perhaps in several, since other threads may hold some.
    let taken: Vec<u64> = core::iter::from_fn(|| ring.pop_or_steal().unwrap()).collect();
    let mut sorted = taken.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3, 4], "{taken:?}");

    let stack = Stack::<u64, 8>::new();
    let Some(stopped) = everywhere(|slot| stack.guard(slot)) else {
        return;
    };
    (0..5).for_each(|word| stack.push(word).unwrap());
    drop(stopped);
    assert_eq!(stack.pop(), None);
    let mut taken: Vec<u64> = core::iter::from_fn(|| stack.pop_or_steal().unwrap()).collect();
    taken.sort_unstable();
    assert_eq!(taken, [0, 1, 2, 3, 4]);
}

/// Why order is promised only within a slot: the twin treats all slots as one queue.
#[test]
fn the_twin_that_treats_all_slots_as_one_queue_is_out_of_order() {
    let ring = Ring::<u64, 8>::new();
    let slots = Slot::all().count();
    let mut streams = streams();
    ring.push(0).unwrap();
    let Some(stopped) = everywhere(|slot| ring.guard_of(slot)) else {
        return;
    };
    ring.push(1).unwrap();
    drop(stopped);
    ring.push(2).unwrap();
    for slot in Slot::all() {
        ring.steal(slot, &mut streams[slot.number() as usize]).unwrap();
    }
    assert!(slots > 0 && is_in_order(&streams));
    assert_eq!(all(&streams), [0, 1, 2]);
    // The CPUs' slots come first, and none of them holds the second word.
    let one_queue = std::vec![streams.concat()];
    assert!(!is_in_order(&one_queue), "{one_queue:?}");
}

#[test]
fn pop_or_steal_keeps_the_order_of_a_slot() {
    let (ring, stack) = (Ring::<u64, 8>::new(), Stack::<u64, 8>::new());
    // Fails if the thread is moved in between, so it is tried more than once.
    let in_order = (0..100_000).any(|_| {
        (0..3).for_each(|word| ring.push(word).unwrap());
        (0..3).for_each(|word| stack.push(word).unwrap());
        let words: Vec<u64> = core::iter::from_fn(|| ring.pop_or_steal().unwrap()).collect();
        let values: Vec<u64> = core::iter::from_fn(|| stack.pop_or_steal().unwrap()).collect();
        assert_eq!((words.iter().sum::<u64>(), values.iter().sum::<u64>()), (3, 3));
        words == [0, 1, 2] && values == [2, 1, 0]
    });
    assert!(in_order);
    assert_eq!(
        (ring.drain(&mut Vec::new()), stack.drain(&mut Vec::new())),
        (Ok(0), Ok(0))
    );
}
