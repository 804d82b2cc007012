//! The `cyclewise-sim` command.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    cyclewise_sim::command::main()
}
