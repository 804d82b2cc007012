//! The other programs of the tests, beside this package's: `cyclewise`, which planned jobs start, and the simulator, which that starts.

#[path = "../../../cyclewise-lab/tests/common/other_programs.rs"]
mod other_programs;

use other_programs::{Other, SIMULATOR, built};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const LAB: Other = Other {
    program: "cyclewise",
    package: "cyclewise-lab",
    made_of: &[
        "cyclewise",
        "cyclewise-bench",
        "cyclewise-c",
        "cyclewise-context",
        "cyclewise-guest",
        "cyclewise-lab",
        "cyclewise-report",
    ],
};

/// The lab's program. Those that it starts are beside it.
pub fn cyclewise() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_cyclewise-fleet")).parent().unwrap();
        built(folder, &SIMULATOR);
        built(folder, &LAB)
    })
}
