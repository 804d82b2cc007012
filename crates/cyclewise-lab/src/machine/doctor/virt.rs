//! Lines about virtualization: the hypervisor, steal time, and KVM.

use super::line::{absent, limited, ok, unknown};
use super::{Answer, Inputs, Status};
use crate::machine::{Cpuid, fingerprint, stat};
use crate::sys::procfs::Reading;

/// Bits of KVM's feature leaf that affect measurements (Documentation/virt/kvm/x86/cpuid.rst).
const KVM_FEATURES: [(u32, &str); 5] = [
    (0, "kvm-clock (old)"),
    (3, "kvm-clock"),
    (5, "steal time"),
    (7, "paravirtual unlock"),
    (24, "clock stable"),
];

pub(super) fn lines(i: &Inputs) -> Vec<(&'static str, Answer)> {
    vec![
        ("hypervisor", hypervisor(i)),
        ("steal", steal(i)),
        ("kvm", kvm(i)),
        ("ring-0", ring0(i)),
    ]
}

fn hypervisor(i: &Inputs) -> Answer {
    let found = fingerprint::hypervisor(&i.fs, i.cpuid.as_ref(), &i.cpuinfo);
    let mut evidence = vec![i.cpuid_evidence(1, "ECX") + ", bit 31"];
    for h in i.cpuid.iter().flat_map(Cpuid::hypervisors) {
        evidence.push(format!("CPUID {:#x} {:?}", h.base, h.signature));
    }
    if let Some(features) = i.cpuid.as_ref().and_then(Cpuid::kvm_features) {
        let set = KVM_FEATURES.iter().filter(|(bit, _)| features >> bit & 1 == 1);
        let names: Vec<_> = set.map(|f| f.1).collect();
        evidence.push(format!("KVM features {features:#x}: {}", names.join(", ")));
    }
    if i.cpuid.is_none() {
        evidence = vec![
            i.cpuinfo.evidence(&["hypervisor"]),
            i.fs.read("/sys/hypervisor/type").to_string(),
            i.fs.read("/proc/device-tree/hypervisor/compatible").to_string(),
            i.fs.read("/sys/class/dmi/id/product_name").to_string(),
        ];
    }
    // Firmware that names a physical product is evidence of bare metal, like CPUID's bit.
    let is_known = i.cpuid.is_some() || i.fs.exists("/sys/class/dmi/id/product_name");
    let evidence = evidence.join("; ");
    match found {
        Some(name) => limited(name, evidence).so(match i.stat[1].get() {
            Some(_) => "the hypervisor may steal time and hide SMT siblings; samples of one thread with stolen time are rejected",
            None => "the hypervisor may steal time and hide SMT siblings; without /proc/stat nothing tells how much",
        }),
        None if is_known => ok("none", evidence),
        None => unknown("cannot be determined", evidence),
    }
}

fn steal(i: &Inputs) -> Answer {
    let [before, after] = &i.stat;
    let times = |r: &Reading| stat::all(format!("{}\n", r.get()?).as_bytes());
    let (Some(earlier), Some(later)) = (times(before), times(after)) else {
        let evidence = after.get().map_or(after.to_string(), |_| {
            "/proc/stat: the cpu line has no steal".to_owned()
        });
        return unknown("cannot be read", evidence)
            .so("samples with stolen time cannot be rejected; repeat the run and compare");
    };
    let passed = later.since(earlier);
    let boot = later.share(later.steal).unwrap_or(0.0);
    let now = passed.share(passed.steal).unwrap_or(0.0);
    let ms = i.stat_interval.as_millis();
    let value = format!(
        "{:.2} % since boot, {:.1} % over the last {ms} ms",
        boot * 100.0,
        now * 100.0
    );
    let evidence = format!(
        "/proc/stat cpu: {} of {} ticks since boot, {} of {} over {ms} ms",
        later.steal, later.total, passed.steal, passed.total
    );
    // A long run can reject one sample in a thousand without much loss.
    let status = if now > 0.0 || boot > 0.001 {
        Status::Limited
    } else {
        Status::Ok
    };
    Answer::new(status, value, evidence).unless_ok(
        "samples of one thread with stolen time are rejected and counted; a run may take longer to reach its precision",
    )
}

/// The kind of KVM behind /dev/kvm.
fn kvm(i: &Inputs) -> Answer {
    let modules: Vec<&str> = ["kvm_intel", "kvm_amd", "kvm_pvm"]
        .into_iter()
        .filter(|m| i.fs.exists(&format!("/sys/module/{m}")))
        .collect();
    let opened = match i.kvm {
        Ok(version) => format!("/dev/kvm opens, API version {version}"),
        Err(errno) => format!("/dev/kvm: {errno}"),
    };
    let found = if !i.fs.exists("/sys/module") {
        "cannot be listed".to_owned()
    } else if modules.is_empty() {
        "none of kvm_intel, kvm_amd, kvm_pvm".to_owned()
    } else {
        modules.join(", ")
    };
    let evidence = format!(
        "{opened}; {}; /sys/module: {found}",
        i.cpuinfo.evidence(&["vmx", "svm"])
    );
    if let Err(errno) = i.kvm {
        let hint = match errno.0 {
            libc::EACCES | libc::EPERM => "ring 0 cannot be measured; join the group of /dev/kvm",
            _ => "ring 0 cannot be measured",
        };
        return absent("none", evidence).so(hint);
    }
    let hardware = i.cpuinfo.has("vmx") || i.cpuinfo.has("svm");
    let pvm = modules.contains(&"kvm_pvm") && !modules.iter().any(|m| *m != "kvm_pvm" && hardware);
    let (status, value) = match () {
        () if pvm => (Status::Limited, "pvm-emulated"),
        () if i.cpuinfo.has("vmx") => (Status::Ok, "vmx"),
        () if i.cpuinfo.has("svm") => (Status::Ok, "svm"),
        () if !i.is_x86() => (Status::Ok, "arm"),
        () if !i.cpuinfo.is_readable() || !i.fs.exists("/sys/module") => {
            (Status::Unknown, "a device; what is behind it cannot be read")
        }
        () => (Status::Unknown, "a device without vmx, svm or a known module"),
    };
    Answer::new(status, value, evidence).unless_ok(
        "privileged instructions of guests may be emulated: ring-0 figures are labelled, and are not those of a real CPU",
    )
}

/// Who runs a guest of ring 0, with all witnesses.
fn ring0(i: &Inputs) -> Answer {
    let guest = match &i.guest {
        Ok(guest) => guest,
        Err(why) => {
            return absent("none", why.message.clone()).so("the experiments of ring 0 are left out of a run");
        }
    };
    let witnesses = guest
        .witnesses
        .iter()
        .map(|w| format!("{}: {} ({})", w.name, w.found, w.says));
    let evidence = witnesses.collect::<Vec<_>>().join("; ");
    let status = if guest.hardware { Status::Ok } else { Status::Limited };
    Answer::new(status, guest.run_by(), evidence)
        .unless_ok("the experiments of ring 0 check what instructions do, and have no costs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CpuInfo;
    use crate::machine::fake::Tree;
    use crate::record::Guest;
    use crate::record::guest::{Provenance, Witness};
    use crate::sys::errno::Errno;

    #[test]
    fn the_hypervisor_line_has_name_and_features() {
        let line = hypervisor(&Inputs::guest(&Tree::guest()));
        assert_eq!((line.status, line.value.as_str()), (Status::Limited, "KVMKVMKVM"));
        assert_says!(line.evidence, "steal time", "clock stable");
        let tree = Tree::new();
        let mut arm = Inputs::nothing("aarch64");
        arm.fs = tree.fs();
        assert_eq!(hypervisor(&arm).status, Status::Unknown);
        tree.write("/sys/class/dmi/id/product_name", "TaiShan 200");
        assert_eq!(hypervisor(&arm).status, Status::Ok);
        tree.write("/sys/class/dmi/id/product_name", "KVM Virtual Machine");
        assert_eq!(hypervisor(&arm).value, "KVM Virtual Machine");
    }

    #[test]
    fn steal_is_a_share() {
        let tree = Tree::guest();
        let mut i = Inputs::guest(&tree);
        assert_eq!(steal(&i).status, Status::Unknown);
        let stat = |steal: u64| {
            tree.write("/proc/stat", &format!("cpu  100 0 0 {} 0 0 0 {steal} 0 0", 900 - steal));
            i.fs.read("/proc/stat")
        };
        let (quiet, first, second) = (stat(0), stat(50), stat(50));
        i.stat = [first.clone(), second];
        assert_eq!(steal(&i).value, "5.00 % since boot, 0.0 % over the last 200 ms");
        i.stat = [quiet.clone(), quiet];
        assert_eq!(steal(&i).status, Status::Ok);
        tree.write("/proc/stat", "cpu  110 0 0 860 0 0 0 60 0 0");
        i.stat = [first, i.fs.read("/proc/stat")];
        assert_eq!(steal(&i).value, "5.83 % since boot, 33.3 % over the last 200 ms");
    }

    #[test]
    fn kinds_of_kvm() {
        let with = |flags: &str, modules: &[&str]| {
            let tree = Tree::new();
            for module in modules {
                tree.write(&format!("/sys/module/{module}/x"), "");
            }
            let mut i = Inputs::guest(&tree);
            i.cpuinfo = CpuInfo::parse(&format!("flags : tsc {flags}\n"));
            i.kvm = Ok(12);
            let line = kvm(&i);
            (line.status, line.value)
        };
        assert_eq!(with("vmx", &["kvm_intel"]), (Status::Ok, "vmx".into()));
        assert_eq!(with("svm", &["kvm_amd"]), (Status::Ok, "svm".into()));
        assert_eq!(
            with("svm", &[]),
            (Status::Ok, "svm".into()),
            "built in without parameters"
        );
        assert_eq!(with("", &["kvm_pvm"]), (Status::Limited, "pvm-emulated".into()));
        assert_eq!(with("vmx", &["kvm_pvm"]), (Status::Limited, "pvm-emulated".into()));
        assert_eq!(with("vmx", &["kvm_intel", "kvm_pvm"]), (Status::Ok, "vmx".into()));
        assert_eq!(with("", &[]).0, Status::Unknown);
    }

    #[test]
    fn ring_0_is_as_its_witnesses_say() {
        let witness = |says: &str| Witness {
            name: "modules".into(),
            found: "kvm_pvm".into(),
            says: says.to_owned().into(),
        };
        let mut i = Inputs::nothing("x86_64");
        assert_eq!((ring0(&i).status, ring0(&i).value.as_str()), (Status::Absent, "none"));
        let mut guest = Guest {
            provenance: Provenance::Pvm,
            witnesses: vec![witness("emulated"), witness("nothing")],
            ..Guest::default()
        };
        i.guest = Ok(guest.clone());
        let line = ring0(&i);
        assert_eq!((line.status, line.value.as_str()), (Status::Limited, "emulated (PVM)"));
        assert_eq!(line.evidence, "modules: kvm_pvm (emulated); modules: kvm_pvm (nothing)");
        (guest.provenance, guest.hardware) = (Provenance::Vmx, true);
        i.guest = Ok(guest);
        assert_eq!((ring0(&i).status, ring0(&i).consequence), (Status::Ok, None));
    }

    #[test]
    fn without_kvm_the_line_has_the_reason() {
        let mut i = Inputs::nothing("x86_64");
        assert_eq!((kvm(&i).status, kvm(&i).value.as_str()), (Status::Absent, "none"));
        i.kvm = Err(Errno(libc::EACCES));
        assert_says!(kvm(&i).consequence.unwrap(), "join the group");
        i.kvm = Ok(12);
        i.arch = "aarch64".into();
        assert_eq!(kvm(&i).value, "arm");
    }
}
