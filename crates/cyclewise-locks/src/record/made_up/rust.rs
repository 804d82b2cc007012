//! A program in Rust, whose threads share words and have some of their own.

use super::{call, counted, document, emulator, machine, remedy, site, thread};
use crate::counts::{Arch, LineWord, MemoryLine};
use crate::forecast::{Forecast, NativeTime, Remedy, Verdict};
use crate::profile::{Class, Executed, Form, LineProfile, Operation, ProcessProfile, Profile};
use crate::record::Locks;

/// A line with the two words of an `Arc`, and another count beside them.
fn line(walk: &str) -> LineProfile {
    let word = |offset, executed, soon_same, soon_beside| LineWord {
        offset,
        executed,
        threads: 8,
        soon_same,
        soon_beside,
        site: 0x5555_0000_81f4,
    };
    LineProfile {
        pid: 4711,
        line: MemoryLine {
            address: 0x7f00_0000_1040,
            words: vec![word(16, 24_000_000, 900_000, 480_000), word(40, 90_000, 0, 60_000)],
        },
        sites: vec![Some((walk.to_owned(), 0x81f4)), Some((walk.to_owned(), 0xa050))],
    }
}

const CORE: &str = "/rustc/abc123/library/core/src/sync/atomic.rs";
const ARC: &str = "/rustc/abc123/library/alloc/src/sync.rs";

/// A Rust program whose threads clone and drop an `Arc` for each node that they visit.
pub(crate) fn rust() -> Locks {
    use Form::{Fence, Lock, Xchg};
    let walk = "/usr/local/bin/walk";
    let libc = "/lib/x86_64-linux-gnu/libc.so.6";
    let inc = ("lock inc qword ptr [rdi]", Lock, Operation::Add);
    let dec = ("lock dec qword ptr [rdi]", Lock, Operation::Add);
    let cas = ("lock cmpxchg dword ptr [rdi],ecx", Lock, Operation::CompareExchange);
    let swap = ("xchg dword ptr [rdi],eax", Xchg, Operation::Exchange);
    let fence = ("lock or dword ptr [rsp],0", Fence, Operation::Fence);
    let clone = "<alloc::sync::Arc<T> as Clone>::clone";
    let drop = "<alloc::sync::Arc<T> as Drop>::drop";
    let sites = vec![
        counted(
            site(
                walk,
                0x81f4,
                inc,
                Class::CountUp,
                &[
                    ("core::sync::atomic::atomic_add", CORE, 3551),
                    (clone, ARC, 2182),
                    ("graph::Walk::next", "src/graph.rs", 118),
                ],
            ),
            "std Arc",
            31_415_926,
            8,
            61,
        ),
        counted(
            site(
                walk,
                0x8231,
                dec,
                Class::CountDownAndTest,
                &[
                    ("core::sync::atomic::atomic_sub", CORE, 3566),
                    (drop, ARC, 2520),
                    ("graph::Walk::next", "src/graph.rs", 131),
                ],
            ),
            "std Arc",
            31_415_920,
            8,
            61,
        ),
        counted(
            site(
                walk,
                0x9a10,
                cas,
                Class::LockTaken,
                &[
                    ("core::sync::atomic::atomic_compare_exchange", CORE, 3609),
                    (
                        "std::sys::sync::mutex::futex::Mutex::lock",
                        "/rustc/abc123/library/std/src/sys/sync/mutex/futex.rs",
                        29,
                    ),
                    (
                        "walk::queue::Queue<walk::task::Task<graph::Node, graph::Edge>>::push_all_of_the_neighbours",
                        "src/queue.rs",
                        44,
                    ),
                ],
            ),
            "std Mutex",
            2_000_000,
            8,
            0,
        ),
        counted(
            site(
                walk,
                0x9a5c,
                swap,
                Class::LockGivenBack,
                &[
                    ("core::sync::atomic::atomic_swap", CORE, 3540),
                    (
                        "walk::queue::Queue<walk::task::Task<graph::Node, graph::Edge>>::push_all_of_the_neighbours",
                        "src/queue.rs",
                        51,
                    ),
                ],
            ),
            "std Mutex",
            2_000_000,
            8,
            0,
        ),
        counted(
            site(
                walk,
                0xa001,
                fence,
                Class::Fence,
                &[("walk::idle::Sleepers::wake", "src/idle.rs", 77)],
            ),
            "",
            150_000,
            8,
            0,
        ),
        counted(
            site(
                walk,
                0xa050,
                inc,
                Class::CountUp,
                &[("walk::stats::Stats::visited", "src/stats.rs", 12)],
            ),
            "",
            90_000,
            8,
            0,
        ),
        counted(
            site(libc, 0x8f0a2, cas, Class::LockTaken, &[("_int_malloc", "", 0)]),
            "glibc malloc",
            4_100,
            8,
            40,
        ),
        counted(site(libc, 0x9_1000, cas, Class::Other, &[]), "", 12, 1, 100),
    ];
    let remedies = vec![
        remedy(
            Remedy::NoLock,
            &[0, 1, 2, 3, 5, 6, 7],
            66_925_958,
            [0.04, 0.19],
            0.31,
            "what no remedy can exceed",
        ),
        remedy(
            Remedy::PlainCounts,
            &[0, 1],
            38_327_320,
            [0.021, 0.11],
            0.17,
            "61 % of these executions are on words that one thread only used; Rc needs that of all of a type's values",
        ),
        remedy(
            Remedy::FewerClones,
            &[0, 1],
            31_415_923,
            [0.017, 0.09],
            0.14,
            "half of the clones at these places are replaced by borrowing",
        ),
    ];
    let profile = Profile {
        method: emulator(),
        arch: Arch::X86_64,
        instructions: 4_812_345_678,
        executed: Executed {
            lock: 64_925_958,
            xchg: 2_000_000,
            fence: 150_000,
            ..Executed::default()
        },
        sites,
        threads: std::iter::once(thread(4711, 4711, "walk", 312_345_678, 1_000_000, 0))
            .chain((1..=9).map(|n| thread(4711, 4711 + n, &format!("worker-{n}"), 500_000_000, 7_325_106, 16_666)))
            .collect(),
        system_calls: vec![
            call("futex", 181_220, 9_000_400),
            call("write", 12, 400_120),
            call("munmap", 310, 2_000),
        ],
        processes: vec![ProcessProfile {
            pid: 4711,
            command: "walk --nodes 1000000 --threads 9".to_owned(),
            threads: 10,
            instructions: 4_812_345_678,
            locked: 66_925_958,
            fences: 150_000,
        }],
        lines: vec![line(walk)],
        missing: vec![
            "12 sites are in code without names: /lib/x86_64-linux-gnu/libc.so.6 has no debug information".to_owned(),
        ],
    };
    let forecast = Forecast {
        verdict: Verdict::WorthIt,
        answer: "worth it: words of one thread without LOCK would save 1.3 to 6.9 % of the program's user time"
            .to_owned(),
        remedies,
        native: Some(NativeTime {
            user_s: 1.6,
            range: [1.55, 1.71],
            runs: 3,
        }),
        basis: vec![
            "costs of the surroundings nearest to each site, by distance and by the mix of instructions".to_owned(),
        ],
    };
    document(
        machine("x86_64", "Example CPU @ 2.40GHz"),
        &["walk", "--nodes", "1000000", "--threads", "9"],
        profile,
        Some(forecast),
    )
}
