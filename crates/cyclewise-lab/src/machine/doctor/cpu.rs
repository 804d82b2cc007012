//! Lines about the CPU: its name, and the instructions that variants use.

use super::line::{absent, limited, ok, unknown};
use super::{Answer, Inputs, Status};
use crate::machine::{emulator, fingerprint};

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![
        ("cpu", cpu(i)),
        ("emulator", emulated(i)),
        ("lock-prefix", lock_prefix(i)),
        ("lse", lse(i)),
        ("rdtscp", rdtscp(i)),
        ("rdpid", rdpid(i)),
        ("fsgsbase", fsgsbase(i)),
    ]
}

fn cpu(i: &Inputs) -> Answer {
    let model = fingerprint::cpu_model(i.cpuid.as_ref(), &i.cpuinfo, &i.fs);
    let id = fingerprint::cpu_id(&i.fs, i.cpuid.as_ref(), &i.cpuinfo);
    let evidence = if i.is_x86() {
        let registers = i.cpuid_evidence(1, "EAX");
        format!(
            "CPUID 0x80000002..4; {registers}; {}",
            i.cpuinfo.evidence(&["hypervisor"])
        )
    } else {
        let part = i.cpuinfo.get("CPU part").unwrap_or("no CPU part");
        format!("/proc/cpuinfo: {part}; {}", i.fs.read(fingerprint::MIDR))
    };
    match (model.is_empty(), id.is_empty()) {
        (true, true) => unknown("neither name nor model number", evidence)
            .so("records identify the machine only by its kernel; compare them with care"),
        (true, false) => ok(id, evidence),
        (false, true) => ok(model, evidence),
        (false, false) => ok(format!("{model} ({id})"), evidence),
    }
}

fn emulated(i: &Inputs) -> Answer {
    match emulator::evidence(&i.fs, &i.arch, i.cpuid.as_ref(), &i.cpuinfo) {
        Some(evidence) => limited("this CPU is emulated", evidence)
            .so("every record warns that its figures are not those of a real CPU"),
        None if i.cpuid.is_none() && i.cpuinfo.midr().is_none() => {
            unknown("cannot be determined", "neither CPUID nor MIDR can be read")
        }
        None => {
            let evidence = match i.cpuinfo.is_readable() {
                true => {
                    "no TCG signature in CPUID; /proc/cpuinfo: of this architecture, no TCG model name or MIDR, no PVM flag"
                }
                false => "no TCG signature in CPUID or MIDR; /proc/cpuinfo cannot be read",
            };
            ok("none detected", evidence)
        }
    }
}

fn lock_prefix(i: &Inputs) -> Answer {
    if i.is_x86() {
        let evidence = format!("{}: F0 before a memory instruction, 3E (DS) in its place", i.arch);
        return ok("can be elided (replaced) by patching one byte", evidence);
    }
    let evidence = format!("{} instruction set", i.arch);
    absent("no LOCK prefix to elide", evidence).so("the lock-prefix experiment does not run; atomics stay atomic")
}

/// HWCAP bit 8 (ATOMICS) on aarch64.
fn lse(i: &Inputs) -> Answer {
    if i.is_x86() {
        let evidence = format!("{} instruction set: LOCK XADD and the like", i.arch);
        return absent("Arm only; this CPU has locked instructions", evidence);
    }
    let Some(hwcap) = i.auxv.hwcap else {
        return unknown("cannot be determined", "AT_HWCAP is not in the auxiliary vector")
            .so("load- and store-exclusive loops are used");
    };
    let evidence = format!("AT_HWCAP = {hwcap:#x}, bit 8 (ATOMICS)");
    if hwcap >> 8 & 1 == 1 {
        return ok("single-instruction atomics", evidence);
    }
    absent("no LSE atomics", evidence).so("load- and store-exclusive loops are used")
}

/// 8000_0001 EDX bit 27.
fn rdtscp(i: &Inputs) -> Answer {
    let leaf = i.cpuid.as_ref().and_then(|c| c.leaf(0x8000_0001));
    let bit = leaf.map(|l| l.edx >> 27 & 1 == 1);
    instruction(i, "rdtscp", bit, i.cpuid_evidence(0x8000_0001, "EDX") + ", bit 27")
        .unless_ok("ordered clock reads use LFENCE;RDTSC (isb;mrs on aarch64)")
}

/// Leaf 7 ECX bit 22.
fn rdpid(i: &Inputs) -> Answer {
    let bit = i.cpuid.as_ref().and_then(|c| c.leaf(7)).map(|l| l.ecx >> 22 & 1 == 1);
    instruction(i, "rdpid", bit, i.cpuid_evidence(7, "ECX") + ", bit 22")
        .unless_ok("the rdpid variants are omitted; the CPU number comes from rseq or getcpu")
}

fn instruction(i: &Inputs, name: &'static str, bit: Option<bool>, evidence: String) -> Answer {
    if !i.is_x86() {
        return absent("x86 only", format!("{} instruction set", i.arch));
    }
    let evidence = format!("{evidence}; {}", i.cpuinfo.evidence(&[name]));
    match bit.unwrap_or(i.cpuinfo.has(name)) {
        true => ok("present", evidence),
        false if i.cpuid.is_none() => unknown("cannot be determined", evidence),
        false => absent("not on this CPU", evidence),
    }
}

/// HWCAP2 bit 1: the CPU's bit does not tell whether the kernel enabled the instructions.
fn fsgsbase(i: &Inputs) -> Answer {
    if !i.is_x86() {
        return absent("x86 only", format!("{} instruction set", i.arch)).so("per-CPU data uses rseq");
    }
    let cpu = i.cpuid.as_ref().and_then(|c| c.leaf(7)).is_some_and(|l| l.ebx & 1 == 1);
    let kernel = i.auxv.hwcap2.unwrap_or(0) >> 1 & 1 == 1;
    let hwcap2 = i.auxv.hwcap2.map_or("absent".to_owned(), |v| format!("{v:#x}"));
    let evidence = format!("AT_HWCAP2 = {hwcap2}, bit 1; {}, bit 0", i.cpuid_evidence(7, "EBX"));
    let (status, value) = match (kernel, cpu) {
        (true, _) => (Status::Ok, "wrgsbase is allowed"),
        (false, true) => (Status::Absent, "the CPU has it, but the kernel has not enabled it"),
        (false, false) => (Status::Absent, "the CPU does not have it"),
    };
    Answer::new(status, value, evidence).unless_ok("a pinned thread sets its GS base by a system call, arch_prctl(2)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CpuInfo;
    use crate::machine::fake::{AARCH64, Tree};

    #[test]
    fn a_guest_has_its_instructions() {
        let i = Inputs::guest(&Tree::guest());
        assert_eq!(cpu(&i).value, "AMD EPYC (family 25 model 17 stepping 1)");
        assert_eq!(
            (rdtscp(&i).status, rdpid(&i).status, emulated(&i).status),
            (Status::Ok, Status::Ok, Status::Ok)
        );
        assert_eq!(
            rdtscp(&i).evidence,
            "CPUID 0x80000001 EDX = 0x08000000, bit 27; /proc/cpuinfo flags: rdtscp set"
        );
    }

    #[test]
    fn fsgsbase_needs_the_kernels_permission() {
        let mut i = Inputs::guest(&Tree::guest());
        assert_says!(fsgsbase(&i).value, "the kernel has not");
        i.auxv.hwcap2 = Some(0b10);
        assert_eq!(fsgsbase(&i).status, Status::Ok);
        i.cpuid = None;
        i.auxv.hwcap2 = None;
        assert_eq!(fsgsbase(&i).value, "the CPU does not have it");
    }

    #[test]
    fn an_arm_has_lse_or_not_and_no_lock_prefix() {
        let mut i = Inputs::nothing("aarch64");
        assert_eq!(
            (lock_prefix(&i).status, lse(&i).status),
            (Status::Absent, Status::Unknown)
        );
        assert_eq!(lock_prefix(&i).value, "no LOCK prefix to elide");
        i.auxv.hwcap = Some(0xff);
        assert_eq!(lse(&i).status, Status::Absent);
        i.auxv.hwcap = Some(0x1ff);
        assert_eq!(lse(&i).status, Status::Ok);
        i.cpuinfo = CpuInfo::parse(AARCH64);
        assert_eq!(cpu(&i).value, "MIDR 0x413fd0c1");
        assert_eq!(
            (rdtscp(&i).status, fsgsbase(&i).status),
            (Status::Absent, Status::Absent)
        );
    }
}
