//! The restartable sequences in the program's code: each one's descriptor and instructions.
//!
//! The test finds them by the instructions that register the descriptor, so they need not run: it works under an emulator
//! without rseq(2).

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use crate::parts::{again_as, nothing_is_lost, part};
use cyclewise::percpu::{Backend, Cid, CurrentSlot, NEVER, Outcome, PerCpu, Reason, backend};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

macro_rules! probes {
    ($($name:ident($v:ident: $type:ty) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($v: &$type) -> u64 {
                $body
            }
        )*
        /// Functions of one sequence or a few, by name.
        fn probes() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($name), $name as *const () as usize)),*]
        }
    };
}

probes! {
    probe_section_add(v: PerCpu<u64>) { v.add(1); 0 }
    probe_section_add_cid(v: PerCpu<u64, Cid>) { v.add(1); 0 }
    probe_section_add_release(v: PerCpu<u64>) { v.add_release(1); 0 }
    probe_section_read(v: PerCpu<u32>) { v.read().into() }
    probe_section_write_u8(v: PerCpu<u8>) { v.write(1); 0 }
    probe_section_xchg_u16(v: PerCpu<u16>) { v.xchg(1).into() }
    probe_section_cmpxchg_u8(v: PerCpu<u8>) { v.cmpxchg(1, 2).into() }
    probe_section_add_return(v: PerCpu<u32>) { v.add_return(7).into() }
    probe_section_and_or(v: PerCpu<u16>) { v.and(7); v.or(8); 0 }
    probe_section_set(v: PerCpu<[u64; 8]>) {
        let here = CurrentSlot::now();
        let at = v.slot_ptr(here.slot()).cast::<u64>();
        let from = [1, 2];
        // SAFETY: this slot's words, which only sequences change.
        let one = unsafe { here.load_cbne_store_release(&NEVER, at, 0, 1) };
        // SAFETY: this slot's words, and two of its own.
        let two = unsafe { here.load_cbne_memcpy_store(&NEVER, at, 0, at.wrapping_add(1), from.as_ptr(), 2, 1) };
        u64::from(one == Outcome::Done) + u64::from(two == Outcome::Done)
    }
}

#[derive(Clone, Copy, Debug)]
struct Section {
    /// The restart address: the first of the instructions that register the descriptor.
    entry: usize,
    /// The address after those instructions.
    told: usize,
    /// `struct rseq_cs`, and where it is.
    at: usize,
    version_and_flags: u64,
    start: usize,
    length: usize,
    abort: usize,
}

impl Section {
    fn new(entry: usize, told: usize, at: usize) -> Self {
        // SAFETY: a descriptor is four words that are never written (include/uapi/linux/rseq.h).
        let [version_and_flags, start, length, abort] = unsafe { (at as *const [u64; 4]).read() };
        Self {
            entry,
            told,
            at,
            version_and_flags,
            start: start as usize,
            length: length as usize,
            abort: abort as usize,
        }
    }

    /// The kernel's requirements of a descriptor, and ours of the sequence.
    fn check(&self) -> Result<(), &'static str> {
        let code = self.start..self.start + self.length;
        let that = |holds: bool, what| if holds { Ok(()) } else { Err(what) };
        that(self.at.is_multiple_of(32), "the descriptor is not aligned")?;
        that(self.version_and_flags == 0, "another version, or flags")?;
        that(
            self.start == self.told,
            "it does not begin where the kernel has been told",
        )?;
        that((1..200).contains(&self.length), "an odd length")?;
        that(!code.contains(&self.abort), "the abort handler is inside")?;
        // SAFETY: the four bytes before an abort handler are text.
        let signature = unsafe { (self.abort as *const u32).wrapping_sub(1).read_unaligned() };
        that(signature == isa::SIGNATURE, "no signature before the abort handler")?;
        that(
            isa::jump(self.abort) == Some(self.entry),
            "an abort does not begin again",
        )?;
        let inside = isa::decode(self.start, self.length);
        that(
            inside.iter().map(|i| i.length).sum::<usize>() == self.length,
            "it ends inside an instruction",
        )?;
        that(!inside.iter().any(|i| i.leaves), "a call or a system call is inside")
    }
}

/// The properties checked of an instruction.
#[derive(Debug)]
struct Instruction {
    text: String,
    length: usize,
    /// Calls, returns, or enters the kernel.
    leaves: bool,
}

#[cfg(target_arch = "x86_64")]
mod isa {
    use super::{Instruction, Section};
    use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Register};

    pub(super) const SIGNATURE: u32 = 0x5305_3053; // glibc's <sys/rseq.h>

    fn decoder(at: usize, length: usize) -> impl Iterator<Item = iced_x86::Instruction> {
        // SAFETY: text of this program.
        let code = unsafe { std::slice::from_raw_parts(at as *const u8, length) };
        Decoder::with_ip(64, code, at as u64, DecoderOptions::NONE).into_iter()
    }

    pub(super) fn decode(at: usize, length: usize) -> Vec<Instruction> {
        let ours = |i: iced_x86::Instruction| Instruction {
            text: format!("{:?}", i.mnemonic()).to_lowercase(),
            length: i.len(),
            leaves: !matches!(
                i.flow_control(),
                FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            ),
        };
        decoder(at, length).map(ours).collect()
    }

    pub(super) fn jump(at: usize) -> Option<usize> {
        let first = decoder(at, 5).next()?;
        (first.flow_control() == FlowControl::UnconditionalBranch).then(|| first.near_branch_target() as usize)
    }

    /// LEA of an address near by, and its store at FS.
    pub(super) fn sections(at: usize, length: usize) -> Vec<Section> {
        let all: Vec<_> = decoder(at, length).collect();
        let tells = |pair: &[iced_x86::Instruction]| {
            let (lea, store) = (pair[0], pair[1]);
            let is = lea.code() == Code::Lea_r64_m
                && lea.is_ip_rel_memory_operand()
                && store.code() == Code::Mov_rm64_r64
                && store.memory_segment() == Register::FS
                && store.op1_register() == lea.op0_register();
            let descriptor = lea.ip_rel_memory_address() as usize;
            is.then(|| Section::new(lea.ip() as usize, store.next_ip() as usize, descriptor))
        };
        all.windows(2).filter_map(tells).collect()
    }

    pub(super) const ADDITION: &[&str] = &["mov", "shl", "add"];
    pub(super) const RELEASE: &[&str] = ADDITION;
}

#[cfg(target_arch = "aarch64")]
mod isa {
    use super::{Instruction, Section};

    pub(super) const SIGNATURE: u32 = 0xd428_bc00; // glibc's <sys/rseq.h>, little-endian

    /// Name, mask and bits (Arm ARM, C4.1). What is not here is of no account, or wrong inside a sequence.
    const KNOWN: &[(&str, u32, u32)] = &[
        ("adrp", 0x9f00_0000, 0x9000_0000),
        ("add imm", 0xffc0_0000, 0x9100_0000),
        ("add lsl 16", 0xffe0_fc00, 0x8b00_4000),
        ("add", 0xffe0_fc00, 0x8b00_0000),
        ("ldr w", 0xffc0_0000, 0xb940_0000),
        ("ldr x", 0xffc0_0000, 0xf940_0000),
        ("str x", 0xffc0_0000, 0xf900_0000),
        ("stlr x", 0xffff_fc00, 0xc89f_fc00),
        ("ldar x", 0xffff_fc00, 0xc8df_fc00),
        ("b", 0xfc00_0000, 0x1400_0000),
        ("bl", 0xfc00_0000, 0x9400_0000),
        ("blr", 0xffff_fc1f, 0xd63f_0000),
        ("br", 0xffff_fc1f, 0xd61f_0000),
        ("ret", 0xffff_fc1f, 0xd65f_0000),
        ("svc", 0xffe0_001f, 0xd400_0001),
    ];

    fn words(at: usize, length: usize) -> Vec<(usize, u32)> {
        // SAFETY: text of this program.
        let code = unsafe { std::slice::from_raw_parts(at as *const u32, length / 4) };
        (at..).step_by(4).zip(code.iter().copied()).collect()
    }

    fn name(word: u32) -> &'static str {
        let known = KNOWN.iter().find(|(_, mask, bits)| word & mask == *bits);
        known.map_or("?", |known| known.0)
    }

    pub(super) fn decode(at: usize, length: usize) -> Vec<Instruction> {
        let ours = |(_, word)| Instruction {
            text: name(word).to_owned(),
            length: 4,
            leaves: ["bl", "blr", "br", "ret", "svc"].contains(&name(word)),
        };
        words(at, length).into_iter().map(ours).collect()
    }

    pub(super) fn jump(at: usize) -> Option<usize> {
        let (_, word) = words(at, 4)[0];
        // A distance in words, of 26 bits with a sign.
        let distance = ((word << 6) as i32 >> 6) as isize * 4;
        (name(word) == "b").then(|| at.wrapping_add_signed(distance))
    }

    /// ADRP and ADD of an address, and its store.
    pub(super) fn sections(at: usize, length: usize) -> Vec<Section> {
        let tells = |three: &[(usize, u32)]| {
            let [(entry, adrp), (_, add), (store_at, store)] = *three else {
                return None;
            };
            let register = adrp & 31;
            // STR of that register, at 8 from its base.
            let is = [name(adrp), name(add), name(store)] == ["adrp", "add imm", "str x"]
                && (add & 31, add >> 5 & 31, store & 31) == (register, register, register)
                && store >> 10 & 0xfff == 1;
            let pages = (((adrp >> 5 & 0x7_ffff) << 2 | adrp >> 29 & 3) << 11) as i32 >> 11;
            let page = (entry & !0xfff).wrapping_add_signed(pages as isize * 4096);
            is.then(|| Section::new(entry, store_at + 4, page + (add >> 10 & 0xfff) as usize))
        };
        words(at, length).windows(3).filter_map(tells).collect()
    }

    pub(super) const ADDITION: &[&str] = &["ldr w", "add lsl 16", "ldr x", "add", "str x"];
    pub(super) const RELEASE: &[&str] = &["ldr w", "add lsl 16", "ldr x", "add", "stlr x"];
}

fn sections() -> BTreeMap<&'static str, Vec<Section>> {
    let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let size = |name: &str| {
        let symbol = file.symbols().find(|s| s.name() == Ok(name));
        symbol.expect("the probe is in the symbol table").size() as usize
    };
    probes()
        .into_iter()
        .map(|(name, at)| (name, isa::sections(at, size(name))))
        .collect()
}

#[test]
fn the_kernel_is_told_of_each_sequence_as_it_asks() {
    let sections = sections();
    for (name, found) in &sections {
        // By both ids, where the probe's slow path is in it as well.
        assert!(!found.is_empty(), "{name}");
        for section in found {
            assert_eq!(section.check(), Ok(()), "{name}: {section:x?}");
        }
    }
    let all: usize = sections.values().map(Vec::len).sum();
    println!("{all} sequences in {} probes", sections.len());
}

#[test]
fn an_addition_is_this() {
    let sections = sections();
    for (name, expected) in [
        ("probe_section_add", isa::ADDITION),
        ("probe_section_add_cid", isa::ADDITION),
        ("probe_section_add_release", isa::RELEASE),
    ] {
        let first = sections[name][0];
        let inside = isa::decode(first.start, first.length);
        let text: Vec<&str> = inside.iter().map(|i| &*i.text).collect();
        assert_eq!(text, expected, "{name}");
    }
}

/// The twin: what is wrong with a descriptor is found.
#[test]
fn a_wrong_descriptor_is_caught() {
    let good = sections()["probe_section_add"][0];
    assert_eq!(good.check(), Ok(()));
    macro_rules! wrong {
        ($($field:ident: $value:expr => $what:literal;)*) => { $(
            assert_eq!(Section { $field: $value, ..good }.check(), Err($what));
        )* };
    }
    wrong! {
        at: good.at + 8 => "the descriptor is not aligned";
        version_and_flags: 1 => "another version, or flags";
        start: good.entry => "it does not begin where the kernel has been told";
        length: 0 => "an odd length";
        abort: good.start => "the abort handler is inside";
        abort: good.entry => "no signature before the abort handler";
        entry: good.start => "an abort does not begin again";
    }
}

/// Tools that move text look for the descriptors in this section.
#[test]
fn descriptors_are_in_the_section_that_tools_know() {
    let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let section = file.section_by_name("__rseq_cs").expect("__rseq_cs");
    let symbol = file.symbols().find(|s| s.name() == Ok("probe_section_add")).unwrap();
    let base = (probe_section_add as *const ()).addr() - symbol.address() as usize;
    let known = section.address() as usize..(section.address() + section.size()) as usize;
    for (name, found) in sections() {
        for descriptor in found.iter().map(|section| section.at - base) {
            assert!(
                known.contains(&descriptor),
                "{name}: {descriptor:#x} is not in {known:x?}"
            );
        }
    }
}

/// A copy of this program in which `change` has changed the addresses that the dynamic linker will write.
fn copy(name: &str, change: impl Fn(u64, &mut [u8])) -> PathBuf {
    const ENTRY: usize = 24; // Elf64_Rela: where, what, value
    let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let relocations = {
        let file = object::File::parse(&*bytes).unwrap();
        let section = file.section_by_name(".rela.dyn").expect(".rela.dyn");
        let (start, length) = section.file_range().unwrap();
        start as usize..(start + length) as usize
    };
    for entry in bytes[relocations].chunks_exact_mut(ENTRY) {
        let (at, value) = entry.split_at_mut(16);
        change(u64::from_le_bytes(at[..8].try_into().unwrap()), value);
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{}", std::process::id()));
    std::fs::write(&file, bytes).unwrap();
    let permissions = std::fs::metadata(std::env::current_exe().unwrap())
        .unwrap()
        .permissions();
    std::fs::set_permissions(&file, permissions).unwrap();
    file
}

/// What a tool leaves that moves sequences without their descriptors: all begin 4 bytes before the code that runs.
#[test]
fn sequences_that_were_moved_are_not_used() {
    const THIS: &str = "sections::sequences_that_were_moved_are_not_used";
    if let Some(part) = part() {
        println!("{part}: {}", backend());
        let moved = (backend().backend, backend().reason) == (Backend::Portable, Reason::Moved);
        assert_eq!(moved, part == "moved" && crate::parts::kernel_has_rseq());
        return nothing_is_lost();
    }
    let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let section = file.section_by_name("__rseq_cs").expect("__rseq_cs");
    let starts = move |at: u64| {
        at.checked_sub(section.address())
            .filter(|&n| n < section.size() && n % 32 == 8)
    };
    let moved = copy("moved", |at, value| {
        if starts(at).is_some() {
            let value: &mut [u8; 8] = value.try_into().unwrap();
            *value = (u64::from_le_bytes(*value) - 4).to_le_bytes();
        }
    });
    // The twin is a copy without a change.
    for (program, part) in [(moved, "moved"), (copy("same", |_, _| ()), "same")] {
        again_as(&program, THIS, part, "");
        std::fs::remove_file(program).unwrap();
    }
}

/// A counter and a ring whose sequences BOLT 16 has moved: it lost more than half of the additions.
#[test]
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn bolt_loses_nothing() {
    const PROGRAM: &str = "
        use cyclewise::percpu::{Counter, Ring, backend};
        static SUM: Counter = Counter::with_batch(0, 1 << 20);
        fn main() {
            println!(\"{}\", backend());
            let ring = Ring::<u64, 64>::new();
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| for n in 0..200_000 { SUM.add(1); let _ = ring.push(n); ring.pop(); });
                }
            });
            assert_eq!(SUM.sum(), 800_000);
        }";
    let tools = ["llvm-bolt", "llvm-bolt-16"];
    let is_there = |tool: &&str| std::process::Command::new(tool).arg("--version").output().is_ok();
    let Some(bolt) = tools.into_iter().find(is_there) else {
        return println!("skipped: no llvm-bolt here; apt-get install bolt-16");
    };
    if std::env::var("RUSTFLAGS").is_ok_and(|flags| flags.contains("sanitizer")) {
        return println!("skipped: BOLT refuses programs with a sanitizer");
    }
    let program = crate::refused::Library::get().link("bolt", &["-O", "-Clink-arg=-Wl,-q"], PROGRAM);
    let moved = program.with_extension("moved");
    let run = |command: &mut std::process::Command| {
        let output = command.output().unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{command:?}: {text}");
        text
    };
    run(std::process::Command::new(bolt)
        .arg(&program)
        .arg("-o")
        .arg(&moved)
        .arg("-lite=0"));
    let (before, after) = (
        run(&mut std::process::Command::new(&program)),
        run(&mut std::process::Command::new(&moved)),
    );
    println!("{before}{after}");
    // Every sequence is where it was, or none is used.
    assert!(!before.contains("has moved"), "{before}");
    assert!(after == before || after.contains("has moved"), "{after}");
}
