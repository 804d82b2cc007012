//! What the C compiler made of the rows: as many operations as they say, with sites in those of the header alone.
//!
//! # Safety
//! 1. A function of sixteen copies, with the functions after it, is longer than the bytes that are decoded.
#![allow(unsafe_code, reason = "reads the program's own text, where it is x86-64")]

use super::*;
use crate::arch::{Arena, Length};

type Row = (&'static str, fn(&'static str) -> Option<Body>);

const ALL: [Row; 12] = [
    ("inc", inc),
    ("c11_inc", c11_inc),
    ("fetch_add", fetch_add),
    ("c11_fetch_add", c11_fetch_add),
    ("refcount", refcount),
    ("refcount64", refcount64),
    ("c11_count", c11_count),
    ("c11_count64", c11_count64),
    ("object", object),
    ("c11_object", c11_object),
    ("inc_round", inc_round),
    ("c11_inc_round", c11_inc_round),
];

/// Rows that there are; in CI there is a C compiler.
fn bodies() -> impl Iterator<Item = Body> {
    if let Some(why) = why_not() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
        println!("skipped: {why}");
    }
    ALL.iter().filter_map(|(name, body)| body(name))
}

#[test]
fn there_are_all_rows_or_a_reason() {
    let rows = bodies().count();
    assert_eq!(rows, if why_not().is_some() { 0 } else { ALL.len() });
}

#[test]
fn each_loop_makes_as_many_operations_as_it_is_long() {
    for body in bodies() {
        for length in Length::ALL {
            let mut page = Arena::new();
            // Left by another body: a row begins with words of its own.
            page.0[0] = 77;
            body.run(length, 3, &mut page);
            let expected = match body.name {
                "inc" | "c11_inc" | "fetch_add" | "c11_fetch_add" | "inc_round" | "c11_inc_round" => {
                    u64::from(3 * body.copies * length.times())
                }
                // One reference is left. The header stores one less; of 32 bits, half of the word is another's.
                "refcount" | "refcount64" | "object" => 0,
                _ => 1,
            };
            assert_eq!(page.0[0] & 0xffff_ffff, expected, "{} {length:?}", body.name);
            body.run(length, 0, &mut page);
        }
    }
}

/// The header's operations can be elided with Rust's. C11's cannot, which is the twin.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_headers_operations_are_sites_and_c11s_are_not() {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};
    let sites: Vec<usize> = cyclewise::patch::sites().map(|site| site.address()).collect();
    // A round is a loop of its own, whose jumps this does not follow.
    for body in bodies().filter(|body| !body.name.ends_with("round")) {
        let operations = match body.name {
            "inc" | "c11_inc" | "fetch_add" | "c11_fetch_add" => 1,
            _ => 2,
        };
        let start = body.function(Length::FourTimes) as usize;
        // SAFETY: text of this program, mapped and not written meanwhile (1).
        let code = unsafe { std::slice::from_raw_parts(start as *const u8, 512) };
        let mut decoder = Decoder::with_ip(64, code, start as u64, DecoderOptions::NONE);
        let (mut locked, mut recorded) = (0, 0);
        for instruction in decoder.iter().take_while(|i| i.mnemonic() != Mnemonic::Ret) {
            locked += u32::from(instruction.has_lock_prefix());
            recorded += u32::from(sites.contains(&(instruction.ip() as usize)));
        }
        assert_eq!(locked, 16 * operations, "{}", body.name);
        let expected = if body.name.starts_with("c11") { 0 } else { locked };
        assert_eq!(recorded, expected, "{}", body.name);
    }
}
