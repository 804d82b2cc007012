//! `rcu` under `--cfg loom`: the protocol alone, and its models.

mod protocol;
#[cfg(test)]
#[path = "tests/models.rs"]
mod tests;
