//! The table of each object: a record for each locked instruction, and no other, whatever compiled it.

use crate::image::check;
use crate::tool::{Compiler, compilers, copy_headers, each_of, folder, run, share_of, source};
use std::path::Path;

const MODES: &[&[&str]] = &[
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["-O3"],
    &["-Os"],
    &["-O0", "-masm=intel"],
    &["-O2", "-masm=intel"],
    &["-O2", "-flto"],
    &["-O3", "-ffunction-sections", "-fdata-sections"],
    &["-O2", "-fcf-protection=full"],
    &["-O2", "-mcmodel=medium"],
    &["-O2", "-fno-plt", "-g"],
    &[
        "-O1",
        "-fsanitize=null,alignment,shift",
        "-fsanitize-undefined-trap-on-error",
    ],
    &["-O3", "-funroll-loops", "-march=haswell"],
];

/// Sites in `sites.c`: at least one in each of its functions. Loops that are unrolled have more.
const AT_LEAST: usize = 60;

/// Compiles `sites.c` to a shared object with headers from a folder, and checks its table.
fn table(compiler: Compiler, mode: &[&str], include: &Path, folder: &Path) -> Result<usize, String> {
    linked_table(compiler, mode, SHARED, include, folder)
}

const SHARED: &[&str] = &["-fPIC", "-shared"];

/// Where thread-local variables have an address relative to the segment. It is not run.
const FIXED: &[&str] = &["-fno-pie", "-static", "-Wl,-e,0", "-Wl,--unresolved-symbols=ignore-all"];

fn linked_table(
    compiler: Compiler,
    mode: &[&str],
    link: &[&str],
    include: &Path,
    folder: &Path,
) -> Result<usize, String> {
    let (language, standard) = if compiler.is_cxx {
        ("c++", "-std=c++11")
    } else {
        ("c", "-std=c11")
    };
    let object = folder.join("sites.so");
    run(std::process::Command::new(compiler.name)
        .arg("-I")
        .arg(include)
        .args([standard, "-nostdlib", "-Wall", "-Wextra", "-Werror"])
        .args(mode)
        .args(link)
        .args(["-x", language])
        .arg(source("sites.c"))
        .arg("-o")
        .arg(&object))
    .unwrap();
    check(&object)
}

#[test]
fn every_record_is_a_locked_instruction_and_every_one_has_a_record() {
    let all = compilers();
    each_of(&all, |compiler| {
        let folder = folder(&format!("sites-{}", compiler.name));
        for mode in share_of(MODES, compiler, &all) {
            let found = table(compiler, mode, &crate::tool::include(), &folder);
            let found = found.unwrap_or_else(|e| panic!("{} {mode:?}: {e}", compiler.name));
            assert!(found >= AT_LEAST, "{} {mode:?}: {found} sites", compiler.name);
        }
    });
}

/// The twins: a record one byte off, one that is missing, and one that is doubled.
#[test]
fn a_record_that_lies_is_caught() {
    let folder = folder("sites-twins");
    let record = "\".long 771f - .\\n\\t\"";
    let twins: [(&str, &str); 3] = [
        ("\".long 771f + 1 - .\\n\\t\"", "no locked instruction"),
        ("\"\"", "without a record"),
        ("\".long 771f - .\\n\\t.long 771f - .\\n\\t\"", "2 records"),
    ];
    let all = compilers();
    for &compiler in &all {
        for &(twin, found) in share_of(&twins, compiler, &all) {
            let headers = folder.join(format!("{}-{}", compiler.name, found.replace(' ', "-")));
            copy_headers(&headers, &[("site.h", record, twin)]);
            let caught = table(compiler, &["-O2"], &headers, &folder).unwrap_err();
            assert!(caught.contains(found), "{}: {found}: {caught}", compiler.name);
        }
    }
}

/// An operand may be a thread-local variable, and its address has no segment. The twin: with the constraint that other
/// atomics use, it has.
#[test]
fn an_operand_has_no_segment() {
    for compiler in compilers() {
        let folder = folder(&format!("segment-{}", compiler.name));
        let found = linked_table(compiler, &["-O2"], FIXED, &crate::tool::include(), &folder).unwrap();
        assert!(found >= AT_LEAST, "{}: {found} sites", compiler.name);
        let headers = folder.join("headers");
        let twin = if compiler.is_clang {
            [
                ("site.h", "[cw_p] \"r\"(p)", "[cw_p] \"m\"(*p)"),
                ("site.h", "\"(%[cw_p])\"", "\"%[cw_p]\""),
                ("site.h", "\"[%[cw_p]]\"", "\"%[cw_p]\""),
            ]
        } else {
            [
                ("site.h", "[cw_p] \"Ts\"(p)", "[cw_p] \"m\"(*p)"),
                ("site.h", "CW_MEMORY_ATT_ \"%a[cw_p]\"", "CW_MEMORY_ATT_ \"%[cw_p]\""),
                (
                    "site.h",
                    "CW_MEMORY_INTEL_ \"%a[cw_p]\"",
                    "CW_MEMORY_INTEL_ \"%[cw_p]\"",
                ),
            ]
        };
        copy_headers(&headers, &twin);
        let caught = linked_table(compiler, &["-O2"], FIXED, &headers, &folder).unwrap_err();
        let why = ["has a segment", "not the first byte"];
        assert!(why.iter().any(|w| caught.contains(w)), "{}: {caught}", compiler.name);
    }
}

/// The prefix of a 16-bit operand comes after LOCK. The twin: in one statement GNU as puts it before.
#[test]
fn lock_is_the_first_prefix() {
    let compiler = compilers()[0];
    let folder = folder("first-prefix");
    let headers = folder.join("headers");
    copy_headers(&headers, &[("site.h", "\"771:\\tlock\\n\\t\"", "\"771:\\tlock \"")]);
    match table(compiler, &["-O2"], &headers, &folder) {
        Err(caught) => assert!(caught.contains("not the first byte"), "{caught}"),
        // The assembler of a clang that is called cc.
        Ok(found) => println!("{} assembles {found} sites in either way", compiler.name),
    }
}

/// What a count costs: the locked instruction, one jump that is not taken, and no memory beside the count's.
#[test]
fn a_count_is_one_instruction_and_one_branch() {
    for compiler in compilers().into_iter().filter(|c| !c.is_cxx) {
        let folder = folder(&format!("short-{}", compiler.name));
        let object = folder.join("sites.so");
        run(compiler
            .command()
            .args(["-O2", "-fPIC", "-shared", "-nostdlib", "-fcf-protection=none"])
            .arg(source("sites.c"))
            .arg("-o")
            .arg(&object))
        .unwrap();
        for (name, expected) in [
            ("refcount_inc", ["lock inc", "jle", "ret"]),
            ("refcount_dec", ["lock sub", "js", "ret"]),
            ("refcount64_inc", ["lock inc", "jle", "ret"]),
        ] {
            let body = crate::image::listing(&object, name);
            let hot: Vec<_> = body.iter().take(3).collect();
            let fits = hot.iter().zip(expected).all(|(line, start)| line.starts_with(start));
            assert!(fits, "{} {name}: {body:#?}", compiler.name);
        }
        // The caller's branch is the jump on the instruction's own flags.
        let put = crate::image::listing(&object, "refcount_dec_and_test_branch");
        let at = put.iter().position(|line| line.starts_with("lock sub"));
        assert!(
            at.is_some_and(|at| put[at + 1].starts_with("js")),
            "{}: {put:#?}",
            compiler.name
        );
    }
}
