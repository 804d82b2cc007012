//! stable_deref_trait: the address of the value, whatever is done to its owner by `&self` or a move.

use cyclewise::refs::Arc;
use stable_deref_trait::{CloneStableDeref, StableDeref};
use std::ops::Deref;

/// What the trait promises, for one owner: the address stays the same when the owner is dereferenced again, moved, moved to the heap,
/// swapped with another, and sent to a thread.
fn keeps_its_address<O>(owner: O, other: O) -> Result<(), &'static str>
where
    O: Deref + Send,
{
    let address = |owner: &O| std::ptr::from_ref(&**owner).cast::<u8>().addr();
    let first = address(&owner);
    let is = |owner: &O, when| if address(owner) == first { Ok(()) } else { Err(when) };
    is(&owner, "dereferenced again")?;
    let mut boxed = Box::new(owner);
    is(&boxed, "moved to the heap")?;
    let mut other = other;
    std::mem::swap(&mut *boxed, &mut other);
    is(&other, "swapped")?;
    let thread = std::thread::scope(|scope| scope.spawn(move || address(&other)).join());
    if thread.ok() == Some(first) {
        Ok(())
    } else {
        Err("sent to a thread")
    }
}

#[test]
fn the_value_stays_where_it_is() {
    fn check<O: StableDeref + Send>(owner: O, other: O) {
        assert_eq!(keeps_its_address(owner, other), Ok(()));
    }
    check(Arc::new(1), Arc::new(2));
    check(Arc::<str>::from("one"), Arc::from("two"));
    check(Arc::<[u8]>::from([1, 2]), Arc::from([3]));
    check(dyn_number(), dyn_number());
}

fn dyn_number() -> Arc<dyn Send + Sync> {
    Arc::unsize(Arc::new(2), |value| value)
}

#[test]
fn a_value_inside_its_owner_is_caught() {
    struct Inside(u8);
    impl Deref for Inside {
        type Target = u8;
        fn deref(&self) -> &u8 {
            &self.0
        }
    }
    assert!(keeps_its_address(Inside(1), Inside(2)).is_err());
}

/// A part of a value, and what owns it: what owning_ref and yoke are.
struct Part<O: CloneStableDeref, P: ?Sized + 'static> {
    /// Valid as long as `_owner`.
    part: *const P,
    owner: O,
}

impl<O: CloneStableDeref, P: ?Sized> Part<O, P> {
    fn new(owner: O, part: impl FnOnce(&O::Target) -> &P) -> Self {
        let part = std::ptr::from_ref(part(&owner));
        Self { part, owner }
    }

    fn get(&self) -> &P {
        // SAFETY: the owner exists, and by `StableDeref` its value is where it was.
        unsafe { &*self.part }
    }
}

impl<O: CloneStableDeref, P: ?Sized> Clone for Part<O, P> {
    fn clone(&self) -> Self {
        // By `CloneStableDeref` the clone refers to the same value.
        Self {
            part: self.part,
            owner: self.owner.clone(),
        }
    }
}

#[test]
fn a_part_outlives_the_first_owner() {
    let part = Part::new(Arc::new((String::from("left"), String::from("right"))), |pair| {
        pair.1.as_str()
    });
    let mut parts = vec![part.clone(), part.clone()];
    drop(part);
    parts.reserve(1000);
    assert_eq!(parts[0].get(), "right");
    assert_eq!(Arc::strong_count(&parts[1].owner), 2);
    drop(parts.remove(0));
    assert_eq!(parts[0].get(), "right");
}
