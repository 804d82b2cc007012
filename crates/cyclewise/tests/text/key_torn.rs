//! The twin of the flip: where its bytes are stored one by one, a running thread executes a torn instruction, and the harness
//! that passes the protocol catches it.

use crate::common::call;
use crate::common::child::{End, HANG_S, in_child, in_child_for};
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::text::{bytes, poke};
use cyclewise::static_key;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    one_store_passes_and_byte_by_byte_is_caught,
    every_half_decodes_to_something_else,
    a_breakpoint_kills_a_thread_that_blocks_signals,
];

static_key! {
    static KEY: StaticKey = false;
}

/// The site, in a function of its own. Both ways return at once, and nothing else does.
#[inline(never)]
fn tested() -> u64 {
    if KEY.is_enabled() { 0x6f6e } else { 0x6f66 }
}

fn site() -> usize {
    let sites: Vec<_> = KEY.sites().collect();
    assert_eq!(sites.len(), 1);
    sites[0]
}

fn decode(at: usize, bytes: [u8; 5]) -> Instruction {
    // Followed by NOPs, for what is longer than the site.
    let mut code = [0x90; 16];
    code[..5].copy_from_slice(&bytes);
    Decoder::with_ip(64, &code, at as u64, DecoderOptions::NONE).decode()
}

fn both_ways() -> ([u8; 5], [u8; 5]) {
    let off = bytes(site());
    KEY.enable().unwrap();
    let on = bytes(site());
    KEY.disable().unwrap();
    assert_eq!(bytes(site()), off);
    (off, on)
}

/// How a flip gets into the text.
type Flip = fn(on: bool);

fn by_protocol(on: bool) {
    match on {
        true => KEY.enable().unwrap(),
        false => KEY.disable().unwrap(),
    }
}

/// The text made writable for good, in a child that is not told.
fn make_writable(at: usize) {
    // SAFETY: text stays readable and executable.
    let rc = unsafe { libc::mprotect((at & !4095) as *mut libc::c_void, 4096, 7) };
    assert_eq!(rc, 0);
}

static WAYS: [[AtomicU64; 5]; 2] = [const { [const { AtomicU64::new(0) }; 5] }; 2];

/// The same bytes, one by one, with time between.
fn byte_by_byte(on: bool) {
    for (i, byte) in WAYS[usize::from(on)].iter().enumerate() {
        // SAFETY: the page was made writable; what this breaks is the test's purpose.
        unsafe { std::ptr::write_volatile((site() + i) as *mut u8, byte.load(Relaxed) as u8) };
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A thread executes the site while this one flips; anything but the two ways panics or crashes.
fn harness(flip: Flip) -> Result<(), End> {
    let torn = flip as usize == byte_by_byte as Flip as usize;
    // A torn instruction may lead anywhere, into a loop as well.
    let seconds = if torn { 10 } else { HANG_S };
    in_child_for(seconds, move || {
        let (off, on) = both_ways();
        for (way, bytes) in WAYS.iter().zip([off, on]) {
            for (cell, byte) in way.iter().zip(bytes) {
                cell.store(u64::from(byte), Relaxed);
            }
        }
        if torn {
            make_writable(site());
        }
        let stop = AtomicBool::new(false);
        let seen = [const { AtomicBool::new(false) }; 2];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    match tested() {
                        0x6f66 => seen[0].store(true, Relaxed),
                        0x6f6e => seen[1].store(true, Relaxed),
                        // Not a panic: the stack may be anything.
                        _ => std::process::abort(),
                    }
                }
            });
            let mut turn = 0;
            // However seldom a busy machine lets the thread run.
            while turn < 50 || !seen.iter().all(|way| way.load(Relaxed)) {
                flip(turn % 2 == 0);
                std::thread::sleep(Duration::from_micros(200));
                turn += 1;
            }
            stop.store(true, Relaxed);
        });
    })
}

fn one_store_passes_and_byte_by_byte_is_caught() {
    harness(by_protocol).unwrap();
    let torn = harness(byte_by_byte);
    eprintln!("byte by byte: {torn:?}");
    assert!(torn.is_err(), "the harness does not see a torn instruction");
}

/// Why: no prefix of the new bytes on the old ones is either way.
fn every_half_decodes_to_something_else() {
    let (off, on) = both_ways();
    let is_off = |i: &Instruction| i.mnemonic() == Mnemonic::Nop && i.len() == 5;
    let target = decode(site(), on).near_branch_target();
    let is_on = |i: &Instruction| {
        i.flow_control() == FlowControl::UnconditionalBranch && i.near_branch_target() == target && i.len() == 5
    };
    assert!(is_off(&decode(site(), off)) && is_on(&decode(site(), on)));
    let (mut halves, mut wrong) = (0, 0);
    for (from, to) in [(off, on), (on, off)] {
        for written in 1..5 {
            let mut torn = from;
            torn[..written].copy_from_slice(&to[..written]);
            if torn == from || torn == to {
                continue;
            }
            halves += 1;
            let decoded = decode(site(), torn);
            wrong += u32::from(!is_off(&decoded) && !is_on(&decoded));
            eprintln!("{torn:02x?}: {decoded}");
        }
    }
    assert!(halves > 0);
    assert_eq!(wrong, halves);
}

extern "C" fn leave(_: libc::c_int) {
    call::_exit(0);
}

/// A breakpoint on the site, met by a thread that has every signal blocked or none, with a handler installed.
fn breakpoint_met(blocked: bool) -> Result<(), End> {
    in_child(move || {
        signal::handle(libc::SIGTRAP, leave);
        if blocked {
            signal::mask(libc::SIG_SETMASK, signal::EVERY);
        }
        poke(site(), &[0xcc]);
        tested();
        unreachable!("the breakpoint was not met");
    })
}

/// Why the protocol is not the kernel's: where SIGTRAP is blocked, a handler does not help.
fn a_breakpoint_kills_a_thread_that_blocks_signals() {
    breakpoint_met(false).unwrap();
    assert_eq!(breakpoint_met(true), Err(End::Signal(libc::SIGTRAP)));
}
