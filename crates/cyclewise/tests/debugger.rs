//! A debugger's breakpoint on a site: refused while it is there, and every site keeps what it has. The twin without one
//! elides.
//!
//! The program debugged is this one, with the name of its part as argument. Skipped, and says why, where gdb is not there or may not trace.
#![cfg_attr(
    not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))),
    allow(dead_code, unused_imports, reason = "no mode there")
)]

mod common;

use common::harness::{self, checks};
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Prefix, sites, state};
use std::process::{Command, Stdio};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// What the debuggee's lines begin with: gdb writes to the same pipe.
const SAYS: &str = "debuggee: ";

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("asks-twice") => return asks_twice(),
        Some("locks-twice") => return locks_twice(),
        _ => {}
    }
    harness::run(checks![
        a_breakpoint_of_gdb_is_refused,
        a_breakpoint_set_while_elided_keeps_the_mode,
        twin_without_a_breakpoint_elides,
    ]);
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static"))))]
fn main() {
    harness::skip("no LOCK prefix on this architecture, or no hooks in this C library");
}

/// A function with one site, by a name that gdb finds.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn debugged_inc(counter: &AtomicUsize) {
    counter.inc(Ordering::Relaxed);
}

/// Sites that have no breakpoint; nothing changes in all.
#[inline(never)]
fn others(counter: &AtomicUsize) {
    counter.add(2, Ordering::Relaxed);
    counter.dec(Ordering::Relaxed);
    counter.fetch_sub(1, Ordering::Relaxed);
}

/// The site in [`debugged_inc`], and how far into it.
fn debugged_site() -> (usize, usize) {
    let start = debugged_inc as *const () as usize;
    let inside = sites().map(|site| (site.address(), site.address().wrapping_sub(start)));
    inside.min_by_key(|(_, distance)| *distance).unwrap()
}

/// A place for gdb to stop at.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn elided_by_now() {
    std::hint::black_box(());
}

fn enable() -> Result<(), Refusal> {
    // SAFETY: this program has one thread, and shares no atomics with other processes.
    unsafe { cyclewise::enable_single!() }
}

/// Asks for single mode, uses the site, and asks again; says each time what came of it.
fn asks_twice() {
    say("first", enable());
    debugged_inc(&COUNTER);
    say("again", patch::reelide());
    debugged_inc(&COUNTER);
    others(&COUNTER);
    println!("{SAYS}counted {}", COUNTER.load(Ordering::Relaxed));
}

/// The same of restoring LOCK.
fn locks_twice() {
    enable().unwrap();
    elided_by_now();
    say("first", patch::lock());
    debugged_inc(&COUNTER);
    say("again", patch::lock());
    debugged_inc(&COUNTER);
    others(&COUNTER);
    println!("{SAYS}counted {}", COUNTER.load(Ordering::Relaxed));
}

fn say(when: &str, outcome: Result<(), Refusal>) {
    let outcome = match outcome {
        Ok(()) => "done".to_owned(),
        Err(Refusal::Breakpoint { at }) if at == debugged_site().0 => "breakpoint".to_owned(),
        Err(other) => format!("{other:?}"),
    };
    let rest = sites().filter(|site| site.address() != debugged_site().0);
    let locked = rest.filter(|site| site.prefix() == Prefix::Lock).count();
    let state = state();
    println!(
        "{SAYS}{when} {outcome}, {:?}, {} elided, {locked} others locked of {}",
        state.mode,
        state.elided,
        state.sites - 1
    );
}

/// What the debuggee says when gdb runs it and does `then`; none where gdb cannot, which is printed.
fn under_gdb(part: &str, then: &[&str]) -> Option<Vec<String>> {
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch"]).args(
        [
            // No symbols from the network, no shell in between, expressions in C wherever the program stands.
            "set debuginfod enabled off",
            "set startup-with-shell off",
            "set language c",
            // From here on the program is where it will run, before its first instruction.
            "starti",
        ]
        .iter()
        .chain(then)
        .flat_map(|command| ["-ex", command]),
    );
    gdb.arg("--args").arg(std::env::current_exe().unwrap()).arg(part);
    let output = match gdb.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(e) => {
            println!("skipped: gdb: {e}; apt-get install gdb");
            return None;
        }
    };
    let (said, complained) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if let Some(why) = complained
        .lines()
        .find(|line| line.contains("ptrace") || line.contains("Could not trace"))
    {
        println!("skipped: gdb may not trace here: {why}");
        return None;
    }
    let lines: Vec<_> = said
        .lines()
        .filter_map(|line| line.split_once(SAYS))
        .map(|(_, text)| text.to_owned())
        .collect();
    assert_eq!(lines.len(), 3, "gdb said {said}{complained}");
    Some(lines)
}

/// What the debuggee says where nothing keeps LOCK.
fn elides() -> [String; 3] {
    let others = other_sites();
    let elided = format!("done, Single, {} elided, 0 others locked of {others}", others + 1);
    [
        format!("first {elided}"),
        format!("again {elided}"),
        "counted 2".to_owned(),
    ]
}

/// How many sites have no breakpoint.
fn other_sites() -> usize {
    let others = state().sites - 1;
    assert!(others >= 3, "{others} others");
    others
}

fn break_on_the_site() -> String {
    format!("break *((char *) &debugged_inc + {})", debugged_site().1)
}

fn a_breakpoint_of_gdb_is_refused() {
    let on_the_site = break_on_the_site();
    // To the breakpoint, which is behind the first refusal; then without it.
    let Some(lines) = under_gdb("asks-twice", &[&on_the_site, "continue", "delete", "continue"]) else {
        return;
    };
    let others = other_sites();
    let refused = format!("first breakpoint, Locked, 0 elided, {others} others locked of {others}");
    let [_, again, counted] = elides();
    assert_eq!(lines, [refused, again, counted]);
}

fn a_breakpoint_set_while_elided_keeps_the_mode() {
    let on_the_site = break_on_the_site();
    // gdb takes its breakpoint for the prefix that was there when it came, so LOCK may not come in between.
    let session = [
        "break elided_by_now",
        "continue",
        &on_the_site,
        "continue",
        "delete",
        "continue",
    ];
    let Some(lines) = under_gdb("locks-twice", &session) else {
        return;
    };
    let others = other_sites();
    let expected = [
        format!("first breakpoint, Single, {others} elided, 0 others locked of {others}"),
        format!("again done, Locked, 0 elided, {others} others locked of {others}"),
        "counted 2".to_owned(),
    ];
    assert_eq!(lines, expected);
}

fn twin_without_a_breakpoint_elides() {
    let alone = Command::new(std::env::current_exe().unwrap())
        .arg("asks-twice")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout);
    let lines: Vec<_> = said.lines().filter_map(|line| line.strip_prefix(SAYS)).collect();
    assert_eq!(lines, elides());
    if let Some(lines) = under_gdb("asks-twice", &["continue"]) {
        assert_eq!(lines, elides());
    }
}
