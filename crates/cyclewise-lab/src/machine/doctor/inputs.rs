//! All data that the doctor evaluates, gathered beforehand so that tests can describe any machine.

use crate::error::Error;
use crate::machine::identity::{Variables, identity_of};
use crate::machine::lock_event::{self, Survey};
use crate::machine::{CpuInfo, Cpuid, guest, lock_emulator};
use crate::record::{Guest, Identity};
use crate::sys::affinity;
use crate::sys::auxv::Auxv;
use crate::sys::errno::Errno;
use crate::sys::limits::Limits;
#[cfg(test)]
use crate::sys::limits::Rlimit;
use crate::sys::procfs::{Reading, Sysfs};
use crate::sys::{kvm, membarrier, perf_probe, protect, rseq};
use std::time::Duration;

/// How long steal time is observed.
const STEAL_INTERVAL: Duration = Duration::from_millis(200);

/// One machine, as its files, registers and system calls describe it.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// `x86_64` or `aarch64`.
    pub arch: String,
    /// /proc and /sys.
    pub fs: Sysfs,
    /// /proc/cpuinfo, parsed.
    pub cpuinfo: CpuInfo,
    /// What engines of jobs set in the environment.
    pub variables: Variables,
    /// Which machine of a fleet it is; under `--anonymous`, with hashed names.
    pub identity: Identity,
    /// CPUID, if the architecture has it.
    pub cpuid: Option<Cpuid>,
    /// The auxiliary vector.
    pub auxv: Auxv,
    /// libc's rseq registration.
    pub libc_rseq: Option<rseq::Libc>,
    /// The kernel's error for an invalid rseq call.
    pub rseq_refusal: Errno,
    /// The backend that the library chose.
    pub percpu: cyclewise::percpu::Report,
    /// The bit mask of membarrier commands.
    pub membarrier: Result<u32, Errno>,
    /// Cycles that the PMU counted.
    pub perf: Result<u64, Errno>,
    /// Which events see locked instructions.
    pub lock_events: Survey,
    pub lock_emulator: lock_emulator::Emulator,
    /// KVM's interface version.
    pub kvm: Result<i32, Errno>,
    /// Who runs a guest of ring 0, or why none runs.
    pub guest: Result<Guest, Error>,
    /// Which ways of changing text work.
    pub protect: protect::Probes,
    pub limits: Limits,
    /// The CPUs that this process may use, by sched_getaffinity(2).
    pub affinity: Option<Vec<u32>>,
    /// /proc/stat before and after an interval.
    pub stat: [Reading; 2],
    pub stat_interval: Duration,
}

impl Inputs {
    /// Gathers the data of this machine.
    pub(crate) fn gather() -> Self {
        let fs = Sysfs::machine();
        let before = fs.read("/proc/stat");
        std::thread::sleep(STEAL_INTERVAL);
        let after = fs.read("/proc/stat");
        let cpuinfo = CpuInfo::parse(&fs.text("/proc/cpuinfo").unwrap_or_default());
        let variables = Variables::of_this_process();
        Self {
            arch: std::env::consts::ARCH.to_owned(),
            identity: identity_of(&fs, &cpuinfo, &variables),
            lock_events: lock_event::survey(&fs, std::env::consts::ARCH, &cpuinfo),
            lock_emulator: lock_emulator::find(std::env::consts::ARCH, &std::env::var("PATH").unwrap_or_default()),
            cpuinfo,
            variables,
            cpuid: Cpuid::this_cpu(),
            auxv: Auxv::here(),
            libc_rseq: rseq::Libc::here(),
            rseq_refusal: rseq::refused_call(),
            percpu: cyclewise::percpu::backend(),
            membarrier: membarrier::query(),
            perf: perf_probe::probe(),
            kvm: kvm::api_version(),
            guest: guest::examine(),
            protect: protect::probe(),
            limits: Limits::of_this_process(),
            affinity: affinity::allowed().ok(),
            stat: [before, after],
            stat_interval: STEAL_INTERVAL,
            fs,
        }
    }

    pub(super) fn is_x86(&self) -> bool {
        self.arch == "x86_64"
    }

    /// `CPUID 7 EBX = 0x...`: one register of a leaf as evidence.
    pub(super) fn cpuid_evidence(&self, leaf: u32, register: &str) -> String {
        let Some(cpuid) = &self.cpuid else {
            return format!("no CPUID on {}", self.arch);
        };
        let Some(found) = cpuid.leaf(leaf) else {
            return format!("CPUID {leaf:#x}: no such leaf");
        };
        let value = match register {
            "EAX" => found.eax,
            "EBX" => found.ebx,
            "ECX" => found.ecx,
            _ => found.edx,
        };
        format!("CPUID {leaf:#x} {register} = {value:#010x}")
    }
}

#[cfg(test)]
impl Inputs {
    /// A machine without files or CPUID, whose kernel refuses every call.
    pub(crate) fn nothing(arch: &str) -> Self {
        let fs = crate::machine::fake::Tree::new().fs();
        const NONE: Rlimit = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let no = Errno(libc::ENOSYS);
        let stat = fs.read("/proc/stat");
        Self {
            arch: arch.to_owned(),
            cpuinfo: CpuInfo::default(),
            variables: Variables::default(),
            identity: Identity::default(),
            cpuid: None,
            auxv: Auxv::default(),
            libc_rseq: None,
            rseq_refusal: no,
            percpu: cyclewise::percpu::Report {
                backend: cyclewise::percpu::Backend::Portable,
                reason: cyclewise::percpu::Reason::Refused { errno: no.0 },
                cid: false,
            },
            membarrier: Err(no),
            perf: Err(no),
            lock_events: Survey {
                tried: Vec::new(),
                evidence: "/sys/bus/event_source/devices cannot be listed".to_owned(),
            },
            lock_emulator: lock_emulator::find(arch, ""),
            kvm: Err(Errno(libc::ENOENT)),
            guest: Err(Error::unsupported(
                "/dev/kvm: no such device; load kvm_intel or kvm_amd",
            )),
            protect: protect::Probes {
                anonymous: Err(no),
                program: Err(no),
                mdwe: Err(no),
            },
            limits: Limits {
                processes: NONE,
                files: NONE,
            },
            affinity: None,
            stat: [stat.clone(), stat],
            stat_interval: STEAL_INTERVAL,
            fs,
        }
    }

    /// The tree's machine, with the CPUID of a KVM guest; system calls are refused.
    pub(crate) fn guest(tree: &crate::machine::fake::Tree) -> Self {
        let fs = tree.fs();
        Self {
            cpuinfo: CpuInfo::parse(&fs.text("/proc/cpuinfo").unwrap_or_default()),
            cpuid: Some(crate::machine::fake::kvm_guest()),
            stat: [fs.read("/proc/stat"), fs.read("/proc/stat")],
            fs,
            ..Self::nothing("x86_64")
        }
    }
}
