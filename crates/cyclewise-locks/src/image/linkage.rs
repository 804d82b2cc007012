//! Functions that a file calls in other files, or by way of the dynamic linker in its own: a stub jumps to an address that the linker has
//! written to a slot, and a relocation says whose it is. Without them every such call is one of something unknown.
//!
//! # References
//! System V ABI, AMD64 supplement, 5.2; ELF for the Arm 64-bit Architecture, "Program Loading and Dynamic Linking".

use super::elf::Elf;
use super::symbols::Symbols;
use crate::counts::Arch;
use std::ops::Range;

/// Sections of stubs.
const STUBS: [&[u8]; 3] = [b".plt", b".plt.sec", b".plt.got"];

/// Bytes from a stub's start to the end of what reads the slot.
pub(super) const STUB: usize = 12;

/// A file's stubs and slots.
pub(super) struct Linkage {
    arch: Arch,
    stubs: Vec<Range<u64>>,
    /// Functions by where their addresses are written to.
    slots: Symbols,
    /// The same of functions of this file that have no name there: their addresses.
    own: Vec<(u64, u64)>,
}

impl Linkage {
    pub(super) fn read(elf: &Elf<'_>, arch: Arch) -> Self {
        Self {
            arch,
            stubs: STUBS.iter().filter_map(|name| elf.section_range(name)).collect(),
            slots: elf.slots(),
            own: elf.own_slots(),
        }
    }

    /// The function of this file whose address is in a slot.
    pub(super) fn own(&self, slot: u64) -> Option<u64> {
        let at = self.own.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
        Some(self.own[at].1)
    }

    /// The function of a stub, whose code `code` reads, or of a slot; with the slot's address.
    pub(super) fn function(&self, address: u64, code: impl FnOnce() -> Option<Vec<u8>>) -> Option<(u64, &[u8])> {
        let is_stub = self.stubs.iter().any(|stubs| stubs.contains(&address));
        let slot = if is_stub {
            slot(self.arch, address, &code()?)?
        } else {
            address
        };
        self.slots.find_name(slot)
    }
}

/// Where the stub at an address reads the address that it jumps to.
fn slot(arch: Arch, address: u64, code: &[u8]) -> Option<u64> {
    match arch {
        Arch::X86_64 => {
            let endbr = if code.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) {
                4
            } else {
                0
            };
            let bnd = usize::from(code.get(endbr) == Some(&0xf2));
            let [0xff, 0x25, displacement @ ..] = code.get(endbr + bnd..)? else {
                return None;
            };
            let displacement = i32::from_le_bytes(*displacement.first_chunk()?);
            let end = address.wrapping_add((endbr + bnd + 6) as u64);
            Some(end.wrapping_add_signed(displacement.into()))
        }
        Arch::Aarch64 => {
            let word = |n: usize| Some(u32::from_le_bytes(*code.get(4 * n..)?.first_chunk()?));
            let bti = usize::from(word(0)? == 0xd503_245f);
            // ADRP X16, page; LDR X17, [X16, offset].
            let (adrp, ldr) = (word(bti)?, word(bti + 1)?);
            if adrp & 0x9f00_001f != 0x9000_0010 || ldr & 0xffc0_03ff != 0xf940_0211 {
                return None;
            }
            let pages = (adrp >> 5 & 0x7_ffff) << 2 | adrp >> 29 & 3;
            let signed = i64::from((pages << 11).cast_signed() >> 11) << 12;
            let page = address.wrapping_add(4 * bti as u64) & !0xfff;
            let offset = u64::from(ldr >> 10 & 0xfff) * 8;
            Some(page.wrapping_add_signed(signed).wrapping_add(offset))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::slot;
    use crate::counts::Arch;

    #[test]
    fn stubs_of_both_architectures_name_their_slot() {
        let x86 = |code: &[u8]| slot(Arch::X86_64, 0x1000, code);
        assert_eq!(x86(&[0xff, 0x25, 0xfa, 0x2f, 0, 0]), Some(0x4000));
        let with_cet = [0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0x2f, 0, 0, 0];
        assert_eq!(x86(&with_cet), Some(0x4000));
        assert_eq!(x86(&[0xff, 0x25, 0xfa, 0x0f, 0xff, 0xff]), Some(0xffff_ffff_ffff_2000));
        // push [rip]; jmp [rip + 1] is no stub's beginning; nor is half of one.
        assert_eq!(x86(&[0xff, 0x35, 0xfa, 0x2f, 0, 0]), None);
        assert_eq!(x86(&[0xff, 0x25, 0xfa]), None);
        let arm = |address, words: &[u32]| {
            let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            slot(Arch::Aarch64, address, &code)
        };
        // adrp x16, .+0x1f000; ldr x17, [x16, #4024]
        assert_eq!(arm(0x1230, &[0xf000_00f0, 0xf947_de11]), Some(0x2_0000 + 4024));
        // bti c; adrp x16, .-0x1000; ldr x17, [x16]
        assert_eq!(arm(0x2ffc, &[0xd503_245f, 0xf0ff_fff0, 0xf940_0211]), Some(0x2000));
        assert_eq!(arm(0x1230, &[0xf000_00f1, 0xf947_de11]), None, "another register");
    }
}
