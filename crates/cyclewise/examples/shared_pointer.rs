//! `percpu::Arc`: a configuration that all threads clone, and that is replaced while they work.

use cyclewise::percpu::{Arc, ArcOwner};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How many configurations were destroyed.
static GONE: AtomicUsize = AtomicUsize::new(0);

struct Config {
    limit: usize,
}

impl Drop for Config {
    fn drop(&mut self) {
        GONE.fetch_add(1, Relaxed);
    }
}

/// Each task keeps the configuration that it began with.
fn task(config: Arc<Config>) -> usize {
    config.limit
}

fn main() {
    let first = ArcOwner::new(Config { limit: 1 });
    let kept = ArcOwner::share(&first);
    let sum: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let mine = Arc::from(&first);
                scope.spawn(move || (0..1000).map(|_| task(mine.clone())).sum::<usize>())
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(sum, 4000);

    // The next one: the first is destroyed when its last clone is dropped, on that thread.
    let second = ArcOwner::new(Config { limit: 2 });
    drop(first);
    assert_eq!(GONE.load(Relaxed), 0);
    drop(kept);
    assert_eq!(GONE.load(Relaxed), 1);
    println!("4000 tasks with a limit of 1; now it is {}", second.limit);
}
