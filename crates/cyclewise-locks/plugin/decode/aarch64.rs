//! AArch64: LSE atomics, store-exclusives, DMB.
//!
//! # References
//! Arm's architecture manual, C4.1.94 (loads and stores), C6.2 (the instructions), D503 (barriers).

use super::{Decoded, Flow, Form, Step};

/// Bits of which `.1` are those of the form, where `.0` masks them.
const CAS: (u32, u32) = (0x3fa0_7c00, 0x08a0_7c00);
const CASP: (u32, u32) = (0xbfa0_7c00, 0x0820_7c00);
const STXR: (u32, u32) = (0x3fe0_0000, 0x0800_0000);
const STXP: (u32, u32) = (0xbfe0_0000, 0x8820_0000);
/// LDADD and its kin, and SWP; LDAPR and 64-byte loads and stores are in the same space.
const ATOMIC: (u32, u32) = (0x3f20_0c00, 0x3820_0000);
const DMB: (u32, u32) = (0xffff_f0ff, 0xd503_30bf);

/// Whether the instruction is a site.
pub fn site(code: &[u8]) -> Option<Decoded> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    let is = |(mask, bits): (u32, u32)| word & mask == bits;
    let found = |form, step| Some(Decoded { form, step });
    if is(STXR) || is(STXP) {
        found(Form::Exclusive, Step::None)
    } else if is(CAS) || is(CASP) {
        found(Form::Lse, Step::None)
    } else if is(DMB) {
        found(Form::Fence, Step::None)
    } else if is(ATOMIC) {
        let (o3, opc) = (word >> 15 & 1, word >> 12 & 7);
        match (o3, opc) {
            // LDADD. Its operand is in a register; a subtraction adds the negative.
            (0, 0) => found(Form::Lse, Step::Register),
            (0, _) | (1, 0) => found(Form::Lse, Step::None),
            _ => None,
        }
    } else {
        None
    }
}

/// BL; BLR and its authenticated kin; RET and its.
const BL: (u32, u32) = (0xfc00_0000, 0x9400_0000);
const BLR: (u32, u32) = (0xfeff_f000, 0xd63f_0000);
const RET: (u32, u32) = (0xffff_f000, 0xd65f_0000);

/// Whether the instruction calls, or goes back from a call.
pub fn flow(code: &[u8], address: u64) -> Flow {
    let Some(word) = code.first_chunk().map(|b| u32::from_le_bytes(*b)) else {
        return Flow::Next;
    };
    let is = |(mask, bits): (u32, u32)| word & mask == bits;
    if is(BL) || is(BLR) {
        Flow::Call(address.wrapping_add(4))
    } else if is(RET) {
        Flow::Return
    } else {
        Flow::Next
    }
}

#[cfg(test)]
mod tests {
    use super::site;
    use crate::decode::{Flow, Form, Step};

    #[test]
    fn sites() {
        // As an assembler writes them.
        let table: &[(u32, Form, Step)] = &[
            (0xb820_0041, Form::Lse, Step::Register),   // ldadd w0, w1, [x2]
            (0xf8e0_0041, Form::Lse, Step::Register),   // ldaddal x0, x1, [x2]
            (0xb820_005f, Form::Lse, Step::Register),   // stadd w0, [x2]
            (0x3820_1041, Form::Lse, Step::None),       // ldclrb w0, w1, [x2]
            (0xb820_3041, Form::Lse, Step::None),       // ldset w0, w1, [x2]
            (0xf820_7041, Form::Lse, Step::None),       // ldumin x0, x1, [x2]
            (0xb8a0_8041, Form::Lse, Step::None),       // swpa w0, w1, [x2]
            (0x88a0_7c41, Form::Lse, Step::None),       // cas w0, w1, [x2]
            (0xc8e0_fc41, Form::Lse, Step::None),       // casal x0, x1, [x2]
            (0x4820_7c82, Form::Lse, Step::None),       // casp x0, x1, x2, x3, [x4]
            (0x8800_7c41, Form::Exclusive, Step::None), // stxr w0, w1, [x2]
            (0xc800_fc41, Form::Exclusive, Step::None), // stlxr w0, x1, [x2]
            (0x0800_7c41, Form::Exclusive, Step::None), // stxrb w0, w1, [x2]
            (0xc820_0861, Form::Exclusive, Step::None), // stxp w0, x1, x2, [x3]
            (0xd503_3bbf, Form::Fence, Step::None),     // dmb ish
            (0xd503_39bf, Form::Fence, Step::None),     // dmb ishld
        ];
        for (word, form, step) in table {
            let found = site(&word.to_le_bytes()).unwrap_or_else(|| panic!("{word:08x} is a site"));
            assert_eq!((found.form, found.step), (*form, *step), "{word:08x}");
        }
    }

    #[test]
    fn calls_and_returns() {
        let table: &[(u32, Flow)] = &[
            (0x9400_0000, Flow::Call(8)), // bl 4
            (0xd63f_0020, Flow::Call(8)), // blr x1
            (0xd73f_0822, Flow::Call(8)), // blraa x1, x2
            (0xd65f_03c0, Flow::Return),  // ret
            (0xd65f_0bff, Flow::Return),  // retaa
            (0x1400_0000, Flow::Next),    // b 4
            (0xd61f_0020, Flow::Next),    // br x1
        ];
        for (word, flow) in table {
            assert_eq!(super::flow(&word.to_le_bytes(), 4), *flow, "{word:08x}");
        }
    }

    #[test]
    fn no_sites() {
        let table = [
            0x885f_7c41, // ldxr w1, [x2]
            0x885f_fc41, // ldaxr w1, [x2]
            0xc87f_0861, // ldxp x1, x2, [x3]
            0x889f_fc41, // stlr w1, [x2]
            0x88df_fc41, // ldar w1, [x2]
            0xb8bf_c041, // ldapr w1, [x2]
            0xb820_6841, // str w1, [x2, x0]
            0xf800_0041, // stur x1, [x2]
            0xd503_3b9f, // dsb ish
            0xd503_3fdf, // isb
            0xd503_201f, // nop
        ];
        for word in table {
            assert_eq!(site(&u32::to_le_bytes(word)), None, "{word:08x}");
        }
        assert_eq!(site(&[1, 2, 3]), None);
    }
}
