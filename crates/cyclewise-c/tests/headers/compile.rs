//! Each header alone, and all of them in every standard and under every option that changes what the compiler sees.

use crate::tool::{Compiler, compilers, copy_headers, cxx_compilers, each_of, folder, include, is_long, run, share_of};
use std::path::PathBuf;

/// What every header stands.
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// What they stand, too: projects that use these turn them on for what they include.
const MORE_WARNINGS: &[&str] = &[
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wundef",
    "-Wcast-qual",
    "-Wcast-align",
    "-Wredundant-decls",
    "-Wfloat-equal",
    "-Wswitch-enum",
    "-Wunused-macros",
    "-Wformat=2",
];
const C_WARNINGS: &[&str] = &["-Wmissing-prototypes", "-Wstrict-prototypes", "-Wbad-function-cast"];
const CXX_WARNINGS: &[&str] = &[
    "-Wold-style-cast",
    "-Wmissing-declarations",
    "-Wzero-as-null-pointer-constant",
    "-Wextra-semi",
    "-Woverloaded-virtual",
];

/// Those that one of the compilers does not have.
const GCC_WARNINGS: &[&str] = &[
    "-Wduplicated-cond",
    "-Wduplicated-branches",
    "-Wlogical-op",
    "-Wnull-dereference",
];
const GXX_WARNINGS: &[&str] = &["-Wuseless-cast", "-Wsuggest-override", "-Wsign-promo", "-Wnoexcept"];
const CLANG_WARNINGS: &[&str] = &[
    "-Wmissing-variable-declarations",
    "-Wshorten-64-to-32",
    "-Wcomma",
    "-Wdocumentation",
    "-Wconditional-uninitialized",
    "-Wunreachable-code-aggressive",
    "-Wthread-safety",
];

const C: &[&str] = &["c99", "c11", "c2x", "gnu11", "gnu17"];
const CXX: &[&str] = &["c++11", "c++14", "c++17", "c++20", "c++2b", "gnu++20"];

const MODES: &[&[&str]] = &[
    &["-O0"],
    &["-O1"],
    &["-O3"],
    &["-Os"],
    &["-O2", "-fPIC"],
    &["-O0", "-fPIC"],
    &["-O2", "-fno-pie"],
    &["-O2", "-flto"],
    &["-O2", "-fcf-protection"],
    &["-O2", "-masm=intel"],
    &["-O0", "-masm=intel"],
    &["-O2", "-funsigned-char"],
    &["-O2", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"],
    &["-O2", "-g", "-fno-asynchronous-unwind-tables"],
    &["-O2", "-ffreestanding"],
    &["-O1", "-fsanitize=address,undefined"],
    &["-O0", "-fsanitize=address,undefined"],
    &["-O1", "-fsanitize=thread"],
    &["-O2", "-DCW_NO_SITES"],
    &["-O2", "-mcmodel=medium", "-fPIC"],
    &["-O2", "-mcmodel=medium", "-fno-pie"],
    &["-O0", "-mcmodel=large"],
    &["-O2", "-mcmodel=large", "-fPIC"],
    &["-O2", "-mcmodel=large", "-fno-pie"],
    &["-O2", "-mcmodel=large", "-masm=intel"],
    &["-O2", "-mcmodel=kernel", "-fno-pie", "-mno-red-zone"],
    &["-O2", "-ffixed-rbx", "-ffixed-r11", "-ffixed-r12"],
    &["-O2", "-fsanitize=hwaddress"],
    &["-O2", "-fsanitize=memory"],
    &["-O2", "-fsanitize=kernel-address"],
    &["-O2", "-fsanitize=leak", "-fsanitize-coverage=trace-pc"],
    &["-O2", "-fsanitize=safe-stack"],
    &["-O2", "-pg", "-finstrument-functions", "-fprofile-generate"],
    &["-O2", "-fpatchable-function-entry=16", "-fstack-protector-all"],
    &["-O2", "-mindirect-branch=thunk", "-mfunction-return=thunk"],
    &["-O2", "-mretpoline"],
    &["-O2", "-fno-exceptions", "-fno-asynchronous-unwind-tables"],
    &["-O2", "-fexceptions", "-fnon-call-exceptions"],
    &["-O2", "-ftrapv"],
    &["-O2", "-fno-inline", "-fno-common"],
    &["-O2", "-fshort-enums"],
    &["-O2", "-fsplit-stack"],
    &["-O2", "-mgeneral-regs-only", "-ffreestanding"],
    &["-O2", "-mno-direct-extern-access"],
    &["-O2", "-fharden-compares", "-fharden-conditional-branches"],
    &["-O2", "-ftrivial-auto-var-init=pattern", "-D_FORTIFY_SOURCE=3"],
    // Without a C library: most 64-bit systems have none for these.
    &["-O2", "-m32", "-ffreestanding"],
    &["-O2", "-mx32", "-ffreestanding"],
];

/// The headers of one language by name: those of C, or all.
fn headers(compiler: Compiler) -> Vec<String> {
    let mut found: Vec<_> = std::fs::read_dir(include().join("cyclewise"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".h") || compiler.is_cxx && name.ends_with(".hpp"))
        .collect();
    found.sort();
    assert!(found.iter().any(|name| name == "atomic.h"), "{found:?}");
    found
}

fn standards(compiler: Compiler) -> &'static [&'static str] {
    if compiler.is_cxx { CXX } else { C }
}

fn extension(compiler: Compiler) -> &'static str {
    if compiler.is_cxx { "cc" } else { "c" }
}

fn every_warning(compiler: Compiler) -> Vec<&'static str> {
    let of_language = if compiler.is_cxx { CXX_WARNINGS } else { C_WARNINGS };
    let of_compiler = match (compiler.is_clang, compiler.is_cxx) {
        (true, _) => CLANG_WARNINGS.to_vec(),
        (false, true) => [GCC_WARNINGS, GXX_WARNINGS].concat(),
        (false, false) => GCC_WARNINGS.to_vec(),
    };
    [WARNINGS, MORE_WARNINGS, of_language, &of_compiler].concat()
}

fn compile(compiler: Compiler, standard: &str, options: &[&str], units: &[PathBuf]) -> Result<String, String> {
    let folder = units[0].parent().unwrap();
    run(compiler
        .command()
        .current_dir(folder)
        .arg(format!("-std={standard}"))
        .args(options)
        .arg("-c")
        .args(units))
}

/// In the oldest standard, and all of them in one unit in the others, which the compilers of a language share; the long form has each
/// alone in all of them.
#[test]
fn each_header_compiles_alone_in_every_standard() {
    let all = compilers();
    each_of(&all, |compiler| {
        let of_language: Vec<_> = all.iter().copied().filter(|c| c.is_cxx == compiler.is_cxx).collect();
        let folder = folder(&format!("alone-{}", compiler.name));
        let unit = |name: &str, names: &[String]| {
            let unit = folder.join(format!("{}.{}", name.replace('.', "_"), extension(compiler)));
            // Twice, for the guards. A translation unit must not be empty.
            let lines: String = names
                .iter()
                .map(|name| format!("#include <cyclewise/{name}>\n"))
                .collect();
            std::fs::write(&unit, format!("{lines}{lines}extern int not_empty;\n")).unwrap();
            unit
        };
        let names = headers(compiler);
        let alone: Vec<_> = names
            .iter()
            .map(|name| unit(name, std::slice::from_ref(name)))
            .collect();
        let together = [unit("together", &names)];
        let options = [&every_warning(compiler)[..], &["-O2"]].concat();
        let (oldest, others) = standards(compiler).split_first().unwrap();
        compile(compiler, oldest, &options, &alone).unwrap();
        for standard in share_of(others, compiler, &of_language) {
            let units = if is_long() { &alone[..] } else { &together };
            compile(compiler, standard, &options, units).unwrap();
        }
    });
}

/// As C++ programs include headers of C that do not do it themselves.
#[test]
fn the_headers_of_c_may_be_included_with_cs_linkage() {
    for compiler in cxx_compilers() {
        let unit = folder(&format!("linkage-{}", compiler.name)).join("linkage.cc");
        let names = headers(compiler);
        let of_c = names.iter().filter(|name| name.ends_with(".h"));
        let lines: String = of_c.map(|name| format!("#include <cyclewise/{name}>\n")).collect();
        std::fs::write(&unit, format!("extern \"C\" {{\n{lines}}}\n{USES}")).unwrap();
        compile(compiler, "c++11", &every_warning(compiler), &[unit]).unwrap();
    }
}

/// Headers that need nothing of a C library.
const FREESTANDING: [&str; 2] = ["atomic.h", "key.h"];

/// Every fourth mode by GCC as C, and as many by clang as C++; the long form has all by both, as both languages.
#[test]
fn the_headers_compile_in_every_mode() {
    let of_short = |c: &Compiler| c.is_clang == c.is_cxx;
    let compilers: Vec<_> = compilers().into_iter().filter(|c| is_long() || of_short(c)).collect();
    each_of(&compilers, |compiler| {
        let folder = folder(&format!("modes-{}", compiler.name));
        for (number, mode) in MODES.iter().enumerate() {
            if !is_long() && number % 4 != 2 * usize::from(compiler.is_clang) {
                continue;
            }
            if !cfg!(target_arch = "x86_64") && mode.iter().any(|m| m.starts_with("-m") || m.starts_with("-fcf")) {
                continue;
            }
            let freestanding = mode.contains(&"-ffreestanding");
            let mut text: String = headers(compiler)
                .iter()
                .filter(|name| !freestanding || FREESTANDING.contains(&&***name))
                .map(|name| format!("#include <cyclewise/{name}>\n"))
                .collect();
            text.push_str(USES);
            if !freestanding {
                text.push_str(CALLED_USES);
            }
            let unit = folder.join(format!("all.{}", extension(compiler)));
            std::fs::write(&unit, text).unwrap();
            let standard = standards(compiler)[0];
            let none = folder.join(format!("none.{}", extension(compiler)));
            std::fs::write(&none, "extern int not_empty;\n").unwrap();
            let options = [&every_warning(compiler)[..], mode].concat();
            if let Err(said) = compile(compiler, standard, &options, &[unit]) {
                let has = compile(compiler, standard, &[&["-Werror"], *mode].concat(), &[none]);
                assert!(has.is_err(), "{mode:?}: {said}");
                println!("skipped: {} has no {mode:?} here", compiler.name);
            }
        }
    });
}

/// A use of each kind of template, because nothing is generated for a function that is not called.
const USES: &str = "
#include <cyclewise/key.h>
CW_KEY_DEFINE_STATIC_FALSE(off);
CW_KEY_DEFINE_STATIC_TRUE(on);
int use(uint8_t *b, uint16_t *h, uint32_t *w, uint64_t *q, cw_refcount_t *r, cw_refcount64_t *s, unsigned n);
int use(uint8_t *b, uint16_t *h, uint32_t *w, uint64_t *q, cw_refcount_t *r, cw_refcount64_t *s, unsigned n) {
    static const uint8_t eight = 200;
    cw_add_u8(b, eight);
    cw_inc_u16(h);
    cw_and_u32(w, n);
    (void)cw_fetch_add_u64(q, UINT64_C(0xfedcba9876543210));
    (void)cw_fetch_xor_u32(w, 3);
    (void)cw_cmpxchg_u8(b, 1, 2);
    cw_refcount_inc(r);
    cw_refcount64_add(s, n);
    cw_refcount64_dec(s);
    return cw_fetch_inc_cmp_u64(q) + cw_dec_cmp_u16(h) + cw_test_and_set_bit_u32(w, n) +
           cw_test_and_clear_bit_u64(q, 63) + cw_dec_and_test_u64(q) + cw_refcount_dec_and_test(r) +
           cw_refcount64_inc_not_zero(s) + cw_key_unlikely(&off) + cw_key_likely(&on);
}
";

/// C programs before C23 have names that <stdbool.h> would change.
#[test]
fn the_headers_leave_bool_true_and_false_to_the_program() {
    const OWN: &str = "enum { false = 2, true = 3 };\nunion own { int bool; };\nint own(union own bool);\n";
    for compiler in compilers().into_iter().filter(|c| !c.is_cxx) {
        let unit = folder(&format!("bool-{}", compiler.name)).join("own.c");
        let include = |name: &String| format!("#include <cyclewise/{name}>\n");
        let all: String = headers(compiler).iter().map(include).collect();
        std::fs::write(&unit, format!("{all}{OWN}")).unwrap();
        compile(compiler, "gnu11", WARNINGS, std::slice::from_ref(&unit)).unwrap();
        // The twin: what a header must not do.
        std::fs::write(&unit, format!("#include <stdbool.h>\n{OWN}")).unwrap();
        compile(compiler, "gnu11", WARNINGS, &[unit]).unwrap_err();
    }
}

/// The same of what the inline functions over the library are: the clock and the soft mask.
const CALLED_USES: &str = "
uint64_t called(cw_lockref_t *lockref, cw_spinlock_t *lock);
uint64_t called(cw_lockref_t *lockref, cw_spinlock_t *lock) {
    const cw_bool open = cw_mask_save();
    cw_mask_hold();
    cw_mask_release();
    cw_mask_restore(open);
    cw_spin_lock(lock);
    cw_spin_unlock(lock);
    cw_lockref_get(lockref);
    return cw_mask_is_held() || cw_mask_is_pending() ? cw_clock_now() : cw_ticks() + cw_ticks_ordered();
}
";

/// The twin: a warning is an error, so the tests above see one.
#[test]
fn a_header_with_a_warning_is_refused() {
    let unit = folder("warned").join("warned.c");
    let text =
        "#include <cyclewise/atomic.h>\nvoid f(const uint32_t *);\nvoid f(const uint32_t *p) { cw_inc_u32(p); }\n";
    std::fs::write(&unit, text).unwrap();
    for compiler in compilers().into_iter().filter(|c| !c.is_cxx) {
        let refused = compile(compiler, "c11", WARNINGS, std::slice::from_ref(&unit)).unwrap_err();
        assert!(refused.contains("discards"), "{refused}");
    }
}

/// The twins of the modes and of the warnings: each way out that the headers have, taken away.
#[test]
fn what_the_headers_step_aside_for_is_there() {
    let of_gcc = "!(defined(__code_model_large__) && !defined(__clang__)) && ";
    let of_clang = " && \\\n    !CW_HAS_FEATURE_(hwaddress_sanitizer)";
    type Twin<'a> = (&'a str, (&'a str, &'a str), &'a [&'a str], &'a str);
    let cast = ("(cw_cast_<type>(value))", "static_cast<type>(value)");
    let twins: [Twin; 3] = [
        ("cc", (of_gcc, ""), &["-mcmodel=large"], "impossible constraint"),
        ("clang", (of_clang, ""), &["-fsanitize=hwaddress"], "constraint 'i'"),
        ("g++", cast, &["-Wuseless-cast", "-Werror"], "useless cast"),
    ];
    for (name, (old, new), options, found) in twins {
        let only = |c: &Compiler| c.name == name && (name != "cc" || cfg!(target_arch = "x86_64"));
        for compiler in compilers().into_iter().filter(only) {
            let folder = folder(&format!("aside-{name}"));
            copy_headers(&folder, &[("site.h", old, new)]);
            let unit = folder.join(format!("aside.{}", extension(compiler)));
            std::fs::write(&unit, format!("#include \"cyclewise/atomic.h\"\n{USES}")).unwrap();
            let options = [&["-O2"], options].concat();
            let refused = compile(compiler, standards(compiler)[0], &options, &[unit]).unwrap_err();
            assert!(refused.contains(found), "{name}: {refused}");
        }
    }
}

/// Calls whose result says whether there is a lock, a reference, a word or memory.
const MUST_CHECK: &[&str] = &[
    "cw_refcount_dec_and_test(r)",
    "cw_refcount_inc_not_zero(r)",
    "cw_refcount_dec_and_lock(r, 0, 0, 0)",
    "cw_lockref_get_not_zero(lockref)",
    "cw_spin_trylock(lock)",
    "cw_spin_timedlock(lock, 1)",
    "cw_masked_lock_lock(masked, 0)",
    "cw_masked_lock_trylock(masked)",
    "cw_percpu_ring_push(ring, 1)",
    "cw_percpu_ref_create(0, 0)",
];

/// A result that must not be dropped is a warning where it is; the twin is the same call, whose result is used.
#[test]
fn a_result_that_decides_is_not_dropped() {
    let takes = "cw_refcount_t *r, struct cw_lockref *lockref, cw_spinlock_t *lock, struct cw_masked_lock *masked, \
                 struct cw_percpu_ring *ring";
    let uses = "(void)r; (void)lockref; (void)lock; (void)masked; (void)ring;";
    for compiler in compilers() {
        let unit = folder(&format!("dropped-{}", compiler.name)).join(format!("dropped.{}", extension(compiler)));
        let text = |statement: &dyn Fn(&str) -> String| {
            let statements: String = MUST_CHECK.iter().map(|call| statement(call)).collect();
            let head = "#include <cyclewise/atomic.h>\n#include <cyclewise/cyclewise.h>\n";
            format!("{head}int f({takes});\nint f({takes}) {{\n{uses}\nint n = 0;\n{statements}return n;\n}}\n")
        };
        std::fs::write(&unit, text(&|call| format!("n += {call} != 0;\n"))).unwrap();
        let standard = standards(compiler)[0];
        compile(compiler, standard, WARNINGS, std::slice::from_ref(&unit)).unwrap();
        std::fs::write(&unit, text(&|call| format!("{call};\n"))).unwrap();
        let warned = compile(compiler, standard, WARNINGS, &[unit]).unwrap_err();
        let found = warned.matches("unused-result]").count();
        assert_eq!(found, MUST_CHECK.len(), "{}: {warned}", compiler.name);
    }
}
