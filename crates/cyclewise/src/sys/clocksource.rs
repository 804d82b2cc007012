//! `/sys/devices/system/clocksource/…/current_clocksource`: which counter the kernel keeps its time by.

use super::errno;
use super::file::File;

/// The longest name that is kept (`struct clocksource` has names of up to 31).
pub(crate) const NAME: usize = 32;

/// Why the clock source is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// There is no file, it may not be read, or it is empty.
    Hidden,
    /// There was no descriptor or no memory left. There may be later.
    Exhausted,
}

/// The name of the clock source, without the newline and filled up with zeroes.
///
/// Preserves errno. Cost: three system calls, a few microseconds.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn current() -> Result<[u8; NAME], Unknown> {
    errno::preserve(read)
}

fn unknown(errno: i32) -> Unknown {
    match errno {
        libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EINTR => Unknown::Exhausted,
        _ => Unknown::Hidden,
    }
}

fn read() -> Result<[u8; NAME], Unknown> {
    const PATH: &core::ffi::CStr = c"/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let mut name = [0; NAME];
    let file = File::open(PATH, libc::O_RDONLY).map_err(unknown)?;
    let n = file.read(&mut name).map_err(unknown)?;
    // The newline, and what was not written.
    let rest = n.checked_sub(1).and_then(|n| name.get_mut(n..));
    rest.ok_or(Unknown::Hidden)?.fill(0);
    Ok(name)
}
