//! The `cyclewise-fleet` command, which `cyclewise fleet` starts.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    cyclewise_fleet::command::main()
}
