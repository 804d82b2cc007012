//! Callers of a site whose calls are known.

use crate::common::{compiled, count, count_with, sites_at, symbols};
use cyclewise_locks::class::known::Table;
use cyclewise_locks::counts::{CodeAddress, Process};
use cyclewise_locks::emulator::Settings;
use cyclewise_locks::profile::{Class, Options, Profile};
use cyclewise_locks::record;
use std::collections::BTreeMap;

/// The program's function that an address is in; none of a library.
fn function(process: &Process, symbols: &BTreeMap<String, u64>, at: CodeAddress) -> Option<String> {
    let mapping = &process.mappings[at.mapping? as usize];
    let offset = at.address - 1 - mapping.start + mapping.offset;
    let functions = symbols.iter().filter(|(name, _)| !name.starts_with("site_"));
    let before = functions
        .filter(|(_, start)| **start <= offset)
        .max_by_key(|(_, start)| **start)?;
    (mapping.path == process.program).then(|| before.0.clone())
}

/// Executions by the innermost callers, as far as they are the program's own: three at most.
fn callers(process: &Process, symbols: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let site = sites_at(process, symbols["site_leaf"]).next().unwrap();
    let mut sums = BTreeMap::new();
    for path in &site.callers {
        let own = path.callers.iter().map_while(|at| function(process, symbols, *at));
        let names: Vec<_> = own.take(3).collect();
        *sums.entry(names.join(" < ")).or_default() += path.executed;
    }
    sums
}

#[test]
fn what_the_c_library_locks_has_the_line_of_who_called_it() {
    let Some((emulator, _folder, program)) = compiled("callers.c", &[]) else {
        return;
    };
    let (_, counts) = count(&emulator, &program, &[]);
    let profile = Profile::new(&counts, &Table::built_in(), &Options::default());
    let locks = |function, class| {
        let groups = record::by_line(&profile).into_iter();
        let of_class = groups.filter(move |g| g.key.1 == class && g.key.0.function == function);
        of_class.map(|g| g.executed).sum::<u64>()
    };
    // A mutex by its name, and the lock of a stream inside a function that is called otherwise.
    for (function, executed) in [("guarded", 50), ("reads", 20)] {
        let both = [Class::LockTaken, Class::LockGivenBack].map(|class| locks(function, class));
        assert_eq!(both, [executed; 2], "{function}");
    }
}

#[test]
fn each_execution_has_those_who_called() {
    let Some((emulator, _folder, program)) = compiled("callers.c", &["-rdynamic"]) else {
        return;
    };
    let (_, counts) = count(&emulator, &program, &[]);
    let (process, symbols) = (&counts.processes[0], symbols(&program));
    let found = callers(process, &symbols);
    let expected = [
        ("middle < often < main", 30),
        ("seldom < main", 20),
        ("middle < thread", 7),
        ("handler", 4),
        ("interrupted < main", 4),
        ("middle < yields", 3),
        ("drives < main", 3),
    ];
    for (path, executed) in expected {
        assert_eq!(found.get(path), Some(&executed), "{path}: {found:?}");
    }
    // What longjmp left may still be there above it, and never in between.
    let landed: u64 = found
        .iter()
        .filter(|(path, _)| path.starts_with("lands"))
        .map(|(_, n)| n)
        .sum();
    assert_eq!(landed, 5, "{found:?}");
    assert_eq!(found.values().sum::<u64>(), 76, "{found:?}");
    // The twin: where calls are not followed nobody is known.
    let without = Settings {
        callers: false,
        ..Settings::default()
    };
    let (_, counts) = count_with(&emulator, &without, &program, &[]);
    assert!(callers(&counts.processes[0], &symbols).is_empty());
}

#[test]
fn kinds_of_paths_are_bounded_for_each_thread_and_for_all() {
    let Some((emulator, _folder, program)) = compiled("many_paths.c", &[]) else {
        return;
    };
    // Executions with callers, and how many kinds have all six.
    let known = |threads: u64| {
        let (_, counts) = count(&emulator, &program, &[&threads.to_string()]);
        let site = sites_at(&counts.processes[0], symbols(&program)["site_leaf"])
            .next()
            .unwrap();
        assert_eq!(site.total(), 16_807 * threads, "what has no callers is counted");
        let whole = site.callers.iter().filter(|path| path.callers.len() == 6).count();
        (site.callers.iter().map(|path| path.executed).sum::<u64>(), whole)
    };
    let (executed, whole) = known(1);
    // The C library's own calls are among them.
    assert!((8000..=8192).contains(&whole), "{whole}");
    assert_eq!(executed, 16_807, "further kinds have the nearest callers");
    let (executed, _) = known(34);
    assert!((1 << 18..34 * 16_807).contains(&executed), "{executed}");
}
