//! The witnesses: the host's modules and CPUID, what the guest sees, and what a NOP takes there and here.

use super::{HOST_CPUID, MODULES, Says, Witness};
use crate::arch::payload::{Payload, Ring};
use crate::arch::{host_nop, popf, witness};
use crate::error::Result;
use crate::image::Image;
use crate::outcome::{Mailbox, Outcome};
use crate::vm::Guest;
use std::path::Path;
use std::time::Duration;

/// A guest's NOP may cost so many times the host's before an emulator is the only explanation: the clock of a core changes by less, and
/// an emulator of single instructions takes hundreds of times as long.
const MOST_RATIO: f64 = 10.0;
/// Iterations of a loop of NOPs: microseconds on a CPU, and milliseconds under an emulator.
const ITERATIONS: u64 = 16;
/// Batches of each length, of which the quickest counts.
const BATCHES: usize = 5;
/// A batch of NOPs under an emulator takes milliseconds.
const LIMIT: Duration = Duration::from_secs(2);
const IF: u64 = 0x200;

/// The host's kernel and CPU.
pub(super) fn host(modules: &Path) -> Vec<Witness> {
    use core::arch::x86_64::__cpuid;
    let loaded: Vec<&str> = ["kvm_intel", "kvm_amd", "kvm_pvm"]
        .into_iter()
        .filter(|name| modules.join(name).exists())
        .collect();
    let features = __cpuid(1).ecx;
    let extended = match __cpuid(0x8000_0000).eax {
        0x8000_0001.. => __cpuid(0x8000_0001).ecx,
        _ => 0,
    };
    vec![
        of_modules(&loaded),
        of_host_cpuid(features >> 5 & 1 != 0, extended >> 2 & 1 != 0, features >> 31 != 0),
    ]
}

pub(super) fn of_modules(loaded: &[&str]) -> Witness {
    let says = match loaded {
        [] => Says::Nothing,
        ["kvm_pvm"] => Says::Emulated,
        _ => Says::Hardware,
    };
    let found = match loaded {
        [] => "none of kvm_intel, kvm_amd, kvm_pvm in /sys/module".to_string(),
        _ => loaded.join(", "),
    };
    Witness {
        name: MODULES,
        found,
        says,
    }
}

pub(super) fn of_host_cpuid(vmx: bool, svm: bool, hypervisor: bool) -> Witness {
    let (found, says) = match (vmx, svm, hypervisor) {
        (false, false, true) => ("neither VMX nor SVM, under a hypervisor", Says::Emulated),
        (false, false, false) => ("neither, and no hypervisor", Says::Emulated),
        (true, _, true) => ("VMX, under a hypervisor", Says::Nested),
        (true, _, false) => ("VMX", Says::Hardware),
        (false, true, true) => ("SVM, under a hypervisor", Says::Nested),
        (false, true, false) => ("SVM", Says::Hardware),
    };
    Witness {
        name: HOST_CPUID,
        found: found.to_string(),
        says,
    }
}

/// What the guest saw in ring 0.
pub(super) fn guest(seen: &Mailbox) -> Vec<Witness> {
    let against = |wrong: bool| if wrong { Says::Emulated } else { Says::Nothing };
    let signature: Vec<u8> = [seen.result(witness::HYPERVISOR), seen.result(witness::HYPERVISOR + 1)]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take(12)
        .collect();
    let signature = String::from_utf8_lossy(&signature).trim_end_matches('\0').to_string();
    let emulator = ["TCG", "PVM"].iter().any(|word| signature.contains(word));
    let cs = seen.result(witness::CS);
    let flag = |index: usize| seen.result(index) & IF != 0;
    let flags = [
        witness::AFTER_CLI,
        witness::AFTER_STI,
        witness::AFTER_POPF_CLEAR,
        witness::AFTER_POPF_SET,
    ]
    .map(flag);
    let shown = flags.map(|set| if set { "set" } else { "clear" });
    vec![
        Witness {
            name: "guest CPUID",
            found: format!("hypervisor signature {signature:?}"),
            says: against(emulator),
        },
        Witness {
            name: "guest CS",
            found: format!("{cs:#x}, privilege {}", cs & 3),
            says: against(cs & 3 != 0),
        },
        Witness {
            name: "guest IF",
            found: format!(
                "{} after CLI, {} after STI, {} and {} after POPF of clear and set",
                shown[0], shown[1], shown[2], shown[3]
            ),
            says: against(flags != [false, true, false, true]),
        },
    ]
}

/// IF in ring 3, which the guest has entered with it clear: where that is the host's user mode, it is set.
pub(super) fn ring3(outcome: &Outcome) -> Witness {
    let (found, says) = match outcome {
        Outcome::Done(mailbox) if mailbox.result(0) & IF != 0 => {
            ("set, and ring 0 had cleared it".to_string(), Says::Emulated)
        }
        Outcome::Done(_) => ("clear, as ring 0 has left it".to_string(), Says::Nothing),
        other => (other.to_string(), Says::Emulated),
    };
    Witness {
        name: "guest IF in ring 3",
        found,
        says,
    }
}

/// The cost of NOP and CLI in the guest, beside the host's NOP.
pub(super) fn ratio() -> Result<Witness> {
    let mut guest = Guest::new(false, LIMIT)?;
    let mut cost = |name: &str| match popf::PAYLOADS.iter().find(|p| p.name == name) {
        Some(payload) => ticks_per_copy(&mut guest, payload),
        None => Ok(None),
    };
    let costs = (cost("nop")?, cost("cli-clear")?);
    let host = host_nop::ticks_per_nop();
    Ok(of_costs(host, costs))
}

pub(super) fn of_costs(host: f64, costs: (Option<f64>, Option<f64>)) -> Witness {
    let name = "ratio of NOP and CLI";
    let (Some(nop), Some(cli)) = costs else {
        return Witness {
            name,
            found: "the guest did not run them".to_string(),
            says: Says::Emulated,
        };
    };
    let times = nop / host;
    let says = match times <= MOST_RATIO {
        true => Says::Hardware,
        false => Says::Emulated,
    };
    Witness {
        name,
        found: format!(
            "a guest's NOP takes {times:.1} times the host's, and its CLI {:.1} of its NOPs",
            cli / nop
        ),
        says,
    }
}

/// The slope of a payload's loops, each the quickest of a few; `None` where it did not return.
fn ticks_per_copy(guest: &mut Guest, payload: &Payload) -> Result<Option<f64>> {
    let (image, loops) = Image::with_loops(payload)?;
    guest.load(&image)?;
    let mut quickest = [u64::MAX; 3];
    for _ in 0..BATCHES {
        for (least, at) in quickest.iter_mut().zip(loops) {
            guest.enter(Ring::Kernel, at, ITERATIONS);
            match guest.run(&|| false)? {
                Outcome::Done(mailbox) => *least = mailbox.ticks().min(*least),
                _ => return Ok(None),
            }
        }
    }
    let copies = 3 * ITERATIONS * u64::from(payload.copies);
    Ok(Some((quickest[2].saturating_sub(quickest[0])) as f64 / copies as f64))
}
