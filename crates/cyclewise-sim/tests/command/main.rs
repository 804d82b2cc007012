//! `cyclewise-sim`: its contract with scripts; shards and cores do not change a byte.

mod beside;
mod common;
mod machines;
mod sweeps;

use common::{Folder, command, cyclewise_sim, refused, text, with, words};

/// Its output; it must have succeeded.
fn printed(args: &[&str]) -> String {
    let output = cyclewise_sim(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// With where its document goes.
fn sweep<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    let sweep = "simulate fetch-add lockref --machine i7-6700hq --threads 1..4 --retry-limit none,5 --ops 200 --json";
    with(sweep, rest)
}

#[test]
fn wrong_use_is_two_and_names_the_nearest() {
    for (args, says) in [
        ("simulate", "WORKLOAD"),
        ("simulate lockreff --machine thunderx2", "'lockref'"),
        ("simulate lockref", "--machine"),
        ("simulate lockref --machine thunder2", "did you mean thunderx2?"),
        (
            "simulate lockref --machine thunderx2 --threads 225",
            "which has 224 CPUs",
        ),
        (
            "simulate lockref --machine thunderx2 --threads 0",
            "0 is not a thread count",
        ),
        ("simulate lockref --machine thunderx2 --threads 9..1", "ends before"),
        (
            "simulate lockref --machine thunderx2 --relax yield",
            "not a relax policy",
        ),
        (
            "simulate lockref --machine thunderx2 --shard 3/2",
            "shard 3 of 2 does not exist",
        ),
        ("simulate lockref --machine thunderx2 --ops 0", "0 is not in"),
        (
            "simulate lockref --machine thunderx2 --machine thunderx2",
            "two machines",
        ),
        (
            "simulate lockref --machine thunderx2 --json - --csv -",
            "cannot all write to stdout",
        ),
        (
            "simulate lockref --machine thunderx2 --threads 224 --readers 1",
            "1 readers",
        ),
        ("recommend --machine thunderx3", "did you mean thunderx2?"),
        ("recommend --machine i7-6700hq --threads 64", "do not fit"),
        ("report no-such.json", "no-such.json"),
    ] {
        let (status, said) = refused(&words(args));
        assert_eq!(status, 2, "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn only_options_of_a_matrix_are_below_its_heading() {
    let help = printed(&["simulate", "--help"]);
    let (before, below) = help.split_once("A machine from a matrix:").unwrap();
    assert!(
        before.contains("--threads") && before.contains("--if-missing"),
        "{help}"
    );
    assert!(below.contains("--anchor") && !below.contains("--if-missing"), "{help}");
}

#[test]
fn the_lists_name_everything() {
    // Texts are wrapped, so only their words are compared.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = words(&printed(&["simulate", "list"]));
    for w in cyclewise_sim::Workload::ALL {
        assert!(table.contains(w.name()) && table.contains(&words(w.about())), "{w}");
    }
    for preset in cyclewise_sim::Machine::presets() {
        assert!(table.contains(preset.name), "{}", preset.name);
    }
}

#[test]
fn its_own_pages_and_completions_are_installed() {
    let folder = tempfile::tempdir().unwrap();
    let output = cyclewise_sim(&["install-docs", "--prefix", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let read = |file: &str| std::fs::read_to_string(folder.path().join("share").join(file)).unwrap();
    assert!(
        read("man/man1/cyclewise-sim-simulate.1")
            .replace('\\', "")
            .contains("--retry-limit")
    );
    let bash = cyclewise_sim(&["completions", "bash"]);
    assert_eq!(text(&bash.stdout), read("bash-completion/completions/cyclewise-sim"));
    assert!(text(&bash.stdout).contains("--retry-limit"));
}
