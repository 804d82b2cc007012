//! What a program does with an allocator and counts at once: in single mode, beside threads, and after them.

use cyclewise::atomic::AtomicU64;
use cyclewise::patch::{self, Mode};
use cyclewise::refs::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Barrier, mpsc};

const THREADS: u64 = 2;

/// A value of some size, which counts when it is destroyed.
struct Counted {
    destroyed: Arc<AtomicU64>,
    memory: Vec<u8>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(
            self.memory.iter().all(|&byte| byte == self.memory.len() as u8),
            "somebody else's memory"
        );
        self.destroyed.fetch_add(1, Relaxed);
    }
}

/// Makes and destroys values on one thread; whether each was destroyed once.
pub(crate) fn alone() -> bool {
    let destroyed = Arc::new(AtomicU64::new(0));
    let mut kept = Vec::new();
    for n in 0..5000usize {
        let value = value(&destroyed, n);
        kept.push(Arc::clone(&value));
        if n % 3 == 0 {
            kept.swap_remove(n % kept.len());
        }
    }
    drop(kept);
    destroyed.load(Relaxed) == 5000 && Arc::strong_count(&destroyed) == 1
}

fn value(destroyed: &Arc<AtomicU64>, n: usize) -> Arc<Counted> {
    let size = n * 7 % 2000;
    Arc::new(Counted {
        destroyed: Arc::clone(destroyed),
        memory: vec![size as u8; size],
    })
}

/// Makes values on one thread and destroys them on another; whether each was destroyed once. `true` needs LOCK.
pub(crate) fn from_thread_to_thread() -> bool {
    let destroyed = Arc::new(AtomicU64::new(0));
    let (send, receive) = mpsc::channel::<Arc<Counted>>();
    let locked = std::thread::scope(|scope| {
        let destroyed = &destroyed;
        scope.spawn(move || receive.into_iter().for_each(drop));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let send = send.clone();
                scope.spawn(move || {
                    for n in 0..2000 {
                        let value = value(destroyed, n);
                        send.send(Arc::clone(&value)).unwrap();
                    }
                    patch::state().mode != Mode::Single
                })
            })
            .collect();
        drop(send);
        threads.into_iter().all(|thread| thread.join().unwrap())
    });
    locked && destroyed.load(Relaxed) == THREADS * 2000 && Arc::strong_count(&destroyed) == 1
}

/// Threads that add at once, by `add`; whether nothing is lost.
fn is_exact(additions: u64, add: impl Fn(&AtomicU64) + Sync) -> bool {
    let count = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..additions).for_each(|_| add(&count)));
        }
    });
    count.load(Relaxed) == THREADS * additions
}

/// All of it, over and over: between the rounds LOCK goes and comes back.
pub(crate) fn rounds() {
    for _ in 0..10 {
        assert!(alone());
        assert!(from_thread_to_thread());
        assert!(is_exact(20_000, |count| count.inc(Relaxed)));
        // The threads have been joined: single mode may be on again.
        let _ = patch::reelide();
        assert!(alone());
    }
}

/// The twin: additions of two steps, between which the other thread takes its first.
pub(crate) fn additions_of_two_steps_are_caught() {
    let both = Barrier::new(THREADS as usize);
    assert!(!is_exact(100, |count| {
        let found = count.load(Relaxed);
        both.wait();
        count.store(found + 1, Relaxed);
        both.wait();
    }));
}
