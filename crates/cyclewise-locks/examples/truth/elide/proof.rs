//! Which sites are proven: found by the sweep of a section, and by decoding a function from its start.
//!
//! # Invariants
//! 1. A site is proven where the linear sweep of its section has it **and** some range that holds it decodes cleanly from its start to its end
//!    **and** every range that holds it and decodes cleanly has it too.
//! 2. Either alone is wrong: a sweep takes data in the text for code, and so would a range that starts in data.
//!
//! What no rule sees is data inside a function that decodes cleanly, at the right distance from its start. Nothing in 19 files was of
//! that kind, among them libcrypto, whose text has tables.

use super::ranges::Ranges;
use super::site::Site;
use iced_x86::{Decoder, DecoderOptions};

/// An executable section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'a> {
    pub(super) address: u64,
    /// Where it starts in the file.
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
}

/// What is known of a site that the sweep has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    Proven,
    /// No function is known to be there.
    NoRange,
    /// The functions that are there do not decode to their ends.
    Unclean,
    /// A function that decodes cleanly has its instructions elsewhere.
    Disputed,
}

impl Proof {
    /// What it is called in lists.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::NoRange => "no-range",
            Self::Unclean => "unclean",
            Self::Disputed => "disputed",
        }
    }
}

/// The sites of a section that a linear sweep finds, in order. Some of them may be data.
pub(super) fn sweep(section: &Section<'_>) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut decoder = Decoder::with_ip(64, section.bytes, section.address, DecoderOptions::NONE);
    while decoder.can_decode() {
        let start = decoder.position();
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            // Whatever the bytes are, the next one may start an instruction.
            if decoder.set_position(start + 1).is_err() {
                break;
            }
            decoder.set_ip(section.address + start as u64 + 1);
            continue;
        }
        sites.extend(Site::of(&instruction, &section.bytes[start..decoder.position()]));
    }
    sites
}

/// What the ranges say of each of `sites`, which the sweep of the section has found.
pub(super) fn prove(section: &Section<'_>, sites: &[Site], ranges: &Ranges) -> Vec<Proof> {
    let mut proofs = vec![Proof::NoRange; sites.len()];
    let limit = section.address + section.bytes.len() as u64;
    for &(start, end) in ranges.range((section.address, 0)..(limit, 0)) {
        let from = sites.partition_point(|site| site.address < start);
        let to = sites.partition_point(|site| site.address < end);
        if from == to || end > limit {
            continue;
        }
        let body = &section.bytes[(start - section.address) as usize..(end - section.address) as usize];
        let found = decode(start, body);
        for (site, proof) in sites[from..to].iter().zip(&mut proofs[from..to]) {
            let said = match &found {
                None => Proof::Unclean,
                Some(found) if found.contains(site) => Proof::Proven,
                Some(_) => Proof::Disputed,
            };
            *proof = strongest(*proof, said);
        }
    }
    proofs
}

/// What two ranges say together. A dispute is never settled; a range that does not decode says nothing against one that does.
fn strongest(one: Proof, other: Proof) -> Proof {
    let rank = |proof| match proof {
        Proof::NoRange => 0,
        Proof::Unclean => 1,
        Proof::Proven => 2,
        Proof::Disputed => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// The sites of a function; none where its bytes are not instructions from the first to the last.
fn decode(address: u64, body: &[u8]) -> Option<Vec<Site>> {
    let mut sites = Vec::new();
    let mut decoder = Decoder::with_ip(64, body, address, DecoderOptions::NONE);
    while decoder.can_decode() {
        let start = decoder.position();
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        sites.extend(Site::of(&instruction, &body[start..decoder.position()]));
    }
    Some(sites)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// lock inc qword [rdi]; ret
    const FUNCTION: [u8; 5] = [0xf0, 0x48, 0xff, 0x07, 0xc3];

    fn proofs(bytes: &[u8], ranges: &[(u64, u64)]) -> Vec<(u64, Proof)> {
        let section = Section {
            address: 0x100,
            offset: 0,
            bytes,
        };
        let sites = sweep(&section);
        let proofs = prove(&section, &sites, &ranges.iter().copied().collect());
        sites.iter().map(|site| site.address).zip(proofs).collect()
    }

    #[test]
    fn a_site_needs_the_sweep_and_a_clean_range() {
        assert_eq!(proofs(&FUNCTION, &[(0x100, 0x105)]), [(0x100, Proof::Proven)]);
        assert_eq!(proofs(&FUNCTION, &[]), [(0x100, Proof::NoRange)]);
        assert_eq!(proofs(&FUNCTION, &[(0x104, 0x105)]), [(0x100, Proof::NoRange)]);
        // The range ends in the middle of an instruction, or outside the section.
        assert_eq!(proofs(&FUNCTION, &[(0x100, 0x103)]), [(0x100, Proof::Unclean)]);
        assert_eq!(proofs(&FUNCTION, &[(0x100, 0x106)]), [(0x100, Proof::NoRange)]);
    }

    #[test]
    fn a_range_that_decodes_otherwise_is_a_dispute_whoever_else_agrees() {
        // mov eax, 0x05000000; lock inc qword [rdi]; ret. From the constant's last byte on: add eax, 0x07ff48f0; ret.
        let bytes = [&[0xb8, 0x00, 0x00, 0x00, 0x05][..], &FUNCTION].concat();
        let (whole, inner) = ((0x100, 0x10a), (0x104, 0x10a));
        assert_eq!(proofs(&bytes, &[whole]), [(0x105, Proof::Proven)]);
        assert_eq!(proofs(&bytes, &[inner]), [(0x105, Proof::Disputed)]);
        assert_eq!(proofs(&bytes, &[whole, inner]), [(0x105, Proof::Disputed)]);
    }

    #[test]
    fn a_range_that_does_not_decode_says_nothing_against_one_that_does() {
        let bytes = [&FUNCTION[..], &[0x06]].concat();
        let ranges = [(0x100, 0x105), (0x100, 0x106)];
        assert_eq!(proofs(&bytes, &ranges), [(0x100, Proof::Proven)]);
        assert_eq!(proofs(&bytes, &ranges[1..]), [(0x100, Proof::Unclean)]);
    }

    #[test]
    fn a_sweep_goes_on_after_bytes_that_are_no_instruction() {
        let bytes = [&[0x06, 0x06][..], &FUNCTION].concat();
        assert_eq!(proofs(&bytes, &[(0x102, 0x107)]), [(0x102, Proof::Proven)]);
    }
}
