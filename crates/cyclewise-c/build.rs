//! Compiles the hooks of thread creation where cargo-c installs the library: that is what turns the feature `capi` on.
//!
//! It also tells the build scripts of packages that depend on this one where the headers are: `DEP_CYCLEWISE_C_INCLUDE`.

fn main() {
    println!("cargo::rerun-if-changed=hooks/cyclewise-hooks.c");
    println!("cargo::rerun-if-changed=build.rs");
    // Set by cargo for every build script.
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::metadata=include={package}/include");
    // A folder that has been moved with its target folder is told anew.
    println!("cargo::rerun-if-changed={package}/include");
    #[cfg(feature = "capi")]
    hooks();
}

/// Into the folder that `package.metadata.capi.install.data` names.
#[cfg(feature = "capi")]
fn hooks() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let objects = cc::Build::new()
        .file("hooks/cyclewise-hooks.c")
        .pic(true)
        .out_dir(out.join("compiled"))
        .compile_intermediates();
    let folder = out.join("capi/share/cyclewise");
    std::fs::create_dir_all(&folder).expect("a folder in OUT_DIR");
    for object in objects {
        std::fs::copy(object, folder.join("cyclewise-hooks.o")).expect("the object of the hooks");
    }
}
