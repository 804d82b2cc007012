//! Loops run in all surroundings, and their machine code is what it is meant to be.

#[cfg(target_arch = "x86_64")]
mod disassembly;
mod runs;
