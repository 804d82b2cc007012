//! Models of the pair in a symmetric process: loom has no barrier of the kernel's.

use super::{heavy, light};
use crate::primitive::AtomicU64;
use crate::primitive::threads::{Arc, caught, model, thread};
use core::sync::atomic::Ordering::Relaxed;

/// Two threads that each store to their own word and load the other's, with these fences between.
fn store_buffer(one: fn(), other: fn()) {
    model(move || {
        let words = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let theirs = Arc::clone(&words);
        let thread = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            one();
            theirs[1].load(Relaxed)
        });
        words[1].store(1, Relaxed);
        other();
        let mine = words[0].load(Relaxed);
        assert!(thread.join().unwrap() + mine > 0, "both were late");
    });
}

#[test]
fn one_of_two_sees_the_other() {
    store_buffer(light, heavy);
}

caught! {
    without_the_light_fence_both_are_late: "both were late" by store_buffer(|| (), heavy);
    without_the_heavy_fence_both_are_late: "both were late" by store_buffer(light, || ());
}
