//! A payload: an operation of a few instructions, what surrounds it, and where it runs.

use super::code::Code;

/// The mode of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 64 bits, with paging.
    Long,
    /// 32 bits, flat segments, no paging: where an i386 kernel's segment registers can be seen.
    Protected,
}

/// The privilege that the copies run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Ring 0.
    Kernel,
    /// Ring 3, from where system calls come.
    User,
}

/// What the CPU must have for a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// RDGSBASE and WRGSBASE: CPUID 7, EBX bit 0.
    FsGsBase,
    /// RDTSCP: CPUID 8000_0001h, EDX bit 27.
    Rdtscp,
    /// SYSENTER: CPUID 1, EDX bit 11.
    Sysenter,
    /// The local APIC by MSRs: CPUID 1, ECX bit 21.
    X2Apic,
}

/// What the host's hypervisor does about a payload, by the published settings of VMCS and VMCB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exits {
    /// Nothing: no instruction of it exits.
    None,
    /// Each copy exits, for the reason named.
    Each(&'static str),
    /// It depends on the CPU and on the kernel's settings, as named: the count of exits decides.
    Maybe(&'static str),
}

/// An operation and what is around it.
#[derive(Clone, Copy, Debug)]
pub struct Payload {
    /// The row's name.
    pub name: &'static str,
    /// The mode.
    pub mode: Mode,
    /// The ring that the copies run in.
    pub ring: Ring,
    /// Runs in ring 0 before the first stamp: model-specific registers, the local APIC.
    pub prepare: Option<Code>,
    /// Runs before the loop: registers that the copies read.
    pub setup: Code,
    /// One copy.
    pub operation: Code,
    /// Copies in an iteration of the shortest loop.
    pub copies: u32,
    /// Handlers in ring 0, by vector.
    pub gates: &'static [(u8, Code)],
    /// The handler of SYSCALL or SYSENTER.
    pub handler: Option<Code>,
    /// Whether it uses the local APIC, which a VM has only where it is asked for.
    pub apic: bool,
    /// What the CPU must have.
    pub needs: Option<Needs>,
    /// What the hypervisor does about it.
    pub exits: Exits,
}

/// A payload of `$mode` by its name, copies, setup and operation, and the fields in which it differs from [`Payload::new`]'s.
macro_rules! payload {
    ($mode:ident $name:literal, $copies:literal, $setup:expr, $operation:expr $(, $field:ident: $value:expr)* $(,)?) => {
        Payload { $($field: $value,)* ..Payload::new($name, Mode::$mode, $copies, $setup, $operation) }
    };
}
pub(crate) use payload;

impl Payload {
    /// An operation of ring 0 without handlers.
    pub const fn new(name: &'static str, mode: Mode, copies: u32, setup: Code, operation: Code) -> Self {
        Self {
            name,
            mode,
            ring: Ring::Kernel,
            prepare: None,
            setup,
            operation,
            copies,
            gates: &[],
            handler: None,
            apic: false,
            needs: None,
            exits: Exits::None,
        }
    }

    /// Bytes of one copy.
    pub fn code_bytes(&self) -> u32 {
        self.operation.bytes().len() as u32
    }
}
