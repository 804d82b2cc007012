//! A counter that a compare-and-exchange loop increments.

use super::counter::Counter;
use crate::engine::{ALL, Backoff, Cpu};

pub(super) async fn body(cpu: Cpu, counter: Counter) {
    while cpu.again() {
        cpu.begin();
        let mut backoff = Backoff::new(counter.relax);
        let mut count = cpu.load_to_write(counter.line, ALL).await;
        while let Err(now) = cpu.cas(counter.line, ALL, count, count + 1).await {
            cpu.retried();
            backoff.relax(&cpu);
            count = now;
        }
        cpu.won();
        cpu.end();
        cpu.work(counter.parallel);
    }
}
