//! jemalloc beside single mode, preloaded from Debian's package, with background threads and without: LOCK goes, or stays where a
//! background thread runs, and every value is destroyed once.
//!
//! The crate that builds jemalloc needs make, which a fresh machine lacks. A harness of its own: single mode needs a process with one
//! thread.

mod churn;

use cyclewise::patch;
use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in the process that has the allocator.
const CHILD: &str = "CYCLEWISE_TEST_JEMALLOC";

fn main() {
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let trials = match library() {
        Some(library) => trials(&library),
        None if std::env::var_os("CI").is_some_and(|ci| ci == "true") && cfg!(target_arch = "x86_64") => {
            vec![Trial::test("jemalloc_is_installed", || {
                Err("apt-get install libjemalloc2".into())
            })]
        }
        None => {
            if !arguments.list {
                println!("skipped: no libjemalloc.so.2 here; apt-get install libjemalloc2");
            }
            Vec::new()
        }
    };
    libtest_mimic::run(&arguments, trials).exit();
}

fn trials(library: &Path) -> Vec<Trial> {
    let with = |name: &'static str, options: &'static str| {
        let library = library.to_owned();
        Trial::test(name, move || {
            values_are_destroyed_once(&library, options).map_err(Into::into)
        })
    };
    vec![
        with("values_of_jemalloc_are_destroyed_once", "background_thread:false"),
        with(
            "values_beside_jemallocs_threads_are_destroyed_once",
            "background_thread:true",
        ),
    ]
}

/// Runs this program again, with the allocator.
fn values_are_destroyed_once(library: &Path, options: &str) -> Result<(), String> {
    let mut again = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    again
        .env(CHILD, "1")
        .env("LD_PRELOAD", library)
        .env("MALLOC_CONF", options);
    let output = again.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{options}: {text}");
    if output.status.success() && text.contains("by jemalloc") {
        return Ok(());
    }
    Err(format!(
        "{}: {text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn child() {
    // SAFETY: threads are created by the C library, jemalloc's too; no memory is shared with another process, and no words are given to
    // the kernel.
    match unsafe { cyclewise::enable_single!() } {
        Ok(()) => println!("{} sites are elided", patch::state().elided),
        Err(refusal) => println!("LOCK stays: {refusal}"),
    }
    churn::rounds();
    churn::additions_of_two_steps_are_caught();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    if maps.contains("libjemalloc") {
        println!("allocated by jemalloc");
    }
}

fn library() -> Option<PathBuf> {
    let folder = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    [folder.as_str(), "/usr/lib64", "/usr/lib"]
        .iter()
        .map(|folder| Path::new(folder).join("libjemalloc.so.2"))
        .find(|file| file.is_file())
}
