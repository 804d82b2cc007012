//! Signals of the programs that tests start.

use std::process::Command;

/// The same command with every signal as it is at a terminal. A program ignores what its parent ignores, and `nohup` and a script's
/// `command &` do ignore some. Nor is the width a terminal's that the parent has told it.
pub(crate) fn with_default_signals(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal")
        .arg(command.get_program())
        .args(command.get_args())
        .env_remove("COLUMNS");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    env
}
