//! The table of layers: which packages of this tree, and which modules of each, a part may use.

/// What one package may use.
pub(super) struct Package {
    pub(super) name: &'static str,
    /// Packages of this tree it may depend on.
    pub(super) ours: &'static [&'static str],
    /// Each module at the root of its `src/`, and the modules it may name; none where its modules are its own affair.
    pub(super) modules: Option<&'static [ModuleRule]>,
}

/// A module, and the modules it may name.
pub(super) type ModuleRule = (&'static str, &'static [&'static str]);

/// Every package. A row that is missing is a finding, so a new module says where it stands.
pub(super) const PACKAGES: &[Package] = &[
    Package {
        name: "cyclewise",
        ours: &[],
        modules: Some(&[
            ("error", &[]),
            ("arch", &[]),
            ("sys", &["error"]),
            ("patch", &["arch", "sys", "error"]),
            ("atomic", &["arch"]),
            ("primitive", &["arch", "atomic"]),
            ("primitive_loom", &[]),
            ("lock", &["sys", "atomic", "primitive"]),
            // A LockRef that has run out of retries takes the queued spinlock.
            ("refs", &["sys", "atomic", "primitive", "lock"]),
            ("percpu", &["arch", "sys", "primitive", "error"]),
            ("mask", &["arch", "sys", "atomic", "error"]),
            ("clock", &["arch", "sys", "primitive"]),
        ]),
    },
    Package {
        name: "cyclewise-c",
        ours: &["cyclewise"],
        modules: Some(&[
            ("version", &[]),
            ("sys", &[]),
            ("memory", &[]),
            ("refusal", &[]),
            ("hooks", &["refusal"]),
            ("single", &["sys", "hooks", "refusal"]),
            ("confined", &["sys", "refusal"]),
            ("unit", &["sys", "refusal"]),
            ("spinlock", &[]),
            ("lockref", &[]),
            ("refcount", &["sys"]),
            ("percpu_counter", &["sys", "memory"]),
            ("percpu_free_list", &["sys", "memory", "refusal"]),
            ("percpu_ref", &["sys", "memory", "refusal"]),
            ("percpu_ring", &["sys", "memory", "refusal"]),
            ("clock", &["sys", "refusal"]),
            ("clock_conversion", &["sys", "memory"]),
            ("mask", &["sys", "memory", "refusal"]),
            ("signal", &["sys", "memory", "refusal"]),
            ("masked", &["sys", "memory", "refusal"]),
        ]),
    },
    Package {
        name: "cyclewise-context",
        ours: &["cyclewise"],
        modules: Some(&[
            ("arch", &[]),
            ("cell", &["arch"]),
            ("surroundings", &["arch", "cell"]),
            ("operations", &["arch", "cell", "surroundings"]),
        ]),
    },
    Package {
        name: "cyclewise-guest",
        ours: &[],
        modules: Some(&[
            ("error", &[]),
            ("layout", &[]),
            ("outcome", &["layout"]),
            // A payload and a case hold code, and the code's files have tables of them.
            ("payload", &["arch"]),
            ("case", &["outcome", "payload"]),
            ("arch", &["layout", "payload", "case"]),
            ("image", &["arch", "layout", "payload", "error"]),
            ("machine", &["image", "outcome", "error"]),
            ("sys", &["layout", "error"]),
            (
                "vm",
                &[
                    "arch", "image", "layout", "machine", "outcome", "payload", "sys", "error",
                ],
            ),
            ("qemu", &["image", "layout", "machine", "outcome", "error"]),
            ("batch", &["image", "outcome", "payload", "vm", "error"]),
            (
                "semantics",
                &["arch", "case", "image", "machine", "outcome", "payload", "error"],
            ),
            (
                "provenance",
                &[
                    "arch",
                    "image",
                    "machine",
                    "outcome",
                    "payload",
                    "semantics",
                    "vm",
                    "error",
                ],
            ),
            ("known", &["provenance"]),
        ]),
    },
    Package {
        name: "cyclewise-lab",
        ours: &[
            "cyclewise",
            "cyclewise-c",
            "cyclewise-context",
            "cyclewise-guest",
            "cyclewise-locks",
            "cyclewise-sim",
        ],
        modules: Some(&[
            ("error", &[]),
            ("arch", &[]),
            ("sys", &["error"]),
            ("record", &["error"]),
            // Numbers for people.
            ("number", &[]),
            // From a record to sentences.
            ("answer", &["record", "number"]),
            // For the record's Verdict.
            ("stats", &["record"]),
            ("machine", &["sys", "record", "error"]),
            ("runner", &["arch", "sys", "stats", "record", "machine", "error"]),
            ("experiment", &["arch", "sys", "runner", "record", "machine", "error"]),
            // A program's locked instructions, by a counter.
            ("sampling", &["sys", "machine", "error"]),
            // Sweeps over the simulator, and machines made from records.
            ("simulate", &["record", "stats", "machine", "experiment", "error"]),
            // The limits of primitives, from records.
            ("limits", &["record", "stats"]),
            // Comparison of records.
            ("compare", &["record", "stats", "error"]),
            // Many machines' records.
            ("fleet", &["record", "stats", "number", "error"]),
            // Promises, checked by measuring.
            ("verify", &["arch", "sys", "stats", "record", "runner", "error"]),
            (
                "export",
                &[
                    "record",
                    "number",
                    "answer",
                    "machine",
                    "experiment",
                    "limits",
                    "simulate",
                    "verify",
                    "error",
                ],
            ),
            (
                "command",
                &[
                    "sys",
                    "record",
                    "machine",
                    "runner",
                    "experiment",
                    "simulate",
                    "compare",
                    "limits",
                    "fleet",
                    "sampling",
                    "verify",
                    "export",
                    "error",
                ],
            ),
            ("main", &["command"]),
            // Tests of readers, which print what was read.
            ("mangled", &["record", "machine", "compare", "export", "error"]),
        ]),
    },
    Package {
        name: "cyclewise-locks",
        ours: &[],
        modules: Some(&[
            ("error", &[]),
            ("counts", &[]),
            ("image", &["counts"]),
            ("decode", &["counts"]),
            ("class", &["counts", "decode", "error"]),
            ("sys", &[]),
            ("emulator", &["counts", "sys", "error"]),
            ("profile", &["counts", "image", "decode", "class"]),
            ("forecast", &["profile", "counts"]),
            ("mangled", &["class", "emulator"]),
        ]),
    },
    Package {
        name: "cyclewise-sim",
        ours: &[],
        modules: Some(&[
            ("error", &[]),
            ("machine", &["workload"]),
            ("workload", &[]),
            ("outcome", &[]),
            ("engine", &["machine", "workload", "outcome"]),
            ("programs", &["engine", "workload"]),
            ("placement", &["machine", "workload", "engine", "error"]),
            // Machines are fitted by simulating them.
            ("fit", &["machine", "workload"]),
            // How far predictions were off on rows held out.
            ("band", &["machine", "workload", "exam"]),
            ("phase", &["machine", "workload", "error"]),
            ("stats", &[]),
            ("validation", &["machine", "workload", "outcome", "stats"]),
            // Published machines are simulated with laws that others taught.
            ("exam", &["machine", "workload", "placement", "stats"]),
            (
                "run",
                &[
                    "machine",
                    "workload",
                    "outcome",
                    "engine",
                    "programs",
                    "placement",
                    "error",
                ],
            ),
        ]),
    },
    Package {
        name: "cyclewise-integrations",
        ours: &["cyclewise"],
        modules: None,
    },
    Package {
        name: "xtask",
        ours: &[],
        modules: None,
    },
];
