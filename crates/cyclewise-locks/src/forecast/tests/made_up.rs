//! Made-up programs and machines.

use crate::counts::{Arch, Method, Words};
use crate::forecast::{Costs, NativeTime, OperationCost, Surroundings, Ticks};
use crate::profile::{Class, Executed, Form, Mix, Operation, Profile, SiteProfile};
use std::sync::LazyLock;

/// The matrix of a record of the tree. It is read once, since a record has megabytes of samples.
fn record(name: &str) -> Costs {
    let path = format!("{}/../../records/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let record: serde_json::Value = serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap();
    let experiments = record["experiments"].as_array().unwrap();
    let experiment = experiments.iter().find(|e| e["name"] == "in-context").unwrap();
    let matrix = &experiment["matrix"];
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let cell = |cell: &serde_json::Value| {
        let added = cell.get("added")?;
        Some(Ticks {
            ticks: added["ticks"].as_f64()?,
            ci95: [added["ci95"][0].as_f64()?, added["ci95"][1].as_f64()?],
        })
    };
    Costs {
        cpu: record["machine"]["cpu_model"].as_str().unwrap().to_string(),
        tick_ns: 1e9 / record["machine"]["tsc_hz"].as_f64().unwrap(),
        surroundings: list(&matrix["surroundings"])
            .iter()
            .map(|s| Surroundings {
                name: s["name"].as_str().unwrap().to_string(),
                own_ticks: s["own"][0]["median"].as_f64().unwrap(),
            })
            .collect(),
        operations: list(&matrix["operations"])
            .iter()
            .map(|o| OperationCost {
                name: o["name"].as_str().unwrap().to_string(),
                added: list(&o["cells"]).iter().map(cell).collect(),
            })
            .collect(),
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
    crate::forecast::truth::truths()[0].costs.clone()
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
    vec![
        site(Class::CountUp, Operation::Add, executed, far),
        site(
            Class::CountDownAndTest,
            Operation::FetchAdd,
            executed,
            [executed, 0, 0, 0, 0, 0, 0, 0],
        ),
    ]
}

/// A program's own time.
pub(super) fn seconds(user_s: f64) -> NativeTime {
    NativeTime {
        user_s,
        range: [user_s * 0.98, user_s * 1.02],
        runs: 5,
    }
}
