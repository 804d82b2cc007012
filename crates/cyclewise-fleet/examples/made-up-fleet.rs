//! Writes the records of a fleet whose truth is known, for `fleet join` and `fleet report`:
//! `cargo run --release -p cyclewise-fleet --example made-up-fleet -- DIR [MACHINES [MANGLED [SEED]]]`, or `DIR CASE [SEED]` for one of the
//! small fleets of `cyclewise_report::fleet::made_up::cases`; without arguments it lists them.
//!
//! `DIR/records` gets the records, packed, and among them mangled ones; `DIR/truth.json` says which machines are not like their group and which
//! files are mangled. The same arguments give the same bytes. The fleets are those of the analysis's own tests.

#[path = "../tests/command/mangle.rs"]
mod mangle;

use cyclewise_bench::record::fleet::{Member, Row};
use cyclewise_bench::record::{Experiment, Record, Run, SCHEMA, State, Tool, Variant};
use cyclewise_report::fleet::made_up::{MADE, Made, cases::CASES, planted};
use flate2::{Compression, write::GzEncoder};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Dice;
use rayon::prelude::*;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Standard deviations of its group at which each planted machine is in one row.
const SIGMAS: f64 = 6.0;
/// Groups; ten of them have a planted machine.
const GROUPS: usize = 20;
/// Rows of a full run.
const ROWS: usize = 200;
/// Samples of a row, which only make a file as long as a real one.
const SAMPLES: usize = 40;

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(dir) = words.first() else {
        eprintln!("usage: made-up-fleet DIR [MACHINES [MANGLED [SEED]]], or made-up-fleet DIR CASE [SEED]; cases:");
        for case in &CASES {
            eprintln!("    {}: {}", case.name, case.about);
        }
        std::process::exit(2);
    };
    let number = |at: usize, default: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(default);
    let folder = Path::new(dir).join("records");
    fs::create_dir_all(&folder)?;
    let case = CASES
        .iter()
        .find(|case| words.get(1).is_some_and(|word| word == case.name));
    let (members, mut truth) = match case {
        Some(case) => {
            let truth = serde_json::json!({ "about": case.about, "outliers": case.named() });
            (case.members(number(2, 1) as u64), truth)
        }
        None => {
            let made = Made {
                groups: GROUPS,
                machines: number(1, 20_000).div_ceil(GROUPS),
                rows: ROWS,
                seed: number(3, 1) as u64,
                ..MADE
            };
            let truth = serde_json::json!({ "outliers": made.planted(), "sigmas": SIGMAS });
            (made.members(planted(made, SIGMAS)), truth)
        }
    };
    members
        .par_iter()
        .try_for_each(|member| packed(&folder.join(format!("{}.gz", member.file)), &text(member)))?;
    let mangled = if case.is_some() { 0 } else { number(2, 0) };
    let mut names = Vec::new();
    for n in 0..mangled {
        let kind = &mangle::KINDS[n % mangle::KINDS.len()];
        let name = format!("mangled-{}-{n:05}.json", kind.name);
        let bytes = (kind.mangle)(
            &text(&members[n * 7 % members.len()]),
            &mut Dice::seed_from_u64(n as u64),
        );
        fs::write(folder.join(&name), bytes)?;
        names.push((name, kind.problems));
    }
    truth["mangled"] = serde_json::json!(names);
    fs::write(Path::new(dir).join("truth.json"), format!("{truth:#}\n"))?;
    println!("{} records in {}", members.len(), folder.display());
    Ok(())
}

fn packed(path: &Path, text: &str) -> io::Result<()> {
    let mut packer = GzEncoder::new(fs::File::create(path)?, Compression::fast());
    packer.write_all(text.as_bytes())?;
    packer.finish().map(drop)
}

/// The record that a member is read from.
fn text(member: &Member) -> String {
    let mut record = Record {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        created: "2026-11-27T10:00:00Z".to_owned(),
        machine: member.machine.clone(),
        experiments: member.rows.iter().map(experiment).collect(),
        ..Record::default()
    };
    let run = |n: usize| Run {
        seed: n as u64 + 1,
        created: record.created.clone(),
        medians: member
            .rows
            .iter()
            .filter_map(|row| Some(named(row, *row.runs.get(n)?)))
            .collect(),
        states: vec![State::All; member.rows.len()],
        ..Run::default()
    };
    record.runs = (0..member.runs).map(run).collect();
    serde_json::to_string(&record).expect("a record is JSON") + "\n"
}

fn named(row: &Row, value: f64) -> (String, String, f64) {
    (row.experiment.to_string(), row.variant.to_string(), value)
}

fn experiment(row: &Row) -> Experiment {
    let variant = Variant {
        name: row.variant.to_string(),
        n: SAMPLES,
        mean: row.value,
        median: row.value,
        min: row.value,
        ci95: [row.value; 2],
        samples: vec![row.value; SAMPLES],
        ..Variant::default()
    };
    Experiment {
        name: row.experiment.to_string(),
        unit: row.unit,
        variants: vec![variant],
        ..Experiment::default()
    }
}
