//! The site of a static key: a 5-byte NOP or a 5-byte JMP, and a record of its address.
//!
//! ```text
//!         .p2align 3, 0x2e, 4        up to 4 CS prefixes where the next 5 bytes would straddle an aligned quadword
//! 2:      0F 1F 44 00 00             nop dword ptr [rax + rax]       or    E9 rel32    jmp there
//! ```
//! The prefixes belong to the next instruction and do not change either form: the CPU executes one NOP. A separate
//! padding NOP cost 3 % around 64 adds that keep all ALUs of a Zen 4 busy (`cyclewise run static-key`).
//!
//! Assembly, because no intrinsic exposes an instruction's address. A record is 16 bytes of the section
//! `cyclewise_key_v2`: site, target and key, each as a distance from its own field, and the number of prefixes. With
//! distances, position-independent programs need no relocation at run time, and the records stay read-only. The lowest
//! bit of the key field is the key's default.
//!
//! # Invariants
//! 1. A site holds [`NOP`] or the JMP to its target. It is a NOP while the key is at its default, as compiled: no code
//!    has to run before the first test.
//! 2. A site lies in one aligned quadword. Its prefixes are never changed.
//! 3. Records are never written, and stay mapped as long as the sites. Linkers keep them (flag R), and define the
//!    section's start and stop symbols for each link unit.
//!
//! # References
//! Linux arch/x86/include/asm/jump_label.h; Intel SDM vol. 2, NOP (recommended multi-byte sequences), JMP, and 2.1.1
//! for the prefix; GCC's -mindirect-branch-cs-prefix, with which Linux pads jumps the same way; gABI, SHF_GNU_RETAIN.
//!
//! # Safety
//! Only the assembler writes the records, from the macro in this file.
#![expect(unsafe_code, reason = "reads records between linker symbols")]

use super::table::records;

/// The site of a key at its default: the recommended 5-byte NOP.
pub(crate) const NOP: [u8; LENGTH] = [0x0f, 0x1f, 0x44, 0, 0];

/// Bytes of a site.
pub(crate) const LENGTH: usize = 5;

/// The prefix before some sites: CS, which a NOP and a direct jump ignore in 64-bit mode.
pub(crate) const PREFIX: u8 = 0x2e;

/// The most prefixes that the alignment of [`__static_key_test!`](crate::__static_key_test) adds.
pub(crate) const MOST_PREFIXES: usize = 4;

/// The test of a key: returns from the enclosing function, or evaluates to a bool. By its `unsafe` the caller
/// guarantees that the static is a `StaticKey`, or a struct with nothing else in it, whose default is the literal.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_key_test {
    ($key:path, $default:literal) => {{
        // SAFETY: falls through or jumps to the label, and writes nothing. No `pure`: a label forbids it. `nomem`: a
        // test orders nothing. The alignment's padding is prefixes of the NOP.
        unsafe {
            $crate::__core::arch::asm!(
                "3:",
                ".p2align 3, 0x2e, 4",
                "2:",
                ".byte 0x0f, 0x1f, 0x44, 0, 0",
                ".pushsection cyclewise_key_v2, \"aR\", @progbits",
                ".p2align 2",
                ".long 2b - .",
                ".long {there} - .",
                ".long {key} + {default} - .",
                ".long 2b - 3b",
                ".popsection",
                there = label { return !$default },
                key = sym $key,
                default = const if $default { 1 } else { 0 },
                options(nomem, nostack, preserves_flags),
            )
        };
        $default
    }};
}

/// A function that returns the address of the table of the link unit that this macro is expanded in.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_key_table {
    () => {{
        // Not inlined: another unit's code would find its own table.
        #[inline(never)]
        fn table() -> $crate::__core::primitive::usize {
            let start: $crate::__core::primitive::usize;
            // SAFETY: computes an address. The empty record makes the linker define the symbol.
            unsafe {
                $crate::__core::arch::asm!(
                    ".pushsection cyclewise_key_v2, \"aR\", @progbits",
                    ".p2align 2",
                    ".long 0, 0, 0, 0",
                    ".popsection",
                    ".hidden __start_cyclewise_key_v2",
                    "lea {start}, [rip + __start_cyclewise_key_v2]",
                    start = out(reg) start,
                    options(pure, nomem, nostack, preserves_flags),
                )
            };
            start
        }
        table
    }};
}

/// The address of this link unit's table.
pub(crate) fn table() -> usize {
    records().as_ptr().addr()
}

/// The records of a link unit.
#[derive(Clone, Copy)]
pub(crate) struct Table(&'static [Record]);

impl Table {
    /// Those of this link unit.
    pub(crate) fn own() -> Self {
        Self(records())
    }

    /// Those between two addresses. `None` where no array of records has these bounds.
    ///
    /// # Safety
    /// A link unit's bounds of its section `cyclewise_key_v2`, which stays mapped while the table is used.
    pub(crate) unsafe fn between(start: *const (), stop: *const ()) -> Option<Self> {
        let bytes = stop.addr().checked_sub(start.addr())?;
        let whole = !start.is_null() && start.addr().is_multiple_of(4) && bytes.is_multiple_of(size_of::<Record>());
        // SAFETY: the caller vouches for the section, which is never written (Invariant 3).
        whole.then(|| Self(unsafe { core::slice::from_raw_parts(start.cast(), bytes / size_of::<Record>()) }))
    }

    /// The sites of the key at `key`, in link order.
    ///
    /// Cost: reads every record of every key.
    pub(crate) fn sites(self, key: *const ()) -> impl Iterator<Item = Site> + Clone {
        self.0.iter().filter_map(move |record| {
            let there = at(&record.key);
            // The empty record has distances of 0.
            (record.site != 0 && there & !1 == key.addr()).then(|| Site {
                at: core::ptr::with_exposed_provenance_mut(at(&record.site)),
                target: at(&record.target),
                prefixes: record.prefixes as usize,
            })
        })
    }

    #[cfg(all(feature = "std", target_env = "gnu"))]
    pub(crate) fn all_sites(self) -> impl Iterator<Item = usize> {
        self.0.iter().filter(|r| r.site != 0).map(|record| at(&record.site))
    }

    /// The addresses of the sites of all other keys.
    ///
    /// Tests of two keys are the same bytes until one is flipped. A linker that folds identical code (`--icf=all`) may
    /// merge two functions, and then two keys have a record of the same site.
    pub(crate) fn sites_of_others(self, key: *const ()) -> impl Iterator<Item = usize> {
        let others = self.0.iter();
        let others = others.filter(move |r| r.site != 0 && at(&r.key) & !1 != key.addr());
        others.map(|record| at(&record.site))
    }
}

/// A record as the assembler writes it.
#[repr(C)]
struct Record {
    site: i32,
    target: i32,
    key: i32,
    prefixes: u32,
}

/// A test of a key in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The address of the 5 bytes.
    pub(crate) at: *mut u8,
    /// The address that the JMP leads to.
    target: usize,
    /// The number of [`PREFIX`]es before them.
    pub(crate) prefixes: usize,
}

impl Site {
    /// The JMP to the target.
    pub(crate) fn jump(&self) -> [u8; LENGTH] {
        let distance = self.target.wrapping_sub(self.at.addr() + LENGTH) as u32;
        let [a, b, c, d] = distance.to_le_bytes();
        [0xe9, a, b, c, d]
    }
}

/// The address that a record's field points at.
fn at(field: &i32) -> usize {
    (&raw const *field).addr().wrapping_add_signed(*field as isize)
}

/// The records of this link unit. Not inlined: another unit's code would find its own table.
#[inline(never)]
fn records() -> &'static [Record] {
    records!("cyclewise_key_v2", "0, 0, 0, 0", Record)
}
