//! A real program with bytes changed at random: its debug information, its symbols, its headers.

use crate::compiled::{compile, counts, options, process, sites};
use crate::long::short_or_long;
use cyclewise_locks::class::known::Table;
use cyclewise_locks::profile::Profile;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

#[test]
fn give_less_and_no_panic() {
    let Some(program) = compile(&["-g"]) else { return };
    let whole = std::fs::read(&program.path).unwrap();
    let sites = sites(&program.path, 1);
    let mangled = program.folder.path().join("mangled");
    let counts = counts(vec![process(1, &mangled, sites)]);
    let (table, options) = (Table::built_in(), options(&[]));
    let change = (any::<prop::sample::Index>(), any::<u8>());
    let changes = (
        prop::collection::vec(change, 1..64),
        any::<prop::sample::Index>(),
        any::<bool>(),
    );
    // Where something is: the file is mostly zeros.
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let config = Config {
        cases: short_or_long(60, 300),
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&changes, |(changes, length, cut)| {
            let mut bytes = whole.clone();
            for (at, value) in changes {
                bytes[*at.get(&used)] = value;
            }
            if cut {
                bytes.truncate(length.index(bytes.len()));
            }
            std::fs::write(&mangled, bytes).unwrap();
            let profile = Profile::new(&counts, &table, &options);
            // Whatever is left of the file, the sites and their counts are those of the run.
            prop_assert_eq!(profile.sites.len(), 2);
            prop_assert_eq!(profile.executed.lock, 2);
            Ok(())
        })
        .unwrap();
}
