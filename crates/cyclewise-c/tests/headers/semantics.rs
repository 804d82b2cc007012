//! Programs in C that compare each operation with plain arithmetic, compiled in each way that changes the operations.

use crate::tool::{
    Compiler, can_link, compilers, copy_headers, cxx_compilers, each_of, folder, is_long, run, share_of, source,
};

/// Options that change how the operations are implemented, or what checks them.
const MODES: &[&[&str]] = &[
    &["-O0"],
    &["-O2"],
    &["-O2", "-DCW_NO_SITES"],
    &["-O2", "-masm=intel"],
    &["-O2", "-flto"],
    &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    &["-O1", "-fsanitize=thread"],
    &["-O3", "-fno-pie", "-no-pie"],
    &["-O2", "-static"],
];

/// Compiles the program, which must work, and runs it. `Ok` too if these options link nothing here.
fn build_and_run(compiler: Compiler, mode: &[&str], name: &str) -> Result<String, String> {
    let folder = folder(&format!(
        "run-{name}-{}{}",
        compiler.name,
        mode.concat().replace('/', "")
    ));
    let mut command = compiler.command();
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-sign-compare"]);
    if !mode.iter().any(|option| option.starts_with("-std")) {
        command.arg(if compiler.is_cxx { "-std=c++11" } else { "-std=c11" });
    }
    let language = if compiler.is_cxx { "c++" } else { "c" };
    let program = folder.join("program");
    command
        .arg("-pthread")
        .args(mode)
        .args(["-x", language])
        .arg(source(name));
    command.args(["-x", "none"]);
    // What clang makes of std::atomic calls it.
    if compiler.is_clang && compiler.is_cxx {
        command.arg("-latomic");
    }
    if let Err(said) = run(command.arg("-o").arg(&program)) {
        assert!(!can_link(compiler, mode, &folder), "{said}");
        return Ok(String::new());
    }
    run(&mut std::process::Command::new(&program))
}

/// Whether this architecture has the options.
fn has(mode: &[&str]) -> bool {
    cfg!(target_arch = "x86_64") || !mode.iter().any(|m| m.starts_with("-m"))
}

#[test]
fn words_are_changed_as_plain_arithmetic_would() {
    let all = compilers();
    each_of(&all, |compiler| {
        for mode in share_of(MODES, compiler, &all).filter(|mode| has(mode)) {
            build_and_run(compiler, mode, "words.c").unwrap();
        }
    });
}

/// The same while the library has elided LOCK, which it puts back before the program's threads run.
#[test]
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
fn words_are_changed_the_same_while_elided() {
    // Cargo puts the library beside this program.
    let this = std::env::current_exe().unwrap();
    let built = this.parent().unwrap().display().to_string();
    let hooks = folder("hooks").join("hooks.o");
    let source = crate::tool::include().join("../hooks/cyclewise-hooks.c");
    run(std::process::Command::new("cc")
        .args(["-c", "-O2", "-fPIC"])
        .arg(source)
        .arg("-o")
        .arg(&hooks))
    .unwrap();
    let link = [
        hooks.display().to_string(),
        format!("-L{built}"),
        format!("-Wl,-rpath,{built}"),
        "-Wl,--no-as-needed".to_owned(),
        "-lcyclewise_c".to_owned(),
    ];
    let of_c: Vec<_> = compilers().into_iter().filter(|c| !c.is_cxx).collect();
    for &compiler in &of_c {
        for &level in share_of(&["-O0", "-O2"], compiler, &of_c) {
            let mode: Vec<_> = [level, "-DELIDED"]
                .into_iter()
                .chain(link.iter().map(String::as_str))
                .collect();
            build_and_run(compiler, &mode, "words.c").unwrap();
        }
    }
}

/// The twin: the program fails where an operation is another one.
#[test]
fn a_wrong_operation_is_noticed() {
    let compiler = compilers()[0];
    for wrong in [
        "-DTWIN_INC=cw_dec_u32",
        "-DTWIN_FETCH_ADD=cw_add_return_u32",
        "-DTWIN_LOCK=1",
    ] {
        let failed = build_and_run(compiler, &["-O0", wrong], "words.c").unwrap_err();
        assert!(failed.contains("words.c:"), "{wrong}: {failed}");
    }
}

const CXX_MODES: &[&[&str]] = &[
    &["-O2", "-std=c++11"],
    &["-O0", "-std=c++17"],
    &["-O2", "-std=c++20"],
    &["-O2", "-std=c++20", "-DCW_NO_SITES"],
    &[
        "-O1",
        "-std=c++17",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ],
];

/// Shares of the first two of these modes; the long form has all.
#[test]
fn the_atomic_of_cxx_does_what_the_standard_one_does() {
    let modes = if is_long() { CXX_MODES } else { &CXX_MODES[..2] };
    let all = cxx_compilers();
    each_of(&all, |compiler| {
        for mode in share_of(modes, compiler, &all) {
            build_and_run(compiler, mode, "atomic.cc").unwrap();
        }
    });
}

/// The twin: an addition that is a subtraction, and an exchange that reports success always.
#[test]
fn a_wrong_member_is_noticed() {
    let sum = (
        "atomic_word.hpp",
        "return cw_fetch_add_##w##_explicit(p, v, order);",
        "return cw_fetch_add_##w##_explicit(p, v + 1, order);",
    );
    let swap = (
        "atomic_word.hpp",
        "        return stored;",
        "        return stored || true;",
    );
    if cfg!(not(target_arch = "x86_64")) {
        println!("skipped: without sites the members are the standard's");
        return;
    }
    let all = cxx_compilers();
    for &compiler in &all {
        for &twin in share_of(&[sum, swap], compiler, &all) {
            let headers = folder(&format!("member-{}", compiler.name));
            copy_headers(&headers, &[twin]);
            let before = format!("-I{}", headers.display());
            // The first folder with the header is taken, so the twin's has to come before.
            let program = headers.join("program");
            let mut command = std::process::Command::new(compiler.name);
            command
                .args([&*before, "-std=c++17", "-O0", "-DTWIN", "-pthread"])
                .arg(source("atomic.cc"));
            if compiler.is_clang {
                command.arg("-latomic");
            }
            run(command.arg("-o").arg(&program)).unwrap();
            let failed = run(&mut std::process::Command::new(&program)).unwrap_err();
            assert!(failed.contains("differs"), "{failed}");
        }
    }
}

/// With Boost's headers, where they are.
#[test]
fn a_policy_counts_for_boost() {
    let all = cxx_compilers();
    for &compiler in &all {
        let probe = folder(&format!("boost-{}", compiler.name)).join("probe.cc");
        std::fs::write(&probe, "#include <boost/smart_ptr/intrusive_ref_counter.hpp>\n").unwrap();
        if run(compiler.command().arg("-fsyntax-only").arg(&probe)).is_err() {
            println!("skipped: no headers of Boost for {}", compiler.name);
            continue;
        }
        let modes = [
            &["-O2", "-std=c++11"][..],
            &["-O1", "-std=c++17", "-fsanitize=address,undefined"],
        ];
        for mode in share_of(&modes, compiler, &all) {
            build_and_run(compiler, mode, "intrusive.cc").unwrap();
        }
        // The twin frees nothing.
        let failed = build_and_run(compiler, &["-O0", "-std=c++11", "-DPOLICY=leaking"], "intrusive.cc").unwrap_err();
        assert!(failed.contains("not freed"), "{failed}");
    }
}

#[test]
fn counts_saturate_and_report() {
    let all = compilers();
    let modes = [&["-O0"][..], &["-O2"], &["-O2", "-DCW_NO_SITES"]];
    each_of(&all, |compiler| {
        for mode in share_of(&modes, compiler, &all) {
            build_and_run(compiler, mode, "refcount.c").unwrap();
        }
    });
}

/// The twin: an increment from zero that is reported as another misuse.
#[test]
fn a_wrong_report_is_noticed() {
    let headers = folder("report");
    copy_headers(&headers, &[("refcount.h", "if (was == 0) ", "if (was != 0) ")]);
    let program = headers.join("program");
    let mut command = std::process::Command::new("cc");
    command
        .arg("-I")
        .arg(&headers)
        .arg(source("refcount.c"))
        .arg("-o")
        .arg(&program);
    run(&mut command).unwrap();
    let failed = run(&mut std::process::Command::new(&program)).unwrap_err();
    assert!(failed.contains("refcount.c:"), "{failed}");
}

/// A plain access beside the operations compiles. Under ThreadSanitizer it is reported; the twin has none, and is not.
#[test]
fn a_plain_increment_beside_the_operations_is_a_race() {
    for compiler in compilers() {
        let sanitized = ["-O1", "-g", "-fsanitize=thread"];
        match build_and_run(compiler, &sanitized, "plain.c") {
            Ok(said) if said.contains("ran") => {}
            Ok(_) => continue,
            Err(said) => panic!("{}: {said}", compiler.name),
        }
        let reported = build_and_run(compiler, &[&sanitized[..], &["-DPLAIN"]].concat(), "plain.c").unwrap_err();
        assert!(reported.contains("data race"), "{}: {reported}", compiler.name);
    }
}
