//! A counter that is loaded, and exchanged for one more until that succeeds.

use super::counter::Shared;
use crate::engine::{ALL, Backoff, Cpu};

pub(super) async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        let mut backoff = Backoff::new(shared.relax);
        let mut count = cpu.load_to_write(shared.counter).await;
        while let Err(now) = cpu.cas(shared.counter, ALL, count, count + 1).await {
            cpu.retried();
            backoff.relax(&cpu);
            count = now;
        }
        cpu.won();
        cpu.end();
        cpu.work(shared.parallel);
    }
}
