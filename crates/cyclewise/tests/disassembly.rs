//! The program's machine code: its table lists exactly the LOCK-prefixed instructions of our atomics. Snapshots show a
//! few functions in both states.

mod common;

fn main() {
    #[cfg(target_arch = "x86_64")]
    common::harness::run(x86_64::CHECKS);
    #[cfg(not(target_arch = "x86_64"))]
    common::harness::skip("no LOCK prefix on this architecture");
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use crate::common::harness::{Check, checks};
    use cyclewise::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering};
    use cyclewise::error::Refusal;
    use cyclewise::patch::sites;
    use cyclewise::percpu::{Counter, FreeList, PerCpu, Pinned, Stack};
    use cyclewise::refs::{Arc, Refcount, Refcount64};
    use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register};
    use object::{Object, ObjectSection, ObjectSymbol};
    use std::cell::Cell;
    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt::Write;

    pub(super) const CHECKS: &[Check] = checks![
        every_record_is_a_locked_instruction,
        every_locked_instruction_of_ours_has_a_record,
        fences_and_ordered_stores_are_no_sites,
        the_table_in_memory_is_the_one_in_the_file,
        a_refcount_is_one_locked_instruction_and_no_loop,
        per_cpu_lists_neither_call_nor_loop_nor_use_the_stack,
        stack_batches_have_no_loop_but_the_copy,
        both_states_look_like_this,
    ];

    macro_rules! probes {
        ($($name:ident: $type:ty, $atomic:ident => $body:expr;)*) => {
            $(
                #[unsafe(no_mangle)]
                extern "C" fn $name($atomic: &$type) -> usize {
                    $body.answer()
                }
            )*
            /// Functions of one operation each, by name.
            fn probes() -> Vec<(&'static str, usize)> {
                vec![$((stringify!($name), $name as *const () as usize)),*]
            }
        };
    }

    probes! {
        probe_inc_u64: AtomicUsize, a => a.inc(Ordering::Relaxed);
        probe_add_u8: AtomicU8, a => a.add(3, Ordering::Relaxed);
        probe_xadd_u16: AtomicU16, a => a.fetch_add(3, Ordering::Relaxed);
        probe_cmpxchg_u32: AtomicU32, a => a.compare_exchange(1, 2, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        probe_cmpxchg_ptr: AtomicPtr<u8>, a => a
            .compare_exchange(std::ptr::null_mut(), std::ptr::dangling_mut(), Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        probe_dec_and_test: AtomicUsize, a => a.dec_and_test(Ordering::Release);
        probe_inc_negative: AtomicUsize, a => a.inc_negative(Ordering::Relaxed);
        probe_not_bool: AtomicBool, a => a.not(Ordering::Relaxed);
        probe_fetch_or: AtomicU32, a => a.fetch_or(8, Ordering::Relaxed);
        probe_three: AtomicUsize, a => {
            a.inc(Ordering::Relaxed);
            a.dec(Ordering::Relaxed);
            a.xor(9, Ordering::Relaxed)
        };
        probe_arc_clone: Arc<u64>, a => std::mem::forget(Arc::clone(a));
        probe_store: AtomicU32, a => a.store(1, Ordering::SeqCst);
        probe_release: AtomicU32, a => a.store(1, Ordering::Release);
        probe_fence: AtomicU32, _a => cyclewise::atomic::fence(Ordering::SeqCst);
        probe_swap: AtomicU32, a => a.swap(1, Ordering::SeqCst);
        probe_load: AtomicU32, a => a.load(Ordering::SeqCst);
        probe_refcount_inc: Refcount, count => count.inc();
        probe_refcount_add: Refcount, count => count.add(3);
        probe_refcount_dec: Refcount, count => count.dec();
        probe_refcount_dec_and_test: Refcount, count => count.dec_and_test();
        probe_refcount_sub_and_test: Refcount64, count => count.sub_and_test(3);
        probe_refcount_inc_not_zero: Refcount64, count => count.inc_not_zero();
        probe_percpu_add: PerCpu<u64>, a => a.add(1);
        probe_percpu_counter_inc: Counter, a => a.inc();
        probe_percpu_list_pair: FreeList<u64>, a => a.pop().map(cyclewise::percpu::Node::push).is_some();
        probe_percpu_stack_push: Stack<u64, 64>, a => a.push(7).is_ok();
        probe_percpu_stack_pop: Stack<u64, 64>, a => a.pop().is_some();
        probe_percpu_stack_batches: (Stack<u64, 64>, Cell<Vec<u64>>), a => {
            let mut words = a.1.take();
            a.0.push_many(&mut words) + a.0.pop_many(&mut words, 32)
        };
        probe_percpu_gs_inc: (Pinned, PerCpu<u64>), a => a.0.inc(&a.1);
    }

    /// The result of an operation, in the return register.
    trait Answer {
        fn answer(self) -> usize;
    }

    impl Answer for () {
        fn answer(self) -> usize {
            0
        }
    }

    impl Answer for bool {
        fn answer(self) -> usize {
            usize::from(self)
        }
    }

    impl Answer for u16 {
        fn answer(self) -> usize {
            usize::from(self)
        }
    }

    impl Answer for usize {
        fn answer(self) -> usize {
            self
        }
    }

    impl Answer for u32 {
        fn answer(self) -> usize {
            self as usize
        }
    }

    /// LOCK-prefixed instructions of the probes: three in one, none in three, one in each of the others.
    const PROBED: usize = 19;

    /// Contents of the program's file, with the file's addresses.
    struct File {
        /// Every instruction of `.text` by address: whether it has LOCK, found function by function.
        locked: BTreeSet<u64>,
        /// Targets of the records, and how often each occurs.
        records: BTreeMap<u64, usize>,
        /// Functions: address, size, name.
        functions: Vec<(u64, u64, String)>,
    }

    impl File {
        fn read() -> Self {
            let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
            let file = object::File::parse(&*bytes).unwrap();
            let text = file.section_by_name(".text").unwrap();
            let (code, base) = (text.data().unwrap(), text.address());
            let mut functions = Vec::new();
            let mut locked = BTreeSet::new();
            for symbol in file
                .symbols()
                .filter(|s| s.kind() == object::SymbolKind::Text && s.size() > 0)
            {
                let Some(start) = symbol.address().checked_sub(base) else {
                    continue;
                };
                let Some(body) = code.get(start as usize..(start + symbol.size()) as usize) else {
                    continue;
                };
                let decoder = Decoder::with_ip(64, body, symbol.address(), DecoderOptions::NONE);
                locked.extend(decoder.into_iter().filter(Instruction::has_lock_prefix).map(|i| i.ip()));
                functions.push((symbol.address(), symbol.size(), symbol.name().unwrap().to_owned()));
            }
            let table = file.section_by_name("cyclewise_lock_v1").unwrap();
            let mut records = BTreeMap::new();
            for (at, record) in (table.address()..)
                .step_by(4)
                .zip(table.data().unwrap().chunks_exact(4))
            {
                let distance = i32::from_le_bytes(record.try_into().unwrap());
                if distance != 0 {
                    *records.entry(at.wrapping_add_signed(distance.into())).or_insert(0) += 1;
                }
            }
            Self {
                locked,
                records,
                functions,
            }
        }

        fn is_recorded(&self, at: u64) -> bool {
            self.records.contains_key(&at)
        }
    }

    fn every_record_is_a_locked_instruction() {
        let file = File::read();
        assert!(file.records.len() >= PROBED, "{} records", file.records.len());
        for (at, times) in &file.records {
            assert!(
                file.locked.contains(at),
                "the record of {at:#x} is of no locked instruction"
            );
            assert_eq!(*times, 1, "{at:#x} has several records");
        }
    }

    fn every_locked_instruction_of_ours_has_a_record() {
        let file = File::read();
        // Fences are std's, and the compiler may emit a locked instruction for them.
        let ours = |name: &str| {
            name.starts_with("probe_") && !NEVER_SITES.contains(&name) || name.contains("9cyclewise6atomic")
        };
        let mut seen = 0;
        for (start, size, name) in file.functions.iter().filter(|(_, _, name)| ours(name)) {
            for at in file.locked.range(start..&(start + size)) {
                assert!(file.is_recorded(*at), "{name} has LOCK at {at:#x} and no record");
                seen += 1;
            }
        }
        assert!(seen >= PROBED, "{seen} instructions in probes");
        let others = file.locked.iter().filter(|at| !file.is_recorded(**at)).count();
        println!(
            "{} records, {seen} in probes; {others} locked instructions are std's",
            file.records.len()
        );
        assert!(others > 0, "std's atomics are gone, so this test tells nothing apart");
    }

    /// Operations that order accesses to other types, which another process may see: effective in both states.
    const NEVER_SITES: [&str; 2] = ["probe_fence", "probe_store"];

    fn fences_and_ordered_stores_are_no_sites() {
        let file = File::read();
        for (start, size, name) in &file.functions {
            let recorded = file.records.range(start..&(start + size)).count();
            if NEVER_SITES.contains(&&**name) {
                assert_eq!(recorded, 0, "{name} has a site");
            } else if name == "probe_not_bool" {
                assert_eq!(recorded, 1, "the twin, whose LOCK may go, is not seen");
            }
        }
    }

    fn the_table_in_memory_is_the_one_in_the_file() {
        let file = File::read();
        let (_, probe) = probes()[0];
        let in_file = file
            .functions
            .iter()
            .find(|(_, _, name)| name == probes()[0].0)
            .unwrap()
            .0;
        let slide = (probe as u64).wrapping_sub(in_file);
        let in_memory: BTreeSet<_> = sites().map(|s| (s.address() as u64).wrapping_sub(slide)).collect();
        assert!(in_memory.iter().eq(file.records.keys()));
    }

    fn a_refcount_is_one_locked_instruction_and_no_loop() {
        let file = File::read();
        for (name, at) in probes().into_iter().filter(|(name, _)| name.contains("refcount")) {
            let size = file.functions.iter().find(|(_, _, n)| n == name).unwrap().1;
            // SAFETY: a function of that size.
            let code = unsafe { std::slice::from_raw_parts(at as *const u8, size as usize) };
            let body: Vec<_> = Decoder::with_ip(64, code, 0, DecoderOptions::NONE)
                .into_iter()
                .collect();
            assert_eq!(body.iter().filter(|i| i.has_lock_prefix()).count(), 1, "{name}");
            let loops = body
                .iter()
                .any(|i| i.is_jcc_short_or_near() && i.near_branch_target() < i.ip());
            let exchanges = body.iter().any(|i| i.mnemonic() == Mnemonic::Cmpxchg);
            // Only the operation that must not store where its condition fails is a loop.
            let conditional = name.ends_with("not_zero");
            assert_eq!((loops, exchanges), (conditional, conditional), "{name}");
        }
    }

    fn both_states_look_like_this() {
        let file = File::read();
        let locked = listing(&file);
        // SAFETY: threads come from the C library only, and no atomics are shared with other processes.
        let enabled = unsafe { cyclewise::enable_single!() };
        if !cfg!(all(target_env = "gnu", not(target_feature = "crt-static"))) {
            // Where the linker knows every address, it also rewrites some loads.
            assert_eq!(enabled, Err(Refusal::Unwatched));
            return;
        }
        enabled.unwrap();
        let elided = listing(&file);
        let prefix_only = locked.replace("F0", "3E").replace("lock ", "ds ");
        assert_eq!(elided.lines().count(), prefix_only.lines().count());
        insta::assert_snapshot!("locked", locked);
        insta::assert_snapshot!("elided", elided);
    }

    /// Probes whose snapshot would depend on the compiler's register allocation, with the number of sequences in each. They
    /// have their own test.
    const BY_PROPERTY: [(&str, usize); 4] = [
        ("probe_percpu_counter_inc", 1),
        ("probe_percpu_list_pair", 2),
        ("probe_percpu_stack_push", 1),
        ("probe_percpu_stack_pop", 1),
    ];

    fn per_cpu_lists_neither_call_nor_loop_nor_use_the_stack() {
        let file = File::read();
        for (name, sequences) in BY_PROPERTY {
            let at = probes().into_iter().find(|(n, _)| *n == name).unwrap().1;
            let size = file.functions.iter().find(|(_, _, n)| n == name).unwrap().1;
            // SAFETY: a function of that size.
            let code = unsafe { std::slice::from_raw_parts(at as *const u8, size as usize) };
            let body: Vec<_> = Decoder::with_ip(64, code, 0, DecoderOptions::NONE)
                .into_iter()
                // The slow path follows.
                .take_while(|i| i.mnemonic() != Mnemonic::Ret)
                .collect();
            let entries = body
                .iter()
                .filter(|i| i.memory_segment() == Register::FS && i.op0_kind() == OpKind::Memory);
            assert_eq!(entries.count(), sequences, "{name}");
            for i in &body {
                let back = i.is_jcc_short_or_near() && i.near_branch_target() <= i.ip();
                assert!(!back && !i.is_call_near() && !i.is_call_near_indirect(), "{name}: {i}");
                assert!(!i.has_lock_prefix(), "{name}: {i}");
                let memory = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
                assert!(!memory || i.memory_base() != Register::RSP, "{name}: {i}");
            }
        }
    }

    /// The only loops in batches are the copies of the sequences: none that turns values into bits where they are the same.
    fn stack_batches_have_no_loop_but_the_copy() {
        let file = File::read();
        let at = probes().into_iter().find(|(n, _)| *n == STACK_BATCHES).unwrap().1;
        let at_in_file = file.functions.iter().find(|(_, _, n)| n == STACK_BATCHES).unwrap().0;
        let mut loops = 0;
        for (start, size, name) in &file.functions {
            let is_batch = name.contains("Stack") && (name.contains("push_many") || name.contains("pop_many"));
            if !is_batch && name != STACK_BATCHES {
                continue;
            }
            let here = at.wrapping_add_signed(start.wrapping_sub(at_in_file) as isize);
            // SAFETY: a function of that size, as far from the probe in memory as in the file.
            let code = unsafe { std::slice::from_raw_parts(here as *const u8, *size as usize) };
            let code: Vec<_> = Decoder::with_ip(64, code, *start, DecoderOptions::NONE)
                .into_iter()
                .collect();
            for last in code.iter().filter(|i| i.is_jcc_short_or_near()) {
                let body = || {
                    code.iter()
                        .filter(|i| (last.near_branch_target()..last.ip()).contains(&i.ip()))
                };
                // A jump back over the return leaves a slow path.
                if last.near_branch_target() > last.ip() || body().any(|i| i.mnemonic() == Mnemonic::Ret) {
                    continue;
                }
                assert!(
                    body().any(|i| i.mnemonic() == Mnemonic::Movups),
                    "{name}: a loop that ends with {last}"
                );
                loops += 1;
            }
        }
        assert!(loops >= 2, "a push and a pop of many have {loops} loops");
    }

    const STACK_BATCHES: &str = "probe_percpu_stack_batches";

    /// The probes as they stand in memory, with addresses from the start of each.
    fn listing(file: &File) -> String {
        let mut formatter = IntelFormatter::new();
        formatter.options_mut().set_show_useless_prefixes(true);
        formatter.options_mut().set_space_after_operand_separator(true);
        let mut text = String::new();
        // Compilers differ in the code they emit for a fence.
        let shown = |name: &str| {
            !["probe_fence", STACK_BATCHES].contains(&name) && BY_PROPERTY.iter().all(|(other, _)| *other != name)
        };
        for (name, at) in probes().into_iter().filter(|(name, _)| shown(name)) {
            let size = file.functions.iter().find(|(_, _, n)| n == name).unwrap().1;
            // SAFETY: a function of that size.
            let code = unsafe { std::slice::from_raw_parts(at as *const u8, size as usize) }.to_vec();
            writeln!(text, "{name}:").unwrap();
            for instruction in &mut Decoder::with_ip(64, &code, 0, DecoderOptions::NONE) {
                let from = instruction.ip() as usize;
                let bytes: Vec<_> = code[from..from + instruction.len()]
                    .iter()
                    .map(|b| format!("{b:02X}"))
                    .collect();
                let mut line = String::new();
                formatter.format(&instruction, &mut line);
                // The linker places calls and data.
                let (bytes, line) = if instruction.is_ip_rel_memory_operand() || instruction.is_call_near() {
                    ("..".to_owned(), line.split(' ').next().unwrap_or("").to_owned() + " ..")
                } else {
                    (bytes.join(" "), line)
                };
                writeln!(text, "  {bytes:<24} {line}").unwrap();
                // The slow path follows, with the assertions of the test's profile.
                if instruction.mnemonic() == Mnemonic::Ret {
                    break;
                }
            }
        }
        text
    }
}
