//! What AMD's instruction-based sampling says of an op, from a sample's raw bytes.
//!
//! # References
//! AMD64 Architecture Programmer's Manual volume 2, 13.3 "Instruction-Based Sampling", and PPR for family 19h model 01h (55898):
//! MSR C001_1035 IBS_OP_DATA has IbsRipInvalid in bit 38, MSR C001_1037 IBS_OP_DATA3 has DcLockedOp in bit 15. The kernel's order of
//! registers behind a word of capabilities: `struct perf_ibs_data` in arch/x86/include/asm/amd-ibs.h, which perf itself reads so. Raw
//! bytes are not an ABI, so a run is first tried on a loop of known locked instructions.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IbsOp {
    /// The address of its instruction, where the hardware has it.
    pub rip: Option<u64>,
    /// It is part of a locked instruction.
    pub locked: bool,
}

const RIP_INVALID: u64 = 1 << 38;
const DC_LOCKED_OP: u64 = 1 << 15;

impl IbsOp {
    /// Decodes the raw bytes: capabilities (4 bytes), IBS_OP_CTL, IBS_OP_RIP, IBS_OP_DATA, IBS_OP_DATA2, IBS_OP_DATA3, and more.
    pub(super) fn decode(raw: &[u8]) -> Option<Self> {
        let register = |index: usize| {
            let bytes = raw.get(4 + 8 * index..12 + 8 * index)?;
            Some(u64::from_ne_bytes(bytes.try_into().ok()?))
        };
        let (rip, data, data3) = (register(1)?, register(2)?, register(4)?);
        Some(Self {
            rip: (data & RIP_INVALID == 0).then_some(rip),
            locked: data3 & DC_LOCKED_OP != 0,
        })
    }
}

/// The raw bytes of an op, for tests.
#[cfg(any(test, feature = "testing"))]
pub fn raw(op: IbsOp) -> Vec<u8> {
    let mut bytes = vec![0xff, 0x07, 0, 0];
    let data = if op.rip.is_none() { RIP_INVALID } else { 0 };
    let data3 = if op.locked { DC_LOCKED_OP } else { 0 };
    for register in [1 << 18, op.rip.unwrap_or(7), data, 0, data3 | 3, 0x1000, 0x2000] {
        bytes.extend_from_slice(&u64::to_ne_bytes(register));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_found_where_the_manual_has_them() {
        for op in [
            IbsOp {
                rip: Some(0x40_1000),
                locked: true,
            },
            IbsOp {
                rip: None,
                locked: true,
            },
            IbsOp {
                rip: Some(0x40_1000),
                locked: false,
            },
        ] {
            assert_eq!(IbsOp::decode(&raw(op)), Some(op));
        }
        // The twin: DcMissNoMabAlloc, the bit above, is no lock.
        let mut wrong = raw(IbsOp {
            rip: Some(1),
            locked: true,
        });
        wrong[4 + 8 * 4 + 1] = 0;
        wrong[4 + 8 * 4 + 2] = 1;
        assert!(!IbsOp::decode(&wrong).unwrap().locked);
    }

    #[test]
    fn too_few_bytes_are_no_op() {
        let whole = raw(IbsOp {
            rip: Some(1),
            locked: true,
        });
        for length in 0..4 + 8 * 5 {
            assert_eq!(IbsOp::decode(&whole[..length]), None, "{length}");
        }
    }
}
