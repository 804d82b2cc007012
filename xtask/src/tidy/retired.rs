//! Names and phrases that were given up stay away: a reader meets one word for one thing.
//!
//! A name is a whole identifier, in any text of the tree; a phrase is found in any case. `CHANGELOG.md` and records may
//! hold them, since they say what was.

use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "retired", check };

/// A name, and what the thing is called now.
const NAMES: &[(&str, &str)] = &[
    ("Around", "Env"),
    ("Aside", "MetricComparison"),
    ("Assembled", "Bench"),
    ("displaced", "rmw_at_offset"),
    ("facade", "primitive"),
    ("Fate", "SegmentState"),
    ("heed_forks", "register_atfork"),
    ("HighHalf", "HighHalfWord"),
    ("Keeper", "Updater"),
    ("Micro", "Microbenchmark"),
    ("miri", "a cfg that some command builds"),
    ("OneWord", "WordSized"),
    ("own_memory", "proc_mem"),
    ("Patience", "Backoff"),
    ("rseq_cells", "rseq::array"),
    ("rseq_list", "rseq::free_list"),
    ("rseq_set", "rseq::by_cpu"),
    ("tend", "refresh"),
    ("Unrolled", "Body"),
    ("Weather", "StormStats"),
    ("World", "ReaderEnv"),
];

/// A phrase, and what a technical writer would say.
const PHRASES: &[(&str, &str)] = &[
    ("hangs on", "depends on"),
    ("is for us", "cyclewise is faster"),
    ("machines that are not here", "simulating other machines"),
    ("itself to be believed", "can the measurements be trusted"),
    ("nobody tells", "there is no notification"),
    ("patch/gate", "patch/mode_lock"),
    ("percpu/bounded", "percpu/stack"),
    ("a filter only says", "a filter answers with 0"),
    ("held against", "compared with"),
    ("laid beside", "compared with"),
];

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|f| !is_history(&f.path)) {
        for (number, line) in (1..).zip(file.text.lines()) {
            for (retired, now) in in_line(line) {
                findings.push(Finding::new(
                    &file.path,
                    number,
                    format!("`{retired}` was given up"),
                    format!("write \"{now}\""),
                ));
            }
        }
    }
    findings
}

fn in_line(line: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let lower = line.to_lowercase();
    let words: Vec<_> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let names = NAMES.iter().filter(move |(name, _)| words.contains(name));
    names.chain(PHRASES.iter().filter(move |(phrase, _)| lower.contains(phrase)))
}

/// Files that say what was, and this one.
fn is_history(path: &str) -> bool {
    path == "CHANGELOG.md" || path.starts_with("records/") || path == "xtask/src/tidy/retired.rs"
}

#[cfg(test)]
mod tests {
    use super::{NAMES, PHRASES, RULE};
    use crate::tidy::testing::check;

    #[test]
    fn other_words_and_history_are_fine() {
        let code = format!("//! M.\nfn not_{name}() {{}}\n", name = NAMES[0].0);
        let history = format!("# Changelog\n- `{}` is gone.\n", NAMES[0].0);
        let files = [("crates/a/src/m.rs", code.as_str()), ("CHANGELOG.md", history.as_str())];
        assert_eq!(check(&RULE, &files), [""; 0]);
    }

    #[test]
    fn a_name_and_a_phrase_are_caught() {
        let (name, now) = NAMES[0];
        let (phrase, instead) = PHRASES[0];
        let code = format!("//! M.\nmod {name};\n");
        let paper = format!("# A\n\nThis {} b.\n", phrase.to_uppercase());
        assert_eq!(
            check(&RULE, &[("README.md", &paper), ("crates/a/src/m.rs", &code)]),
            [
                format!("README.md:3: retired: `{phrase}` was given up; write \"{instead}\""),
                format!("crates/a/src/m.rs:2: retired: `{name}` was given up; write \"{now}\""),
            ]
        );
    }
}
