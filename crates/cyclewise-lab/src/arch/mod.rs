//! The instructions under test and the serialized time stamps: the only assembly of the lab.
//!
//! A [`Body`] is a loop around unrolled copies of one operation, once with U copies and once with 2U, so that the
//! slope between the two is the operation's cost without the loop's. Bodies get an [`Arena`] to work on and nothing else.
//!
//! # Safety
//! [`Code`] holds functions written in assembly. Each follows the C calling convention, restores what it pushes and
//! touches no memory but its stack and the arena it is given (Invariant 1); [`Code::run`] is safe because it passes a
//! whole arena.
#![expect(unsafe_code, reason = "calls functions written in assembly")]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{counter, entry, place, raw, stamp, words};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{counter, entry, field, lock_prefix, place, plain, popf, raw, stamp, words};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the lab's bodies are written for x86-64 and AArch64; port crates/cyclewise-lab/src/arch/ first");

/// The same number, of which the compiler knows nothing.
///
/// A loop that counts with it is not unrolled further, whatever is in it: an asm block stops the compiler from doing so,
/// and a plain operation would get a loop of another shape than ours to be held against.
#[inline(always)]
pub fn opaque(n: u64) -> u64 {
    let mut out = n;
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) out, options(pure, nomem, nostack, preserves_flags)) };
    out
}

/// Lets the compiler believe that somebody looks at everything in memory, by this address.
///
/// As `std::hint::black_box` of a reference, but the address stays in a register. That one stores it to the stack,
/// beside the reference itself: on Zen 4 two such stores cost half a cycle where they lie in two blocks of 32 bytes,
/// and where they lie is the compiler's choice for one row and chance for a run.
#[inline(always)]
pub fn observe<T: ?Sized>(at: *const T) {
    // SAFETY: no instruction. No nomem: memory has to be as the program says.
    unsafe { core::arch::asm!("/* {0} */", in(reg) at.cast::<u8>(), options(nostack, preserves_flags)) };
}

/// One page for bodies to work on. Aligned to a page, so that no operand straddles a cache line.
#[repr(C, align(4096))]
pub struct Arena([u64; 512]);

impl Arena {
    /// A zeroed page, touched so that its memory is placed before the first sample.
    pub fn new() -> Box<Self> {
        let mut arena = Box::new(Arena([0; 512]));
        for word in &mut arena.0 {
            // Not a fill the compiler may leave to the zero page.
            *word = std::hint::black_box(0);
        }
        arena
    }
}

type Function = unsafe extern "C" fn(iterations: u64, arena: *mut u64) -> u64;

/// A measured loop in machine code.
///
/// With zero iterations it executes nothing of the body and returns the body's length in bytes, as assembled.
#[derive(Clone, Copy)]
pub struct Code(Function);

impl Code {
    /// # Safety
    /// The function keeps Invariant 1 of the module.
    const unsafe fn new(function: Function) -> Self {
        Self(function)
    }

    /// Runs the loop `iterations` times. Always inlined, so that a stamp before and after sees one call between.
    #[inline(always)]
    pub fn run(self, iterations: u64, arena: &mut Arena) -> u64 {
        // SAFETY: the arena is one whole writable page that nobody else uses meanwhile (Invariant 1).
        unsafe { (self.0)(iterations, arena.0.as_mut_ptr()) }
    }
}

/// One operation, unrolled.
#[derive(Clone, Copy)]
pub struct Body {
    /// The variant's name.
    pub name: &'static str,
    /// Copies of the operation in an iteration of `once`; `twice` has double. Zero for an empty loop, where the two
    /// are the same code and the slope is taken over the iterations.
    pub copies: u32,
    /// The loop with `copies` copies.
    pub once: Code,
    /// The loop with twice as many.
    pub twice: Code,
}

impl Body {
    /// Bytes of one copy of the operation, from the labels around the emitted code; `None` for the empty loop.
    pub fn code_bytes(&self) -> Option<u32> {
        let mut arena = Arena::new();
        let bytes = self.once.run(0, &mut arena);
        (self.copies > 0).then(|| (bytes / u64::from(self.copies)) as u32)
    }
}

#[cfg(test)]
mod tests;
