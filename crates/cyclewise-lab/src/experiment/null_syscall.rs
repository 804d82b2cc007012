//! `null-syscall`: the cost of entering the kernel, compared with a vDSO call and a function call.

use super::{Definition, Options, Published};
use crate::arch::entry;
use crate::error::Result;
use crate::record::Unit;
use crate::runner::{Bench, Control, Guards, Kinds, Setup};
use crate::sys::vdso::GetCpu;
use std::hint::black_box;

pub(super) static DEFINITION: Definition = Definition {
    name: "null-syscall",
    question: "What does entering the kernel cost, compared with a vDSO call and a function call?",
    source: "Jeremy Fitzhardinge, \"[PATCH 0/8] Implement per-processor data areas for i386\", August 2006; measured with lmbench's null syscall",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &PUBLISHED,
    setup,
};

const COMPARE: [(&str, &str); 2] = [("function-call", "getppid vdso-getcpu"), ("vdso-getcpu", "getppid")];

/// Calls need nothing of the call before. Entries of the kernel wait for more than data.
const KINDS: Kinds = Kinds::new("", "function-call");

fn setup(_: &Options) -> Result<Setup> {
    let mut bench = Bench::new();
    let (mut notes, mut missing) = (Vec::new(), Vec::new());
    let mut samplers = vec![bench.body(entry::GETPPID)];
    match getcpu() {
        Ok(getcpu) => samplers.push(bench.calls("vdso-getcpu", move || {
            black_box(getcpu.call());
        })),
        Err(why) => super::left_out(&mut notes, &mut missing, &["vdso-getcpu"], why),
    }
    samplers.push(bench.body(entry::FUNCTION_CALL));
    Ok(Setup {
        compare: super::pairs(&samplers, &COMPARE),
        control: Control::Repeat(0),
        notes,
        samplers,
        kinds: KINDS,
        missing,
        ..Setup::default()
    })
}

fn getcpu() -> std::result::Result<GetCpu, &'static str> {
    if cfg!(target_arch = "aarch64") {
        return Err("the AArch64 vDSO has no getcpu, libc would enter the kernel");
    }
    GetCpu::find().ok_or("this libc has no getcpu (glibc has it since 2.29)")
}

const CORE_DUO: &str = "Intel Core Duo at 1 GHz";

static PUBLISHED: [Published; 2] = published! {
    CORE_DUO => {
        "getppid": "null syscall, before", 237.0, "ns";
        "getppid": "null syscall with %gs saved and restored for per-processor data", 245.0, "ns";
    }
};
