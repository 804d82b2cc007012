//! What the tests of patching share: children to do it in, filters that refuse it, and a key with many sites.
//!
//! Patching is state of the process, and a test runner has threads of its own: a test that needs to be alone, or that
//! breaks something, runs in a child of fork.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses some of it")]

pub mod filter;
pub mod many;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a child ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// It returned.
    Well,
    /// It panicked; the message is on stderr.
    Panic,
    /// A signal killed it.
    Signal(i32),
}

/// When a child that hangs is killed: long after any machine, however busy, would be done.
pub const HANG_S: u32 = 600;

/// Runs `body` in a child, which has one thread, and which SIGALRM kills where it hangs.
pub fn in_child(body: impl FnOnce()) -> End {
    in_child_for(HANG_S, body)
}

/// Runs `body` in a child that SIGALRM kills after `seconds`.
pub fn in_child_for(seconds: u32, body: impl FnOnce()) -> End {
    // The decoder's tables are made once: a child forked while another test makes them would wait for ever.
    let _ = iced_x86::Decoder::new(64, &[0x90], iced_x86::DecoderOptions::NONE).decode();
    report_panics_of_children();
    // SAFETY: the child uses what the C library makes usable after fork, and leaves by _exit.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        // SAFETY: takes a number. The default action of SIGALRM is to kill.
        unsafe { libc::alarm(seconds) };
        let ended = catch_unwind(AssertUnwindSafe(body));
        // SAFETY: ends the child without running the parent's exit handlers.
        unsafe { libc::_exit(i32::from(ended.is_err())) };
    }
    let mut status = 0;
    // SAFETY: writes one integer.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(waited, pid);
    match status {
        s if libc::WIFSIGNALED(s) => End::Signal(libc::WTERMSIG(s)),
        0 => End::Well,
        _ => End::Panic,
    }
}

/// Makes children write the messages of their panics to stderr: the runner's capture ends with the child.
///
/// The hook is set once, in the parent. A child cannot set it: where another test panics while this one forks, the lock
/// of the hook stays read-locked in the child, which is enough to panic there but never to set a hook.
fn report_panics_of_children() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let parent = std::process::id();
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::process::id() == parent {
                report(info);
            } else {
                say(&format!("{info}\n"));
            }
        }));
    });
}

/// Waits until the kernel lists no other thread: for a moment it still lists one that has been joined.
pub fn wait_until_alone() {
    while std::fs::read_dir("/proc/self/task").unwrap().count() > 1 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Writes to stderr past the runner's capture.
fn say(text: &str) {
    // SAFETY: reads the text, which is as long as it says.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// What `body` says, in a child.
pub fn from_child(body: impl FnOnce() -> String) -> String {
    use std::io::{Read, Write};
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let end = in_child(|| writer.write_all(body().as_bytes()).unwrap());
    assert_eq!(end, End::Well);
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    text
}

/// The bytes of a site.
pub fn bytes(at: usize) -> [u8; 5] {
    std::array::from_fn(|i| {
        // SAFETY: sites are readable text.
        unsafe { std::ptr::read_volatile((at + i) as *const u8) }
    })
}

/// Where the instruction begins whose last five bytes are the site: up to four CS prefixes earlier.
pub fn instruction_at(site: usize) -> usize {
    // Only a site at the start of a quadword has been moved there. The byte before the prefixes is no 0x2E: the tests'
    // code has none at the end of an instruction there.
    if !site.is_multiple_of(8) {
        return site;
    }
    let is_prefix = |at: &usize| bytes(*at)[0] == 0x2e;
    site - (1..=4).map(|i| site - i).take_while(is_prefix).count()
}

/// Overwrites text through `/proc/self/mem`, as a debugger does.
pub fn scribble(at: usize, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    let memory = std::fs::File::options().write(true).open("/proc/self/mem").unwrap();
    memory.write_all_at(bytes, at as u64).unwrap();
}

/// The permissions of the mapping that holds an address, such as `r-xp`.
pub fn permissions(at: usize) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let holds = |line: &&str| {
        let (start, rest) = line.split_once('-').unwrap();
        let (end, _) = rest.split_once(' ').unwrap();
        let number = |s| usize::from_str_radix(s, 16).unwrap();
        (number(start)..number(end)).contains(&at)
    };
    let line = maps.lines().find(holds).unwrap();
    line.split(' ').nth(1).unwrap().to_owned()
}
