//! Shared objects of C that a test compiles: `cc` is there wherever rustc links.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Compiles `source`, a path from the package's root, into a shared object of this name, with `options` of the compiler.
pub fn shared_object(source: &str, name: &str, options: &[&str]) -> PathBuf {
    static BUILT: AtomicU32 = AtomicU32::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME"));
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let object = folder.join(format!("lib{name}.so"));
    // Two processes of this test may build it at the same time, and one may have loaded it: it is replaced, not overwritten.
    let number = BUILT.fetch_add(1, Ordering::Relaxed);
    let new = folder.join(format!("{name}.{}.{number}", std::process::id()));
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-o"]);
    cc.arg(&new).arg(source).args(options);
    let output = cc.output().expect("cc, with which rustc links");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{cc:?}: {said}");
    std::fs::rename(&new, &object).unwrap();
    object
}
