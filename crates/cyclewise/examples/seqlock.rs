//! A route of four numbers that readers copy while a thread replaces it: never half of one and half of another.

use cyclewise::seq::{SeqLatch, SeqLock};
use std::thread;

static ROUTE: SeqLock<[u64; 4]> = SeqLock::new([0; 4]);

fn main() {
    let writer = thread::spawn(|| (1..=100_000).for_each(|n| ROUTE.write([n; 4])));
    let mut different = 0;
    let mut last = [0; 4];
    while !writer.is_finished() {
        let route = ROUTE.read();
        assert!(route == [route[0]; 4] && route >= last);
        different += u64::from(route != last);
        last = route;
    }
    writer.join().unwrap();
    println!(
        "{different} different values seen, each whole; the last is {:?}",
        ROUTE.read()
    );

    // For readers that may have interrupted the writer, as signal handlers do.
    let latch = SeqLatch::new((1, 2));
    latch.write((3, 4));
    println!("{:?}", latch.read());
}
