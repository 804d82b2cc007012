//! No file names a place of one machine: an absolute path of its owner's, or a host only its network has.

use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "private-words",
    check,
};

/// Absolute folders, in two parts so that this file does not name them.
const FOLDERS: &[[&str; 2]] = &[
    ["/wo", "rk/"],
    ["/ro", "ot/"],
    ["/ho", "me/"],
    ["/Us", "ers/"],
    ["/tmp/ba", "sh"],
];

/// Words in the names of private package hosts, in two parts for the same reason.
const HOSTS: &[[&str; 2]] = &[["artif", "actory"], ["jf", "rog"]];

fn check(tree: &Tree) -> Vec<Finding> {
    let folders: Vec<_> = FOLDERS.iter().map(|parts| parts.concat()).collect();
    let hosts: Vec<_> = HOSTS.iter().map(|parts| parts.concat()).collect();
    let mut findings = Vec::new();
    for file in tree.files() {
        for (number, line) in (1..).zip(file.text.lines()) {
            for needle in folders.iter().filter(|n| names_folder(line, n)) {
                let what = format!("the machine's own folder `{needle}`");
                let fix = "use a path from the root of the tree, or a variable";
                findings.push(Finding::new(&file.path, number, what, fix));
            }
            for needle in hosts.iter().filter(|n| line.to_ascii_lowercase().contains(*n)) {
                let fix = "leave the host to the reader's own configuration";
                findings.push(Finding::new(
                    &file.path,
                    number,
                    format!("a private host, `{needle}`"),
                    fix,
                ));
            }
        }
    }
    findings
}

/// Whether the line has the folder as the start of a path, and not as the middle of a longer one or of an address.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/' | '}' | ')'))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    #[test]
    fn paths_of_the_tree_and_of_every_linux_are_fine() {
        let good = "see framework/x, https://example.org/home/page, $HOME/x, /proc/cpuinfo and /usr/share\n";
        assert_eq!(check(&RULE, &[("README.md", good)]), [""; 0]);
    }

    #[test]
    fn a_folder_and_a_host_are_caught_in_any_text() {
        let folder = ["/ho", "me/"].concat();
        let host = ["artif", "actory"].concat();
        let bad = format!("first\ncd {folder}someone/src\nindex = \"https://{host}.example/cargo\"\n");
        assert_eq!(
            check(&RULE, &[(".cargo/config.toml", &bad)]),
            [
                format!(
                    ".cargo/config.toml:2: private-words: the machine's own folder `{folder}`; \
                     use a path from the root of the tree, or a variable"
                ),
                format!(
                    ".cargo/config.toml:3: private-words: a private host, `{host}`; \
                     leave the host to the reader's own configuration"
                ),
            ]
        );
    }
}
