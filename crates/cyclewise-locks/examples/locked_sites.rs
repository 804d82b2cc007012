//! Lists the locked instructions of a file with their classes, without executing it: `locked_sites FILE [TABLE...]`.
//!
//! The sweep is linear, so that data between functions may be taken for code; what `cyclewise locks` reports was executed.

use cyclewise_locks::class::known::Table;
use cyclewise_locks::counts::{Arch, Counts, End, Mapping, Method, Process, Site, Thread, Words};
use cyclewise_locks::decode::{Step, What, decode};
use cyclewise_locks::image::{Image, Limits};
use cyclewise_locks::profile::{Options, Profile};
use std::path::{Path, PathBuf};

fn main() -> Result<(), String> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let path = arguments.next().ok_or("usage: locked_sites FILE [TABLE...]")?;
    let mut table = Table::built_in();
    for file in arguments {
        table.add_file(&file).map_err(|e| e.message)?;
    }
    let options = Options::default();
    let (arch, image) = open(&path, &options.limits)?;
    let mapping = Mapping {
        path: path.clone(),
        start: 0,
        end: u64::MAX,
        offset: 0,
    };
    let sites: Vec<_> = steps(arch, &image).filter_map(|s| site(&image, &s)).collect();
    let profile = Profile::new(&counts(arch, path, mapping, sites), &table, &options);
    for missing in &profile.missing {
        eprintln!("{missing}");
    }
    let mut sites = profile.sites;
    sites.sort_by_key(|s| s.address);
    for s in sites {
        let frames: Vec<_> = s.frames.iter().map(|f| f.line_text()).collect();
        println!(
            "{:x}\t{:?}\t{}\t{}\t{}\t{}",
            s.address,
            s.class,
            s.instruction,
            s.why,
            s.family.as_deref().unwrap_or("-"),
            frames.join(" < ")
        );
    }
    Ok(())
}

fn open(path: &Path, limits: &Limits) -> Result<(Arch, Image), String> {
    let mut reason = String::new();
    for arch in [Arch::X86_64, Arch::Aarch64] {
        match Image::open(path, arch, limits) {
            Ok(image) => return Ok((arch, image)),
            Err(why) => reason = why,
        }
    }
    Err(format!("{}: {reason}", path.display()))
}

/// Locked instructions, a window of code at a time.
fn steps(arch: Arch, image: &Image) -> impl Iterator<Item = Step> + '_ {
    image.code().into_iter().flat_map(move |(start, size)| {
        let mut at = start;
        let mut window = (start, Vec::new());
        std::iter::from_fn(move || {
            loop {
                if at >= start + size {
                    return None;
                }
                let mut from = (at - window.0) as usize;
                if from + 16 > window.1.len() {
                    window = (at, image.bytes(at, 1 << 16)?);
                    from = 0;
                }
                let step = decode(arch, &window.1[from..], at);
                at = step.end();
                if matches!(step.what, What::Locked(_)) {
                    return Some(step);
                }
            }
        })
    })
}

fn site(image: &Image, step: &Step) -> Option<Site> {
    Some(Site {
        address: image.offset(step.address)?,
        mapping: Some(0),
        before: Vec::new(),
        code: image.bytes(step.address, step.length.into())?,
        executed: vec![(0, 1)],
        callers: Vec::new(),
        distances: [0; 8],
        before_threads: 0,
        words: Words::default(),
    })
}

fn counts(arch: Arch, program: PathBuf, mapping: Mapping, sites: Vec<Site>) -> Counts {
    Counts {
        method: Method::Emulator {
            version: "none: every site of the file, once".to_owned(),
        },
        arch,
        processes: vec![Process {
            pid: 1,
            parent: None,
            program,
            arguments: Vec::new(),
            threads: vec![Thread {
                tid: 1,
                name: "all".to_owned(),
                instructions: 0,
                system_calls: Vec::new(),
            }],
            mappings: vec![mapping],
            sites,
            lines: Vec::new(),
            end: End::Unknown,
        }],
        missing: Vec::new(),
    }
}
