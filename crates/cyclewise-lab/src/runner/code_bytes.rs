//! The compiled code length of operations written in Rust.

use crate::arch::program_counter;

/// Bytes that a second copy of the operation adds to the first: its straight path, without called functions and cold
/// code. `None` if the compiler has placed other code in between.
///
/// Runs the operation.
pub(crate) fn code_bytes(operation: impl Fn() + Copy) -> Option<u32> {
    let bytes = twice(operation).checked_sub(once(operation)?)?;
    u32::try_from(bytes).ok().filter(|&bytes| bytes > 0)
}

#[inline(never)]
fn once(operation: impl Fn()) -> Option<usize> {
    let from = program_counter();
    operation();
    program_counter().checked_sub(from)
}

#[inline(never)]
fn twice(operation: impl Fn()) -> usize {
    let from = program_counter();
    operation();
    operation();
    program_counter().saturating_sub(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::words::Plain;

    #[test]
    fn an_instruction_has_the_bytes_of_its_encoding_and_two_have_twice_as_many() {
        let words: &'static Plain = Box::leak(Box::new(Plain::new()));
        let one = code_bytes(move || words.inc(0)).unwrap();
        let two = code_bytes(move || {
            words.inc(0);
            words.inc(0);
        })
        .unwrap();
        // INC of a word by a register: REX, opcode, ModRM, and a byte more for some registers. LDR, ADD, STR.
        let expected = if cfg!(target_arch = "x86_64") { 3..=4 } else { 12..=12 };
        if cfg!(debug_assertions) {
            // Without optimization only the minimum is known.
            assert!(one >= *expected.start() && two >= one, "{one} and {two}");
            return;
        }
        assert!(expected.contains(&one), "{one}");
        assert_eq!(two, 2 * one);
        assert_eq!(code_bytes(|| ()), None);
    }
}
