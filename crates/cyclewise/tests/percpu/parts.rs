//! Helpers of the per-CPU tests of whole processes: running a test again in a new process, and work with known sums.
#![allow(dead_code, reason = "each test program uses a part")]

use cyclewise::percpu::{Counter, FreeList, Ring, Stack};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

cyclewise::percpu! {
    pub(crate) static HITS: u64;
    pub(crate) static BY_CID: u64 => Cid;
}

/// The part that a child runs.
const PART: &str = "CYCLEWISE_PERCPU_PART";

/// The C library does not register threads.
pub(crate) const NOT_BY_LIBC: &str = "glibc.pthread.rseq=0";

/// Runs the test in which the closure `body` is written again, alone, in a new process for each part and with these tunables of the
/// C library. There `body` is told the part.
pub(crate) fn again<F: FnOnce(&str)>(parts: &[(&str, &str)], body: F) {
    if let Ok(part) = std::env::var(PART) {
        return body(&part);
    }
    for (part, tunables) in parts {
        again_as(&std::env::current_exe().unwrap(), test_of(&body), part, tunables);
    }
}

/// The name of the test in which a closure is written, with its module.
fn test_of<F>(_: &F) -> &'static str {
    let path = std::any::type_name::<F>().split_once("::").unwrap().1;
    path.strip_suffix("::{{closure}}").expect("a closure of the test's")
}

pub(crate) fn command(program: &Path, test: &str, part: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(PART, part);
    command
}

/// Runs a test again by this file, and forwards its output. Skipped under an emulator, which cannot start a second program.
pub(crate) fn again_as(program: &Path, test: &str, part: &str, tunables: &str) {
    let output = command(program, test, part).env("GLIBC_TUNABLES", tunables).output();
    let cannot_start = match &output {
        Err(e) => e.raw_os_error() == Some(libc::ENOEXEC),
        // The exit status of a posix_spawn child whose exec fails, where the emulator's vfork is a fork.
        Ok(output) => output.status.code() == Some(127) && output.stdout.is_empty() && output.stderr.is_empty(),
    };
    if cannot_start {
        println!("skipped: {test}: this program runs under an emulator, which cannot start it again");
        return;
    }
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    print!("{text}");
}

pub(crate) fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// Threads that add by both kinds of CPU id; the sums equal what they added.
pub(crate) fn nothing_is_lost() {
    // Tests of one process share these words.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let (before, before_cid) = (HITS.sum(), BY_CID.sum());
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for n in 0..5_000u32 {
                    HITS.add(1);
                    BY_CID.add(1);
                    if n % 32 == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!((HITS.sum() - before, BY_CID.sum() - before_cid), (80_000, 80_000));
    lists_are_exact();
}

/// Threads that count, and pop from and push to per-CPU structures: afterwards each item is there exactly once.
pub(crate) fn lists_are_exact() {
    const OBJECTS: u64 = 32;
    let counter = Counter::new(0);
    let (list, stack, ring) = (FreeList::new(), Stack::<Box<u64>, 64>::new(), Ring::<u64, 64>::new());
    for n in 0..OBJECTS {
        list.grow(n).push();
        stack.push(Box::new(n)).unwrap();
        ring.push(n).unwrap();
    }
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (counter, list, stack, ring) = (&counter, &list, &stack, &ring);
            scope.spawn(move || {
                let mut boxes = Vec::new();
                for n in 0..2_000 {
                    counter.add(n);
                    let (node, one, word) = (list.pop(), stack.pop(), ring.pop());
                    if (n + thread) % 32 == 0 {
                        stack.pop_many(&mut boxes, 3);
                        list.pop_all().push();
                        std::thread::yield_now();
                    }
                    stack.push_many(&mut boxes);
                    assert!(boxes.is_empty(), "as many fit as there are");
                    one.map_or(Ok(()), |one| stack.push(one)).unwrap();
                    word.map_or(Ok(()), |word| ring.push(word)).unwrap();
                    drop(node);
                }
            });
        }
    });
    let sorted = |mut all: Vec<u64>| {
        all.sort_unstable();
        all
    };
    let (mut boxes, mut words) = (Vec::new(), Vec::new());
    stack.drain(&mut boxes).unwrap();
    ring.drain(&mut words).unwrap();
    let expected: Vec<u64> = (0..OBJECTS).collect();
    assert_eq!(counter.sum(), 8 * (0..2_000).sum::<i64>());
    assert_eq!(sorted(list.drain().unwrap().map(|node| *node).collect()), expected);
    assert_eq!(sorted(boxes.into_iter().map(|b| *b).collect()), expected);
    assert_eq!(sorted(words), expected);
}

/// Whether the kernel had rseq(2) when this program started. Under qemu-user it does not.
pub(crate) fn kernel_has_rseq() -> bool {
    // SAFETY: an unknown flag fails before the kernel reads the address.
    unsafe { libc::syscall(libc::SYS_rseq, 0, 0, 1 << 30, 0) };
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
}
