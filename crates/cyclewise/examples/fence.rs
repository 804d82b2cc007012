//! A door that readers pass for the price of a store: the one who closes it pays for the fence.

use cyclewise::fence;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

static INSIDE: AtomicBool = AtomicBool::new(false);
static CLOSED: AtomicBool = AtomicBool::new(false);

fn main() {
    let reader = thread::spawn(|| {
        let mut passed = 0_u64;
        loop {
            INSIDE.store(true, Relaxed);
            fence::light();
            if CLOSED.load(Acquire) {
                INSIDE.store(false, Relaxed);
                return passed;
            }
            passed += 1;
            INSIDE.store(false, Release);
        }
    });
    while !INSIDE.load(Relaxed) {
        thread::yield_now();
    }
    CLOSED.store(true, Release);
    fence::heavy();
    while INSIDE.load(Acquire) {
        std::hint::spin_loop();
    }
    println!(
        "nobody is inside; light fences are free here: {}",
        fence::is_asymmetric()
    );
    println!("{} passed", reader.join().unwrap());
}
