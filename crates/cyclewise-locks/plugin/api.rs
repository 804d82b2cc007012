//! The emulator's functions for plugins, found by name when the plugin is installed, in any version of their interface.
//!
//! Only what all versions have is used. Version 3 (qemu 9.1) changed how the bytes of an instruction are read.
//!
//! # Safety
//! 1. A function that the emulator exports under a name has the signature of `qemu-plugin.h` of its version.
//! 2. Handles of blocks and instructions are used inside the callback that they were given to.
//! 3. What callbacks are given as user data lives as long as the process.
//!
//! # References
//! qemu's `include/qemu/qemu-plugin.h` of 7.2 to 10.1.
#![allow(unsafe_code, reason = "calls the emulator")]

use crate::block::{Block, Use};
use crate::decode::Form;
use crate::sys;
use std::ffi::{CStr, c_int, c_uint, c_void};

/// A block that is being translated.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Tb(*mut c_void);

/// An instruction of such a block.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Insn(*mut c_void);

/// The first part of `qemu_info_t`.
#[repr(C)]
pub struct Info {
    /// The architecture's name.
    pub target: *const std::ffi::c_char,
    /// The lowest version of plugins that it takes.
    pub lowest: c_int,
    /// Its own version.
    pub current: c_int,
    /// Whether it emulates a whole machine.
    pub is_system: bool,
}

/// The version of the interface from which on `qemu_plugin_insn_data` copies.
const COPIES: c_int = 3;
const NO_REGISTERS: c_int = 0;
const WRITES: c_int = 2;

/// A call when a block is translated.
pub type OnTranslation = extern "C" fn(u64, Tb);
/// A call when a block or an instruction is executed.
pub type OnExecution = extern "C" fn(c_uint, *mut c_void);
/// A call when an instruction has accessed memory.
pub type OnMemory = extern "C" fn(c_uint, u32, u64, *mut c_void);
/// A call before a system call.
pub type OnCall = extern "C" fn(u64, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
/// A call after a system call.
pub type OnReturn = extern "C" fn(u64, c_uint, i64, i64);

/// Calls that are made while the program runs.
#[derive(Clone, Copy)]
pub struct Callbacks {
    /// A block is executed.
    pub block: OnExecution,
    /// A site is executed.
    pub site: OnExecution,
    /// A site has accessed memory.
    pub memory: OnMemory,
}

type CopyData = extern "C" fn(Insn, *mut u8, usize) -> usize;
type DataOf = extern "C" fn(Insn) -> *const u8;
type CountInsns = extern "C" fn(Tb) -> usize;
type GetInsn = extern "C" fn(Tb, usize) -> Insn;
type AddressOf = extern "C" fn(Insn) -> u64;
type HostAddressOf = extern "C" fn(Insn) -> *mut c_void;
type SizeOf = extern "C" fn(Insn) -> usize;
type ShiftOf = extern "C" fn(u32) -> c_uint;
type IsStore = extern "C" fn(u32) -> bool;
type OnTb = extern "C" fn(Tb, OnExecution, c_int, *mut c_void);
type OnInsn = extern "C" fn(Insn, OnExecution, c_int, *mut c_void);
type OnMem = extern "C" fn(Insn, OnMemory, c_int, c_int, *mut c_void);
type OnTrans = extern "C" fn(u64, OnTranslation);
type OnSyscall = extern "C" fn(u64, OnCall);
type OnSyscallRet = extern "C" fn(u64, OnReturn);

/// The functions.
pub struct Api {
    version: c_int,
    callbacks: Callbacks,
    tb_n_insns: CountInsns,
    tb_get_insn: GetInsn,
    insn_vaddr: AddressOf,
    insn_haddr: HostAddressOf,
    insn_size: SizeOf,
    insn_data: *mut c_void,
    mem_size_shift: ShiftOf,
    mem_is_store: IsStore,
    on_tb_exec: OnTb,
    on_insn_exec: OnInsn,
    on_mem: OnMem,
    on_trans: OnTrans,
    on_syscall: OnSyscall,
    on_syscall_ret: OnSyscallRet,
}

// SAFETY: the functions are the emulator's, which any of its threads calls.
unsafe impl Sync for Api {}
// SAFETY: as for Sync.
unsafe impl Send for Api {}

/// A function's address, or its name where the emulator has it not.
fn address(name: &'static CStr) -> Result<*mut c_void, &'static CStr> {
    let address = sys::symbol(name);
    if address.is_null() { Err(name) } else { Ok(address) }
}

/// Finds a function.
macro_rules! find {
    ($name:literal, $signature:ty) => {{
        let address = address($name)?;
        // SAFETY: the emulator exports the function under this name with this signature (Invariant 1).
        unsafe { std::mem::transmute::<*mut c_void, $signature>(address) }
    }};
}

impl Api {
    /// The functions; or the name of one that the emulator has not.
    pub fn find(version: c_int, callbacks: Callbacks) -> Result<Self, &'static CStr> {
        Ok(Self {
            version,
            callbacks,
            tb_n_insns: find!(c"qemu_plugin_tb_n_insns", CountInsns),
            tb_get_insn: find!(c"qemu_plugin_tb_get_insn", GetInsn),
            insn_vaddr: find!(c"qemu_plugin_insn_vaddr", AddressOf),
            insn_haddr: find!(c"qemu_plugin_insn_haddr", HostAddressOf),
            insn_size: find!(c"qemu_plugin_insn_size", SizeOf),
            insn_data: address(c"qemu_plugin_insn_data")?,
            mem_size_shift: find!(c"qemu_plugin_mem_size_shift", ShiftOf),
            mem_is_store: find!(c"qemu_plugin_mem_is_store", IsStore),
            on_tb_exec: find!(c"qemu_plugin_register_vcpu_tb_exec_cb", OnTb),
            on_insn_exec: find!(c"qemu_plugin_register_vcpu_insn_exec_cb", OnInsn),
            on_mem: find!(c"qemu_plugin_register_vcpu_mem_cb", OnMem),
            on_trans: find!(c"qemu_plugin_register_vcpu_tb_trans_cb", OnTrans),
            on_syscall: find!(c"qemu_plugin_register_vcpu_syscall_cb", OnSyscall),
            on_syscall_ret: find!(c"qemu_plugin_register_vcpu_syscall_ret_cb", OnSyscallRet),
        })
    }

    /// Asks for a call at each translation.
    pub fn on_translation(&self, id: u64, call: OnTranslation) {
        (self.on_trans)(id, call);
    }

    /// Asks for a call before and after each system call.
    pub fn on_calls(&self, id: u64, before: OnCall, after: OnReturn) {
        (self.on_syscall)(id, before);
        (self.on_syscall_ret)(id, after);
    }

    /// Asks for a call at each execution of the block.
    pub fn on_block(&self, tb: Tb, block: &'static Block) {
        let data = std::ptr::from_ref(block).cast_mut().cast();
        (self.on_tb_exec)(tb, self.callbacks.block, NO_REGISTERS, data);
    }

    /// Asks for a call at each execution of the site, and after its access to memory.
    pub fn on_site(&self, insn: Insn, site: &'static Use) {
        let data = std::ptr::from_ref(site).cast_mut().cast();
        (self.on_insn_exec)(insn, self.callbacks.site, NO_REGISTERS, data);
        if site.found.form != Form::Fence {
            (self.on_mem)(insn, self.callbacks.memory, NO_REGISTERS, WRITES, data);
        }
    }

    /// How many instructions the block has.
    pub fn instructions(&self, tb: Tb) -> usize {
        (self.tb_n_insns)(tb)
    }

    /// One of them.
    pub fn instruction(&self, tb: Tb, at: usize) -> Option<Insn> {
        let insn = (self.tb_get_insn)(tb, at);
        (!insn.0.is_null()).then_some(insn)
    }

    /// Where the program sees it.
    pub fn address(&self, insn: Insn) -> u64 {
        (self.insn_vaddr)(insn)
    }

    /// Where this process has it, or 0.
    pub fn host_address(&self, insn: Insn) -> u64 {
        (self.insn_haddr)(insn).expose_provenance() as u64
    }

    /// Appends its bytes.
    pub fn code(&self, insn: Insn, into: &mut Vec<u8>) {
        let size = (self.insn_size)(insn);
        let start = into.len();
        into.resize(start + size, 0);
        let to = into[start..].as_mut_ptr();
        if self.version >= COPIES {
            // SAFETY: the signature from version 3 on (Invariant 1).
            let data = unsafe { std::mem::transmute::<*mut c_void, CopyData>(self.insn_data) };
            data(insn, to, size);
        } else {
            // SAFETY: the signature before version 3 (Invariant 1).
            let data = unsafe { std::mem::transmute::<*mut c_void, DataOf>(self.insn_data) };
            let from = data(insn);
            if !from.is_null() {
                // SAFETY: the emulator has `size` bytes there (Invariant 2), and as many are ours.
                unsafe { std::ptr::copy_nonoverlapping(from, to, size) };
            }
        }
    }

    /// Whether an access to memory has stored, alone or with a load.
    ///
    /// qemu 7.2 tells of loads too where it was asked for stores.
    pub fn has_stored(&self, info: u32) -> bool {
        (self.mem_is_store)(info)
    }

    /// Bytes of an access to memory.
    pub fn access_bytes(&self, info: u32) -> usize {
        1 << (self.mem_size_shift)(info).min(8)
    }
}

/// The block that a callback was given.
pub fn block(data: *mut c_void) -> &'static Block {
    // SAFETY: `on_block` gave it (Invariant 3).
    unsafe { &*data.cast::<Block>() }
}

/// The site that a callback was given.
pub fn site(data: *mut c_void) -> &'static Use {
    // SAFETY: `on_site` gave it (Invariant 3).
    unsafe { &*data.cast::<Use>() }
}
