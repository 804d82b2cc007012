//! The free list: no node is lost or held twice, under interruptions, migrations and steals.

use crate::percpu::{FreeList, Slot, backend};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::boxed::Box;
use std::thread;
use std::vec::Vec;

/// The objects of all CPUs' lists, sorted. No thread pushes or pops meanwhile.
pub(super) fn all<T: Copy + Ord>(list: &FreeList<T>) -> Vec<T> {
    let mut all: Vec<T> = list.drain().expect("membarrier").map(|node| *node).collect();
    all.sort_unstable();
    all
}

#[test]
fn it_pops_the_last_pushed_node_first() {
    // The thread may be moved between any two operations: retried until it was not.
    let once = || {
        let list = FreeList::new();
        let nodes: Vec<_> = (0..3).map(|n| list.grow(n)).collect();
        nodes.into_iter().for_each(crate::percpu::Node::push);
        let popped: Vec<i32> = core::iter::from_fn(|| {
            list.pop().map(|node| {
                let n = *node;
                core::mem::forget(node);
                n
            })
        })
        .collect();
        popped == [2, 1, 0]
    };
    assert!((0..10_000).any(|_| once()));
}

#[test]
fn objects_keep_their_state_and_are_dropped_once() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Counted(u32);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Relaxed);
        }
    }
    let list = FreeList::new();
    list.grow(Counted(1)).0 = 7;
    assert_eq!(list.pop_or_steal().map(|node| node.0), Some(7));
    // A forgotten node still belongs to the list.
    core::mem::forget(list.grow(Counted(2)));
    let mut chain = list.drain().unwrap();
    chain.add(list.grow(Counted(3)));
    assert_eq!(chain.by_ref().map(|node| node.0).sum::<u32>(), 10);
    drop(chain);
    assert_eq!(DROPS.load(Relaxed), 0);
    drop(list);
    assert_eq!(DROPS.load(Relaxed), 3);
}

#[test]
fn a_node_added_to_a_chain_of_another_list_returns_to_its_own() {
    let (mine, theirs) = (FreeList::new(), FreeList::new());
    let mut chain = mine.drain().unwrap();
    chain.add(theirs.grow(1));
    assert!(chain.is_empty());
    drop(chain);
    assert_eq!((all(&mine), all(&theirs)), (Vec::new(), std::vec![1]));
}

/// Threads on all CPUs pop, hold, push, take all and steal. Each object has a flag that is set while it is held: a thread
/// that finds it set has an object that another thread holds.
#[test]
fn no_object_is_held_twice() {
    const ROUNDS: usize = 6_000;
    let list = FreeList::<(usize, AtomicBool)>::new();
    let threads = 8 * thread::available_parallelism().map_or(1, usize::from).min(4);
    let objects = 4 * threads;
    (0..objects).for_each(|n| list.grow((n, AtomicBool::new(false))).push());
    let hold = |node: &(usize, AtomicBool)| assert!(!node.1.swap(true, Relaxed), "{} is held twice", node.0);
    let release = |node: &(usize, AtomicBool)| assert!(node.1.swap(false, Relaxed));
    thread::scope(|scope| {
        for seed in 0..threads {
            let list = &list;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let way = (seed + round).wrapping_mul(0x9e37_79b9) >> 7;
                    let mut held: Vec<_> = match way % 64 {
                        0 => list.pop_all().collect(),
                        1 => Slot::from_id((way / 64 % 4) as u32)
                            .into_iter()
                            .flat_map(|s| list.steal(s).unwrap())
                            .collect(),
                        2 => list.pop_or_steal().into_iter().collect(),
                        _ => (0..way % 4).filter_map(|_| list.pop()).collect(),
                    };
                    held.iter().for_each(|node| hold(node));
                    if way % 5 == 0 {
                        thread::yield_now();
                    }
                    held.iter().for_each(|node| release(node));
                    if way % 7 == 0 {
                        let mut chain = list.pop_all();
                        held.drain(..).for_each(|node| chain.add(node));
                    }
                }
            });
        }
    });
    let mut numbers: Vec<usize> = list.drain().unwrap().map(|node| node.0).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..objects).collect::<Vec<_>>(), "{}", backend());
}

/// A list like `FreeList`'s, but its pop is two loads and a store that are never restarted.
mod twin {
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    pub(super) const NODES: usize = 16;
    /// Nodes are numbers from 1; 0 is none.
    pub(super) struct List {
        pub(super) head: AtomicUsize,
        pub(super) next: [AtomicUsize; NODES + 1],
    }

    impl List {
        pub(super) fn new() -> Self {
            let list = Self {
                head: AtomicUsize::new(0),
                next: [const { AtomicUsize::new(0) }; NODES + 1],
            };
            (1..=NODES).for_each(|node| list.push(node));
            list
        }

        pub(super) fn push(&self, node: usize) {
            self.next[node].store(self.head.load(Relaxed), Relaxed);
            self.head.store(node, Relaxed);
        }

        /// `between` is the work of a signal handler at the worst moment.
        pub(super) fn pop(&self, between: impl FnOnce(&Self)) -> usize {
            let first = self.head.load(Relaxed);
            let next = self.next[first].load(Relaxed);
            between(self);
            // A compare with `first` would succeed here: it is the first again.
            assert_eq!(self.head.load(Relaxed), first);
            self.head.store(next, Relaxed);
            first
        }
    }
}

#[test]
fn the_twin_that_is_not_restarted_holds_a_node_twice() {
    let list = Box::new(twin::List::new());
    let mut held = Vec::new();
    let popped = list.pop(|list| {
        // ABA: two are popped, and the first goes back.
        let (a, b) = (list.pop(|_| ()), list.pop(|_| ()));
        held.push(b);
        list.push(a);
    });
    held.push(popped);
    // The next pop returns the node that the handler holds.
    let next = list.pop(|_| ());
    assert!(held.contains(&next), "{next} is held twice");
}
