//! The page of what a program pays for atomics: its content, odd data, and what it must not contain.

use super::render_locks;
use super::visible::text;
use crate::record::{Locks, made_up};

/// The page of a program with threads.
fn page() -> String {
    of(&made_up::rust())
}

fn of(locks: &Locks) -> String {
    render_locks(locks).unwrap()
}

#[test]
fn a_program_reads_as_it_should() {
    insta::assert_snapshot!(text(&page()));
}

#[test]
fn the_page_begins_with_the_answer_and_the_lines_that_pay() {
    let text = text(&page());
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words}: {text}"));
    assert!(at("Worth it: ") < at("Which lines of code pay"));
    assert!(at("src/graph.rs:118") < at("What would change it"));
    assert!(at("What would change it") < at("What the code does"));
    assert!(at("What the code does") < at("Who executes it"));
    assert!(at("Who executes it") < at("The machine and the run"));
}

#[test]
fn what_is_not_known_is_said_in_words() {
    let text = text(&of(&made_up::aarch64()));
    for says in [
        "No forecast",
        "server+0x401200",
        "Ctrl-C or the like ended it",
        "Sampled by",
    ] {
        assert!(text.contains(says), "no {says}: {text}");
    }
    assert!(
        !text.contains("What would change it") && !text.contains("NaN"),
        "{text}"
    );
    let mut none = made_up::cplusplus();
    none.profile.sites.clear();
    let text = self::text(&of(&none));
    assert!(text.contains("executed no locked instruction"), "{text}");
    assert!(text.contains("signal 11 ended it"), "{text}");
}

#[test]
fn names_are_escaped_and_cut() {
    let mut locks = made_up::rust();
    locks.profile.sites[0].frames[2].function = format!("<script>{}", "long ".repeat(1000));
    locks.program[0] = "<script>".to_owned();
    let page = of(&locks);
    assert!(!page.contains("<script") && page.contains("&#60;script"), "unescaped");
    assert!(page.matches("long ").count() < 200, "{}", page.matches("long ").count());
}

#[test]
fn the_page_of_very_many_sites_is_bounded() {
    let mut locks = made_up::rust();
    let site = locks.profile.sites[0].clone();
    locks.profile.sites = (0..20_000)
        .map(|n| {
            let mut site = site.clone();
            site.address = n;
            site.frames.truncate(0);
            site
        })
        .collect();
    locks.profile.threads = vec![locks.profile.threads[0].clone(); 5000];
    locks.profile.missing = vec!["a line".to_owned(); 5000];
    locks.forecast.as_mut().unwrap().remedies.clear();
    let page = of(&locks);
    assert!(page.len() < 400_000, "{} bytes", page.len());
    let text = text(&page);
    for says in [
        "19\u{202f}900 more are in the JSON",
        "4950 more are in the JSON",
        "4900 more lines",
    ] {
        assert!(text.contains(says), "no {says}");
    }
}
