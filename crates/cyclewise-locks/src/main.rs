//! The command `cyclewise-locks`, which `cyclewise locks` starts.

fn main() -> std::process::ExitCode {
    cyclewise_locks::command::main()
}
