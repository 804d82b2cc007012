//! The cargo that started this program, so that both use the same toolchain, and what it says of the workspace.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// A call of cargo at `root`.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).stdin(Stdio::null());
    command
}

/// What the call prints.
///
/// # Errors
/// One line, where it does not start or fails; its own message has been printed.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cargo did not start: {error}; install Rust 1.95 or newer"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("{command:?}: {}; its own message is above", output.status))
    }
}

/// Whether the call succeeds; where it does not start, a line begins with `who`.
pub(crate) fn succeeds(command: &mut Command, who: &str) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            println!("{who}: cargo did not start: {error}; install Rust 1.95 or newer");
            false
        }
    }
}

/// The workspace, by `cargo metadata` with these options.
///
/// # Errors
/// As [`output`].
pub(crate) fn metadata<'a>(root: &Path, options: impl IntoIterator<Item = &'a str>) -> Result<Value, String> {
    let mut command = cargo(root);
    command
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(options);
    serde_json::from_slice(&output(&mut command)?).map_err(|error| format!("cargo metadata: {error}"))
}
