//! Each rule on code that compilers make, and its counter-examples.

use super::rules::RULES;
use super::{Code, Names, ReadCode, Scene, classify, classify_without};
use crate::counts::Arch;
use crate::profile::Class;
use std::collections::BTreeSet;

/// One piece of code of `cases.txt`, which says what its lines mean.
#[derive(Debug, Default)]
struct Case {
    what: String,
    arch: String,
    code: Vec<u8>,
    site: u64,
    end: u64,
    functions: Vec<String>,
    names: Vec<(u64, String)>,
    rule: String,
    class: String,
}

/// Where the code is taken to be.
const BASE: u64 = 0x10_0000;

impl Case {
    fn arch(&self) -> Arch {
        match self.arch.as_str() {
            "x86_64" => Arch::X86_64,
            "aarch64" => Arch::Aarch64,
            other => panic!("{other}"),
        }
    }

    fn classify(&self, off: &str) -> (Class, String) {
        let site = BASE + self.site;
        let code = Code::new(self.arch(), BASE, self.code.clone(), None);
        let before = code.leading(site, BASE, Some(BASE));
        let known = self.functions.iter().find_map(|f| match f.as_str() {
            "known_take" => Some((Class::LockTaken, "known_*".to_owned())),
            "known_give" => Some((Class::LockGivenBack, "known_*".to_owned())),
            _ => None,
        });
        let scene = Scene {
            code: &code,
            site,
            before: &before,
            function: Some((BASE, BASE + self.end)),
            functions: &self.functions,
            names: self,
            known,
        };
        classify_without(&scene, off)
    }
}

impl Names for Case {
    fn function(&self, address: u64) -> Option<String> {
        if (BASE..BASE + self.end).contains(&address) {
            return Some("this".to_owned());
        }
        let found = self.names.iter().find(|(at, _)| BASE + at == address);
        found.map(|(_, name)| name.clone())
    }
}

fn cases() -> Vec<Case> {
    let text = include_str!("cases.txt");
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        let value = value.to_owned();
        if key == "what" {
            cases.push(Case {
                what: value,
                ..Case::default()
            });
            continue;
        }
        let case = cases.last_mut().unwrap();
        match key {
            "arch" => case.arch = value,
            "assembly" => {}
            "code" => case.code = bytes(&value),
            "site" => case.site = value.parse().unwrap(),
            "end" => case.end = value.parse().unwrap(),
            "function" => case.functions.push(value),
            "name" => {
                let (at, name) = value.split_once(' ').unwrap();
                case.names.push((at.parse().unwrap(), name.to_owned()));
            }
            "rule" => case.rule = value,
            "class" => case.class = value,
            other => panic!("{other}"),
        }
    }
    cases
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn each_case_has_its_class() {
    let wrong: Vec<_> = cases()
        .iter()
        .map(|case| (case, case.classify("")))
        .filter(|(case, (class, _))| format!("{class:?}") != case.class)
        .map(|(case, (class, why))| format!("{}: {class:?}, {why}", case.what))
        .collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn people_read_what_a_site_is_for_and_why() {
    let cases = cases();
    let lines: Vec<_> = cases
        .iter()
        .map(|case| {
            let (class, why) = case.classify("");
            format!("{}: {class:?}, {why}", case.what)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn each_case_is_decided_by_its_rule() {
    // The twin: without the rule that a case names, another one answers.
    let same: Vec<_> = cases()
        .iter()
        .filter(|case| case.classify("") == case.classify(&case.rule))
        .map(|case| format!("{} without {}", case.what, case.rule))
        .collect();
    assert_eq!(same, [""; 0]);
}

#[test]
fn a_rule_that_is_switched_off_is_noticed() {
    let cases = cases();
    let classes = |off: &str| cases.iter().map(|c| c.classify(off).0).collect::<Vec<_>>();
    let whole = classes("");
    for rule in RULES {
        let named: Vec<_> = cases.iter().filter(|c| c.rule == rule.name).collect();
        assert!(!named.is_empty(), "no case for {}", rule.name);
        assert_ne!(classes(rule.name), whole, "{} changes no class", rule.name);
    }
    let names: BTreeSet<_> = RULES.iter().map(|r| r.name).collect();
    assert!(cases.iter().all(|c| names.contains(c.rule.as_str())));
}

/// A file that has the code of a case, at the same addresses.
struct File<'a>(&'a Case);

impl ReadCode for File<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let from = usize::try_from(address.checked_sub(BASE)?).ok()?;
        let rest = self.0.code.get(from..).filter(|r| !r.is_empty())?;
        Some(rest[..rest.len().min(length)].to_vec())
    }
}

#[test]
fn the_instruction_alone_and_a_file_give_the_same_as_all_of_the_code() {
    for case in cases() {
        let site = BASE + case.site;
        let from = usize::try_from(case.site).unwrap();
        let one: Vec<u8> = case.code[from..].iter().copied().take(4).collect();
        let file = File(&case);
        let code = Code::new(case.arch(), site, one, Some(&file));
        let before = code.leading(site, site, Some(BASE));
        let scene = Scene {
            code: &code,
            site,
            before: &before,
            function: Some((BASE, BASE + case.end)),
            functions: &case.functions,
            names: &case,
            known: None,
        };
        if case.rule != "known-function" {
            assert_eq!(format!("{:?}", classify(&scene).0), case.class, "{}", case.what);
        }
    }
}

#[test]
fn code_that_is_cut_anywhere_gives_a_class_and_no_panic() {
    for case in cases() {
        let from = usize::try_from(case.site).unwrap();
        for end in from..case.code.len() {
            let cut = Case {
                code: case.code[..end].to_vec(),
                names: case.names.clone(),
                functions: case.functions.clone(),
                arch: case.arch.clone(),
                rule: String::new(),
                class: String::new(),
                what: String::new(),
                ..case
            };
            assert!(!cut.classify("").1.is_empty());
        }
    }
}

/// A file whose code has a gap before an address, as between two segments.
struct Gap;

/// Where the code begins, where the gap does, and where there is code again.
const GAP: [u64; 3] = [BASE, BASE + 0x100, BASE + 0x110];

impl ReadCode for Gap {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let end = [(GAP[0]..GAP[1]), (GAP[2]..GAP[2] + 8)]
            .into_iter()
            .find(|r| r.contains(&address))?
            .end;
        let left = usize::try_from(end - address).unwrap();
        Some(vec![0xc3; length.min(left)])
    }
}

#[test]
fn code_behind_a_gap_is_read() {
    let step = |address| Code::new(Arch::X86_64, 0, Vec::new(), Some(&Gap)).step(address);
    assert_eq!(step(GAP[2] + 2).map(|s| s.end()), Some(GAP[2] + 3));
    assert_eq!(step(GAP[1] - 1).map(|s| s.end()), Some(GAP[1]));
    assert_eq!(step(GAP[1]), None);
}
