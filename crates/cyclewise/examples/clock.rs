//! The clock: time stamps from the CPU's counter that follow CLOCK_MONOTONIC, ordered as the reader asks.

use cyclewise::clock::{Bracketed, Clock, Instant, Reading};
use std::time::Duration;

fn main() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(5) {}

    // `Bracketed`: no load or store of the code around it moves past the reading.
    let (before, after) = (Instant::<Bracketed>::read(), Instant::<Bracketed>::read());
    assert!(before <= after);

    let Reading { instant, error } = Clock::process().reading::<Bracketed>();
    println!("{} ns since boot, off by {error:?} at most", instant.as_nanos());
    println!("{:?}", Clock::process().status());
}
