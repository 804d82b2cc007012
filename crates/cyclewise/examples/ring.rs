//! `Ring`: a bounded queue of words for each CPU, which threads fill and one drains.

use cyclewise::percpu::Ring;

fn main() {
    let events = Ring::<u64, 4096>::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let events = &events;
            scope.spawn(move || {
                for event in 0..1000 {
                    events.push(thread * 1000 + event).expect("4096 fit on each CPU");
                }
            });
        }
    });
    let mut seen = Vec::new();
    let taken = events.drain(&mut seen).expect("every CPU's ring can be drained");
    seen.sort_unstable();
    assert!(seen.iter().copied().eq(0..4000), "each event once");
    println!("{taken} events");
}
