//! The code around labelled sites, as a run reads it from the executed file: `labelled_code LABELS.tsv NAME=FILE...`.
//!
//! Writes what `tests/labels` keeps of each function that has a labelled site: where it is, its code near the sites, and
//! the names of the functions that this code calls or jumps to. NAME is the file's name in the labels.

use cyclewise_locks::counts::Arch;
use cyclewise_locks::decode::decode;
use cyclewise_locks::image::{Image, Limits};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How far before a site, and behind it, code is kept: the classifier looks at the way to a site and at a hundred
/// instructions after it.
const BEFORE: u64 = 2 << 10;
const BEHIND: u64 = 2 << 10;

/// How much is kept where a jump leads out of the function: to a part of it that a compiler moved elsewhere.
const ELSEWHERE: u64 = 256;

/// Ranges of code, each with the function that it lies in.
type Ranges = BTreeSet<(u64, u64)>;

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: labelled_code LABELS.tsv NAME=FILE...";
    let labels = arguments.next().ok_or(usage)?;
    let labels = std::fs::read_to_string(&labels).map_err(|e| format!("{labels}: {e}"))?;
    for argument in arguments {
        let (name, path) = argument.split_once('=').ok_or(usage)?;
        let sites = sites(&labels, name);
        let Some((_, (arch, _))) = sites.first_key_value() else {
            continue;
        };
        let image = Image::open(&PathBuf::from(path), *arch, &Limits::default())?;
        write(name, *arch, &image, &sites)?;
    }
    Ok(())
}

/// The labelled sites of a file, with their code.
fn sites<'a>(labels: &'a str, name: &str) -> BTreeMap<u64, (Arch, &'a str)> {
    let mut sites = BTreeMap::new();
    for line in labels.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let [file, _, _, arch, address, _, _, code, ..] = fields[..] else {
            continue;
        };
        let arch = if arch == "aarch64" { Arch::Aarch64 } else { Arch::X86_64 };
        if let (true, Ok(address)) = (file == name, u64::from_str_radix(address.trim_start_matches("0x"), 16)) {
            sites.insert(address, (arch, code));
        }
    }
    sites
}

fn write(name: &str, arch: Arch, image: &Image, sites: &BTreeMap<u64, (Arch, &str)>) -> Result<(), String> {
    let mut ranges = Ranges::new();
    for (site, (_, code)) in sites {
        if hex(image, *site, code.len() / 2) != *code {
            return Err(format!(
                "{name}: {site:#x}: other code than in the labels; take the file of that build id"
            ));
        }
        let (start, end) = image.function(*site).map_or((0, u64::MAX), |f| (f.start, f.end));
        ranges.insert((site.saturating_sub(BEFORE).max(start), (site + BEHIND).min(end)));
    }
    let mut names = BTreeMap::new();
    let mut elsewhere = Ranges::new();
    for (from, to) in merged(&ranges) {
        for (target, at) in targets(arch, image, from, to) {
            let Some(called) = image.function_name(target) else {
                continue;
            };
            if image.function_name(at).as_ref() == Some(&called) && !(from..to).contains(&target) {
                elsewhere.insert((target, target + ELSEWHERE));
            }
            names.insert(target, called);
        }
    }
    for (from, to) in merged(&elsewhere) {
        let called = targets(arch, image, from, to).into_iter();
        names.extend(called.filter_map(|(target, _)| Some((target, image.function_name(target)?))));
    }
    ranges.extend(&elsewhere);
    let functions: BTreeSet<_> = sites
        .keys()
        .filter_map(|s| image.function(*s))
        .map(|f| (f.start, f.end))
        .collect();
    for (start, end) in functions {
        names.extend(image.function_name(start).map(|n| (start, n)));
        println!("function\t{name}\t{start:#x}\t{end:#x}");
    }
    for (from, to) in merged(&ranges) {
        println!("code\t{name}\t{from:#x}\t{}", hex(image, from, (to - from) as usize));
    }
    for (address, called) in names {
        println!("name\t{name}\t{address:#x}\t{}", called.replace(['\t', '\n'], " "));
    }
    Ok(())
}

/// Targets of direct calls, jumps and branches in a range, and where these are.
fn targets(arch: Arch, image: &Image, from: u64, to: u64) -> Vec<(u64, u64)> {
    let code = image.bytes(from, (to - from) as usize).unwrap_or_default();
    let mut targets = Vec::new();
    let mut at = from;
    while let Some(rest) = code.get((at - from) as usize..).filter(|r| !r.is_empty()) {
        let step = decode(arch, rest, at);
        targets.extend(step.target().map(|target| (target, at)));
        at = step.end().max(at + 1);
    }
    targets
}

/// Ranges without overlaps.
fn merged(ranges: &Ranges) -> Vec<(u64, u64)> {
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in ranges {
        match merged.last_mut() {
            Some(last) if *from <= last.1 => last.1 = last.1.max(*to),
            _ => merged.push((*from, *to)),
        }
    }
    merged
}

fn hex(image: &Image, address: u64, length: usize) -> String {
    let bytes = image.bytes(address, length).unwrap_or_default();
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
