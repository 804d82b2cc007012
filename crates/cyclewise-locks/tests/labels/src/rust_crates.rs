//! What crates lock for: queues, deques, locks, counts, swaps, a pool of threads and an allocator.

use arc_swap::ArcSwap;
use crossbeam_queue::{ArrayQueue, SegQueue};
use parking_lot::{Condvar, Mutex, Once, RwLock};
use rayon::prelude::*;
use std::sync::Arc;
use std::thread;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

static TOTAL: Mutex<u64> = Mutex::new(0);
static DONE: Condvar = Condvar::new();
static TABLE: RwLock<Vec<u64>> = RwLock::new(Vec::new());
static START: Once = Once::new();
static SPIN: spin::Mutex<u64> = spin::Mutex::new(0);
static SPIN_TABLE: spin::RwLock<u64> = spin::RwLock::new(0);

#[inline(never)]
fn add(n: u64) {
    *TOTAL.lock() += n;
}

#[inline(never)]
fn try_add(n: u64) -> bool {
    TOTAL.try_lock().map(|mut t| *t += n).is_some()
}

#[inline(never)]
fn append(n: u64) {
    TABLE.write().push(n);
}

#[inline(never)]
fn first() -> u64 {
    TABLE.read()[0]
}

#[inline(never)]
fn upgrade() -> usize {
    let table = TABLE.upgradable_read();
    let mut table = parking_lot::RwLockUpgradableReadGuard::upgrade(table);
    table.push(1);
    table.len()
}

#[inline(never)]
fn spin_add(n: u64) {
    *SPIN.lock() += n;
    let read = *SPIN_TABLE.read();
    *SPIN_TABLE.write() += read;
}

#[inline(never)]
fn share(list: &triomphe::Arc<Vec<u64>>) -> triomphe::Arc<Vec<u64>> {
    list.clone()
}

#[inline(never)]
fn forget(list: triomphe::Arc<Vec<u64>>) {
    drop(list);
}

#[inline(never)]
fn enqueue(queue: &ArrayQueue<u64>, n: u64) -> bool {
    queue.push(n).is_ok()
}

#[inline(never)]
fn dequeue(queue: &ArrayQueue<u64>) -> Option<u64> {
    queue.pop()
}

#[inline(never)]
fn send(queue: &SegQueue<Box<u64>>, n: u64) {
    queue.push(Box::new(n));
}

#[inline(never)]
fn receive(queue: &SegQueue<Box<u64>>) -> Option<Box<u64>> {
    queue.pop()
}

#[inline(never)]
fn swap(config: &ArcSwap<u64>, n: u64) -> u64 {
    let old = config.swap(Arc::new(n));
    *old + **config.load() + *config.load_full()
}

fn main() {
    let array = Arc::new(ArrayQueue::new(8));
    let list = Arc::new(SegQueue::new());
    let config = Arc::new(ArcSwap::from_pointee(0));
    let counted = triomphe::Arc::new(vec![1, 2, 3]);
    START.call_once(|| append(5));
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let (array, list, config, counted) = (array.clone(), list.clone(), config.clone(), counted.clone());
            thread::spawn(move || {
                for i in 0..1000 {
                    enqueue(&array, i);
                    send(&list, i);
                    dequeue(&array);
                    receive(&list);
                    swap(&config, i);
                    forget(share(&counted));
                    add(i);
                    try_add(i);
                    spin_add(1);
                    first();
                }
                DONE.notify_one();
            })
        })
        .collect();
    let mut total = TOTAL.lock();
    DONE.wait_for(&mut total, std::time::Duration::from_millis(1));
    drop(total);
    for handle in handles {
        handle.join().unwrap();
    }
    let sum: u64 = (0..10_000_u64).into_par_iter().map(|n| n * n).sum();
    println!("{sum} {} {}", upgrade(), TOTAL.lock());
}
