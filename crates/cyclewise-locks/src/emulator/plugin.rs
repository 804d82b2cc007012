//! The plugin's file, which the command carries in itself.

use crate::error::{Error, Result};
use object::{Object, ObjectSection, ObjectSymbol};

/// The file, where there was a compiler that built it.
#[cfg(emulator_plugin)]
const BYTES: Option<&[u8]> = Some(include_bytes!(concat!(env!("OUT_DIR"), "/plugin.so")));
#[cfg(not(emulator_plugin))]
const BYTES: Option<&[u8]> = None;

/// The symbol whose value says for which version of the interface a plugin was made.
const VERSION: &str = "qemu_plugin_version";

/// The file for an emulator that takes plugins of `version`.
pub(super) fn for_version(version: i32) -> Result<Vec<u8>> {
    let Some(bytes) = BYTES else {
        let why = option_env!("CYCLEWISE_NO_PLUGIN").unwrap_or("the compiler made none");
        return Err(Error::unsupported(format!(
            "this build of cyclewise has no plugin for the emulator: {why}; build it where rustc makes shared objects"
        )));
    };
    let mut bytes = bytes.to_vec();
    let at = place_of_version(&bytes).ok_or_else(|| {
        Error::unsupported(format!(
            "the plugin for the emulator has no symbol {VERSION}; build cyclewise again"
        ))
    })?;
    bytes[at..at + 4].copy_from_slice(&version.to_le_bytes());
    Ok(bytes)
}

/// Where in the file the symbol's four bytes are.
fn place_of_version(bytes: &[u8]) -> Option<usize> {
    let file = object::File::parse(bytes).ok()?;
    let symbol = file.dynamic_symbols().find(|s| s.name() == Ok(VERSION))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let (start, size) = section.file_range()?;
    let inside = symbol.address().checked_sub(section.address())?;
    let fits = inside.checked_add(4)? <= size;
    let at = usize::try_from(start.checked_add(inside)?).ok()?;
    (fits && bytes.len() >= at + 4).then_some(at)
}

#[cfg(all(test, emulator_plugin))]
mod tests {
    use super::{BYTES, for_version, place_of_version};

    #[test]
    fn the_version_is_written_and_nothing_else() {
        let (original, changed) = (BYTES.unwrap(), for_version(77).unwrap());
        let at = place_of_version(original).unwrap();
        assert_eq!(original[at..at + 4], 1_i32.to_le_bytes());
        assert_eq!(changed[at..at + 4], 77_i32.to_le_bytes());
        assert_eq!(changed[..at], original[..at]);
        assert_eq!(changed[at + 4..], original[at + 4..]);
    }
}
