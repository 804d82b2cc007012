//! seccomp filters that refuse one system call, as a sandbox does.

/// Whether a process may install filters: not under an emulator or in some sandboxes.
pub fn are_allowed() -> bool {
    super::child::in_child(|| refuse(libc::SYS_swapoff, &[], libc::EPERM)).is_ok()
}

/// A condition on an argument for the call to be refused.
pub enum If {
    /// Its low half, masked, equals this value.
    Bits { arg: u32, mask: u32, value: u32 },
    /// It is at least this value.
    AtLeast { arg: u32, value: u64 },
}

impl If {
    /// Its low half is this.
    pub const fn is(arg: u32, value: u32) -> Self {
        let mask = u32::MAX;
        Self::Bits { arg, mask, value }
    }

    /// It has all of these flags.
    pub const fn has(arg: u32, flags: i32) -> Self {
        let (mask, value) = (flags as u32, flags as u32);
        Self::Bits { arg, mask, value }
    }
}

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS, include/uapi/linux/bpf_common.h
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const GREATER: u16 = 0x25; // BPF_JMP | BPF_JGT | BPF_K
const AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K
const ALLOW: u32 = 0x7fff_0000; // SECCOMP_RET_ALLOW, include/uapi/linux/seccomp.h
const ERRNO: u32 = 0x0005_0000; // SECCOMP_RET_ERRNO
const TRAP: u32 = 0x0003_0000; // SECCOMP_RET_TRAP

/// Refuses the call with `errno` where every condition holds, on this thread and on threads it creates from now on.
pub fn refuse(call: libc::c_long, conditions: &[If], errno: i32) {
    answer(call, conditions, ERRNO | errno as u32);
}

/// Makes the call raise SIGSYS instead. Where SIGSYS is blocked, the kernel kills the process.
pub fn trap(call: libc::c_long, conditions: &[If]) {
    answer(call, conditions, TRAP);
}

fn answer(call: libc::c_long, conditions: &[If], answer: u32) {
    let mut program = vec![instruction(LOAD, 0, 0, 0), instruction(EQUAL, 0, ELSE, call as u32)];
    for condition in conditions {
        // seccomp_data: nr 4, arch 4, instruction_pointer 8, then the arguments, low half first.
        match *condition {
            If::Bits { arg, mask, value } => program.extend([
                instruction(LOAD, 0, 0, 16 + 8 * arg),
                instruction(AND, 0, 0, mask),
                instruction(EQUAL, 0, ELSE, value),
            ]),
            If::AtLeast { arg, value } => program.extend([
                instruction(LOAD, 0, 0, 20 + 8 * arg),
                instruction(GREATER, 3, 0, (value >> 32) as u32),
                instruction(EQUAL, 0, ELSE, (value >> 32) as u32),
                instruction(LOAD, 0, 0, 16 + 8 * arg),
                instruction(AT_LEAST, 0, ELSE, value as u32),
            ]),
        }
    }
    program.push(instruction(RETURN, 0, 0, answer));
    program.push(instruction(RETURN, 0, 0, ALLOW));
    let allow = program.len() - 1;
    for (at, instruction) in program.iter_mut().enumerate() {
        if instruction.jf == ELSE {
            instruction.jf = (allow - at - 1) as u8;
        }
    }
    install(&mut program);
}

/// A jump to the end, before the end is known.
const ELSE: u8 = 255;

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn install(program: &mut [libc::sock_filter]) {
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: takes numbers.
    let rc = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(rc, 0);
    // SAFETY: reads the program, whose length is correct.
    let rc = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(rc, 0, "seccomp: {}", std::io::Error::last_os_error());
}

/// Refuses pages that are writable and executable.
pub fn refuse_writable_text() {
    let both = If::has(2, libc::PROT_WRITE | libc::PROT_EXEC);
    refuse(libc::SYS_mprotect, &[both], libc::EACCES);
}

/// Traps the call that makes text pages read-only again.
pub fn trap_closing_text() {
    trap(
        libc::SYS_mprotect,
        &[If::is(2, (libc::PROT_READ | libc::PROT_EXEC) as u32)],
    );
}

/// Refuses to open any file for reading and writing, including `/proc/self/mem`.
pub fn refuse_proc_mem() {
    let (mask, value) = (libc::O_ACCMODE as u32, libc::O_RDWR as u32);
    refuse(libc::SYS_openat, &[If::Bits { arg: 2, mask, value }], libc::EPERM);
    // musl opens files by open(2) where the architecture has it.
    #[cfg(target_arch = "x86_64")]
    refuse(libc::SYS_open, &[If::Bits { arg: 1, mask, value }], libc::EPERM);
}
