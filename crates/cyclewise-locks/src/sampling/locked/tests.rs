//! The rule for late samples, and what is locked, on made code.

use super::*;

/// `mov eax, 1; lock xadd [rdi], eax; cmp eax, 2; je +3; xchg [rsi], ecx; nop; ret; nop`
const X86: &[u8] = &[
    0xb8, 1, 0, 0, 0, // 0x1000
    0xf0, 0x0f, 0xc1, 0x07, // 0x1005
    0x83, 0xf8, 0x02, // 0x1009
    0x74, 0x03, // 0x100c
    0x87, 0x0e, // 0x100e
    0x90, // 0x1010
    0xc3, // 0x1011
    0x90, // 0x1012
];

const F: Function<'_> = Function {
    arch: Arch::X86_64,
    start: 0x1000,
    bytes: X86,
};

#[test]
fn a_late_sample_means_the_nearest_at_or_before_it() {
    assert_eq!(F.meant(0x1005, false), Some(0x1005));
    assert_eq!(F.meant(0x100c, false), Some(0x1005));
    // In the middle of an instruction, as no processor reports it.
    assert_eq!(F.meant(0x1006, false), Some(0x1005));
    assert_eq!(F.meant(0x1011, false), Some(0x100e));
    // Before the first there is none.
    assert_eq!(F.meant(0x1000, false), None);
}

#[test]
fn an_exact_sample_means_that_one_or_none() {
    assert_eq!(F.meant(0x1005, true), Some(0x1005));
    assert_eq!(F.meant(0x100e, true), Some(0x100e));
    for other in [0x1000, 0x1006, 0x1009, 0x1010, 0xfff, 0x2000] {
        assert_eq!(F.meant(other, true), None, "{other:#x}");
    }
}

#[test]
fn an_exact_sample_behind_data_is_found() {
    // The first byte of a two-byte instruction, as data; decoded in a row it would swallow the prefix.
    let f = Function {
        bytes: &[0xeb, 0x01, 0xb8, 0xf0, 0xff, 0x07, 0xc3],
        ..F
    };
    assert_eq!(f.meant(0x1003, true), Some(0x1003));
    assert_eq!(f.meant(0x1006, false), None);
    assert!(f.block(0x1003).contains(&0x1003));
}

#[test]
fn a_fence_is_locked_where_it_has_a_word() {
    let locked = |arch, bytes| Function { arch, start: 0, bytes }.meant(0, true).is_some();
    assert!(locked(Arch::X86_64, &[0xf0, 0x83, 0x0c, 0x24, 0][..])); // lock or [rsp], 0
    assert!(!locked(Arch::X86_64, &[0x0f, 0xae, 0xf0])); // mfence
    assert!(!locked(Arch::Aarch64, &0xd503_3bbf_u32.to_le_bytes())); // dmb ish
}

#[test]
fn a_block_begins_behind_a_branch_or_at_its_target() {
    assert_eq!(F.block(0x1005), 0x1000..0x1013);
    // The branch at 0x100c ends the block before the exchange; its target is behind it.
    assert_eq!(F.block(0x100e).start, 0x100e);
    let at_target = Function {
        bytes: &[0xeb, 0x01, 0x90, 0xf0, 0xff, 0x07, 0xc3],
        ..F
    };
    assert_eq!(at_target.block(0x1003), 0x1003..0x1007);
    let into_the_middle = Function {
        bytes: &[0x90, 0x90, 0xf0, 0xff, 0x07, 0x75, 0xfa, 0xc3],
        ..F
    };
    // jne 0x1001
    assert_eq!(into_the_middle.block(0x1002), 0x1001..0x1008);
}

#[test]
fn a_late_sample_on_aarch64_means_the_store_of_its_loop() {
    // ldaxr w1, [x2]; add w1, w1, #1; stlxr w0, w1, [x2]; cbnz w0, -12; ret
    let words = [0x885f_fc41_u32, 0x1100_0421, 0x8800_fc41, 0x35ff_ffa0, 0xd65f_03c0];
    let bytes = words.map(u32::to_le_bytes).concat();
    let f = Function {
        arch: Arch::Aarch64,
        start: 0x4000,
        bytes: &bytes,
    };
    assert_eq!(f.meant(0x4010, false), Some(0x4008));
    assert_eq!(f.meant(0x400c, false), Some(0x4008));
    // Round the loop and before it: the rule finds none.
    assert_eq!(f.meant(0x4000, false), None);
    assert_eq!(f.block(0x4008), 0x4000..0x4014);
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_give_an_answer_within_the_function(bytes in proptest::collection::vec(any::<u8>(), 1..80), at in 0u64..90, arm: bool) {
            let arch = if arm { Arch::Aarch64 } else { Arch::X86_64 };
            let f = Function { arch, start: 0x1000, bytes: &bytes };
            if let Some(site) = f.meant(0x1000 + at, false) {
                prop_assert!(site <= 0x1000 + at && site < f.end());
                let block = f.block(site);
                prop_assert!(block.start >= f.start && block.start <= site && block.end > site && block.end <= f.end());
            }
        }
    }
}
