//! Sums: words by `cpu_id` and by `mm_cid`, and a counter.

use super::Tried;
use crate::error::Result;
use crate::sys::percpu::storm::StormTarget;
use crate::sys::percpu::unprotected::{Words, between};
use cyclewise::percpu::{Cid, Counter, PerCpu};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

struct Sums {
    by_cpu: PerCpu<u64>,
    by_cid: PerCpu<u32, Cid>,
    counter: Counter,
    twin: Words<1>,
    /// The oracle: what was added to each, summed with locked additions.
    added: AtomicI64,
}

pub(super) fn tried(_: usize) -> Result<Box<dyn Tried>> {
    Ok(Box::new(Sums::new()))
}

impl Sums {
    fn new() -> Self {
        Self {
            by_cpu: PerCpu::new(),
            by_cid: PerCpu::new(),
            counter: Counter::new(0),
            twin: Words::new(),
            added: AtomicI64::new(0),
        }
    }

    fn add(&self, amount: i64) {
        self.by_cpu.add(amount as u64);
        self.by_cid.add(amount as u32);
        self.counter.add(amount);
        self.added.fetch_add(amount, Relaxed);
    }

    /// The twin: gets the CPU, loads its word, stores it. Anything may happen in between.
    fn add_unprotected(&self, amount: i64, meanwhile: impl FnOnce()) {
        let [word] = self.twin.here();
        let found = word.load(Relaxed);
        meanwhile();
        word.store(found.wrapping_add(amount as u64), Relaxed);
    }

    fn sums(&self) -> [i64; 3] {
        [
            self.by_cpu.sum() as i64,
            i64::from(self.by_cid.sum()),
            self.counter.sum(),
        ]
    }
}

impl StormTarget for Sums {
    fn step(&self, chance: u64) {
        // Small and of both signs, so that the counter exceeds its batch now and then in either direction.
        let amount = (chance % 8) as i64 - 3;
        self.add(amount);
        self.add_unprotected(amount, || between(chance >> 3));
    }

    fn interrupt(&self) {
        self.add(1);
        self.add_unprotected(1, || ());
    }

    fn in_child(&self) -> bool {
        let [by_cpu, by_cid, counter] = self.sums();
        (0..100).for_each(|_| self.add(3));
        self.sums()
            == [
                by_cpu + 300,
                i64::from((by_cid as u32).wrapping_add(300)),
                counter + 300,
            ]
    }
}

impl Tried for Sums {
    fn wrong(self: Box<Self>) -> (u64, u64) {
        let added = self.added.load(Relaxed);
        let [by_cpu, by_cid, counter] = self.sums();
        let by_cid = i64::from((added as u32).abs_diff(by_cid as u32));
        let twin = self
            .twin
            .all()
            .map(|[word]| word.load(Relaxed))
            .fold(0, u64::wrapping_add);
        (
            by_cpu.abs_diff(added) + counter.abs_diff(added) + by_cid as u64,
            (twin as i64).abs_diff(added),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_addition_between_load_and_store_is_seen_to_be_lost() {
        let sums = Box::new(Sums::new());
        sums.step(2);
        sums.add_unprotected(5, || {
            // Every CPU's word: the thread may have moved, and the store overwrites the word of the first CPU.
            sums.twin.all().for_each(|[word]| {
                word.fetch_add(7, Relaxed);
            });
        });
        let slots = sums.twin.all().count() as i64;
        sums.add(5 + 7 * slots);
        assert_eq!(sums.wrong(), (0, 7));
    }
}
