//! Alternatives: the default sequence before they are applied, the chosen one after, and the default where applying is refused.

use crate::common::call;
use crate::common::child::{End, in_child, with_two_threads};
use crate::common::filter::{refuse_proc_mem, refuse_writable_text, trap, trap_closing_text};
use crate::common::harness::{Check, checks};
use crate::common::signal;
use crate::common::text::{permissions, poke};
use cyclewise::alternative;
use cyclewise::arch::alternative::{Site, has, sites};
use cyclewise::arch::counter::ordered_ticks;
use cyclewise::arch::feature::RDTSCP;
use cyclewise::error::Refusal;
use cyclewise::patch::apply_alternatives;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

pub(crate) const CHECKS: &[Check] = checks![
    the_default_before_and_the_chosen_after,
    rdtscp_takes_the_place_of_lfence_and_rdtsc,
    every_sequence_means_the_same_wherever_it_stands,
    a_sequence_that_depends_on_its_place_is_seen,
    refused_with_two_threads_and_the_defaults_stay,
    refused_by_the_kernel_and_the_defaults_stay,
    refused_on_a_breakpoint_and_the_defaults_stay,
    no_handler_runs_between_the_stores_of_a_site,
    a_handler_that_runs_is_seen,
];

/// A feature that no CPU has.
const NONE: u8 = 255;

/// A site whose feature is there, and whose replacement is the longer.
#[inline(never)]
fn chosen() -> u64 {
    let x: u64;
    // SAFETY: both write one register.
    unsafe {
        alternative!(
            feature = RDTSCP,
            default = ["push 1", "pop {x}"],
            replacement = ["mov {x:e}, 2", "nop", "nop", "xor {x:e}, 0x1000", "xor {x:e}, 0x2000"],
            x = out(reg) x
        )
    };
    x
}

/// A site whose feature is missing: the default stays, and its padding becomes long NOPs.
#[inline(never)]
fn never_chosen() -> u64 {
    let x: u64;
    // SAFETY: both write one register.
    unsafe {
        alternative!(
            feature = NONE,
            default = ["mov {x:e}, 3"],
            replacement = ["mov {x:e}, 4", "mov {x:e}, 4", "mov {x:e}, 4", "mov {x:e}, 4"],
            x = out(reg) x
        )
    };
    x
}

#[inline(never)]
fn ticks() -> u64 {
    ordered_ticks()
}

fn apply() -> Result<(), Refusal> {
    // SAFETY: no handler runs this.
    unsafe { apply_alternatives() }
}

fn text(site: &Site) -> Vec<u8> {
    let bytes = 0..site.room();
    bytes
        .map(|i| {
            // SAFETY: the site is readable text, and `room` long.
            unsafe { site.at().wrapping_add(i).read_volatile() }
        })
        .collect()
}

fn texts() -> Vec<Vec<u8>> {
    sites().map(|site| text(&site)).collect()
}

fn decode(bytes: &[u8]) -> Vec<Instruction> {
    Decoder::new(64, bytes, DecoderOptions::NONE).into_iter().collect()
}

fn is_default(site: &Site) -> bool {
    let text = text(site);
    text.starts_with(site.default()) && text[site.default().len()..].iter().all(|b| *b == 0x90)
}

fn the_default_before_and_the_chosen_after() {
    assert!(has(RDTSCP), "this machine has no RDTSCP, which the test needs");
    in_child(|| {
        assert_eq!((chosen(), never_chosen()), (1, 3));
        let before = ticks();
        assert!(sites().all(|site| is_default(&site)));
        apply().unwrap();
        assert_eq!((chosen(), never_chosen()), (0x3002, 3));
        assert!(ticks() > before);
        for site in sites() {
            let code = if has(site.feature()) {
                site.replacement()
            } else {
                site.default()
            };
            let text = text(&site);
            assert!(text.starts_with(code), "{text:02x?}");
            let padding = decode(&text[code.len()..]);
            assert!(padding.iter().all(|i| i.mnemonic() == Mnemonic::Nop), "{text:02x?}");
            assert!(padding.len() <= (site.room() - code.len()).div_ceil(9), "{text:02x?}");
            assert_eq!(permissions(site.at() as usize), "r-xp");
        }
        let after = texts();
        apply().unwrap();
        assert_eq!(texts(), after, "twice is once");
    })
    .unwrap();
}

fn rdtscp_takes_the_place_of_lfence_and_rdtsc() {
    let mut lines = Vec::new();
    let mut look = |when: &str| {
        let site = sites().find(|s| s.default() == [0x0f, 0xae, 0xe8, 0x0f, 0x31]).unwrap();
        let instructions: Vec<_> = decode(&text(&site)).iter().map(ToString::to_string).collect();
        lines.push(format!("{when}: {}", instructions.join("; ")));
    };
    assert!(ticks() > 0);
    look("before");
    apply().unwrap();
    look("after");
    insta::assert_snapshot!(lines.join("\n"), @r"
    before: lfence; rdtsc
    after: rdtscp; xchg ax,ax
    ");
}

/// What the author of a sequence promises, looked at: no branch leaves it, nothing is relative to RIP.
fn every_sequence_means_the_same_wherever_it_stands() {
    assert!(sites().count() >= 3);
    for site in sites() {
        for code in [site.default(), site.replacement()] {
            assert!(is_position_independent(code), "{code:02x?}");
        }
    }
}

fn is_position_independent(code: &[u8]) -> bool {
    let stays = |i: &Instruction| match i.flow_control() {
        FlowControl::Next => true,
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            i.near_branch_target() <= code.len() as u64
        }
        _ => false,
    };
    decode(code)
        .iter()
        .all(|i| !i.is_ip_rel_memory_operand() && !i.is_invalid() && stays(i))
}

fn a_sequence_that_depends_on_its_place_is_seen() {
    assert!(is_position_independent(&[0xeb, 0x00]), "a jump to its own end");
    assert!(!is_position_independent(&[0xeb, 0x10]), "a jump out");
    assert!(!is_position_independent(&[0xe8, 0, 0, 0, 0]), "a call");
    assert!(
        !is_position_independent(&[0x48, 0x8b, 0x05, 0, 0, 0, 0]),
        "mov rax, [rip]"
    );
    assert!(!is_position_independent(&[0xc3]), "a return");
}

fn refused_with_two_threads_and_the_defaults_stay() {
    with_two_threads(|| {
        assert_eq!(apply(), Err(Refusal::OtherThreads { threads: 2 }));
        assert!(sites().all(|site| is_default(&site)));
        assert_eq!(chosen(), 1);
    });
    apply().unwrap();
    assert_eq!(chosen(), 0x3002);
}

fn refused_by_the_kernel_and_the_defaults_stay() {
    refuse_writable_text();
    refuse_proc_mem();
    let (call, errno) = ("mprotect", libc::EACCES);
    assert_eq!(apply(), Err(Refusal::System { call, errno }));
    assert!(sites().all(|site| is_default(&site)));
    assert_eq!((chosen(), never_chosen()), (1, 3));
}

fn refused_on_a_breakpoint_and_the_defaults_stay() {
    let last = sites().last().unwrap();
    let (at, old) = (last.at() as usize, text(&last)[0]);
    poke(at, &[0xcc]);
    assert_eq!(apply(), Err(Refusal::Breakpoint { at }));
    poke(at, &[old]);
    assert!(sites().all(|site| is_default(&site)));
}

/// How a child ends whose handler ran.
const HANDLED: i32 = 3;

/// Ends the child: a handler ran while a site was half written.
extern "C" fn on_trap(_: libc::c_int) {
    call::_exit(HANDLED);
}

/// How a child ends whose `calls` raise SIGSYS, handled, in the middle of a batch.
fn interrupted(calls: impl FnOnce(), body: impl FnOnce()) -> Result<(), End> {
    in_child(|| {
        signal::handle(libc::SIGSYS, on_trap);
        calls();
        body();
    })
}

/// A sequence is several stores, or several pages of the kernel's: no handler may run between two of them. A trapped call
/// is the handler's chance, and kills where signals are blocked.
fn no_handler_runs_between_the_stores_of_a_site() {
    assert!(sites().any(|site| site.at() as usize % 8 + site.room() > 8));
    let by_kernel = interrupted(|| trap(libc::SYS_pwrite64, &[]), || apply().unwrap());
    assert_eq!(by_kernel, Err(End::Signal(libc::SIGSYS)));
    let by_store = || {
        refuse_proc_mem();
        trap_closing_text();
    };
    let by_store = interrupted(by_store, || apply().unwrap());
    assert_eq!(by_store, Err(End::Signal(libc::SIGSYS)));
}

/// The twin: a handler that is let in is seen.
fn a_handler_that_runs_is_seen() {
    let write = || {
        // SAFETY: the descriptor is none.
        unsafe { libc::pwrite64(-1, std::ptr::null(), 0, 0) };
    };
    assert_eq!(
        interrupted(|| trap(libc::SYS_pwrite64, &[]), write),
        Err(End::Exit(HANDLED))
    );
}
