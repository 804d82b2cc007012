//! Per-CPU data: each CPU adds to a copy of its own, without LOCK, and a reader sums the copies.

use cyclewise::percpu::{Counter, backend};

cyclewise::percpu! {
    /// Requests served.
    static HITS: u64;
}

/// The same, with a total that is read at once and is off by no more than it says.
static OPEN: Counter = Counter::new(0);

fn main() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    HITS.add(1);
                    OPEN.inc();
                }
            });
        }
    });
    println!("{}", backend());
    assert_eq!((HITS.sum(), OPEN.sum()), (4000, 4000));
    assert!(OPEN.read().abs_diff(OPEN.sum()) <= OPEN.error());
    println!("{} hits, about {} open", HITS.sum(), OPEN.read());
}
