//! Raw time stamps in a hot path, converted to times later, many at once.

use cyclewise::clock::{Clock, LoadOrdered, Mode, Ticks};
use std::time::Duration;

/// A stamp of a request: the counter is read behind a fence, and nothing else is done.
struct Event {
    id: u64,
    at: Ticks<LoadOrdered>,
}

fn main() {
    let clock = Clock::process();
    // Stamps can be converted from the clock's first reading on. A clock that nobody reads learns the counter's rate from
    // a few of these.
    for _ in 0..3 {
        clock.conversion();
        std::thread::sleep(Duration::from_millis(1));
    }
    let threads: Vec<_> = (0..2u64)
        .map(|thread| {
            std::thread::spawn(move || {
                let event = |n| {
                    std::thread::sleep(Duration::from_micros(100));
                    let at = Ticks::read();
                    Event {
                        id: thread * 100 + n,
                        at,
                    }
                };
                (0..30).map(event).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut events = Vec::new();
    for thread in threads {
        events.extend(thread.join().unwrap());
    }
    events.sort_by_key(|event| event.at);

    // After the stamps, so that it knows of the counter's faults between.
    let Some(conversion) = clock.conversion() else {
        assert_ne!(clock.status().mode, Mode::Counter);
        return println!("not converted: {:?}", clock.status());
    };
    for event in &events {
        match conversion.time(event.at) {
            Some(time) => println!(
                "{:3} at {} ns, off by {:?} at most",
                event.id,
                time.as_nanos(),
                conversion.error(event.at)
            ),
            None => println!("{:3} before the counter could be trusted", event.id),
        }
    }
}
