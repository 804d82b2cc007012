//! AArch64: the instructions of a Refcount's operations, with LSE and with run-time detection of LSE.

#[cfg(not(target_arch = "aarch64"))]
#[test]
fn aarch64_only() {
    println!("skipped: the program disassembly checks this architecture's instructions");
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use cyclewise::refs::{Refcount, Refcount64};
    use object::{Object, ObjectSection, ObjectSymbol};

    macro_rules! probes {
        ($($baseline:ident $lse:ident: $type:ty, $count:ident => $body:expr;)*) => { $(
            #[unsafe(no_mangle)]
            extern "C" fn $baseline($count: &$type) -> bool {
                $body
            }

            #[unsafe(no_mangle)]
            #[target_feature(enable = "lse")]
            extern "C" fn $lse($count: &$type) -> bool {
                $body
            }
        )*

            /// Keeps the probes, and names them: without LSE and with it.
            fn probes() -> Vec<(&'static str, &'static str)> {
                $(
                    std::hint::black_box($baseline as extern "C" fn(&$type) -> bool);
                    std::hint::black_box($lse as unsafe extern "C" fn(&$type) -> bool);
                )*
                vec![$((stringify!($baseline), stringify!($lse))),*]
            }
        };
    }

    probes! {
        probe_inc lse_inc: Refcount, count => { count.inc(); true };
        probe_inc64 lse_inc64: Refcount64, count => { count.inc(); true };
        probe_add lse_add: Refcount, count => { count.add(3); true };
        probe_dec lse_dec: Refcount, count => { count.dec(); true };
        probe_dec_and_test lse_dec_and_test: Refcount, count => count.dec_and_test();
        probe_dec_and_test64 lse_dec_and_test64: Refcount64, count => count.dec_and_test();
        probe_sub_and_test lse_sub_and_test: Refcount, count => count.sub_and_test(3);
        probe_inc_not_zero lse_inc_not_zero: Refcount, count => count.inc_not_zero();
    }

    /// A function's accesses to shared memory.
    #[derive(Debug, Default, PartialEq)]
    struct Accesses {
        /// LDADD and the other single-access atomic operations.
        ldadd: usize,
        /// CAS.
        cas: usize,
        /// Load and store exclusive, which loop.
        exclusive: usize,
        /// Calls of helpers that detect LSE at run time, by name.
        helpers: Vec<String>,
    }

    /// The program's file: symbols of functions, and `.text`.
    struct File {
        functions: Vec<(u64, u64, String)>,
        base: u64,
        text: Vec<u8>,
    }

    impl File {
        fn read() -> Self {
            let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
            let file = object::File::parse(&*bytes).unwrap();
            let text = file.section_by_name(".text").unwrap();
            let functions = file
                .symbols()
                .filter(|s| s.kind() == object::SymbolKind::Text)
                .map(|s| (s.address(), s.size(), s.name().unwrap().to_owned()))
                .collect();
            Self {
                functions,
                base: text.address(),
                text: text.data().unwrap().to_vec(),
            }
        }

        fn accesses(&self, name: &str) -> Accesses {
            let (start, size, _) = self.functions.iter().find(|(_, _, n)| n == name).unwrap();
            let from = (start - self.base) as usize;
            let code = &self.text[from..from + *size as usize];
            let mut found = Accesses::default();
            for (at, word) in (*start..).step_by(4).zip(code.chunks_exact(4)) {
                let word = u32::from_le_bytes(word.try_into().unwrap());
                // Arm ARM C4.1: atomic memory operations with opc LDADD; compare and swap; load/store exclusive; BL.
                found.ldadd += usize::from(word & 0x3f20_fc00 == 0x3820_0000);
                found.cas += usize::from(word & 0x3fa0_7c00 == 0x08a0_7c00);
                found.exclusive += usize::from(word & 0x3fa0_0000 == 0x0800_0000);
                if word >> 26 == 0b10_0101 {
                    let distance = i64::from((word << 6).cast_signed() >> 6) * 4;
                    let to = at.wrapping_add_signed(distance);
                    let helper = self
                        .functions
                        .iter()
                        .find(|(a, _, n)| *a == to && n.starts_with("__aarch64_"));
                    found.helpers.extend(helper.map(|(_, _, n)| n.clone()));
                }
            }
            found
        }
    }

    #[test]
    fn with_lse_each_is_one_ldadd_and_no_loop() {
        let file = File::read();
        for (_, name) in probes() {
            let found = file.accesses(name);
            println!("{name}: {found:?}");
            let conditional = name.ends_with("not_zero");
            let expected = Accesses {
                ldadd: usize::from(!conditional),
                cas: usize::from(conditional),
                ..Accesses::default()
            };
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn without_each_calls_the_helper_that_looks_for_lse() {
        if cfg!(target_feature = "lse") {
            println!("skipped: this program was built for LSE throughout");
            return;
        }
        let file = File::read();
        for (name, _) in probes() {
            let found = file.accesses(name);
            println!("{name}: {found:?}");
            let [helper] = &found.helpers[..] else {
                panic!("{name}: {found:?}");
            };
            let family = if name.ends_with("not_zero") {
                "__aarch64_cas"
            } else {
                "__aarch64_ldadd"
            };
            assert!(helper.starts_with(family), "{name}: {helper}");
            assert_eq!(found.exclusive + found.cas + found.ldadd, 0, "{name}: {found:?}");
            // The helper uses LDADD where the CPU has it, and load and store exclusive elsewhere.
            let inside = file.accesses(helper);
            assert_eq!(inside.exclusive, 2, "{helper}: {inside:?}");
            assert_eq!(inside.ldadd + inside.cas, 1, "{helper}: {inside:?}");
        }
    }
}
