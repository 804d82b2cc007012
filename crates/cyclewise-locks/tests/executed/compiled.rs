//! Programs that are compiled for a test, and counts of all of their sites.

use cyclewise_locks::class::known::Table;
use cyclewise_locks::counts::{Arch, Counts, End, Mapping, Method, Process, Site, SystemCall, Thread, Words};
use cyclewise_locks::decode::{What, decode};
use cyclewise_locks::image::{Image, Limits};
use cyclewise_locks::profile::{Options, Profile};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A reference count whose operations are inlined, so that frames have depth.
pub(crate) const SOURCE: &str = r"
static inline __attribute__((always_inline)) void take(long *count) {
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}
static inline __attribute__((always_inline)) int give(long *count) {
    return __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL) == 0;
}
__attribute__((noinline)) void clone_it(long *count) {
    take(count);
}
__attribute__((noinline)) int drop_it(long *count) {
    return give(count);
}
int main(void) {
    long count = 1;
    clone_it(&count);
    return drop_it(&count);
}
";

/// A compiled program in a folder of its own.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
}

/// Runs a tool; none, with a line that says so, where it is not installed or refuses.
pub(crate) fn run(folder: &Path, tool: &str, arguments: &[&str]) -> Option<()> {
    match Command::new(tool).args(arguments).current_dir(folder).output() {
        Ok(output) if output.status.success() => Some(()),
        Ok(output) => {
            println!(
                "skipped: {tool} {arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            None
        }
        Err(e) => {
            println!("skipped: {tool}: {e}");
            None
        }
    }
}

/// Compiles `SOURCE` with these options.
pub(crate) fn compile(options: &[&str]) -> Option<Program> {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: the tests' programs are for x86-64");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("count.c"), SOURCE).unwrap();
    let mut all = vec!["count.c", "-O2", "-o", "count"];
    all.extend(options);
    run(folder.path(), "cc", &all)?;
    let path = folder.path().join("count");
    Some(Program { folder, path })
}

/// Options that look for debug information in these folders only.
pub(crate) fn options(roots: &[&Path]) -> Options {
    Options {
        limits: Limits {
            debug_roots: roots.iter().map(|r| r.to_path_buf()).collect(),
            ..Limits::default()
        },
    }
}

/// Where the made-up process has the file's first byte.
pub(crate) const LOADED: u64 = 0x5555_0000_0000;

/// Every locked instruction of a file, executed `times` times by one thread.
pub(crate) fn sites(path: &Path, times: u64) -> Vec<Site> {
    let image = Image::open(path, Arch::X86_64, &Limits::default()).unwrap();
    let mut sites = Vec::new();
    for (start, size) in image.code() {
        let code = image.bytes(start, usize::try_from(size).unwrap()).unwrap();
        let mut at = 0;
        while at < code.len() {
            let step = decode(Arch::X86_64, &code[at..], start + at as u64);
            if let What::Locked(_) = step.what {
                sites.push(site(&code[at..], LOADED + image.offset(step.address).unwrap(), times));
            }
            at += usize::from(step.length);
        }
    }
    sites
}

pub(crate) fn site(code: &[u8], address: u64, times: u64) -> Site {
    Site {
        address,
        mapping: Some(0),
        before: Vec::new(),
        code: code[..code.len().min(8)].to_vec(),
        executed: vec![(0, times)],
        callers: Vec::new(),
        distances: [times, 0, 0, 0, 0, 0, 0, 0],
        before_threads: times,
        words: Words {
            private: times,
            ..Words::default()
        },
    }
}

/// A process that executed these sites.
pub(crate) fn process(pid: u32, path: &Path, sites: Vec<Site>) -> Process {
    Process {
        pid,
        parent: None,
        program: path.to_owned(),
        arguments: vec!["-x".to_owned()],
        threads: vec![Thread {
            tid: pid,
            name: "main".to_owned(),
            instructions: 1000,
            system_calls: vec![SystemCall {
                number: 1,
                calls: 2,
                locked_before: 5,
            }],
        }],
        mappings: vec![Mapping {
            path: path.to_owned(),
            start: LOADED,
            end: LOADED + (1 << 40),
            offset: 0,
        }],
        sites,
        lines: Vec::new(),
        end: End::Exited,
    }
}

pub(crate) fn counts(processes: Vec<Process>) -> Counts {
    Counts {
        method: Method::Emulator {
            version: "made up".to_owned(),
        },
        arch: Arch::X86_64,
        processes,
        missing: vec!["counted by hand".to_owned()],
    }
}

/// The profile of every site of a file.
pub(crate) fn profile(path: &Path, options: &Options) -> Profile {
    let counts = counts(vec![process(1, path, sites(path, 1))]);
    Profile::new(&counts, &Table::built_in(), options)
}

/// Class and frames of each site, in the order of addresses: `CountUp: take:3 < clone_it:10`.
pub(crate) fn summary(profile: &Profile) -> Vec<String> {
    let mut sites: Vec<_> = profile.sites.iter().collect();
    sites.sort_by_key(|s| s.address);
    let frames = |s: &cyclewise_locks::profile::SiteProfile| {
        let lines = s.frames.iter().map(|f| match f.line {
            Some(line) => format!("{}:{line}", f.function),
            None => f.function.clone(),
        });
        lines.collect::<Vec<_>>().join(" < ")
    };
    sites.iter().map(|s| format!("{:?}: {}", s.class, frames(s))).collect()
}
