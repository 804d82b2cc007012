//! What a site looks like in each state: one NOP that runs straight on, or one JMP.

use crate::common::harness::{Check, checks};
use crate::common::text::{bytes, instruction_at, permissions};
use crate::many::{MANY, all_say, sites};
use cyclewise::static_key;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

pub(crate) const CHECKS: &[Check] = checks![
    a_site_in_each_state,
    prefixes_are_part_of_the_instruction,
    no_site_needs_a_relocation_and_none_is_writable,
];

static_key! {
    static OFF: StaticKey = false;
    static ON: StaticKey = true;
}

#[inline(never)]
fn off_by_default() -> u32 {
    if OFF.is_enabled() { 1 } else { 2 }
}

#[inline(never)]
fn on_by_default() -> u32 {
    if ON.is_enabled() { 3 } else { 4 }
}

/// The site's instruction.
fn shown(key: &'static cyclewise::patch::StaticKey) -> String {
    let site = key.sites().next().unwrap();
    let bytes = bytes(site);
    let instruction = Decoder::new(64, &bytes, DecoderOptions::NONE).decode();
    assert_eq!(instruction.len(), 5);
    let mut text = String::new();
    if instruction.is_jmp_short_or_near() {
        // Where to is the compiler's affair.
        return "e9 ....: jmp there".to_owned();
    }
    IntelFormatter::new().format(&instruction, &mut text);
    let hex: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    format!("{}: {text}", hex.join(" "))
}

fn a_site_in_each_state() {
    let mut lines = Vec::new();
    let mut look = |when: &str| {
        lines.push(format!(
            "{when}, off by default: {} -> {}",
            shown(&OFF),
            off_by_default()
        ));
        lines.push(format!("{when}, on by default: {} -> {}", shown(&ON), on_by_default()));
    };
    look("at start");
    OFF.enable().unwrap();
    ON.disable().unwrap();
    look("flipped");
    OFF.disable().unwrap();
    ON.enable().unwrap();
    look("flipped back");
    insta::assert_snapshot!(lines.join("\n"), @r"
    at start, off by default: 0f 1f 44 00 00: nop [rax+rax] -> 2
    at start, on by default: 0f 1f 44 00 00: nop [rax+rax] -> 3
    flipped, off by default: e9 ....: jmp there -> 1
    flipped, on by default: e9 ....: jmp there -> 4
    flipped back, off by default: 0f 1f 44 00 00: nop [rax+rax] -> 2
    flipped back, on by default: 0f 1f 44 00 00: nop [rax+rax] -> 3
    ");
}

/// With its prefixes each site is one instruction in both states, so that no thread can stand inside.
fn prefixes_are_part_of_the_instruction() {
    let lengths = || {
        let mut lengths = [0; 10];
        for site in sites() {
            let start = instruction_at(site);
            let code: Vec<u8> = (start..site + 5).map(|at| bytes(at)[0]).collect();
            let instruction = Decoder::with_ip(64, &code, start as u64, DecoderOptions::NONE).decode();
            assert_eq!(instruction.len(), code.len(), "{instruction} at {start:#x}");
            assert!(instruction.is_jmp_near() == MANY.__flag() && !instruction.is_invalid());
            lengths[code.len()] += 1;
        }
        lengths
    };
    assert!(all_say(false));
    let before = lengths();
    MANY.enable().unwrap();
    assert!(all_say(true));
    assert_eq!(lengths(), before);
    assert_eq!(before.iter().sum::<u32>(), 100);
    assert!(before[6..].iter().sum::<u32>() > 0, "no site has prefixes");
}

fn no_site_needs_a_relocation_and_none_is_writable() {
    for site in OFF.sites().chain(ON.sites()) {
        assert_eq!(permissions(site), "r-xp");
        assert!(site % 8 <= 3, "{site:#x} straddles a quadword");
    }
}
