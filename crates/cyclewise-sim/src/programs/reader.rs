//! A thread that only reads the first line, again each time its copy is invalidated: false sharing.

use super::setup::{Start, start};
use crate::engine::{ALL, Cpu, LineId};
use crate::workload::Relax;

pub(super) fn start_reader() -> Start {
    start((), body)
}

async fn body(cpu: Cpu, (): ()) {
    let mut seen = cpu.load(LineId(0), ALL).await;
    while cpu.again() {
        seen = cpu.wait_until(LineId(0), ALL, Relax::None, |now| now != seen).await;
    }
}
