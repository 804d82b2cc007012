//! The machine code that is timed, and the serialized time stamps around it.
//!
//! A [`Body`] is three loops around unrolled copies of one operation, U, 2U and 4U of them, so that the slope from the
//! first to the last is the operation's cost without the loop's, and the one between shows whether the cost is linear in
//! the copies. Bodies work on an [`Arena`] and on nothing else.
//!
//! # Invariants
//! 1. The functions of a [`Body`] follow the C calling convention, balance their stack and touch no memory but it and the
//!    arena they are given.
//!
//! # Safety
//! [`Body::run`] is safe because it passes a whole arena (Invariant 1).
#![expect(unsafe_code, reason = "calls functions written in assembly")]

/// A [`Body`]($crate::arch::Body) from its operation.
#[doc(hidden)]
#[macro_export]
macro_rules! body {
    ($name:literal, $copies:literal, [$($setup:literal),*], [$($op:literal),*] $(, after [$($after:literal),*])?) => {{
        $crate::looped!(once, $copies, [$($setup),*], [$($op),*] $(, after [$($after),*])?);
        $crate::looped!(twice, 2 * $copies, [$($setup),*], [$($op),*] $(, after [$($after),*])?);
        $crate::looped!(four_times, 4 * $copies, [$($setup),*], [$($op),*] $(, after [$($after),*])?);
        // SAFETY: `looped` keeps Invariant 1 for operations that touch only the stack and the arena.
        unsafe { $crate::arch::Body::new($name, $copies, [once, twice, four_times]) }
    }};
}

#[cfg(target_arch = "aarch64")]
#[macro_use]
mod aarch64;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod x86_64;
pub mod probe;

#[cfg(target_arch = "aarch64")]
pub use aarch64::{entry, program_counter, stamp};
#[cfg(target_arch = "x86_64")]
pub use x86_64::{entry, program_counter, stamp};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("bodies are written for x86-64 and AArch64; port crates/cyclewise-bench/src/arch/ first");

/// The same number, hidden from the compiler.
///
/// A loop that counts with it is not unrolled further. Without it, a plain operation would get a loop of another shape
/// than the assembly it is compared with, which the compiler does not unroll.
#[inline(always)]
pub fn opaque(n: u64) -> u64 {
    let mut out = n;
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) out, options(pure, nomem, nostack, preserves_flags)) };
    out
}

/// Makes the compiler assume that all memory is read, through this address.
///
/// Like `std::hint::black_box` of a reference, but the address stays in a register. `black_box` stores it to the stack,
/// beside the reference itself: on Zen 4 two such stores cost half a cycle if they lie in two blocks of 32 bytes, and
/// where they lie differs by row and by run.
#[inline(always)]
pub fn observe<T: ?Sized>(at: *const T) {
    // SAFETY: no instruction. No nomem: all stores must be done before it.
    unsafe { core::arch::asm!("/* {0} */", in(reg) at.cast::<u8>(), options(nostack, preserves_flags)) };
}

/// One page for bodies to work on. Aligned to a page, so that no operand straddles a cache line.
#[repr(C, align(4096))]
pub struct Arena(pub [u64; 512]);

impl Arena {
    /// A zeroed page, touched so that its memory is mapped before the first sample.
    pub fn new() -> Box<Self> {
        let mut arena = Box::new(Arena([0; 512]));
        for word in &mut arena.0 {
            // Not a fill the compiler may leave to the zero page.
            *word = std::hint::black_box(0);
        }
        arena
    }
}

/// A loop: the copies of one operation, run that many times on a page.
pub type Function = unsafe extern "C" fn(iterations: u64, arena: *mut u64) -> u64;

/// One of the three loops around an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// U copies an iteration.
    Once,
    /// 2U copies an iteration.
    Twice,
    /// 4U copies an iteration.
    FourTimes,
}

impl Length {
    /// The three, the shortest first.
    pub const ALL: [Self; 3] = [Self::Once, Self::Twice, Self::FourTimes];

    /// How many times U.
    pub const fn times(self) -> u32 {
        match self {
            Self::Once => 1,
            Self::Twice => 2,
            Self::FourTimes => 4,
        }
    }
}

/// One operation, unrolled: three loops in machine code.
///
/// With zero iterations a loop executes nothing and returns the length of its copies in bytes, as assembled.
#[derive(Clone, Copy)]
pub struct Body {
    /// The variant's name.
    pub name: &'static str,
    /// Copies of the operation in an iteration of the shortest loop; the others have two and four times as many. Zero
    /// for an empty loop: all three are the same code, and the slope is over the iterations.
    pub copies: u32,
    once: Function,
    twice: Function,
    four_times: Function,
}

impl Body {
    /// The three loops as one body.
    ///
    /// # Safety
    /// The functions keep Invariant 1 of the module.
    pub const unsafe fn new(name: &'static str, copies: u32, [once, twice, four_times]: [Function; 3]) -> Self {
        Self {
            name,
            copies,
            once,
            twice,
            four_times,
        }
    }

    /// The code of one of the loops.
    #[inline(always)]
    pub fn function(&self, length: Length) -> Function {
        match length {
            Length::Once => self.once,
            Length::Twice => self.twice,
            Length::FourTimes => self.four_times,
        }
    }

    /// Runs `iterations` of one of the loops. Always inlined, so that there is one call between the stamps around it.
    #[inline(always)]
    pub fn run(&self, length: Length, iterations: u64, arena: &mut Arena) -> u64 {
        // SAFETY: the arena is one whole writable page, borrowed for the call (Invariant 1).
        unsafe { self.function(length)(iterations, arena.0.as_mut_ptr()) }
    }

    /// Bytes of one copy of the operation, from the labels around the emitted code; `None` for the empty loop.
    pub fn code_bytes(&self) -> Option<u32> {
        let bytes = self.run(Length::Once, 0, &mut Arena::new());
        (self.copies > 0).then(|| (bytes / u64::from(self.copies)) as u32)
    }
}
