//! `Refcount`: a count that saturates where a plain one would wrap, and says which operation was wrong.

use cyclewise::refs::Refcount;
use cyclewise::refs::refcount::{Event, misuses};

fn main() {
    let references = Refcount::new(1);
    references.inc();
    assert!(!references.dec_and_test(), "one reference is left");
    assert!(references.dec_and_test(), "this was the last: free the object");

    // A lookup that races with the last put finds zero, and takes no reference.
    assert!(!references.inc_not_zero());

    // A reference to an object that is gone is a bug. The count saturates: the memory leaks, and is never used after free.
    references.inc();
    assert!(references.is_saturated());
    assert!(!references.dec_and_test(), "never free again");
    println!("increments from zero: {}", misuses(Event::AddUseAfterFree));
}
