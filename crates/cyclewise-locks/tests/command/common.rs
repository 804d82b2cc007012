//! Runs the command as a script does, and creates folders for its output.

#[path = "../../../cyclewise-lab/tests/common/script.rs"]
mod script;

pub(crate) use script::{Folder, cyclewise as locks, refused, text};

use crate::programs::signals;
use cyclewise_locks::record::{self, Locks};
use flate2::read::GzDecoder;
use std::io::BufReader;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The command with these arguments, with signals as at a terminal.
pub(crate) fn command(args: &[&str]) -> Command {
    signals::with_default_signals(Command::new(env!("CARGO_BIN_EXE_cyclewise-locks")).args(args))
}

/// A record of some machine, whose costs are used so that no test measures them.
pub(crate) const RECORD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../records/2026-11-23-epyc-turin-kvm.json.gz"
);

/// A file with that record's costs alone: all of it takes seconds to read, and every test starts several programs that do.
pub(crate) fn costs() -> &'static str {
    static FILE: OnceLock<String> = OnceLock::new();
    FILE.get_or_init(|| {
        let packed = std::fs::File::open(RECORD).unwrap();
        let mut record: serde_json::Value = serde_json::from_reader(BufReader::new(GzDecoder::new(packed))).unwrap();
        let experiments = record["experiments"].as_array_mut().unwrap();
        experiments.retain(|experiment| experiment["name"] == "in-context");
        assert_eq!(experiments.len(), 1);
        let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/costs-of-the-command.json");
        std::fs::write(file, record.to_string()).unwrap();
        file.to_owned()
    })
}

/// Whether programs can be counted here.
pub(crate) fn can_count() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(tries_to_count)
}

fn tries_to_count() -> bool {
    let output = locks(&[
        "--by",
        "emulator",
        "--costs",
        costs(),
        "--native-runs",
        "0",
        "--",
        "true",
    ]);
    let said = text(&output.stderr);
    if output.status.code() == Some(3) {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{said}");
        println!("skipped: {said}");
        return false;
    }
    assert!(output.status.success(), "{said}");
    true
}

/// Counts a shell's script; `None` where that cannot be done here.
pub(crate) fn counted(options: &[&str], script: &str) -> Option<Output> {
    can_count().then(|| of_script(options, script).output().unwrap())
}

pub(crate) fn of_script(options: &[&str], script: &str) -> Command {
    let mut counted = command(&["--by", "emulator", "--costs", costs()]);
    counted
        .args(options)
        .args(["--", "sh", "-c", script])
        .stdin(Stdio::null());
    counted
}

pub(crate) fn document(name: &str, text: &str) -> Locks {
    record::from_str(name, text).unwrap()
}

/// A folder with the package `small` of this program, and the cargo that builds it.
pub(crate) fn small_package(source: &str) -> (Folder, String) {
    let folder = Folder::new();
    let manifest = "[package]\nname = \"small\"\nedition = \"2021\"\n[workspace]\n";
    folder.with("Cargo.toml", manifest);
    std::fs::create_dir(folder.path("src")).unwrap();
    folder.with("src/main.rs", source);
    (folder, std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
}
