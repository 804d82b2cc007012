//! Both sides of a program that is copied: itself and each library that `ldd` names, as they are and by `elide`.

use super::command::output;
use super::table::SIDES;
use crate::elide;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Both sides of a program and its libraries; how many prefixes the copies lack.
///
/// # Errors
/// One line, where something cannot be copied, or a copy would load a library that is none.
pub(super) fn copies(folder: &Path, program: &Path, name: &str) -> Result<usize, String> {
    let mut replaced = elide::copy(program, &folder.join("elided").join(name))?;
    let libraries = libraries_of(folder, program, None)?;
    for (library, path) in &libraries {
        copied(path, &folder.join("locked").join(library))?;
        replaced += elide::copy(path, &folder.join("elided").join(library))?;
    }
    // A path inside a program may come before the environment's.
    for side in SIDES {
        let of_side = libraries_of(folder, &Path::new(side).join(name), Some(side))?;
        if let Some((library, path)) = of_side.iter().find(|(_, path)| !path.starts_with(side)) {
            return Err(format!(
                "it loads {library} from {} and not from its side",
                path.display()
            ));
        }
    }
    Ok(replaced)
}

/// Names and places of the libraries, without the dynamic linker, which is named by the program and cannot be another one.
fn libraries_of(folder: &Path, program: &Path, side: Option<&str>) -> Result<Vec<(String, PathBuf)>, String> {
    if !elide::is_dynamic(&folder.join(program))? {
        return Ok(Vec::new());
    }
    let mut ldd = Command::new("ldd");
    ldd.current_dir(folder).arg(program);
    if let Some(side) = side {
        ldd.env("LD_LIBRARY_PATH", side);
    }
    Ok(resolved(&output(&mut ldd, "ldd")?))
}

/// The lines `NAME => PATH (ADDRESS)` of ldd.
fn resolved(text: &str) -> Vec<(String, PathBuf)> {
    let pairs = text.lines().filter_map(|line| line.split_once(" => "));
    pairs
        .map(|(name, rest)| {
            let path = rest.rsplit_once(" (").map_or(rest, |(path, _)| path);
            (name.trim().to_owned(), PathBuf::from(path))
        })
        .collect()
}

/// Copies a file, in place of what is there.
///
/// # Errors
/// One line, where it cannot.
pub(super) fn copied(from: &Path, to: &Path) -> Result<(), String> {
    // A file that a process still has open as its program cannot be written to.
    let _ = fs::remove_file(to);
    match fs::copy(from, to) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("cannot copy {} to {}: {error}", from.display(), to.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn libraries_are_those_that_have_a_path() {
        let text = "\tlinux-vdso.so.1 (0x00007f)\n\tlibm.so.6 => /lib/libm.so.6 (0x00007e)\n\
                    \tlibc.so.6 => locked/libc.so.6 (0x00007d)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007c)\n";
        let expected = [("libm.so.6", "/lib/libm.so.6"), ("libc.so.6", "locked/libc.so.6")];
        assert_eq!(
            resolved(text),
            expected.map(|(name, path)| (name.to_owned(), path.into()))
        );
    }
}
