//! `SpinLock`: a queued lock of eight bytes, whose waiters take turns.

use cyclewise::lock::SpinLock;
use std::time::Duration;

static TOTAL: SpinLock<u64> = SpinLock::new(0);

fn main() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1000).for_each(|_| *TOTAL.lock() += 1));
        }
    });
    assert_eq!(*TOTAL.lock(), 4000);

    let held = TOTAL.lock();
    assert!(TOTAL.try_lock().is_none());
    assert!(
        TOTAL.try_lock_for(Duration::from_millis(1)).is_none(),
        "gave up in time"
    );
    println!("{} increments, {} bytes", *held, size_of::<SpinLock<()>>());
}
