//! How long a storm lasts: a short form by default, and a long one with `CYCLEWISE_LONG`, which `cargo xtask ci --long` and `.ci/run` set.

/// How many times, or how many seconds: what the test's own variable says, or else one of these.
pub fn rounds(variable: &str, short: u64, long: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is a number")),
        Err(_) if is_long() => long,
        Err(_) => short,
    }
}

/// Whether the long forms are asked for.
pub fn is_long() -> bool {
    std::env::var_os("CYCLEWISE_LONG").is_some()
}
