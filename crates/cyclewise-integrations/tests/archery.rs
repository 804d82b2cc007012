//! archery: what a kind of pointer promises, checked for ours, for archery's own, and for broken ones; rpds's collections on ours.

use archery::{ArcK as StdKind, RcK, SharedPointer, SharedPointerKind};
use cyclewise::refs::ArcK;
use proptest::prelude::*;
use rpds::{HashTrieMap, Vector};
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

/// A value that counts in `alive`, and whose clone panics if it is told to.
struct Counted<'a> {
    alive: &'a Cell<i32>,
    number: u64,
    panics: bool,
}

impl<'a> Counted<'a> {
    fn new(alive: &'a Cell<i32>, number: u64) -> Self {
        alive.set(alive.get() + 1);
        Self {
            alive,
            number,
            panics: false,
        }
    }
}

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        assert!(!self.panics, "told to");
        Self::new(self.alive, self.number)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.alive.set(self.alive.get() - 1);
    }
}

/// What the trait's documentation and archery's own tests ask of a kind; the first promise that does not hold.
fn check<P: SharedPointerKind>() -> Result<(), &'static str> {
    let alive = Cell::new(0);
    macro_rules! holds {
        ($condition:expr => $promise:literal) => {
            if !$condition {
                return Err($promise);
            }
        };
    }
    {
        let mut one = SharedPointer::<_, P>::new(Counted::new(&alive, 1));
        let address = SharedPointer::as_ptr(&one);
        holds! { std::ptr::eq(address, &raw const *one) => "as_ptr is the value's address" }
        let moved = Box::new(one);
        holds! { std::ptr::eq(address, &raw const **moved) => "the value does not move" }
        one = *moved;
        holds! { SharedPointer::get_mut(&mut one).is_some() => "a sole owner may change the value" }
        let mut two = SharedPointer::clone(&one);
        holds! { SharedPointer::strong_count(&one) == 2 => "a clone is counted" }
        holds! { SharedPointer::ptr_eq(&one, &two) => "a clone is of the same value" }
        holds! { SharedPointer::get_mut(&mut one).is_none() => "nobody changes a value that is shared" }
        SharedPointer::make_mut(&mut two).number = 2;
        holds! { (one.number, two.number) == (1, 2) => "make_mut of a shared value changes a copy" }
        holds! { SharedPointer::strong_count(&one) == 1 => "the copy's owner owns the old value no more" }
        let before = SharedPointer::as_ptr(&two);
        SharedPointer::make_mut(&mut two).number = 3;
        holds! { std::ptr::eq(before, SharedPointer::as_ptr(&two)) => "make_mut of a sole owner copies nothing" }
        let third = SharedPointer::clone(&two);
        let two = SharedPointer::try_unwrap(two)
            .err()
            .ok_or("a shared value is not moved out")?;
        drop(third);
        let value = SharedPointer::try_unwrap(two).map_err(|_| "a sole owner takes the value out")?;
        holds! { value.number == 3 && alive.get() == 2 => "the value that is taken out is the one" }
    }
    holds! { alive.get() == 0 => "every value is destroyed once" }
    {
        let mut one = SharedPointer::<Counted<'_>, P>::from(Box::new(Counted::new(&alive, 1)));
        SharedPointer::make_mut(&mut one).panics = true;
        let mut two = SharedPointer::clone(&one);
        let panicked = catch_unwind(AssertUnwindSafe(|| SharedPointer::make_mut(&mut two).number)).is_err();
        holds! { panicked && SharedPointer::ptr_eq(&one, &two) => "a clone that panics changes nothing" }
        holds! { SharedPointer::strong_count(&one) == 2 => "a clone that panics counts nothing" }
    }
    holds! { alive.get() == 0 => "a value from a box is destroyed once" }
    let pinned = Pin::new(SharedPointer::<_, P>::new(Counted::new(&alive, 4)));
    holds! { pinned.number == 4 => "a pinned value is reached" }
    drop(pinned);
    #[repr(align(128))]
    struct Aligned(u8);
    let aligned = SharedPointer::<_, P>::new(Aligned(7));
    holds! { SharedPointer::as_ptr(&aligned).addr() % 128 == 0 && aligned.0 == 7 => "values are aligned" }
    let nothing = SharedPointer::<_, P>::new(());
    holds! { SharedPointer::strong_count(&SharedPointer::clone(&nothing)) == 2 => "values of size zero are counted" }
    holds! { alive.get() == 0 => "a pinned value is destroyed" }
    Ok(())
}

#[test]
fn ours_keeps_what_archerys_own_keep() {
    assert_eq!(check::<ArcK>(), Ok(()));
    assert_eq!(check::<StdKind>(), Ok(()));
    assert_eq!(check::<RcK>(), Ok(()));
}

/// A kind that does one thing wrong.
macro_rules! broken {
    ($name:ident: $($method:item)*) => {
        #[derive(Debug)]
        struct $name(ArcK);
        // SAFETY: what is wrong leaks.
        unsafe impl SharedPointerKind for $name {
            broken!(@ new fn new<T>(value: T) -> Self { Self(ArcK::new(value)) });
            broken!(@ new fn from_box<T>(value: Box<T>) -> Self { Self(ArcK::from_box(value)) });
            $($method)*
            broken!(@ call as_ptr(&self) -> *const T);
            broken!(@ call deref(&self) -> &T);
            broken!(@ call get_mut(&mut self) -> Option<&mut T>);
            broken!(@ call strong_count(&self) -> usize);
            unsafe fn try_unwrap<T>(self) -> Result<T, Self> {
                // SAFETY: the caller's contract is the same.
                unsafe { self.0.try_unwrap() }.map_err(Self)
            }
        }
    };
    (@ new $method:item) => { $method };
    (@ call $method:ident($($this:tt)*) -> $result:ty) => {
        unsafe fn $method<T>($($this)*) -> $result {
            // SAFETY: the caller's contract is the same.
            unsafe { SharedPointerKind::$method::<T>(broken!(@ field $($this)*)) }
        }
    };
    (@ field &mut $this:ident) => { &mut $this.0 };
    (@ field &$this:ident) => { &$this.0 };
}

broken! { Leaks:
    unsafe fn clone<T>(&self) -> Self {
        // SAFETY: the caller's contract is the same.
        Self(unsafe { self.0.clone::<T>() })
    }
    unsafe fn make_mut<T: Clone>(&mut self) -> &mut T {
        // SAFETY: the caller's contract is the same.
        unsafe { self.0.make_mut() }
    }
    unsafe fn drop<T>(&mut self) {}
}

broken! { ChangesShared:
    unsafe fn clone<T>(&self) -> Self {
        // SAFETY: the caller's contract is the same.
        Self(unsafe { self.0.clone::<T>() })
    }
    unsafe fn make_mut<T: Clone>(&mut self) -> &mut T {
        // SAFETY: the caller's contract is the same.
        let value = unsafe { self.0.as_ptr::<T>() }.cast_mut();
        // SAFETY: nobody uses the value meanwhile in `check`; a user would not know that.
        unsafe { &mut *value }
    }
    unsafe fn drop<T>(&mut self) {
        // SAFETY: the caller's contract is the same.
        unsafe { SharedPointerKind::drop::<T>(&mut self.0) }
    }
}

#[test]
fn broken_kinds_are_caught() {
    assert_eq!(check::<Leaks>(), Err("a sole owner takes the value out"));
    assert_eq!(
        check::<ChangesShared>(),
        Err("make_mut of a shared value changes a copy")
    );
}

/// Only what may be shared between threads is.
#[test]
fn threads_get_what_is_send_and_sync() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<SharedPointer<u8, ArcK>>();
    is_shared::<HashTrieMap<u8, String, ArcK>>();
    let map = HashTrieMap::<_, _, ArcK>::new_with_hasher_and_ptr_kind(std::hash::RandomState::new());
    let map = (0..1000u32).fold(map, |map, n| map.insert(n, n * 2));
    let sums: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3u32)
            .map(|thread| {
                let mut map = map.clone();
                scope.spawn(move || {
                    for n in 0..1000 {
                        map.insert_mut(n, n + thread);
                    }
                    map.values().sum()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum: u32 = (0..1000).sum();
    assert_eq!(sums, [sum, sum + 1000, sum + 2000]);
    assert_eq!(map.values().sum::<u32>(), 2 * sum, "the first version is as it was");
}

proptest! {
    /// Versions of rpds's map and vector, each of which stays what it was.
    #[test]
    fn rpds_keeps_every_version(operations in prop::collection::vec((any::<u8>(), any::<u16>(), any::<bool>()), 1..200)) {
        let mut map = HashTrieMap::<u8, u16, ArcK>::new_with_hasher_and_ptr_kind(std::hash::RandomState::new());
        let mut vector = Vector::<u16, ArcK>::new_with_ptr_kind();
        let mut versions = vec![(map.clone(), HashMap::new(), vector.clone(), Vec::new())];
        let (mut std_map, mut std_vector) = (HashMap::new(), Vec::new());
        for (key, value, removes) in operations {
            if removes {
                map = map.remove(&key);
                std_map.remove(&key);
                std_vector.pop();
                vector = vector.drop_last().unwrap_or_else(Vector::new_with_ptr_kind);
            } else {
                map.insert_mut(key, value);
                std_map.insert(key, value);
                vector.push_back_mut(value);
                std_vector.push(value);
            }
            versions.push((map.clone(), std_map.clone(), vector.clone(), std_vector.clone()));
        }
        for (map, std_map, vector, std_vector) in versions {
            prop_assert_eq!(map.iter().map(|(&k, &v)| (k, v)).collect::<HashMap<_, _>>(), std_map);
            prop_assert_eq!(vector.iter().copied().collect::<Vec<_>>(), std_vector);
        }
    }
}
