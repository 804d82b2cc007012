//! Counts what its threads execute, with std's threads and atomics. Each function begins with its locked instruction.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static EXECUTED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn site_up(word: &AtomicU64) {
    word.fetch_add(1, Ordering::Relaxed);
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn site_or(word: &AtomicU64) {
    word.fetch_or(2, Ordering::Relaxed);
}

fn work(word: &AtomicU64, loops: u64) {
    for _ in 0..loops {
        site_up(word);
        site_or(word);
    }
    EXECUTED[0].fetch_add(loops, Ordering::Relaxed);
    EXECUTED[1].fetch_add(loops, Ordering::Relaxed);
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u64>().unwrap());
    let (threads, loops) = (arguments.next().unwrap(), arguments.next().unwrap());
    let word = Arc::new(AtomicU64::new(0));
    let threads: Vec<_> = (0..threads)
        .map(|thread| {
            let word = word.clone();
            let builder = std::thread::Builder::new().name(format!("worker {thread}"));
            builder.spawn(move || work(&word, loops)).unwrap()
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("site_up {}", EXECUTED[0].load(Ordering::Relaxed));
    println!("site_or {}", EXECUTED[1].load(Ordering::Relaxed));
}
