//! Locked instructions of AArch64: LSE atomics, exclusives, barriers.
//!
//! The load-exclusive of a loop is no site of its own: the store-exclusive is, since it is what succeeds or fails.

use super::field::{at, bits, destination, source};
use crate::decode::step::{Form, Locked, Operand, Operation, What};

/// Which family of instructions a word belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// LDADD and its relatives, SWP.
    Lse,
    Cas,
    /// CASP.
    CasPair,
    /// STXR, STLXR, STXP, STLXP.
    Store,
    /// LDXR, LDAXR, LDXP, LDAXP.
    Load,
    /// DMB, DSB.
    Barrier,
}

fn family(w: u32) -> Option<Family> {
    let (o3, opc) = (bits(w, 15, 1), bits(w, 12, 3));
    Some(match w {
        _ if w & 0x3f20_0c00 == 0x3820_0000 && (o3 == 0 || opc == 0) => Family::Lse,
        _ if w & 0x3fa0_7c00 == 0x08a0_7c00 => Family::Cas,
        _ if w & 0xbfa0_7c00 == 0x0820_7c00 => Family::CasPair,
        _ if w & 0x3fe0_0000 == 0x0800_0000 || w & 0xbfe0_0000 == 0x8820_0000 => Family::Store,
        _ if w & 0x3fe0_0000 == 0x0840_0000 || w & 0xbfe0_0000 == 0x8860_0000 => Family::Load,
        _ if w & 0xffff_f0ff == 0xd503_309f || w & 0xffff_f0ff == 0xd503_30bf => Family::Barrier,
        _ => return None,
    })
}

/// The word as a step, if it is of one of these families.
pub(super) fn locked(w: u32) -> Option<What> {
    let family = family(w)?;
    if family == Family::Load {
        return Some(match destination(w) {
            Some(to) => What::LoadExclusive {
                to,
                from: at(w >> 5, 0),
            },
            None => What::Other {
                writes: None,
                flags: false,
                loads: true,
                stores: false,
            },
        });
    }
    let (operation, clears) = match family {
        Family::Lse if bits(w, 15, 1) == 1 => (Operation::Exchange, false),
        Family::Lse => match bits(w, 12, 3) {
            0 => (Operation::FetchAdd, false),
            1 => (Operation::Logic, true),
            2 | 3 => (Operation::Logic, false),
            _ => (Operation::MinMax, false),
        },
        Family::Cas | Family::CasPair => (Operation::CompareExchange, false),
        Family::Store => (Operation::StoreExclusive, false),
        Family::Load | Family::Barrier => (Operation::Fence, false),
    };
    Some(What::Locked(Locked {
        form: match family {
            Family::Store => Form::Exclusive,
            Family::Barrier | Family::Load => Form::Fence,
            _ => Form::Lse,
        },
        operation,
        width: width(w, family),
        place: (family != Family::Barrier).then(|| at(w >> 5, 0)),
        operand: match family {
            Family::Lse => source(w >> 16),
            Family::Barrier => Operand::Unknown,
            _ => source(w),
        },
        subtracts: false,
        clears,
        old: match family {
            Family::Lse => destination(w),
            Family::Cas | Family::CasPair => destination(w >> 16),
            _ => None,
        },
        flags: false,
        status: match family {
            Family::Store => destination(w >> 16),
            _ => None,
        },
    }))
}

fn width(w: u32, family: Family) -> u8 {
    let is_pair = bits(w, 21, 1) == 1;
    match family {
        Family::Barrier => 0,
        Family::CasPair => 8 << bits(w, 30, 1),
        Family::Store | Family::Load if is_pair => 8 << bits(w, 30, 1),
        _ => 1 << bits(w, 30, 2),
    }
}

/// The instruction as the manual writes it.
pub(super) fn operand_text(w: u32) -> Option<String> {
    let family = family(w)?;
    let (size, rs, rn, rt) = (bits(w, 30, 2), bits(w, 16, 5), bits(w, 5, 5), bits(w, 0, 5));
    let register = |n: u32, is_wide: bool| match (n, is_wide) {
        (31, true) => "xzr".to_owned(),
        (31, false) => "wzr".to_owned(),
        (n, true) => format!("x{n}"),
        (n, false) => format!("w{n}"),
    };
    let address = match rn {
        31 => "[sp]".to_owned(),
        n => format!("[x{n}]"),
    };
    let narrow = ["b", "h", "", ""][size as usize];
    let is_wide = size == 3;
    let order = |acquires: u32, releases: u32| match (acquires, releases) {
        (0, 0) => "",
        (1, 0) => "a",
        (0, 1) => "l",
        _ => "al",
    };
    Some(match family {
        Family::Barrier => {
            let name = if bits(w, 5, 1) == 1 { "dmb" } else { "dsb" };
            format!("{name} {}", domain(bits(w, 8, 4)))
        }
        Family::Lse => {
            let order = order(bits(w, 23, 1), bits(w, 22, 1));
            let names = ["add", "clr", "eor", "set", "smax", "smin", "umax", "umin"];
            let name = names[bits(w, 12, 3) as usize];
            let source = register(rs, is_wide);
            if bits(w, 15, 1) == 1 {
                format!("swp{order}{narrow} {source}, {}, {address}", register(rt, is_wide))
            } else if rt == 31 && bits(w, 23, 1) == 0 {
                format!("st{name}{order}{narrow} {source}, {address}")
            } else {
                format!("ld{name}{order}{narrow} {source}, {}, {address}", register(rt, is_wide))
            }
        }
        Family::Cas => {
            let order = order(bits(w, 22, 1), bits(w, 15, 1));
            let (expected, new) = (register(rs, is_wide), register(rt, is_wide));
            format!("cas{order}{narrow} {expected}, {new}, {address}")
        }
        Family::CasPair => {
            let order = order(bits(w, 22, 1), bits(w, 15, 1));
            let is_wide = size & 1 == 1;
            let pair = |n| format!("{}, {}", register(n, is_wide), register((n + 1) & 31, is_wide));
            format!("casp{order} {}, {}, {address}", pair(rs), pair(rt))
        }
        Family::Store => {
            let l = if bits(w, 15, 1) == 1 { "l" } else { "" };
            let status = register(rs, false);
            if bits(w, 21, 1) == 1 {
                let (first, second) = (register(rt, is_wide), register(bits(w, 10, 5), is_wide));
                format!("st{l}xp {status}, {first}, {second}, {address}")
            } else {
                format!("st{l}xr{narrow} {status}, {}, {address}", register(rt, is_wide))
            }
        }
        Family::Load => return None,
    })
}

/// A barrier's domain and accesses.
fn domain(crm: u32) -> String {
    let name = match crm {
        1 => "oshld",
        2 => "oshst",
        3 => "osh",
        5 => "nshld",
        6 => "nshst",
        7 => "nsh",
        9 => "ishld",
        10 => "ishst",
        11 => "ish",
        13 => "ld",
        14 => "st",
        15 => "sy",
        other => return format!("#{other}"),
    };
    name.to_owned()
}
