//! A counter that is loaded exclusively and stored exclusively until that succeeds: Arm's LDXR and STXR, RISC-V's LR and SC.

use super::counter::Shared;
use crate::engine::{Backoff, Cpu};

pub(super) async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        let mut backoff = Backoff::new(shared.relax);
        loop {
            let count = cpu.load_exclusive(shared.counter).await;
            if cpu.store_exclusive(shared.counter, count + 1).await {
                break;
            }
            cpu.retried();
            backoff.relax(&cpu);
        }
        cpu.won();
        cpu.end();
        cpu.work(shared.parallel);
    }
}
