//! The test of a static key where text is not patched: a relaxed load of its flag and a branch.

/// The test of a key.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_key_test {
    ($key:path, $default:literal) => {
        // Relaxed, in `__flag`: a test orders nothing, as on x86-64.
        $key.__flag()
    };
}

/// A function that returns the address of the table; here there is none.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_key_table {
    () => {
        $crate::arch::key::no_table
    };
}

/// The address of no table, the same in every link unit.
pub fn no_table() -> usize {
    0
}

/// The address of the table; here there is none.
pub(crate) fn table() -> usize {
    no_table()
}
