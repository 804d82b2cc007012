//! A counter that one read-modify-write increments.

use super::counter::Counter;
use crate::engine::Cpu;

pub(super) async fn body(cpu: Cpu, counter: Counter) {
    while cpu.again() {
        cpu.begin();
        cpu.add_unused(counter.line, 1).await;
        cpu.end();
        cpu.work(counter.parallel);
    }
}
