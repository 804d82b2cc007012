//! The test of a static key where text is not patched: a relaxed load of its flag and a branch.

/// The test of a key.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_key_test {
    ($key:path, $default:literal) => {
        // Relaxed, inside: a test orders nothing, as where it is an instruction.
        $key.__flag()
    };
}

/// A function that says where the table is: there is none.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_key_table {
    () => {
        $crate::arch::key::no_table
    };
}

/// There is no table, the same for everybody.
pub fn no_table() -> usize {
    0
}

/// Where the table is: there is none.
pub(crate) fn table() -> usize {
    no_table()
}
