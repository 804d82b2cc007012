//! The `cyclewise` command.

fn main() -> std::process::ExitCode {
    cyclewise_lab::command::main()
}
