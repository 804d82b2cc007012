//! The twins: lists, stacks and rings in the current CPU's words, without restartable sequences.

use super::{Bag, OBJECTS};
use crate::sys::percpu::unprotected::{Words, between};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// A list for each CPU. A node is its object's number plus one; 0 is none.
pub(super) struct Lists {
    heads: Words<1>,
    next: [AtomicU64; OBJECTS + 1],
}

impl Lists {
    pub(super) fn new() -> Self {
        let lists = Self {
            heads: Words::new(),
            next: [const { AtomicU64::new(0) }; OBJECTS + 1],
        };
        (1..=OBJECTS as u64).for_each(|node| lists.push(node, || ()));
        lists
    }

    fn next(&self, node: u64) -> Option<&AtomicU64> {
        self.next.get(node as usize)
    }

    fn push(&self, node: u64, meanwhile: impl FnOnce()) {
        let [head] = self.heads.here();
        if let Some(next) = self.next(node) {
            next.store(head.load(SeqCst), SeqCst);
            meanwhile();
            head.store(node, SeqCst);
        }
    }

    fn pop(&self, meanwhile: impl FnOnce()) -> Option<u64> {
        let [head] = self.heads.here();
        let first = head.load(SeqCst);
        let next = self.next(first).filter(|_| first != 0)?.load(SeqCst);
        meanwhile();
        head.store(next, SeqCst);
        Some(first)
    }
}

impl Bag for Lists {
    type Held<'a> = u64;

    fn take(&self, chance: u64) -> Option<u64> {
        self.pop(|| between(chance))
    }

    fn number(held: &u64) -> usize {
        *held as usize - 1
    }

    fn give(&self, held: u64, chance: u64) -> bool {
        self.push(held, || between(chance));
        true
    }

    fn look(&self, mut each: impl FnMut(usize)) {
        for [head] in self.heads.all() {
            let mut at = head.load(SeqCst);
            // A broken list may be circular.
            for _ in 0..=OBJECTS {
                let Some(next) = self.next(at).filter(|_| at != 0) else {
                    break;
                };
                each(at as usize - 1);
                at = next.load(SeqCst);
            }
        }
    }
}

/// The bag's operations of what holds words, which are the objects' numbers; `look` is its own.
macro_rules! bag_of_words {
    ($name:ident: $($look:tt)*) => {
        impl Bag for $name {
            type Held<'a> = u64;

            fn take(&self, chance: u64) -> Option<u64> {
                self.pop(|| between(chance))
            }

            fn number(held: &u64) -> usize {
                *held as usize
            }

            fn give(&self, held: u64, chance: u64) -> bool {
                self.push(held, || between(chance))
            }

            $($look)*
        }
    };
}

/// A stack for each CPU: count, cells.
pub(super) struct Piles(Words<{ 1 + OBJECTS }>);

impl Piles {
    pub(super) fn new() -> Self {
        let piles = Self(Words::new());
        let full = (0..OBJECTS as u64).all(|word| piles.push(word, || ()));
        assert!(full, "as many cells as objects");
        piles
    }

    fn push(&self, word: u64, meanwhile: impl FnOnce()) -> bool {
        let [count, cells @ ..] = self.0.here();
        let at = count.load(SeqCst);
        let Some(cell) = cells.get(at as usize) else {
            return false;
        };
        cell.store(word, SeqCst);
        meanwhile();
        count.store(at + 1, SeqCst);
        true
    }

    fn pop(&self, meanwhile: impl FnOnce()) -> Option<u64> {
        let [count, cells @ ..] = self.0.here();
        let left = count.load(SeqCst).checked_sub(1)?;
        let word = cells.get(left as usize)?.load(SeqCst);
        meanwhile();
        count.store(left, SeqCst);
        Some(word)
    }
}

bag_of_words! {
    Piles:
    fn look(&self, mut each: impl FnMut(usize)) {
        for [count, cells @ ..] in self.0.all() {
            let inside = cells.iter().take(count.load(SeqCst) as usize);
            inside.for_each(|cell| each(cell.load(SeqCst) as usize));
        }
    }
}

/// A ring for each CPU: head, tail, cells.
pub(super) struct Queues(Words<{ 2 + OBJECTS }>);

impl Queues {
    pub(super) fn new() -> Self {
        let queues = Self(Words::new());
        let full = (0..OBJECTS as u64).all(|word| queues.push(word, || ()));
        assert!(full, "as many cells as objects");
        queues
    }

    fn push(&self, word: u64, meanwhile: impl FnOnce()) -> bool {
        let [head, tail, cells @ ..] = self.0.here();
        let at = tail.load(SeqCst);
        // In a broken ring, head and tail may be anything.
        if at.wrapping_sub(head.load(SeqCst)) >= OBJECTS as u64 {
            return false;
        }
        if let Some(cell) = cells.get(at as usize % OBJECTS) {
            cell.store(word, SeqCst);
        }
        meanwhile();
        tail.store(at.wrapping_add(1), SeqCst);
        true
    }

    fn pop(&self, meanwhile: impl FnOnce()) -> Option<u64> {
        let [head, tail, cells @ ..] = self.0.here();
        let at = head.load(SeqCst);
        if at == tail.load(SeqCst) {
            return None;
        }
        let word = cells.get(at as usize % OBJECTS)?.load(SeqCst);
        meanwhile();
        head.store(at.wrapping_add(1), SeqCst);
        Some(word)
    }
}

bag_of_words! {
    Queues:
    fn look(&self, mut each: impl FnMut(usize)) {
        for [head, tail, cells @ ..] in self.0.all() {
            let (from, to) = (head.load(SeqCst), tail.load(SeqCst));
            // A broken ring may report any length.
            for at in (from..to).take(2 * OBJECTS) {
                each(cells[at as usize % OBJECTS].load(SeqCst) as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Marked, between};
    use super::*;

    /// Turns the bag over between a pop's load and its store, as a signal handler would. This needs one CPU throughout,
    /// so it is repeated in case the thread is moved.
    macro_rules! broken {
        ($new:expr) => {
            (0..10_000).any(|_| {
                let marked = Marked::new($new);
                assert_eq!(marked.wrong(), 0);
                marked.turn_over(1);
                assert_eq!(marked.wrong(), 0, "correct without an interruption");
                let popped = marked.bag.pop(|| marked.turn_over(1));
                popped.iter().for_each(|held| marked.mark(held));
                between(1);
                marked.wrong() > 0
            })
        };
    }

    #[test]
    fn what_is_turned_over_in_the_middle_of_a_pop_is_seen_to_be_wrong() {
        assert!(broken!(Lists::new()), "a list");
        assert!(broken!(Piles::new()), "a stack");
        assert!(broken!(Queues::new()), "a ring");
    }
}
