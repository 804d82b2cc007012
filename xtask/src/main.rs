//! The project's checks: `cargo xtask ci`, and the parts of it that can be run alone.

mod cargo;
mod ci;
mod docs_rs;
mod features;
mod install_c;
mod licences;
mod linkers;
mod package;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  ci [--keep-going] [--long] [--skip STEP]...
                                       every check a change must pass, first failure ends it; --long: storms at full length
  tidy                                 the rules no compiler checks: layers, asm, unsafe, lengths, names
  features                             compiles the library and the harness with each feature, and compares the table of features with cargo's
  install-c [--prefix P] [--libdir L] [--destdir D]
                                       builds the C interface and installs it below P, which is /usr/local
  linkers [--quick] [LINKER]...        links a probe in every way, and holds its table of LOCK sites against its code
  package                              packs what is published, builds each from its tarball, and checks what is in it

exit status: 0 passed, 1 a check failed, 2 usage error, 3 something could not be checked here";

/// How a command ended.
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// Something that is needed is not here; the command has said what, and the rest passed.
    Impossible,
}

impl From<bool> for Outcome {
    fn from(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(root) = workspace_root() else {
        eprintln!("xtask: no workspace here or above; run it inside a checkout");
        return ExitCode::from(2);
    };
    let outcome = match arguments.split_first() {
        Some((command, options)) if command == "ci" => ci::Options::parse(options).map(|o| ci::run(&root, &o).into()),
        Some((command, [])) if command == "tidy" => Ok(tidy::run(&root).into()),
        Some((command, [])) if command == "features" => Ok(features::run(&root).into()),
        Some((command, options)) if command == "install-c" => {
            install_c::Options::parse(options).and_then(|o| install_c::run(&root, &o))
        }
        Some((command, options)) if command == "linkers" => {
            linkers::Options::parse(options).and_then(|o| linkers::run(&root, &o))
        }
        Some((command, options)) if command == "package" => package::run(&root, options),
        Some((command, _)) if command == "--help" || command == "-h" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => Err(format!("usage error\n{USAGE}")),
    };
    match outcome {
        Ok(Outcome::Passed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Impossible) => ExitCode::from(3),
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// The nearest folder, here or above, that holds this program's own source.
///
/// Found when run, not when built: checkouts that share a target directory share the built program too.
fn workspace_root() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors()
        .find(|folder| folder.join("xtask/Cargo.toml").is_file())
        .map(PathBuf::from)
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from))
}
