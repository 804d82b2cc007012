//! Makes the records of a fleet whose truth is known, from records of the tree:
//! `cargo run --release -p cyclewise-lab --example synthetic-fleet -- --into DIR [--machines N] [--seed N] [--runs N] [--samples N]
//! [--mangled N] [--plain]`.
//!
//! `DIR/fleet` gets the records, and among them the mangled copies; `DIR/truth.json` says what was planted. The same options give
//! the same bytes.

mod groups;
mod machine;
mod mangle;
mod plant;
mod templates;

use groups::GROUPS;
use machine::{Machine, Settings};
use plant::OUTLIERS;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Dice;
use rayon::prelude::*;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::{fs, iter};

struct Options {
    into: PathBuf,
    machines: usize,
    mangled: usize,
    plain: bool,
    settings: Settings,
}

/// What was planted.
#[derive(Serialize)]
struct Truth {
    settings: Settings,
    bytes: u64,
    groups: Vec<groups::Described>,
    outliers: Vec<plant::Planted>,
    mangled: Vec<Mangled>,
}

#[derive(Serialize)]
struct Mangled {
    file: String,
    what: &'static str,
    /// The kinds of problem that it may be.
    kinds: &'static [&'static str],
}

fn main() {
    let options = options();
    if let Err(e) = make(&options) {
        eprintln!("{}: {e}", options.into.display());
        exit(2);
    }
}

fn make(options: &Options) -> io::Result<()> {
    let folder = options.into.join("fleet/records");
    fs::create_dir_all(&folder)?;
    let templates = templates::load();
    let machines: Vec<Machine> = (0..options.machines)
        .map(|n| machine::place(n, options.machines))
        .collect();
    let sizes: io::Result<Vec<u64>> = machines
        .par_iter()
        .map(|m| {
            let text = machine::text(m, &templates, &options.settings);
            write(&folder, &m.node(), &text, options.plain)
        })
        .collect();
    let mangled: io::Result<Vec<Mangled>> = (0..options.mangled)
        .into_par_iter()
        .map(|n| {
            let m = &machines[n * 7 % machines.len()];
            let text = machine::text(m, &templates, &options.settings);
            let kind = &mangle::KINDS[n % mangle::KINDS.len()];
            let mut dice = Dice::seed_from_u64(options.settings.seed ^ n as u64);
            let file = format!("mangled-{}-{n:05}.json", kind.name);
            fs::write(folder.join(&file), (kind.mangle)(&text, &mut dice))?;
            Ok(Mangled {
                file: format!("records/{file}"),
                what: kind.name,
                kinds: kind.problems,
            })
        })
        .collect();
    let truth = Truth {
        bytes: sizes?.iter().sum(),
        groups: groups::described(&machines),
        outliers: plant::planted(&machines, &options.settings, &templates),
        mangled: mangled?,
        settings: options.settings.clone(),
    };
    println!(
        "{} records of {} bytes in {}",
        machines.len(),
        truth.bytes,
        folder.display()
    );
    fs::write(
        options.into.join("truth.json"),
        serde_json::to_string_pretty(&truth)? + "\n",
    )
}

/// Writes a record, and says how long its text is.
fn write(folder: &Path, node: &str, text: &str, plain: bool) -> io::Result<u64> {
    let name = folder.join(node);
    if plain {
        fs::write(name.with_extension("json"), text)?;
    } else {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text.as_bytes())?;
        fs::write(name.with_extension("json.gz"), packer.finish()?)?;
    }
    Ok(text.len() as u64)
}

fn options() -> Options {
    let mut into = None;
    let mut options = Options {
        into: PathBuf::new(),
        machines: 20_000,
        mangled: 0,
        plain: false,
        settings: Settings::default(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let number = |args: &mut iter::Skip<std::env::Args>| {
            let word = args.next().and_then(|n| n.parse::<usize>().ok());
            word.unwrap_or_else(|| usage(&format!("{arg} wants a number")))
        };
        match arg.as_str() {
            "--into" => into = args.next(),
            "--machines" => options.machines = number(&mut args).max(1),
            "--seed" => options.settings.seed = number(&mut args) as u64,
            "--runs" => options.settings.runs = number(&mut args).max(1),
            "--samples" => options.settings.samples = number(&mut args).max(3),
            "--mangled" => options.mangled = number(&mut args),
            "--plain" => options.plain = true,
            other => usage(&format!("{other} is not an option")),
        }
    }
    options.into = into.unwrap_or_else(|| usage("--into is needed")).into();
    assert!(OUTLIERS.len() == 10 && GROUPS.len() > 1);
    options
}

fn usage(what: &str) -> ! {
    eprintln!(
        "{what}; usage: synthetic-fleet --into DIR [--machines N] [--seed N] [--runs N] [--samples N] [--mangled N] [--plain]"
    );
    exit(2)
}
