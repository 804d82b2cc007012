//! Made-up programs and machines.

use crate::counts::{Arch, Method, Words};
use crate::forecast::{Costs, NativeTime, OperationCost, Surroundings, Ticks};
use crate::profile::{Class, Executed, Form, Mix, Operation, Profile, SiteProfile};
use serde::Deserialize;
use std::io::Read;
use std::sync::LazyLock;

/// What is read of a record: the rest, its samples above all, is megabytes.
#[derive(Deserialize)]
struct Record {
    machine: Machine,
    experiments: Vec<Experiment>,
}

#[derive(Deserialize)]
struct Machine {
    cpu_model: String,
    tsc_hz: f64,
}

#[derive(Deserialize)]
struct Experiment {
    matrix: Option<Matrix>,
}

#[derive(Deserialize)]
struct Matrix {
    surroundings: Vec<Column>,
    operations: Vec<Row>,
}

#[derive(Deserialize)]
struct Column {
    name: String,
    own: Vec<Own>,
}

#[derive(Deserialize)]
struct Own {
    median: f64,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
struct Cell {
    added: Option<Ticks>,
}

/// The matrix of a record of the tree.
fn record(name: &str) -> Costs {
    let path = format!("{}/../../records/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut text).unwrap();
    let record: Record = serde_json::from_slice(&text).unwrap();
    let matrix = record.experiments.into_iter().find_map(|e| e.matrix).unwrap();
    let column = |c: Column| Surroundings {
        name: c.name,
        own_ticks: c.own[0].median,
    };
    let row = |r: Row| OperationCost {
        name: r.name,
        added: r.cells.into_iter().map(|cell| cell.added).collect(),
    };
    Costs {
        cpu: record.machine.cpu_model,
        tick_ns: 1e9 / record.machine.tsc_hz,
        surroundings: matrix.surroundings.into_iter().map(column).collect(),
        operations: matrix.operations.into_iter().map(row).collect(),
    }
}

/// An Intel Xeon of Emerald Rapids.
pub(super) fn xeon() -> Costs {
    static XEON: LazyLock<Costs> = LazyLock::new(|| record("2026-11-22-xeon-emerald-rapids-kvm.json.gz"));
    XEON.clone()
}

/// An AMD EPYC of Zen 5.
pub(super) fn turin() -> Costs {
    static TURIN: LazyLock<Costs> = LazyLock::new(|| record("2026-11-23-epyc-turin-kvm.json.gz"));
    TURIN.clone()
}

/// An AMD EPYC of Zen 3.
pub(super) fn milan() -> Costs {
    static MILAN: LazyLock<Costs> = LazyLock::new(|| crate::forecast::truth::truths()[0].costs.clone());
    MILAN.clone()
}

/// A run that was counted exactly.
pub(super) fn program(instructions: u64, sites: Vec<SiteProfile>) -> Profile {
    Profile {
        method: Method::Emulator {
            version: "made up".into(),
        },
        arch: Arch::X86_64,
        instructions,
        executed: Executed {
            lock: sites.iter().map(|s| s.executed).sum(),
            ..Executed::default()
        },
        sites,
        threads: Vec::new(),
        system_calls: Vec::new(),
        processes: Vec::new(),
        lines: Vec::new(),
        partial: false,
        missing: Vec::new(),
    }
}

/// A site of ordinary code, of a program that never had a second thread.
pub(super) fn site(class: Class, operation: Operation, executed: u64, distances: [u64; 8]) -> SiteProfile {
    SiteProfile {
        module: "made-up".into(),
        address: 0x1000,
        instruction: "lock".into(),
        form: if operation == Operation::Exchange {
            Form::Xchg
        } else {
            Form::Lock
        },
        operation,
        width: 8,
        class,
        why: "made up".into(),
        family: None,
        frames: Vec::new(),
        executed,
        threads: 1,
        words: Words {
            private: executed,
            ..Words::default()
        },
        before_threads: executed,
        distances,
        callers: Vec::new(),
        mix: Mix {
            arithmetic: 8,
            loads: 5,
            stores: 2,
            locked: 0,
            branches: 3,
        },
    }
}

/// A clone and a drop, so many times, at some distance.
pub(super) fn clones(executed: u64, apart: usize) -> Vec<SiteProfile> {
    let mut far = [0; 8];
    far[apart] = executed;
    let near = [executed, 0, 0, 0, 0, 0, 0, 0];
    let up = site(Class::CountUp, Operation::Add, executed, far);
    let down = site(Class::CountDownAndTest, Operation::FetchAdd, executed, near);
    [up, down].map(|site| of_family(site, "std Arc")).into()
}

/// The same site in a library.
pub(super) fn of_family(site: SiteProfile, family: &str) -> SiteProfile {
    SiteProfile {
        family: Some(family.into()),
        ..site
    }
}

pub(super) fn seconds(user_s: f64) -> NativeTime {
    NativeTime {
        user_s,
        range: [user_s * 0.98, user_s * 1.02],
        runs: 5,
    }
}
