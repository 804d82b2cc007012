//! How often a test tries what may go wrong at any time.

/// The short number by default, and the long one where CYCLEWISE_LONG is set.
pub(crate) fn short_or_long<T>(short: T, long: T) -> T {
    if std::env::var_os("CYCLEWISE_LONG").is_some() {
        long
    } else {
        short
    }
}
