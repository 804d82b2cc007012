//! Compiles the rows in C, and says whether there is a guest of ring 0.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    compile_c();
    println!("cargo::rustc-check-cfg=cfg(ring0)");
    let is_x86_64 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    if is_x86_64 && std::env::var_os("CARGO_FEATURE_RING0").is_some() {
        println!("cargo::rustc-cfg=ring0");
    }
}

/// Compiles `c/rows.c`. Without a C compiler that can, the program has no such rows, and says why.
fn compile_c() {
    println!("cargo::rerun-if-changed=c/rows.c");
    println!("cargo::rustc-check-cfg=cfg(c_rows)");
    let compiled = match std::env::var_os("DEP_CYCLEWISE_C_INCLUDE") {
        None => Err("the package cyclewise-c did not say where its headers are".to_owned()),
        Some(headers) => {
            println!("cargo::rerun-if-changed={}", headers.display());
            let mut c = cc::Build::new();
            // It is measured, so it is optimized in every build, as the library is.
            c.file("c/rows.c")
                .include(headers)
                .std("gnu11")
                .opt_level(2)
                .cargo_warnings(false);
            c.try_compile("cyclewise_rows")
                .map_err(|error| format!("no C compiler that compiles c/rows.c: {error}"))
        }
    };
    match compiled {
        Ok(()) => println!("cargo::rustc-cfg=c_rows"),
        // One line: what follows is the compiler's.
        Err(why) => println!("cargo::rustc-env=CYCLEWISE_NO_C={}", why.lines().next().unwrap_or("")),
    }
}
