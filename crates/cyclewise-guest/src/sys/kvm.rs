//! A VM of one vCPU: memory, registers, and a run until it leaves the guest.
//!
//! # Invariants
//! 1. The memory is mapped for as long as the VM has it: fields are dropped in the order of their declaration, the memory last.
//!
//! # Safety
//! The kernel is given the address of memory that stays mapped (Invariant 1). Of the shared page of a vCPU, fields are read that
//! the exit's reason says are there.
#![expect(unsafe_code, reason = "gives memory to a VM, and reads a union by its tag")]

use super::memory::GuestMemory;
use super::stats::ExitCounter;
use crate::error::{Error, Result};
use crate::layout;
use kvm_bindings::{KVM_MAX_CPUID_ENTRIES, kvm_regs, kvm_sregs, kvm_userspace_memory_region};
use kvm_ioctls::{Cap, Kvm, VcpuExit, VcpuFd, VmFd};
use std::io;

/// KVM_CAP_BINARY_STATS_FD, from linux/kvm.h.
const BINARY_STATS_FD: libc::c_ulong = 203;

/// What a VM cannot do without: the capability, its name in linux/kvm.h.
const REQUIRED: [(Cap, &str); 2] = [
    (Cap::UserMemory, "KVM_CAP_USER_MEMORY"),
    (Cap::ExtCpuid, "KVM_CAP_EXT_CPUID"),
];

/// Three pages that Intel's hardware needs for a guest without paging, away from the guest's memory and the APIC.
const TSS_ADDRESS: usize = 0xfffb_d000;

/// KVM_INTERNAL_ERROR_EMULATION, from linux/kvm.h.
const EMULATION_FAILED: u32 = 1;

/// Why a vCPU left the guest.
#[derive(Debug)]
pub(crate) enum Exit {
    /// OUT to a port.
    Out(u16),
    /// IN from a port.
    In(u16),
    /// Memory that the guest does not have.
    Memory(u64),
    /// HLT with nothing to wake it.
    Halt,
    /// A triple fault.
    Shutdown,
    /// A signal.
    Signal,
    /// The hypervisor could not go on.
    Refused(String),
}

/// A VM.
pub(crate) struct Vm {
    vcpu: VcpuFd,
    exits: Option<ExitCounter>,
    _vm: VmFd,
    memory: GuestMemory,
}

impl Vm {
    /// A VM with [`layout::SIZE`] bytes of memory at [`layout::BASE`], and a local APIC in the kernel if asked.
    ///
    /// # Errors
    /// Where the device cannot be opened, or lacks something: which, and what to do.
    pub(crate) fn new(apic: bool) -> Result<Self> {
        let kvm = open()?;
        let cause = |what: &'static str| move |e: kvm_ioctls::Error| call_failed(what, &e.into());
        let vm = kvm.create_vm().map_err(cause("KVM_CREATE_VM"))?;
        if kvm.check_extension(Cap::SetTssAddr) {
            vm.set_tss_address(TSS_ADDRESS).map_err(cause("KVM_SET_TSS_ADDR"))?;
        }
        if apic {
            lacks(&kvm, Cap::Irqchip, "KVM_CAP_IRQCHIP")?;
            vm.create_irq_chip().map_err(cause("KVM_CREATE_IRQCHIP"))?;
        }
        let memory = GuestMemory::new(layout::SIZE).map_err(|e| call_failed("mmap of 2 MiB", &e))?;
        let region = kvm_userspace_memory_region {
            slot: 0,
            flags: 0,
            guest_phys_addr: layout::BASE,
            memory_size: memory.length(),
            userspace_addr: memory.address(),
        };
        // SAFETY: the memory stays mapped until the VM is gone (Invariant 1).
        let given = unsafe { vm.set_user_memory_region(region) };
        given.map_err(cause("KVM_SET_USER_MEMORY_REGION"))?;
        let vcpu = vm.create_vcpu(0).map_err(cause("KVM_CREATE_VCPU"))?;
        let cpuid = kvm
            .get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)
            .map_err(cause("KVM_GET_SUPPORTED_CPUID"))?;
        vcpu.set_cpuid2(&cpuid).map_err(cause("KVM_SET_CPUID2"))?;
        let exits = match kvm.check_extension_raw(BINARY_STATS_FD) {
            0 => None,
            _ => ExitCounter::open(&vcpu).map_err(|e| call_failed("KVM_GET_STATS_FD", &e))?,
        };
        Ok(Self {
            vcpu,
            exits,
            _vm: vm,
            memory,
        })
    }

    pub(crate) fn memory(&mut self) -> &mut GuestMemory {
        &mut self.memory
    }

    /// All exits so far, those that the kernel handled among them; `None` where the kernel does not count.
    pub(crate) fn exits(&self) -> Result<Option<u64>> {
        let read = self.exits.as_ref().map(ExitCounter::read).transpose();
        read.map_err(|e| call_failed("the vCPU's statistics", &e))
    }

    /// Segments, control registers and tables.
    pub(crate) fn special(&self) -> Result<kvm_sregs> {
        self.vcpu.get_sregs().map_err(|e| vanished("KVM_GET_SREGS", &e.into()))
    }

    pub(crate) fn set(&mut self, special: &kvm_sregs, general: &kvm_regs) -> Result<()> {
        self.vcpu
            .set_sregs(special)
            .map_err(|e| vanished("KVM_SET_SREGS", &e.into()))?;
        self.vcpu
            .set_regs(general)
            .map_err(|e| vanished("KVM_SET_REGS", &e.into()))
    }

    pub(crate) fn address(&self) -> Result<u64> {
        let regs = self.vcpu.get_regs().map_err(|e| vanished("KVM_GET_REGS", &e.into()))?;
        Ok(regs.rip)
    }

    /// Whether the vCPU waits for an interrupt inside the kernel.
    pub(crate) fn is_halted(&self) -> bool {
        self.vcpu
            .get_mp_state()
            .is_ok_and(|state| state.mp_state == kvm_bindings::KVM_MP_STATE_HALTED)
    }

    /// Makes a vCPU that was halted run.
    pub(crate) fn wake(&self) {
        let running = kvm_bindings::kvm_mp_state {
            mp_state: kvm_bindings::KVM_MP_STATE_RUNNABLE,
        };
        // Without a local APIC in the kernel there is no such state, and nothing to wake.
        let _ = self.vcpu.set_mp_state(running);
    }

    /// Completes the instruction of the last exit without running another, so that registers can be changed.
    pub(crate) fn complete(&mut self) {
        self.vcpu.set_kvm_immediate_exit(1);
        // EINTR is what it is asked for; whatever else comes shows at the next run.
        let _ = self.vcpu.run();
        self.vcpu.set_kvm_immediate_exit(0);
    }

    /// Runs until it leaves the guest.
    ///
    /// # Errors
    /// Where the kernel runs no such vCPU any more.
    pub(crate) fn run(&mut self) -> Result<Exit> {
        let exit = match self.vcpu.run() {
            Ok(exit) => exit,
            Err(e) if matches!(e.errno(), libc::EINTR | libc::EAGAIN) => return Ok(Exit::Signal),
            Err(e) => return Err(vanished("KVM_RUN", &e.into())),
        };
        Ok(match exit {
            VcpuExit::IoOut(port, _) => Exit::Out(port),
            VcpuExit::IoIn(port, _) => Exit::In(port),
            VcpuExit::MmioRead(address, _) | VcpuExit::MmioWrite(address, _) => Exit::Memory(address),
            VcpuExit::Hlt => Exit::Halt,
            VcpuExit::Shutdown => Exit::Shutdown,
            VcpuExit::Intr => Exit::Signal,
            VcpuExit::FailEntry(reason, _) => {
                Exit::Refused(format!("the CPU refused the guest's state, reason {reason:#x}"))
            }
            VcpuExit::InternalError => Exit::Refused(self.internal_error()),
            other => Exit::Refused(format!("exit {other:?}")),
        })
    }

    /// What KVM_EXIT_INTERNAL_ERROR says: for an emulation that failed, the bytes of the instruction.
    fn internal_error(&mut self) -> String {
        let run = self.vcpu.get_kvm_run();
        // SAFETY: the exit's reason says that this member of the union is set; all its bytes are plain numbers.
        let internal = unsafe { run.__bindgen_anon_1.internal };
        if internal.suberror != EMULATION_FAILED {
            return format!("KVM internal error {}", internal.suberror);
        }
        emulation_failed(internal.ndata, &internal.data)
    }
}

/// What an emulation that failed says: with bit 0 of the first word, the second begins with a count of bytes, and they follow.
fn emulation_failed(words: u32, data: &[u64]) -> String {
    /// Enough for prefixes and the opcode; the kernel shows what lies behind the instruction, too.
    const SHOWN: usize = 4;
    let bytes: Vec<u8> = data
        .iter()
        .skip(1)
        .take(2)
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    let count = bytes.first().map_or(0, |count| usize::from(*count).min(SHOWN));
    let known = words >= 3 && data.first().is_some_and(|flags| flags & 1 != 0) && count > 0;
    if !known {
        return "KVM's emulator does not know the instruction".to_string();
    }
    let shown: Vec<String> = bytes[1..=count].iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "KVM's emulator does not know the instruction that begins with {}",
        shown.join(" ")
    )
}

fn open() -> Result<Kvm> {
    let kvm = Kvm::new().map_err(|e| not_opened(&e.into()))?;
    let version = kvm.get_api_version();
    if version != 12 {
        return Err(Error::unsupported(format!(
            "/dev/kvm has API version {version}, and 12 is needed; use a newer kernel"
        )));
    }
    for (cap, name) in REQUIRED {
        lacks(&kvm, cap, name)?;
    }
    Ok(kvm)
}

/// Names a capability that the kernel does not have.
fn lacks(kvm: &Kvm, cap: Cap, name: &str) -> Result<()> {
    required(kvm.check_extension(cap), name)
}

fn required(there: bool, name: &str) -> Result<()> {
    match there {
        true => Ok(()),
        false => Err(Error::unsupported(format!(
            "/dev/kvm lacks {name}; use a kernel that has it"
        ))),
    }
}

fn not_opened(cause: &io::Error) -> Error {
    let hint = match cause.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => "join the group that owns it, or run as root",
        Some(libc::ENOENT) => {
            "load kvm_intel or kvm_amd; in a virtual machine, its host must allow nested virtualization"
        }
        _ => "turn on virtualization in the firmware, and load kvm_intel or kvm_amd",
    };
    Error::unsupported(format!("/dev/kvm: {cause}; {hint}"))
}

fn call_failed(what: &str, cause: &io::Error) -> Error {
    Error::failed(format!(
        "{what}: {cause}; see whether other VMs of this machine take all of it"
    ))
}

fn vanished(what: &str, cause: &io::Error) -> Error {
    Error::failed(format!(
        "{what}: {cause}; the vCPU is gone, and the guest with it; run again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_does_not_open_is_told_with_what_to_do() {
        let said = |errno| not_opened(&io::Error::from_raw_os_error(errno)).message;
        assert!(said(libc::EACCES).contains("join the group"));
        assert!(said(libc::ENOENT).contains("load kvm_intel or kvm_amd"));
        assert!(said(libc::ENODEV).contains("firmware"));
        assert!(
            [libc::EACCES, libc::ENOENT]
                .map(said)
                .iter()
                .all(|line| line.starts_with("/dev/kvm: ") && !line.contains('\n'))
        );
    }

    #[test]
    fn a_capability_that_is_missing_is_named() {
        assert_eq!(required(true, "KVM_CAP_IRQCHIP"), Ok(()));
        assert!(
            required(false, "KVM_CAP_IRQCHIP")
                .unwrap_err()
                .message
                .contains("KVM_CAP_IRQCHIP")
        );
    }

    #[test]
    fn a_failed_emulation_shows_the_instruction_where_the_kernel_does() {
        let bytes = u64::from_le_bytes([15, 0xcd, 0x40, 0xc3, 0x90, 1, 2, 3]);
        let said = emulation_failed(3, &[1, bytes, 0, 0]);
        assert!(said.ends_with("begins with cd 40 c3 90"), "{said}");
        for (words, data) in [(3, [0, bytes, 0]), (1, [1, bytes, 0]), (3, [1, 0, 0])] {
            assert!(emulation_failed(words, &data).ends_with("the instruction"));
        }
        assert!(emulation_failed(3, &[]).ends_with("the instruction"));
    }

    #[test]
    fn a_vcpu_that_is_gone_is_a_failure_in_one_line() {
        let error = vanished("KVM_RUN", &io::Error::from_raw_os_error(libc::EIO));
        assert!(
            error.message.starts_with("KVM_RUN: ") && error.message.contains("the vCPU is gone"),
            "{error}"
        );
    }
}
