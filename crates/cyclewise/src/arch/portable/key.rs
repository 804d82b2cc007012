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
