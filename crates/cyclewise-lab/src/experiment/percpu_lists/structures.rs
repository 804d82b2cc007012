//! The structures, each with the measured pair of operations: pop an object and push it back.

use crossbeam_queue::{ArrayQueue, SegQueue};
use cyclewise::percpu::{FreeList, Ring, Stack};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A structure under test.
pub(super) trait Structure: Sync + 'static {
    /// A structure filled for this many threads.
    fn new(threads: usize) -> Self;
    /// A pop and a push, by any thread.
    fn pair(&self);
    /// How many objects it holds, after all threads have ended; `None` if it is not asked.
    fn count(self) -> Option<usize>
    where
        Self: Sized,
    {
        None
    }
    /// How many objects it must hold.
    fn expected(&self) -> Option<usize> {
        None
    }
}

/// Objects for each thread.
const OBJECTS: usize = 64;

/// cyclewise's free list for each CPU.
pub(super) struct Free {
    list: FreeList<u64>,
    made: AtomicUsize,
}

impl Free {
    #[cold]
    fn make(&self) -> cyclewise::percpu::Node<'_, u64> {
        self.made.fetch_add(1, Relaxed);
        self.list.grow(0)
    }
}

impl Structure for Free {
    fn new(threads: usize) -> Self {
        let new = Self {
            list: FreeList::new(),
            made: AtomicUsize::new(0),
        };
        let objects: Vec<_> = (0..threads * OBJECTS).map(|_| new.make()).collect();
        drop(objects);
        new
    }

    #[inline(always)]
    fn pair(&self) {
        // A CPU without nodes makes one, once.
        let node = self.list.pop().unwrap_or_else(|| self.make());
        node.push();
    }

    fn count(self) -> Option<usize> {
        Some(self.list.drain().ok()?.count())
    }

    fn expected(&self) -> Option<usize> {
        Some(self.made.load(Relaxed))
    }
}

macro_rules! of_words {
    ($($(#[$doc:meta])* $name:ident: $structure:ident;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name {
            words: $structure<u64, { 2 * OBJECTS }>,
            put_in: AtomicUsize,
        }

        impl $name {
            /// A CPU that has none gets as many as a thread has, once. With one word alone a pop would load what the push
            /// before it has just stored.
            #[cold]
            fn fill(&self) -> u64 {
                let pushed = (1..OBJECTS).filter(|&n| self.words.push(n as u64).is_ok()).count();
                self.put_in.fetch_add(pushed + 1, Relaxed);
                0
            }
        }

        impl Structure for $name {
            fn new(_: usize) -> Self {
                Self {
                    words: $structure::new(),
                    put_in: AtomicUsize::new(0),
                }
            }

            #[inline(always)]
            fn pair(&self) {
                let word = self.words.pop().unwrap_or_else(|| self.fill());
                if self.words.push(word).is_err() {
                    self.put_in.fetch_sub(1, Relaxed);
                }
            }

            fn count(self) -> Option<usize> {
                self.words.drain(&mut Vec::new()).ok()
            }

            fn expected(&self) -> Option<usize> {
                Some(self.put_in.load(Relaxed))
            }
        }
    )* };
}

of_words! {
    /// cyclewise's stack for each CPU, with room for twice the objects of one thread.
    Stacks: Stack;
    /// cyclewise's ring for each CPU, with room for twice the objects of one thread. A thread pushes each popped word to the
    /// ring of its current CPU, so the number of words stays the same.
    Rings: Ring;
}

/// crossbeam's unbounded queue.
impl Structure for SegQueue<u64> {
    fn new(threads: usize) -> Self {
        let queue = SegQueue::new();
        (0..threads * OBJECTS).for_each(|n| queue.push(n as u64));
        queue
    }

    #[inline(always)]
    fn pair(&self) {
        if let Some(value) = SegQueue::pop(self) {
            SegQueue::push(self, value);
        }
    }
}

/// crossbeam's bounded queue.
impl Structure for ArrayQueue<u64> {
    fn new(threads: usize) -> Self {
        let queue = ArrayQueue::new(2 * threads * OBJECTS);
        for n in 0..threads * OBJECTS {
            // There is room for twice as many.
            let _ = queue.push(n as u64);
        }
        queue
    }

    #[inline(always)]
    fn pair(&self) {
        if let Some(value) = ArrayQueue::pop(self) {
            let _ = ArrayQueue::push(self, value);
        }
    }
}
