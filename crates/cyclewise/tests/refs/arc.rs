//! std's own tests of `Arc` and `Weak`, applied to ours: counts, sole ownership, raw pointers.
#![cfg(not(loom))]

use cyclewise::refs::{Arc, Weak};
use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Adds one to its cell when it is dropped.
struct Canary<'a>(&'a Cell<u32>);

impl Drop for Canary<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn a_weak_reference_in_the_value_itself_is_no_cycle() {
    struct Node<'a> {
        me: Mutex<Weak<Node<'a>>>,
        _canary: Canary<'a>,
    }
    let drops = Cell::new(0);
    let arc = Arc::new(Node {
        me: Mutex::new(Weak::new()),
        _canary: Canary(&drops),
    });
    *arc.me.lock().unwrap() = Arc::downgrade(&arc);
    assert!(Arc::ptr_eq(&arc, &arc.me.lock().unwrap().upgrade().unwrap()));
    drop(arc);
    assert_eq!(drops.get(), 1);
}

#[test]
fn make_mut_changes_in_place_what_is_not_shared() {
    let mut arc = Arc::new(String::from("a"));
    let place = Arc::as_ptr(&arc);
    Arc::make_mut(&mut arc).push('b');
    assert_eq!((arc.as_str(), Arc::as_ptr(&arc)), ("ab", place));
    let second = arc.clone();
    Arc::make_mut(&mut arc).push('c');
    assert_eq!((arc.as_str(), second.as_str()), ("abc", "ab"));
    assert_eq!((Arc::strong_count(&arc), Arc::strong_count(&second)), (1, 1));
}

#[test]
fn make_mut_leaves_weak_references_behind_with_nothing_cloned() {
    /// A value whose clone would be noticed.
    struct Once<'a>(u32, #[expect(dead_code, reason = "for its drop")] Canary<'a>);
    impl Clone for Once<'_> {
        fn clone(&self) -> Self {
            panic!("moved, not cloned")
        }
    }
    let drops = Cell::new(0);
    let mut arc = Arc::new(Once(1, Canary(&drops)));
    let weak = Arc::downgrade(&arc);
    Arc::make_mut(&mut arc).0 = 2;
    assert!(weak.upgrade().is_none());
    assert_eq!((arc.0, drops.get(), Arc::weak_count(&arc)), (2, 0, 0));
    drop(arc);
    assert_eq!(drops.get(), 1);
}

#[test]
fn make_mut_of_slices_and_strings() {
    let mut slice: Arc<[i32]> = Arc::from([10, 20]);
    let other = slice.clone();
    Arc::make_mut(&mut slice)[0] += 1;
    Arc::make_mut(&mut slice)[1] += 1;
    assert_eq!((&*slice, &*other), (&[11, 21][..], &[10, 20][..]));

    let mut string: Arc<str> = Arc::from("abc");
    let weak = Arc::downgrade(&string);
    Arc::make_mut(&mut string).make_ascii_uppercase();
    assert_eq!((&*string, weak.upgrade()), ("ABC", None));
}

#[test]
fn a_panic_in_the_clone_leaves_make_mut_undone() {
    struct Fails(u32);
    impl Clone for Fails {
        fn clone(&self) -> Self {
            panic!("no clones")
        }
    }
    let mut arc = Arc::new(Fails(7));
    let second = arc.clone();
    assert!(catch_unwind(AssertUnwindSafe(|| Arc::make_mut(&mut arc).0 = 8)).is_err());
    assert!(Arc::ptr_eq(&arc, &second));
    assert_eq!((arc.0, Arc::strong_count(&arc)), (7, 2));
}

#[test]
fn a_sole_owner_takes_the_value_out() {
    let drops = Cell::new(0);
    let arc = Arc::new(Canary(&drops));
    let second = arc.clone();
    let Err(arc) = Arc::try_unwrap(arc) else {
        panic!("shared")
    };
    assert!(Arc::into_inner(arc).is_none());
    let weak = Arc::downgrade(&second);
    let Ok(value) = Arc::try_unwrap(second) else {
        panic!("not shared")
    };
    assert!(weak.upgrade().is_none());
    assert_eq!(drops.get(), 0);
    drop(value);
    assert_eq!(drops.get(), 1);

    let arc = Arc::new(5);
    let _weak = Arc::downgrade(&arc);
    assert_eq!(Arc::into_inner(arc), Some(5));
    let arc = Arc::new(String::from("x"));
    let second = arc.clone();
    assert_eq!(
        (Arc::unwrap_or_clone(arc), Arc::unwrap_or_clone(second)),
        ("x".into(), "x".into())
    );
}

#[test]
fn references_survive_as_raw_pointers() {
    let drops = Cell::new(0);
    let arc = Arc::new(Canary(&drops));
    let weak = Arc::downgrade(&arc);
    let raw = Arc::into_raw(arc);
    assert_eq!(raw, weak.as_ptr());
    // SAFETY: the reference that `raw` holds.
    unsafe { Arc::increment_strong_count(raw) };
    assert_eq!(weak.strong_count(), 2);
    // SAFETY: the one just counted.
    unsafe { Arc::decrement_strong_count(raw) };
    let raw_weak = weak.into_raw();
    // SAFETY: from the lines above, once.
    let weak = unsafe { Weak::from_raw(raw_weak) };
    // SAFETY: the reference that `raw` holds since `into_raw`, once.
    let arc = unsafe { Arc::from_raw(raw) };
    assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc), drops.get()), (1, 1, 0));
    drop(arc);
    assert_eq!(drops.get(), 1);
    assert_eq!(weak.as_ptr(), raw);
}

#[test]
fn wide_references_survive_as_raw_pointers() {
    let string: Arc<str> = Arc::from("foo");
    let raw = Arc::into_raw(string.clone());
    // SAFETY: from the line above.
    let second = unsafe { Arc::from_raw(raw) };
    assert!(Arc::ptr_eq(&string, &second) && *second == *"foo");

    let display: Arc<dyn Display> = Arc::unsize(Arc::new(123), |v| v);
    let weak = Arc::downgrade(&display);
    let raw = weak.clone().into_raw();
    // SAFETY: the value lives.
    assert_eq!(unsafe { &*raw }.to_string(), "123");
    // SAFETY: from `into_raw`.
    let second = unsafe { Weak::from_raw(raw) };
    drop(display);
    assert!(weak.ptr_eq(&second) && second.upgrade().is_none());
}

#[test]
fn a_weak_reference_to_nothing() {
    enum Never {}
    static NOTHING: Mutex<Weak<u64>> = Mutex::new(Weak::new());
    assert!(NOTHING.lock().unwrap().upgrade().is_none());
    let weak = Weak::<Never>::new().clone();
    assert!(weak.upgrade().is_none() && weak.ptr_eq(&Weak::default()));
    assert_eq!((weak.strong_count(), weak.weak_count()), (0, 0));
    assert_eq!(format!("{weak:?}"), "(Weak)");
    // SAFETY: from `into_raw`.
    let weak = unsafe { Weak::from_raw(weak.into_raw()) };
    assert!(weak.ptr_eq(&Weak::new()));
}

#[test]
fn a_cyclic_value_has_references_to_itself() {
    struct Two(Weak<Two>, Weak<Two>);
    let arc = Arc::new_cyclic(|me: &Weak<Two>| {
        assert_eq!((me.strong_count(), me.weak_count()), (0, 0));
        assert!(me.upgrade().is_none());
        Two(me.clone(), me.clone())
    });
    assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 2));
    assert!(Arc::ptr_eq(&arc, &arc.0.upgrade().unwrap()) && arc.0.ptr_eq(&arc.1));
}

#[test]
fn an_arc_is_as_sendable_as_stds() {
    fn send_sync<T: Send + Sync>() {}
    fn unwind<T: UnwindSafe + RefUnwindSafe>() {}
    fn unpin<T: Unpin>() {}
    fn shorter<'a>(arc: Arc<&'static str>) -> Arc<&'a str> {
        arc
    }
    send_sync::<Arc<Mutex<u8>>>();
    send_sync::<Weak<dyn Display + Send + Sync>>();
    unwind::<Arc<u8>>();
    unwind::<Weak<u8>>();
    unpin::<Arc<std::marker::PhantomPinned>>();
    unpin::<Weak<std::marker::PhantomPinned>>();
    assert_eq!(*shorter(Arc::pin("a").as_ref().get_ref().to_owned().into()), "a");
    assert_eq!(size_of::<Option<Arc<u8>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Weak<[u8]>>>(), 2 * size_of::<usize>());
}

#[test]
fn allocations_are_told_apart_by_address_alone() {
    let (one, two) = (Arc::new(()), Arc::new(()));
    assert!(
        Arc::ptr_eq(&one, &one.clone()) && !Arc::ptr_eq(&one, &two),
        "values without a size"
    );
    let array = Arc::new([0_u8; 2]);
    let wide: Arc<dyn Send> = Arc::unsize(array.clone(), |value| value);
    let wider: Arc<dyn Send> = Arc::unsize(array.clone(), |value| value);
    assert!(Arc::ptr_eq(&wide, &wider), "whatever their tables are");
    let weak = Arc::downgrade(&one);
    assert!(weak.ptr_eq(&Arc::downgrade(&one)) && !weak.ptr_eq(&Arc::downgrade(&two)) && !weak.ptr_eq(&Weak::new()));
}

#[test]
fn a_struct_with_a_tail_without_a_size() {
    struct Tailed<T: ?Sized> {
        head: u8,
        tail: T,
    }
    let drops = Cell::new(0);
    let sized = Arc::new(Tailed {
        head: 1,
        tail: [Canary(&drops), Canary(&drops)],
    });
    let weak = Arc::downgrade(&sized);
    let tailed: Arc<Tailed<[Canary]>> = Arc::unsize(sized, |value| value);
    assert_eq!((tailed.head, tailed.tail.len()), (1, 2));
    assert_eq!(weak.strong_count(), 1);
    drop(tailed);
    assert_eq!((drops.get(), weak.upgrade().is_none()), (2, true));
}

/// Safe code may return a wrong length.
#[test]
fn an_iterator_that_lies_about_its_length() {
    struct Lies(std::ops::Range<u32>, usize);
    impl Iterator for Lies {
        type Item = Box<u32>;
        fn next(&mut self) -> Option<Box<u32>> {
            self.0.next().map(Box::new)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, Some(self.1))
        }
    }
    impl ExactSizeIterator for Lies {}
    for said in [0, 3, 10, 50] {
        let slice: Arc<[Box<u32>]> = Lies(0..10, said).collect();
        assert!(slice.iter().map(|number| **number).eq(0..10));
    }
}

/// A value uses references to itself while it is dropped.
#[test]
fn a_value_that_uses_its_references_while_it_is_dropped() {
    struct Node {
        me: Weak<Node>,
        other: Option<Arc<Node>>,
    }
    impl Drop for Node {
        fn drop(&mut self) {
            assert!(self.me.upgrade().is_none(), "it is gone");
            assert_eq!((self.me.strong_count(), self.me.weak_count()), (0, 0));
            let more = self.me.clone();
            drop(self.other.take());
            assert!(more.ptr_eq(&self.me));
        }
    }
    let node = |other| Arc::new_cyclic(|me| Node { me: me.clone(), other });
    drop(node(Some(node(Some(node(None))))));
    let mut last = node(None);
    // Disassociates the inner weak reference, so it refers to the old memory.
    assert!(Arc::get_mut(&mut last).is_none());
    assert!(Arc::try_unwrap(last).is_ok_and(|node| node.me.upgrade().is_none()));
}

/// A clone that drops the other references: the value is shared when the clone begins, and not when it ends.
#[test]
fn make_mut_whose_clone_drops_the_other_reference() {
    thread_local!(static OTHER: Cell<Option<Arc<Drops>>> = const { Cell::new(None) });
    struct Drops(u32);
    impl Clone for Drops {
        fn clone(&self) -> Self {
            drop(OTHER.take());
            Self(self.0 + 1)
        }
    }
    let mut arc = Arc::new(Drops(1));
    OTHER.set(Some(arc.clone()));
    let weak = Arc::downgrade(&arc);
    Arc::make_mut(&mut arc).0 += 10;
    assert_eq!((arc.0, Arc::strong_count(&arc), weak.strong_count()), (12, 1, 0));
}

#[test]
fn pinned_values_stay() {
    let pinned = Arc::pin(std::marker::PhantomPinned);
    let place = &raw const *pinned;
    let second = pinned.clone();
    drop(pinned);
    assert_eq!(&raw const *second, place);
}
