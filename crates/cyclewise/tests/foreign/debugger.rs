//! A debugger's breakpoint on a site: a change is refused while it is set, and every site stays as it is. The twin has no
//! breakpoint and elides.
//!
//! gdb runs this program with the name of a part as argument. Skipped, with the reason, where gdb is missing or may not
//! trace.

use crate::common::harness::{Check, checks};
use crate::enable;
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Prefix, sites, state};
use std::process::{Command, Stdio};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Prefix of the debuggee's lines: gdb writes to the same pipe.
const SAYS: &str = "debuggee: ";

pub(crate) const CHECKS: &[Check] = checks![
    a_breakpoint_of_gdb_is_refused,
    a_breakpoint_set_while_elided_keeps_the_mode,
    twin_without_a_breakpoint_elides,
];

/// Runs what gdb debugs and says so, if the argument names it.
pub(crate) fn run_part(argument: &str) -> bool {
    match argument {
        "asks-twice" => asks_twice(),
        "locks-twice" => locks_twice(),
        _ => return false,
    }
    true
}

/// A function with one site, under a name that gdb finds.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn debugged_inc(counter: &AtomicUsize) {
    counter.inc(Ordering::Relaxed);
}

/// Sites without a breakpoint. Together they leave the counter unchanged.
#[inline(never)]
fn others(counter: &AtomicUsize) {
    counter.add(2, Ordering::Relaxed);
    counter.dec(Ordering::Relaxed);
    counter.fetch_sub(1, Ordering::Relaxed);
}

/// The site in [`debugged_inc`], and its offset there.
fn debugged_site() -> (usize, usize) {
    let start = debugged_inc as *const () as usize;
    let inside = sites().map(|site| (site.address(), site.address().wrapping_sub(start)));
    inside.min_by_key(|(_, distance)| *distance).unwrap()
}

/// A function for gdb to stop at.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn elided_by_now() {
    std::hint::black_box(());
}

/// Enables single mode, uses the site, and tries again; prints each result.
fn asks_twice() {
    say("first", enable());
    debugged_inc(&COUNTER);
    say("again", patch::reelide());
    debugged_inc(&COUNTER);
    others(&COUNTER);
    println!("{SAYS}counted {}", COUNTER.load(Ordering::Relaxed));
}

/// The same for restoring LOCK.
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

/// The debuggee's output when gdb runs it and executes `then`; none, with a printed reason, where gdb cannot.
fn under_gdb(part: &str, then: &[&str]) -> Option<Vec<String>> {
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch"]).args(
        [
            // No symbols from the network, no shell, and expressions always in C.
            "set debuginfod enabled off",
            "set startup-with-shell off",
            "set language c",
            // From here on the program is at its final address, before its first instruction.
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

/// The debuggee's output where no breakpoint keeps LOCK.
fn elides() -> [String; 3] {
    let others = other_sites();
    let elided = format!("done, Single, {} elided, 0 others locked of {others}", others + 1);
    [
        format!("first {elided}"),
        format!("again {elided}"),
        "counted 2".to_owned(),
    ]
}

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
    // Runs to the breakpoint after the first refusal; then without it.
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
    // Removing the breakpoint restores the prefix that gdb found, so LOCK must not be written meanwhile.
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
