//! A counter that one read-modify-write adds to.

use super::counter::Shared;
use crate::engine::Cpu;

pub(super) async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        cpu.add(shared.counter, 1).await;
        cpu.end();
        cpu.work(shared.parallel);
    }
}
