//! arc-swap: counts are exact after every use, of an Arc and a Weak of one allocation too, and threads lose nothing.

use arc_swap::{ArcSwapAny, Guard, RefCnt};
use cyclewise::refs::{Arc, Weak};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

type Swap<T> = ArcSwapAny<Arc<T>>;
type Optional<T> = ArcSwapAny<Option<Arc<T>>>;

#[test]
fn counts_are_exact() {
    let first = Arc::new(1);
    let swap = Swap::new(Arc::clone(&first));
    assert_eq!(Arc::strong_count(&first), 2);
    let guard = swap.load();
    assert!(Arc::ptr_eq(&guard, &first));
    let full = swap.load_full();
    assert_eq!(Arc::strong_count(&first), 3, "a guard owes its reference");
    let old = swap.swap(Arc::new(2));
    assert_eq!((*old, **swap.load()), (1, 2));
    drop((guard, full, old));
    assert_eq!(Arc::strong_count(&first), 1);
    let current = swap.load_full();
    let previous = swap.compare_and_swap(&first, Arc::clone(&first));
    assert!(Arc::ptr_eq(&previous, &current), "not the value that was expected");
    drop(swap.compare_and_swap(&current, Arc::clone(&first)));
    drop(previous);
    assert_eq!((Arc::strong_count(&current), Arc::strong_count(&first)), (1, 2));
    drop(swap);
    assert_eq!(Arc::strong_count(&first), 1);
}

#[test]
fn more_guards_than_there_are_slots_are_counted() {
    let value = Arc::new(1);
    let swap = Swap::new(Arc::clone(&value));
    let guards: Vec<_> = (0..100).map(|_| swap.load()).collect();
    swap.store(Arc::new(2));
    assert!(guards.iter().all(|guard| ***guard == 1));
    assert_eq!(Arc::strong_count(&value), 101, "the store paid all that was owed");
    drop(guards);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn none_and_values_of_size_zero() {
    let swap = Optional::<()>::new(None);
    assert!(swap.load().is_none());
    let (one, two) = (Arc::new(()), Arc::new(()));
    swap.store(Some(Arc::clone(&one)));
    let guard = swap.load();
    assert!(Arc::ptr_eq(guard.as_ref().unwrap(), &one) && !Arc::ptr_eq(&one, &two));
    swap.store(Some(Arc::clone(&two)));
    assert!(swap.swap(None).is_some());
    drop(guard);
    assert_eq!((Arc::strong_count(&one), Arc::strong_count(&two)), (1, 1));
}

/// An Arc and a Weak of one allocation have one address: a store of one must not pay what a reader of the other owes.
fn strong_count_beside_a_weak_store<W>(weak: impl FnOnce(&Arc<&'static str>) -> W, empty: W) -> usize
where
    W: RefCnt,
{
    let data = Arc::new("both");
    let strong = Swap::new(Arc::clone(&data));
    let weak = ArcSwapAny::<W>::new(weak(&data));
    let guard = strong.load();
    weak.store(empty);
    drop(guard);
    let counted = Arc::strong_count(&data);
    // Too few are counted in the twin.
    std::mem::forget((data, strong));
    counted
}

#[test]
fn a_weak_store_pays_no_debt_of_an_arc() {
    assert_eq!(strong_count_beside_a_weak_store(Arc::downgrade, Weak::new()), 2);
    assert_eq!(
        strong_count_beside_a_weak_store(|data| Some(Arc::downgrade(data)), None),
        2
    );
}

#[test]
fn a_weak_without_a_tag_is_caught() {
    #[derive(Clone)]
    struct Untagged(Weak<&'static str>);
    // SAFETY: not what the trait asks for: its addresses are those of another type's. What is counted wrong leaks.
    unsafe impl RefCnt for Untagged {
        type Base = &'static str;
        fn into_ptr(me: Self) -> *mut Self::Base {
            Weak::into_ptr(me.0)
        }
        fn as_ptr(me: &Self) -> *mut Self::Base {
            <Weak<_> as RefCnt>::as_ptr(&me.0)
        }
        unsafe fn from_ptr(ptr: *const Self::Base) -> Self {
            // SAFETY: the caller's pointer is of a Weak.
            Self(unsafe { Weak::from_ptr(ptr) })
        }
    }
    let counted = strong_count_beside_a_weak_store(|data| Untagged(Arc::downgrade(data)), Untagged(Weak::new()));
    assert_eq!(counted, 1);
}

#[test]
fn a_weak_goes_in_and_out() {
    let data = Arc::new(5);
    let swap = ArcSwapAny::<Weak<i32>>::new(Arc::downgrade(&data));
    assert_eq!(*swap.load().upgrade().unwrap(), 5);
    let kept = Guard::into_inner(swap.load());
    swap.store(Weak::new());
    assert!(swap.load().upgrade().is_none());
    assert_eq!(Arc::weak_count(&data), 1);
    drop(data);
    assert!(kept.upgrade().is_none());
}

/// A node of a list that all threads push to by `rcu`.
struct Node {
    next: Optional<Node>,
    thread: usize,
    number: usize,
    alive: &'static AtomicUsize,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn threads_push_to_a_list_and_lose_nothing() {
    const THREADS: usize = 3;
    const NODES: usize = 100;
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    for _ in 0..20 {
        let head = Optional::<Node>::new(None);
        let start = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (head, start) = (&head, &start);
                scope.spawn(move || {
                    start.wait();
                    for number in 0..NODES {
                        ALIVE.fetch_add(1, Ordering::Relaxed);
                        let node = Arc::new(Node {
                            next: Optional::new(None),
                            thread,
                            number,
                            alive: &ALIVE,
                        });
                        head.rcu(|head| {
                            node.next.store(head.clone());
                            Some(Arc::clone(&node))
                        });
                    }
                });
            }
        });
        let mut expected = [NODES; THREADS];
        let mut next = head.swap(None);
        while let Some(node) = next {
            expected[node.thread] -= 1;
            assert_eq!(
                node.number, expected[node.thread],
                "each thread's nodes, the last one first"
            );
            next = node.next.swap(None);
        }
        assert_eq!(expected, [0; THREADS]);
        assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn readers_see_whole_values_while_others_store() {
    let swap = Swap::new(Arc::new((0u64, 0u64)));
    let weak = ArcSwapAny::<Weak<(u64, u64)>>::new(Weak::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=20_000 {
                let value = Arc::new((n, !n));
                weak.store(Arc::downgrade(&value));
                swap.store(value);
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while last < 20_000 {
                    let (n, not) = **swap.load();
                    assert!(n == 0 || not == !n);
                    assert!(n >= last);
                    last = n;
                    if let Some(value) = weak.load().upgrade() {
                        assert_eq!(value.1, !value.0);
                    }
                }
            });
        }
    });
    let last = swap.into_inner();
    assert_eq!((Arc::strong_count(&last), Arc::weak_count(&last)), (1, 1));
}
