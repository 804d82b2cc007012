//! `LockRef`: a lock and a count in one word, so that taking a reference takes no lock.

use cyclewise::refs::LockRef;

/// An entry of a cache: a name, under the lock, and who refers to it.
static ENTRY: LockRef<&str> = LockRef::new("old");

fn main() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    // One compare-and-exchange; nobody is waited for unless somebody has the lock.
                    ENTRY.get();
                    assert!(ENTRY.put_or_lock().is_none(), "the reference of main is left");
                }
            });
        }
        *ENTRY.lock() = "new";
    });
    assert_eq!((ENTRY.count(), *ENTRY.lock()), (1, "new"));

    // The last reference comes back with the lock held: whoever puts it decides in peace.
    let mut last = ENTRY.put_or_lock().expect("the last reference");
    cyclewise::refs::lockref::Guard::mark_dead(&mut last);
    drop(last);
    assert!(!ENTRY.get_not_dead(), "a dead entry gives no references");
    println!("{} is dead", *ENTRY.lock());
}
