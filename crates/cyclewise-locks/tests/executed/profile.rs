//! Sums, merges, and files that are not what was executed.

use crate::compiled::{LOADED, compile, counts, options, process, profile, site, sites, summary};
use cyclewise_locks::class::known::Table;
use cyclewise_locks::counts::Thread;
use cyclewise_locks::profile::{Class, Form, Profile};
use std::path::Path;

fn make(counts: &cyclewise_locks::counts::Counts) -> Profile {
    Profile::new(counts, &Table::built_in(), &options(&[]))
}

#[test]
fn sites_of_several_processes_at_one_place_of_a_file_are_one() {
    let Some(program) = compile(&["-g"]) else { return };
    let first = process(1, &program.path, sites(&program.path, 10));
    // The second process has the file elsewhere, and executes one of the sites only, by its second thread.
    let mut second = process(2, &program.path, sites(&program.path, 7));
    second.mappings[0].start += 0x1000;
    second.mappings[0].end += 0x1000;
    for site in &mut second.sites {
        site.address += 0x1000;
        site.executed = vec![(1, 7)];
    }
    second.sites[1].executed = vec![(0, 0)];
    second.threads.push(Thread {
        tid: 3,
        name: "worker".to_owned(),
        instructions: 500,
        system_calls: Vec::new(),
    });
    let profile = make(&counts(vec![first, second]));
    assert_eq!(profile.sites.len(), 2);
    let (hot, cold) = (&profile.sites[0], &profile.sites[1]);
    assert_eq!((hot.executed, hot.threads, hot.class), (17, 2, Class::CountUp));
    assert_eq!(
        (cold.executed, cold.threads, cold.class),
        (10, 1, Class::CountDownAndTest)
    );
    assert_eq!((hot.words.private, hot.before_threads, hot.distances[0]), (17, 17, 17));
    assert_eq!(hot.frames[1].function, "clone_it");
    assert_eq!(profile.instructions, 2500);
    assert_eq!(profile.executed.lock, 27);
    let threads: Vec<_> = profile.threads.iter().map(|t| (t.pid, t.tid, t.locked)).collect();
    assert_eq!(threads, [(1, 1, 20), (2, 2, 0), (2, 3, 7)]);
    let processes: Vec<_> = profile.processes.iter().map(|p| (p.pid, p.threads, p.locked)).collect();
    assert_eq!(processes, [(1, 1, 20), (2, 2, 7)]);
    let name = format!("{} -x", program.path.display());
    assert!(profile.processes.iter().all(|p| p.command == name));
    let calls: Vec<_> = profile
        .system_calls
        .iter()
        .map(|c| (c.name.as_str(), c.calls, c.locked_before))
        .collect();
    assert_eq!(calls, [("write", 4, 10)]);
    assert_eq!(profile.missing, ["counted by hand"]);
}

#[test]
fn sites_that_were_never_executed_are_left_out() {
    let Some(program) = compile(&[]) else { return };
    let mut process = process(1, &program.path, sites(&program.path, 1));
    process.sites[0].executed.clear();
    assert_eq!(make(&counts(vec![process])).sites.len(), 1);
}

#[test]
fn fences_are_apart() {
    let mut with_fence = process(1, Path::new("[vdso]"), Vec::new());
    let fence = [0x0f, 0xae, 0xf0, 0xc3];
    let count = [0xf0, 0x48, 0xff, 0x07, 0xc3];
    let exchange = [0x87, 0x07, 0xc3];
    with_fence.sites = vec![
        site(&fence, LOADED, 5),
        site(&count, LOADED + 64, 6),
        site(&exchange, LOADED + 128, 7),
    ];
    let profile = make(&counts(vec![with_fence]));
    let executed = profile.executed;
    assert_eq!((executed.fence, executed.lock, executed.xchg), (5, 6, 7));
    assert_eq!((profile.threads[0].locked, profile.threads[0].fences), (13, 5));
    let forms: Vec<_> = profile.sites.iter().map(|s| s.form).collect();
    assert_eq!(forms, [Form::Xchg, Form::Lock, Form::Fence]);
    assert_eq!(
        profile.missing,
        ["counted by hand"],
        "the kernel's own code is in no file, and that is no loss"
    );
}

#[test]
fn generated_code_is_classified_by_what_was_recorded() {
    let mut process = process(1, Path::new("none"), Vec::new());
    // mov eax, -1; lock xadd [rdi], eax; cmp eax, 1; je +2; ret
    let code = [0xf0, 0x0f, 0xc1, 0x07, 0x83, 0xf8, 0x01, 0x74, 0x02, 0xc3];
    let mut generated = site(&code, 0x7f00_0000_1005, 3);
    generated.code = code.to_vec();
    generated.before = vec![0xb8, 0xff, 0xff, 0xff, 0xff];
    generated.mapping = None;
    process.sites = vec![generated];
    let profile = make(&counts(vec![process]));
    let site = &profile.sites[0];
    assert_eq!(
        (site.module.as_str(), site.address),
        ("[generated code]", 0x7f00_0000_1005)
    );
    assert_eq!(
        (site.class, site.instruction.as_str()),
        (Class::CountDownAndTest, "lock xadd dword ptr [rdi],eax")
    );
    assert_eq!((site.frames.len(), site.mix.arithmetic, site.mix.branches), (0, 2, 2));
}

#[test]
fn a_file_that_is_gone_or_replaced_is_not_trusted() {
    let Some(program) = compile(&["-g"]) else { return };
    let executed = counts(vec![process(1, &program.path, sites(&program.path, 1))]);
    assert_eq!(summary(&make(&executed))[0], "CountUp: take:3 < clone_it:9");
    // Another program at the same path: same names, other code.
    let Some(other) = compile(&["-g", "-O0", "-fcf-protection=none", "-falign-functions=64"]) else {
        return;
    };
    std::fs::copy(&other.path, &program.path).unwrap();
    let replaced = make(&executed);
    assert!(replaced.sites.iter().all(|s| s.frames.is_empty()));
    assert_eq!(replaced.sites.len(), 2);
    assert!(
        replaced.missing.iter().any(|m| m.contains("the file was replaced")),
        "{:?}",
        replaced.missing
    );
    let classes: Vec<_> = replaced.sites.iter().map(|s| s.class).collect();
    assert_eq!(
        classes,
        [Class::CountUp, Class::CountDownAndTest],
        "by the recorded code"
    );
    std::fs::remove_file(&program.path).unwrap();
    let gone = make(&executed);
    assert!(gone.sites.iter().all(|s| s.frames.is_empty()));
    assert!(
        gone.missing.iter().any(|m| m.contains("No such file")),
        "{:?}",
        gone.missing
    );
}

#[test]
fn a_site_that_the_program_patched_keeps_its_name() {
    let Some(program) = compile(&["-g"]) else { return };
    let one = sites(&program.path, 1);
    // Many sites that are as they were, and one whose prefix was changed to a segment's.
    let mut executed = process(1, &program.path, Vec::new());
    let image = std::fs::read(&program.path).unwrap();
    for n in 0..40 {
        executed
            .sites
            .push(site(&image[n * 8..n * 8 + 8], LOADED + n as u64 * 8, 1));
    }
    let mut patched = one[0].clone();
    patched.code[0] = 0x3e;
    executed.sites.push(patched);
    let profile = make(&counts(vec![executed]));
    let line = "the program changed the code at 1 of 41 sites";
    assert!(
        profile.missing.iter().any(|m| m.contains(line)),
        "{:?}",
        profile.missing
    );
    let site = profile.sites.iter().find(|s| !s.frames.is_empty()).unwrap();
    assert_eq!(site.frames.last().unwrap().function, "clone_it");
}

#[test]
fn a_table_of_ones_own_names_families_and_classes() {
    let Some(program) = compile(&["-g"]) else { return };
    let mut table = Table::built_in();
    let mine = "[[known]]\nfamily = \"mine\"\nfunctions = [\"take\"]\nclass = \"lock-taken\"\n";
    table.add(mine, "mine.toml").unwrap();
    let counts = counts(vec![process(1, &program.path, sites(&program.path, 1))]);
    let profile = Profile::new(&counts, &table, &options(&[]));
    let site = profile.sites.iter().find(|s| s.frames[0].function == "take").unwrap();
    assert_eq!(site.family.as_deref(), Some("mine"));
    let other = profile.sites.iter().find(|s| s.frames[0].function == "give").unwrap();
    assert_eq!(other.family, None);
}

#[test]
fn a_profile_is_the_same_after_json() {
    let Some(program) = compile(&["-g"]) else { return };
    let profile = profile(&program.path, &options(&[]));
    let text = serde_json::to_string(&profile).unwrap();
    assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), profile);
}

#[test]
fn sums_of_damaged_counts_stay_at_the_largest_number() {
    let Some(program) = compile(&["-g"]) else { return };
    let mut damaged = process(1, &program.path, sites(&program.path, u64::MAX));
    for site in &mut damaged.sites {
        site.executed = vec![(0, u64::MAX), (0, u64::MAX), (u32::MAX, 1)];
        site.distances = [u64::MAX; 8];
        site.before_threads = u64::MAX;
    }
    for thread in &mut damaged.threads {
        thread.instructions = u64::MAX;
        for call in &mut thread.system_calls {
            (call.calls, call.locked_before) = (u64::MAX, u64::MAX);
        }
    }
    let profile = make(&counts(vec![damaged.clone(), damaged]));
    assert_eq!(profile.instructions, u64::MAX);
    assert!(
        profile
            .sites
            .iter()
            .all(|s| s.executed == u64::MAX && s.distances == [u64::MAX; 8])
    );
    assert_eq!(profile.executed.lock, u64::MAX);
    assert!(profile.processes.iter().all(|p| p.locked == u64::MAX));
    assert!(profile.threads.iter().all(|t| t.locked == u64::MAX));
    assert!(profile.system_calls.iter().all(|c| c.calls == u64::MAX));
}
