//! unsize: the coerced pointer is the same reference, of the same value.

use cyclewise::refs::{Arc, Weak};
use std::any::Any;
use std::fmt::{Debug, Display};
use unsize::{CoerceUnsize, Coercion};

#[test]
fn an_arc_is_the_same_reference() {
    let number = Arc::new(5);
    let address = Arc::as_ptr(&number).addr();
    let display: Arc<dyn Display> = CoerceUnsize::unsize(Arc::clone(&number), Coercion::to_display());
    assert_eq!(display.to_string(), "5");
    assert_eq!(Arc::as_ptr(&display).cast::<u8>().addr(), address);
    assert_eq!(Arc::strong_count(&number), 2);
    drop(display);
    assert_eq!(Arc::strong_count(&number), 1);
    let array = Arc::new([1u16, 2, 3]);
    // SAFETY: a coercion.
    let coercion = unsafe { Coercion::new(|array: *const [u16; 3]| -> *const [u16] { array }) };
    let slice: Arc<[u16]> = CoerceUnsize::unsize(array, coercion);
    assert_eq!(*slice, [1, 2, 3]);
}

#[test]
fn a_coerced_arc_destroys_its_value_once() {
    struct Counted<'a>(&'a std::cell::Cell<u32>);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    trait Any {}
    impl Any for Counted<'_> {}
    let dropped = std::cell::Cell::new(0);
    let arc: Arc<dyn Any> = CoerceUnsize::unsize(Arc::new(Counted(&dropped)), Coercion!(to dyn Any));
    let other = Arc::clone(&arc);
    drop(arc);
    assert_eq!(dropped.get(), 0);
    drop(other);
    assert_eq!(dropped.get(), 1);
}

/// Each coercion that crate has a name for.
#[test]
fn named_coercions_apply() {
    let debug: Arc<dyn Debug> = CoerceUnsize::unsize(Arc::new(1), Coercion::to_debug());
    assert_eq!(format!("{debug:?}"), "1");
    let any: Arc<dyn Any> = CoerceUnsize::unsize(Arc::new(1u8), Coercion::to_any());
    assert_eq!(any.downcast_ref::<u8>(), Some(&1));
    let function: Arc<dyn Fn(u32) -> u32> = CoerceUnsize::unsize(Arc::new(|n| n + 1), Coercion!(to dyn Fn(u32) -> u32));
    assert_eq!(function(1), 2);
}

#[test]
fn a_weak_is_the_same_reference_with_memory_and_without() {
    let number = Arc::new(5);
    let weak: Weak<dyn Display> = CoerceUnsize::unsize(Arc::downgrade(&number), Coercion::to_display());
    assert_eq!(weak.upgrade().unwrap().to_string(), "5");
    assert_eq!(Arc::weak_count(&number), 1);
    drop(number);
    assert!(weak.upgrade().is_none());
    let dangling: Weak<dyn Display> = CoerceUnsize::unsize(Weak::<u8>::new(), Coercion::to_display());
    assert!(dangling.upgrade().is_none() && dangling.strong_count() == 0);
}
