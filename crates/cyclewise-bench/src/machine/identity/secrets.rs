//! What names this machine or its user, found again in texts that people read: a path below the home folder in an error's reason.

use super::key::Key;
use super::{HOSTNAME, is_common};
use crate::record::Identity;
use crate::sys::procfs::Sysfs;

/// Names that no text of an anonymous document may have.
pub struct Secrets {
    /// The node's name, its boot and its job's id; hashed where they are found.
    names: Vec<String>,
    /// The user's home folder, which has the user's name; `~` where it is found.
    home: Option<String>,
}

impl Secrets {
    /// Of an identity as it was gathered, and of this process's user.
    pub fn of_machine(identity: &Identity) -> Self {
        let home = std::env::var_os("HOME").map(|home| home.to_string_lossy().into_owned());
        // In a job of Slurm the identity has Slurm's name.
        let kernels = Sysfs::machine().text(HOSTNAME).filter(|name| !is_common(name));
        let mut secrets = Self::new(identity, home);
        secrets
            .names
            .extend(kernels.filter(|name| Some(name) != identity.node.as_ref()));
        secrets
    }

    fn new(identity: &Identity, home: Option<String>) -> Self {
        let names = [&identity.node, &identity.boot_id].into_iter().flatten();
        Self {
            // The id of a job is a number, which texts may have for other reasons; it stands nowhere but in the identity.
            names: names.cloned().collect(),
            // The root folder begins every path.
            home: home.map(|h| h.trim_end_matches('/').to_owned()).filter(|h| h.len() > 1),
        }
    }

    /// The text without them.
    pub fn hidden(&self, key: &Key, text: &str) -> String {
        let mut hidden = text.to_owned();
        if let Some(home) = &self.home {
            hidden = replace_words(&hidden, home, "~", |_| 0);
        }
        for name in &self.names {
            hidden = replace_words(&hidden, name, &key.name(name), domain);
            // Programs say either.
            if let Some((short, _)) = name.split_once('.') {
                hidden = replace_words(&hidden, short, &key.name(name), domain);
            }
        }
        hidden
    }
}

fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// The bytes of the domain that a text begins with: `.acme.example`, of a node whose own name precedes it.
fn domain(text: &str) -> usize {
    let mut length = 0;
    while let Some(label) = text[length..].strip_prefix('.') {
        let bytes = label.find(|c| !is_inner(c)).unwrap_or(label.len());
        if bytes == 0 {
            break;
        }
        length += 1 + bytes;
    }
    length
}

/// Replaces `word` where it is not a part of a longer word, with as many of the bytes after it as `more` says.
fn replace_words(text: &str, word: &str, by: &str, more: impl Fn(&str) -> usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word).filter(|_| !word.is_empty()) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        // What precedes may be in `out` already, if two follow each other.
        let last = before.chars().next_back().or_else(|| out.chars().next_back());
        let whole = !last.is_some_and(is_inner) && !after.chars().next().is_some_and(is_inner);
        out.push_str(before);
        out.push_str(if whole { by } else { word });
        rest = if whole { &after[more(after)..] } else { after };
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(node: &str, home: &str, text: &str) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "0123456789abcdef").unwrap();
        let key = Key::load(file.path()).unwrap();
        let identity = Identity {
            node: Some(node.to_owned()),
            ..Identity::default()
        };
        let text = Secrets::new(&identity, Some(home.to_owned())).hidden(&key, text);
        text.replace(&key.name(node), "HASH")
    }

    #[test]
    fn names_and_the_home_folder_are_found_in_texts() {
        let of = |text: &str| hidden("n1.cluster", "/users/alice/", text);
        assert_eq!(of("on n1.cluster: no /users/alice/x"), "on HASH: no ~/x");
        assert_eq!(of("(/users/alice) n1,n1:n1"), "(~) HASH,HASH:HASH");
        assert_eq!(of("n1.cluster and n1"), "HASH and HASH");
    }

    #[test]
    fn no_domain_of_the_node_stays() {
        for node in ["node17", "node17.acme.example"] {
            let of = |text: &str| hidden(node, "/users/alice", text);
            assert_eq!(of("ssh: node17.acme.example: no route"), "ssh: HASH: no route");
            assert_eq!(
                of("on node17.acme.example. See node17, node17."),
                "on HASH. See HASH, HASH."
            );
            assert_eq!(of("node18.acme.example"), "node18.acme.example");
        }
    }

    #[test]
    fn parts_of_other_words_stay() {
        let of = |text: &str| hidden("n1", "/users/al", text);
        for text in ["n10 in1 n1-b _n1", "/users/alice", "", "nothing"] {
            assert_eq!(of(text), text);
        }
        assert_eq!(hidden("é", "/", "/x é éé"), "/x HASH éé");
    }
}
