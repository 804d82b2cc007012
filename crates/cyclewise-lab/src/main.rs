//! The `cyclewise` command.

fn main() {}
