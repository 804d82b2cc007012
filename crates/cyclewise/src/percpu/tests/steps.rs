//! What rings and stacks are both tried by: random operations on one and on its oracle, and threads that push and take.

use crate::percpu::{CurrentSlot, Slot};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use proptest::prelude::*;
use std::sync::Mutex;
use std::thread;
use std::vec::Vec;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Push(u64),
    PushMany(Vec<u64>),
    Pop,
    PopMany(usize),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<u64>().prop_map(Step::Push),
        prop::collection::vec(any::<u64>(), 0..12).prop_map(Step::PushMany),
        Just(Step::Pop),
        (0usize..12).prop_map(Step::PopMany),
    ];
    prop::collection::vec(step, 0..80)
}

/// Threads push `EACH` words each, in batches, and take words in turns of every kind; then the words that are left are drained. Each
/// word was taken once.
///
/// `push` returns how many words of a batch it pushed, the first ones; the `turn` chooses what `take` does.
pub(super) fn all_that_threads_push_is_taken_once(
    push: impl Fn(&mut Vec<u64>) -> u64 + Sync,
    take: impl Fn(u64, &mut Vec<u64>) + Sync,
    drain: impl FnOnce(&mut Vec<u64>),
) {
    const EACH: u64 = 8_000;
    let (taken, pushed) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    let threads = 8 * thread::available_parallelism().map_or(1, usize::from).min(4) as u64;
    thread::scope(|scope| {
        for thread in 0..threads {
            let (push, take, taken, pushed) = (&push, &take, &taken, &pushed);
            scope.spawn(move || {
                let (mut mine, mut n) = (Vec::new(), 0);
                let mut turn = thread;
                while n < EACH {
                    turn = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
                    let done = push(&mut (n..EACH.min(n + turn % 9)).map(|n| thread * EACH + n).collect());
                    pushed.fetch_add(done, Relaxed);
                    n += done;
                    take(turn, &mut mine);
                    if turn >> 40 & 63 == 0 {
                        thread::yield_now();
                    }
                }
                taken.lock().unwrap().append(&mut mine);
            });
        }
    });
    let mut all = taken.into_inner().unwrap();
    drain(&mut all);
    all.sort_unstable();
    let expected = threads * EACH;
    assert_eq!(pushed.load(Relaxed), expected);
    assert!(all.iter().copied().eq(0..expected), "{} of {expected}", all.len());
}

/// The slot that a `turn` steals from.
pub(super) fn victim(turn: u64) -> Slot {
    Slot::from_id((turn >> 32 & 3) as u32).unwrap_or(CurrentSlot::now().slot())
}
