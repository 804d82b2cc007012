//! A counter that a loop of load-exclusive and store-exclusive increments: Arm's LDXR and STXR, RISC-V's LR and SC.

use super::counter::Counter;
use crate::engine::{Backoff, Cpu};

pub(super) async fn body(cpu: Cpu, counter: Counter) {
    while cpu.again() {
        cpu.begin();
        let mut backoff = Backoff::new(counter.relax);
        loop {
            let count = cpu.load_exclusive(counter.line).await;
            if cpu.store_exclusive(counter.line, count + 1).await {
                break;
            }
            cpu.retried();
            backoff.relax(&cpu);
        }
        cpu.won();
        cpu.end();
        cpu.work(counter.parallel);
    }
}
