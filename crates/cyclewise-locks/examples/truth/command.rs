//! What a command prints, or in one line why it does not.

use std::process::{Command, Output};

/// What the command prints.
///
/// # Errors
/// One line, where it cannot be run or fails: with the last line of what it says.
pub(super) fn output(command: &mut Command, what: &str) -> Result<String, String> {
    let Output { status, stdout, stderr } = command
        .output()
        .map_err(|error| format!("{what}: {error}; install it"))?;
    let said = String::from_utf8_lossy(&stderr);
    if status.success() {
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    } else {
        Err(format!(
            "{what}: {status}: {}",
            said.trim().lines().last().unwrap_or("it says nothing")
        ))
    }
}
