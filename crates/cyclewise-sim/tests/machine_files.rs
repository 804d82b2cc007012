//! Machine files: the presets, round trips, and the message of each mistake.

#[path = "../../../fuzz/mangle.rs"]
mod mangle;

use cyclewise_sim::Machine;
use cyclewise_sim::machine::MAX_CPUS;
use mangle::{Owes, hold};

/// A machine without optional keys.
const PLAIN: &str = r#"name = "plain"
about = "for tests"
ghz = 3.0

[topology]
sockets = 2
clusters_per_socket = 1
cores_per_cluster = 4
threads_per_core = 2

[latency]
hit_ns = 1.5
socket_ns = 40
remote_ns = 120

[line]
arbiter = "fifo"
hold = "none"
first_access = "shared"
rmw = "near"

[cost]
alu_cycles = 1
rmw_cycles = 18
cas_cycles = 18
ll_sc_cycles = 6
pause_cycles = 140
"#;

/// The result of parsing the plain machine's file with one text replaced by another.
fn with(from: &str, to: &str) -> String {
    assert_eq!(PLAIN.matches(from).count(), 1, "{from:?} is there once");
    match Machine::parse(&PLAIN.replace(from, to), "m.toml") {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_plain_machine_is_accepted() {
    let machine = Machine::parse(PLAIN, "m.toml").unwrap();
    assert_eq!(machine.topology.cpus(), 16);
    assert_eq!(machine.latency.sibling_ns, None);
}

#[test]
fn every_mistake_is_one_line_with_its_place_and_its_mend() {
    let mistakes = [
        // Not TOML.
        ("ghz = 3.0", "ghz = "),
        ("ghz = 3.0", "ghz 3.0"),
        ("[topology]", "[topology"),
        ("name = \"plain\"", "name = \"plain"),
        ("ghz = 3.0", "ghz = 3.0\nghz = 4.0"),
        // Keys.
        ("hit_ns = 1.5", "hit_ns = 1.5\nhit_us = 1"),
        ("ghz = 3.0", "ghz = 3.0\nmhz = 3000"),
        ("[cost]", "[costs]"),
        ("threads_per_core = 2", ""),
        ("arbiter = \"fifo\"", ""),
        // Types.
        ("sockets = 2", "sockets = \"two\""),
        ("sockets = 2", "sockets = 2.0"),
        ("sockets = 2", "sockets = -2"),
        ("hit_ns = 1.5", "hit_ns = \"1.5\""),
        ("hold = \"none\"", "hold = { fixed = 50 }"),
        ("hold = \"none\"", "hold = { fixed = { ns = 50 } }"),
        ("arbiter = \"fifo\"", "arbiter = \"fair\""),
        ("arbiter = \"fifo\"", "arbiter = \"nearest\""),
        ("arbiter = \"fifo\"", "arbiter = { nearest = { cap = -1 } }"),
        // Ranges.
        ("name = \"plain\"", "name = \"\""),
        ("name = \"plain\"", "name = \"plain\"\nfamily = \"martian\""),
        ("name = \"plain\"", "name = \"a\\u001bb\""),
        ("about = \"for tests\"", "about = \" \""),
        ("ghz = 3.0", "ghz = 0"),
        ("ghz = 3.0", "ghz = nan"),
        ("ghz = 3.0", "ghz = 3000"),
        ("sockets = 2", "sockets = 0"),
        ("threads_per_core = 2", "threads_per_core = 0"),
        ("cores_per_cluster = 4", "cores_per_cluster = 4294967295"),
        ("cores_per_cluster = 4", "cores_per_cluster = 8192"),
        ("hit_ns = 1.5", "hit_ns = -1.5"),
        ("hit_ns = 1.5", "hit_ns = nan"),
        ("remote_ns = 120", "remote_ns = inf"),
        ("remote_ns = 120", "remote_ns = 39.5"),
        ("hit_ns = 1.5", "hit_ns = 41"),
        ("socket_ns = 40\nremote_ns = 120\n", ""),
        (
            "hit_ns = 1.5\nsocket_ns = 40\nremote_ns = 120",
            "hit_ns = 0\nsocket_ns = 0",
        ),
        ("hold = \"none\"", "hold = { fixed = { cycles = 0 } }"),
        ("arbiter = \"fifo\"", "arbiter = { nearest = { cap = 0 } }"),
        ("rmw = \"near\"", "rmw = { far = { cycles = 0 } }"),
        ("rmw = \"near\"", "rmw = \"near\"\nprobe_share = 1.1"),
        ("rmw_cycles = 18", "rmw_cycles = 0"),
        ("pause_cycles = 140", "pause_cycles = 1000001"),
        ("pause_cycles = 140", "pause_cycles = 140\njitter = -0.1"),
        // What it says of itself.
        ("ghz = 3.0", "ghz = 3.0\nfitted = [\"line.hold\", \"line.luck\"]"),
        (
            "ghz = 3.0",
            "ghz = 3.0\npublished = [{ workload = \"cas\", threads = 1, value = 1, unit = \"ns/op\", source = \"s\" }]",
        ),
        (
            "pause_cycles = 140",
            "pause_cycles = 140\n[[published]]\nworkload = \"cas-loop\"\nthreads = 17\nvalue = 1\nunit = \"ns/op\"\nsource = \"s\"",
        ),
        (
            "pause_cycles = 140",
            "pause_cycles = 140\n[[published]]\nworkload = \"cas-loop\"\nthreads = 1\nvalue = 1\nunit = \"us\"\nsource = \"s\"",
        ),
        (
            "pause_cycles = 140",
            "pause_cycles = 140\n[[published]]\nworkload = \"cas-loop\"\nthreads = 1\nvalue = -1\nunit = \"ns/op\"\nsource = \"\"",
        ),
    ];
    let mut seen = String::new();
    for (from, to) in mistakes {
        let line = with(from, to);
        assert!(!line.contains('\n'), "{line:?}");
        seen.push_str(&format!("{}\n    {line}\n", to.replace('\n', " ⏎ ")));
    }
    insta::assert_snapshot!(seen);
}

#[test]
fn the_largest_machine_is_accepted_and_one_more_is_not() {
    let size = |cores: u32| with("cores_per_cluster = 4", &format!("cores_per_cluster = {cores}"));
    assert_eq!(size(MAX_CPUS / 4), "accepted");
    assert_ne!(size(MAX_CPUS / 4 + 1), "accepted");
    const { assert!(MAX_CPUS >= 4096) };
}

#[test]
fn every_preset_reads_back_as_itself() {
    assert!(Machine::presets().count() >= 11);
    for preset in Machine::presets() {
        let machine = preset.machine().unwrap_or_else(|error| panic!("{error}"));
        let text = machine.to_toml().unwrap();
        assert_eq!(Machine::parse(&text, "again").unwrap(), machine, "{}", preset.name);
        assert_eq!(Machine::preset(preset.name), Some(preset));
        // A figure is either measured, with its source beside it, or said to be fitted.
        assert!(
            preset.text.contains('#'),
            "{} says where its figures come from",
            preset.name
        );
    }
}

#[test]
fn mangled_files() {
    let presets = Machine::presets().map(|preset| preset.text.as_bytes());
    let good: Vec<&[u8]> = std::iter::once(PLAIN.as_bytes()).chain(presets).collect();
    hold(&good, Owes::default(), |bytes| {
        let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
        let machine = Machine::parse(text, "m").map_err(|error| {
            assert!((1..=text.lines().count() + 1).contains(&error.line), "{error}");
            error.to_string()
        })?;
        // A machine that was read can be written, and reads back.
        let written = machine.to_toml().map_err(|e| format!("{e}"))?;
        assert_eq!(Machine::parse(&written, "m").as_ref(), Ok(&machine));
        Ok(machine)
    });
}
