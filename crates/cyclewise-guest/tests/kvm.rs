//! Guests of `/dev/kvm` that do not return: each ends in one of the ways of [`Outcome`], and none by a crash of ours.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use cyclewise_guest::error::ErrorKind;
use cyclewise_guest::image::Image;
use cyclewise_guest::outcome::Outcome;
use cyclewise_guest::payload::{Mode, Ring};
use cyclewise_guest::vm::{ExitCounts, Guest};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(200);

/// A guest, or a line that says why there is none.
fn guest(limit: Duration) -> Option<Guest> {
    Guest::new(false, limit).map_err(|why| println!("skipped: {why}")).ok()
}

fn run(guest: &mut Guest, mode: Mode, bytes: &[u8]) -> Outcome {
    guest
        .load(&Image::of_bytes(mode, Ring::Kernel, bytes).unwrap())
        .unwrap();
    guest.run(&|| false).unwrap()
}

#[test]
fn a_fault_tells_vector_error_code_and_address() {
    let Some(mut guest) = guest(LIMIT) else { return };
    // Both modes: mov ds, ax with a selector behind the table, which is 0x1000 and index 512.
    let load = [0x66, 0xb8, 0x00, 0x10, 0x8e, 0xd8];
    for mode in [Mode::Long, Mode::Protected] {
        let outcome = run(&mut guest, mode, &load);
        let line = outcome.to_string();
        assert_eq!(
            line, "fault: vector 13 (#GP), error code 0x1000, at 0x220004 in ring 0",
            "{mode:?}"
        );
    }
    // mov rax, [0x10]: nothing is mapped there.
    let outcome = run(&mut guest, Mode::Long, &[0x48, 0x8b, 0x04, 0x25, 0x10, 0, 0, 0]);
    assert!(outcome.to_string().contains("(#PF), error code 0x0"), "{outcome}");
    assert!(outcome.to_string().ends_with("reaching for 0x10"), "{outcome}");
}

#[test]
fn what_does_not_end_is_ended() {
    let Some(mut guest) = guest(LIMIT) else { return };
    let begun = Instant::now();
    let outcome = run(&mut guest, Mode::Long, &[0xeb, 0xfe]);
    assert!(
        matches!(
            outcome,
            Outcome::Watchdog {
                address: Some(0x22_0000)
            }
        ),
        "{outcome}"
    );
    assert!(begun.elapsed() >= LIMIT);
    // HLT with interrupts off: nothing wakes it.
    let outcome = run(&mut guest, Mode::Long, &[0xf4]);
    assert!(matches!(outcome, Outcome::Halt { .. }), "{outcome}");
}

#[test]
fn a_broken_table_of_gates_is_a_triple_fault() {
    let Some(mut guest) = guest(LIMIT) else { return };
    // push 0; push 0; lidt [rsp]; ud2: a table of one byte.
    let outcome = run(
        &mut guest,
        Mode::Long,
        &[0x6a, 0, 0x6a, 0, 0x0f, 0x01, 0x1c, 0x24, 0x0f, 0x0b],
    );
    assert!(matches!(outcome, Outcome::TripleFault { .. }), "{outcome}");
    // The guest runs again, with a new image.
    let outcome = run(&mut guest, Mode::Long, &[0xc3]);
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome}");
}

#[test]
fn a_payload_reaches_nothing_of_the_hosts() {
    let Some(mut guest) = guest(LIMIT) else { return };
    // in al, 0x60; 32-bit mode has no pages, so it can name the address behind its memory.
    let outcome = run(&mut guest, Mode::Long, &[0xe4, 0x60, 0xc3]);
    assert!(
        matches!(&outcome, Outcome::Outside { what, .. } if what == "IN from port 0x60"),
        "{outcome}"
    );
    let outcome = run(&mut guest, Mode::Protected, &[0xa1, 0, 0, 0x40, 0, 0xc3]);
    assert!(
        matches!(&outcome, Outcome::Outside { what, .. } if what == "memory at 0x400000"),
        "{outcome}"
    );
}

#[test]
fn exits_are_counted_by_kind() {
    let Some(mut guest) = guest(LIMIT) else { return };
    assert_eq!(guest.counts(), ExitCounts::default());
    for bytes in [&[0xc3][..], &[0xf4], &[0xe4, 0x60], &[0xc3]] {
        run(&mut guest, Mode::Long, bytes);
    }
    let counts = guest.counts();
    assert_eq!(
        (counts.finished, counts.halts, counts.ports, counts.refusals),
        (2, 1, 1, 0)
    );
}

#[test]
fn a_signal_that_asks_to_end_ends_a_guest() {
    let Some(mut guest) = guest(Duration::from_millis(50)) else {
        return;
    };
    guest
        .load(&Image::of_bytes(Mode::Long, Ring::Kernel, &[0xeb, 0xfe]).unwrap())
        .unwrap();
    // The watchdog's signal stands for any: SIGINT and SIGALRM interrupt the same call.
    let error = guest.run(&|| true).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Interrupted);
    let again = guest.run(&|| false).unwrap_err();
    assert!(again.message.contains("load it first"), "{again}");
}

/// Seeded bytes, the same in every run.
struct Bytes(u64);

impl Bytes {
    fn next(&mut self) -> u64 {
        // xorshift64, Marsaglia 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn payload(&mut self) -> Vec<u8> {
        let length = self.next() % 48 + 1;
        (0..length).map(|_| (self.next() >> 32) as u8).collect()
    }
}

#[test]
fn ten_thousand_random_payloads_end() {
    const PAYLOADS: usize = 10_000;
    // A vCPU that has seen many of them is not a new one: registers that an image does not set are as they were left.
    const PER_GUEST: usize = 500;
    let count = std::env::var("CYCLEWISE_PAYLOADS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(PAYLOADS);
    let mut bytes = Bytes(0x9e37_79b9_7f4a_7c15);
    let mut ends = std::collections::BTreeMap::<&str, usize>::new();
    let mut guest = None;
    for n in 0..count {
        if n % PER_GUEST == 0 {
            guest = self::guest(Duration::from_millis(10));
        }
        let Some(guest) = &mut guest else { return };
        let mode = [Mode::Long, Mode::Protected][n % 2];
        let ring = [Ring::Kernel, Ring::User][n / 2 % 2];
        guest
            .load(&Image::of_bytes(mode, ring, &bytes.payload()).unwrap())
            .unwrap();
        let name = match guest.run(&|| false).unwrap() {
            Outcome::Done(_) => "returned",
            Outcome::Fault(_) => "fault",
            Outcome::Halt { .. } => "halt",
            Outcome::Watchdog { .. } => "watchdog",
            Outcome::TripleFault { .. } => "triple fault",
            Outcome::Refused { .. } => "refused",
            Outcome::Outside { .. } => "outside",
        };
        *ends.entry(name).or_default() += 1;
    }
    println!("{ends:?}");
    assert_eq!(ends.values().sum::<usize>(), count);
    assert!(
        ends.contains_key("fault"),
        "random bytes fault, or nothing was run: {ends:?}"
    );
}
