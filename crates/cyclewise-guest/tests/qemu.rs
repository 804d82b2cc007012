//! Guests under TCG that do not return: the same ends as on `/dev/kvm`.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use cyclewise_guest::image::Image;
use cyclewise_guest::outcome::Outcome;
use cyclewise_guest::payload::{Mode, Ring};
use cyclewise_guest::qemu::Qemu;
use std::time::Duration;

/// A boot takes a second on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn run(mode: Mode, bytes: &[u8], limit: Duration) -> Option<Outcome> {
    let qemu = match Qemu::find() {
        Ok(qemu) => qemu,
        Err(why) => {
            println!("skipped: {why}");
            assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
            return None;
        }
    };
    let image = Image::of_bytes(mode, Ring::Kernel, bytes).unwrap();
    Some(qemu.run(image, limit).unwrap())
}

#[test]
fn a_fault_tells_vector_error_code_and_address() {
    // mov ax, 0x1000; mov ds, ax: a selector behind the table.
    for mode in [Mode::Long, Mode::Protected] {
        let Some(outcome) = run(mode, &[0x66, 0xb8, 0x00, 0x10, 0x8e, 0xd8], LIMIT) else {
            return;
        };
        let expected = "fault: vector 13 (#GP), error code 0x1000, at 0x220004 in ring 0";
        assert_eq!(outcome.to_string(), expected, "{mode:?}");
    }
}

#[test]
fn a_broken_table_of_gates_is_a_triple_fault() {
    // push 0; push 0; lidt [rsp]; ud2.
    let Some(outcome) = run(
        Mode::Long,
        &[0x6a, 0, 0x6a, 0, 0x0f, 0x01, 0x1c, 0x24, 0x0f, 0x0b],
        LIMIT,
    ) else {
        return;
    };
    assert!(matches!(outcome, Outcome::TripleFault { .. }), "{outcome}");
}

#[test]
fn what_does_not_end_is_ended_and_leaves_no_process() {
    let Some(outcome) = run(Mode::Long, &[0xeb, 0xfe], Duration::from_millis(500)) else {
        return;
    };
    assert!(matches!(outcome, Outcome::Watchdog { address: None }), "{outcome}");
}
