//! What the sources published: medians of one-way transfers by distance, of additions to one counter by threads, and of spinlocks.

use crate::record::Published;

/// A machine's medians: sibling, cluster, socket, remote; 0 where it has none.
struct Transfers {
    machine: &'static str,
    ns: [u32; 4],
}

const fn transfers(machine: &'static str, ns: [u32; 4]) -> Transfers {
    Transfers { machine, ns }
}

/// core-to-core-latency's gallery.
const TRANSFERS: [Transfers; 9] = [
    transfers("2 × EPYC 7R13", [10, 23, 108, 198]),
    transfers("2 × EPYC 7742", [8, 25, 132, 267]),
    transfers("2 × Xeon 8275CL", [8, 0, 47, 134]),
    transfers("2 × Xeon 8375C", [8, 0, 51, 108]),
    transfers("2 × Xeon E5-2695 v4", [8, 0, 44, 118]),
    transfers("Kunpeng 920", [0, 36, 81, 0]),
    transfers("Graviton2", [0, 34, 47, 0]),
    transfers("Graviton3", [0, 0, 46, 0]),
    transfers("Core i7-6700K", [0, 0, 20, 0]),
];

const DISTANCES: [&str; 4] = [
    "one way between threads of a core",
    "one way within a cluster",
    "one way within a socket",
    "one way to another socket",
];

/// concurrency-hierarchy-bench's rows: 1 to 4 threads on distinct cores.
const ROWS: [(&str, [f64; 4], [f64; 4]); 2] = [
    (
        "Core i7-6700HQ (Skylake)",
        [7.0, 22.1, 23.3, 24.1],
        [12.0, 54.3, 75.6, 86.8],
    ),
    (
        "Core i5-1035G4 (Ice Lake)",
        [6.1, 16.4, 16.4, 17.4],
        [11.0, 51.5, 57.1, 66.7],
    ),
];

const WHATS: [[&str; 4]; 2] = [
    [
        "fetch_add alone",
        "fetch_add by 2 threads",
        "fetch_add by 3 threads",
        "fetch_add by 4 threads",
    ],
    ["CAS alone", "CAS by 2 threads", "CAS by 3 threads", "CAS by 4 threads"],
];

/// Every machine of two CPUs has these; with fewer, the experiment does not run.
const VARIANTS: [[Option<&str>; 4]; 2] = [
    [Some("fetch-add-t1"), Some("fetch-add-t2"), None, None],
    [Some("cas-loop-t1"), Some("cas-loop-t2"), None, None],
];

/// Its spinlocks by four threads: one that spins without a pause, the same with one, and a ticket lock.
const LOCKS: [(&str, [f64; 3]); 2] = [
    ("Core i7-6700HQ (Skylake)", [160.0, 55.0, 122.0]),
    ("Core i5-1035G4 (Ice Lake)", [80.0, 73.0, 130.0]),
];

const LOCK_WHATS: [&str; 3] = [
    "a spinlock by 4 threads",
    "a spinlock that pauses, by 4 threads",
    "a ticket lock by 4 threads",
];

/// 23 transfers, 16 rows and 6 locks.
const COUNT: usize = 45;

pub(super) static FIGURES: [Published; COUNT] = figures();

const fn figures() -> [Published; COUNT] {
    const NONE: Published = Published {
        variant: None,
        what: "",
        figure: 0.0,
        unit: "ns",
        machine: "",
    };
    let mut all = [NONE; COUNT];
    let mut n = 0;
    let mut i = 0;
    while i < TRANSFERS.len() {
        let mut d = 0;
        while d < DISTANCES.len() {
            if TRANSFERS[i].ns[d] > 0 {
                all[n] = Published {
                    what: DISTANCES[d],
                    figure: TRANSFERS[i].ns[d] as f64,
                    machine: TRANSFERS[i].machine,
                    ..NONE
                };
                n += 1;
            }
            d += 1;
        }
        i += 1;
    }
    let mut i = 0;
    while i < 2 * ROWS.len() {
        let (machine, add, cas) = ROWS[i / 2];
        let mut t = 0;
        while t < 4 {
            all[n] = Published {
                variant: VARIANTS[i % 2][t],
                what: WHATS[i % 2][t],
                figure: if i.is_multiple_of(2) { add[t] } else { cas[t] },
                machine,
                ..NONE
            };
            n += 1;
            t += 1;
        }
        i += 1;
    }
    let mut i = 0;
    while i < LOCKS.len() * LOCK_WHATS.len() {
        let (machine, ns) = LOCKS[i / LOCK_WHATS.len()];
        let lock = i % LOCK_WHATS.len();
        all[n] = Published {
            what: LOCK_WHATS[lock],
            figure: ns[lock],
            machine,
            ..NONE
        };
        n += 1;
        i += 1;
    }
    assert!(n == COUNT);
    all
}
