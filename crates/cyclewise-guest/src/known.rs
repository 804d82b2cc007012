//! Where emulators are known to differ from the manuals: which case, and why. A CPU in guest mode has no such row.
//!
//! A row is evidence of what runs the guest, and no excuse: a difference without a row is an error, of ours or of the emulator's.

use crate::provenance::Virtualization;

macro_rules! rows {
    ($($emulator:ident $case:literal: $why:literal;)*) => { &[$((Virtualization::$emulator, $case, $why)),*] };
}

/// An emulator, a case or payload, and what the emulator does.
const ROWS: &[(Virtualization, &str, &str)] = rows! {
    // QEMU, target/i386/tcg: a segment's base is added, and its limit is not compared.
    Emulated "null-selector-faults": "TCG does not check selectors of data accesses";
    Emulated "limit-faults": "TCG does not check limits of segments";
    Emulated "lock-on-a-store-faults": "TCG does not refuse LOCK in front of every instruction that cannot be locked";
    // A PVM host runs a guest's ring 3 in its own user mode, whose IF is set.
    Pvm "popf-in-ring-3": "ring 3 sees the host's IF";
    Pvm "rep-popf-in-ring-3": "ring 3 sees the host's IF";
    Pvm "popf-if-in-ring-3": "ring 3 sees the host's IF";
    Pvm "popf-if-by-int3-in-ring-3": "ring 3 sees the host's IF";
    Pvm "rdtsc-in-ring-3-with-tsd": "ring 3 has the host's CR4.TSD";
    Pvm "popf-does-not-delay": "interrupts are delivered after a batch of emulated instructions";
    Pvm "syscall-sysret": "SYSCALL of ring 3 is not the guest's before its kernel has turned PVM on";
    Pvm "syscall-swapgs-sysret": "SYSCALL of ring 3 is not the guest's before its kernel has turned PVM on";
};

/// Why a case differs on such an emulator; `None` where nothing is known.
pub fn why(kind: Virtualization, name: &str) -> Option<&'static str> {
    let row = ROWS
        .iter()
        .find(|(emulator, case, _)| (*emulator, *case) == (kind, name));
    row.map(|(_, _, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantics::Family;

    #[test]
    fn rows_name_cases_that_exist_and_no_hardware() {
        let names: Vec<&str> = Family::ALL
            .into_iter()
            .flat_map(|f| f.cases().map(|c| c.payload.name).chain(f.payloads().map(|p| p.name)))
            .collect();
        for (kind, name, _) in ROWS {
            assert!(names.contains(name), "{name}");
            assert!(!kind.is_hardware(), "{name}");
        }
        assert_eq!(why(Virtualization::Svm, "limit-faults"), None);
        assert!(why(Virtualization::Emulated, "limit-faults").is_some());
    }
}
