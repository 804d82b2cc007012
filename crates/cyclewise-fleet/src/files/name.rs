//! Names of files, for people and for sorting.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The path's bytes as text. Control characters, backslashes and what is not UTF-8 are written as `\x1b`, so different paths have
/// different names and none can control a terminal.
pub(super) fn clean(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if crate::error::is_control(c) || c == '\\' {
                let mut bytes = [0; 4];
                escape(c.encode_utf8(&mut bytes).as_bytes(), &mut name);
            } else {
                name.push(c);
            }
        }
        escape(chunk.invalid(), &mut name);
    }
    name
}

fn escape(bytes: &[u8], name: &mut String) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(name, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::clean;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    #[test]
    fn names_of_any_bytes_are_clean_and_different() {
        let name = |bytes: &[u8]| clean(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name("a/zür ich.json".as_bytes()), "a/zür ich.json");
        assert_eq!(name(b"a\x1b[2J\n"), "a\\x1b[2J\\x0a");
        assert_eq!(name(b"a\\x1b[2J\\x0a"), "a\\x5cx1b[2J\\x5cx0a");
        assert_eq!(name(b"\xff\xfe.json"), "\\xff\\xfe.json");
        assert_eq!(name("\u{85}".as_bytes()), "\\xc2\\x85");
    }
}
