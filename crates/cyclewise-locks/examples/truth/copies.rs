//! Both sides of a program that is copied: itself and each library that `ldd` names, as they are and without LOCK.

use super::command::output;
use super::table::SIDES;
use crate::elide::{elide, executed};
use object::Object;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies the libraries of a program to the side with LOCK.
///
/// # Errors
/// One line, where something cannot be copied.
pub(super) fn with_libraries(folder: &Path, program: &Path) -> Result<(), String> {
    let libraries = libraries_of(folder, program, None)?;
    let mut libraries = libraries.iter();
    libraries.try_for_each(|(library, path)| copied(path, &folder.join(SIDES[0]).join(library)))
}

/// Makes the side without LOCK of what is on the other, by what a counted run of that has executed; how many prefixes the copies lack.
///
/// # Errors
/// One line, where something cannot be copied, or a copy would load a library that is none.
pub(super) fn elided(folder: &Path, name: &str, document: &Path) -> Result<usize, String> {
    let mut replaced = 0;
    let root = fs::canonicalize(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let executed = executed(document)?;
    for library in fs::read_dir(folder.join(SIDES[0])).into_iter().flatten().flatten() {
        let file = library.file_name();
        let copy = folder.join(SIDES[1]).join(&file);
        copied(&library.path(), &copy)?;
        if let Some(addresses) = executed.get(&root.join(SIDES[0]).join(&file)) {
            replaced += elide(&copy, addresses)?;
        }
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
    if !is_dynamic(&folder.join(program))? {
        return Ok(Vec::new());
    }
    let mut ldd = Command::new("ldd");
    ldd.current_dir(folder).arg(program);
    if let Some(side) = side {
        ldd.env("LD_LIBRARY_PATH", side);
    }
    Ok(resolved(&output(&mut ldd, "ldd")?))
}

/// Whether the file names a dynamic linker, and so has libraries.
fn is_dynamic(file: &Path) -> Result<bool, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let bytes = fs::read(file).map_err(|error| wrong(&error))?;
    let program = object::File::parse(&*bytes).map_err(|error| wrong(&error))?;
    Ok(program.section_by_name(".interp").is_some())
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
