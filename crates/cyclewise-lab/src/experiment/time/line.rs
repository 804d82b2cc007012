//! Command lines: the words that are executed, by a shell or without one, and what a shell's reader would misread.

use crate::error::{Error, Result};
use cyclewise_report::files::programs;

/// What runs command lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    /// Nothing: words are split, and the first is the program.
    None,
    /// A shell, with arguments before `-c`.
    Words(Vec<String>),
}

impl Default for Shell {
    fn default() -> Self {
        Self::Words(vec!["sh".to_owned()])
    }
}

impl Shell {
    /// `none`, `default`, or a shell's name, path or command line.
    ///
    /// # Errors
    /// Exit 2: it names no program.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text {
            "none" => return Ok(Self::None),
            "default" => return Ok(Self::default()),
            _ => {}
        }
        match shlex::split(text) {
            Some(words) if words.first().is_some_and(|word| !word.is_empty()) => Ok(Self::Words(words)),
            _ => Err(Error::usage(format!(
                "time: --shell {text:?} names no program; give bash, a path, or none"
            ))),
        }
    }

    /// Whether it is dash, behind whatever link.
    fn is_dash(&self) -> bool {
        let Self::Words(words) = self else { return false };
        let found = programs::in_path(&words[0]).and_then(|path| path.canonicalize().ok());
        found.is_some_and(|path| path.file_name().is_some_and(|name| name == "dash"))
    }
}

/// A command line: its text, and the words to execute.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(super) text: String,
    pub(super) words: Vec<String>,
    pub(super) by_shell: bool,
}

impl Line {
    /// The line `text`, which is `what`.
    ///
    /// # Errors
    /// Exit 2: it has a NUL byte, is empty, names no program, or its quotes do not match.
    pub(super) fn new(what: &str, text: &str, shell: &Shell) -> Result<Self> {
        let wrong = |why: &str| Error::usage(format!("time: the {what} {text:?} {why}"));
        if text.contains('\0') {
            return Err(wrong("has a NUL byte, which no command can have; remove it"));
        }
        if text.trim().is_empty() {
            return Err(wrong("is empty; give a command, quoted as one argument"));
        }
        let words = match shell {
            Shell::Words(shell) => {
                // Texts that begin with a dash are no options.
                let dashes = text.starts_with('-').then_some("--");
                let of_shell = shell.iter().map(String::as_str);
                let words = of_shell.chain(["-c"]).chain(dashes).chain([text]);
                words.map(str::to_owned).collect()
            }
            Shell::None => {
                let words =
                    shlex::split(text).ok_or_else(|| wrong("has a quote or a backslash without its end; close it"))?;
                match words.first() {
                    Some(program) if !program.is_empty() => words,
                    _ => return Err(wrong("names no program; give one, or let a shell run it")),
                }
            }
        };
        Ok(Self {
            text: text.to_string(),
            words,
            by_shell: *shell != Shell::None,
        })
    }

    /// Syntax in the line that whoever runs it reads otherwise than its writer meant.
    pub(super) fn misread(&self, shell: &Shell) -> Option<String> {
        let (bare, name) = (bare(&self.text), &self.text);
        match shell {
            Shell::None => {
                let assigns = self.words[0].contains('=').then_some("=");
                let signs = SHELL_SYNTAX.into_iter().filter(|sign| bare.contains(sign));
                let found = signs.chain(assigns).next();
                found.map(|sign| {
                    format!("'{name}' has a shell's `{sign}`, but no shell runs it, so it is an argument as any other; leave out -N")
                })
            }
            Shell::Words(shell_words) if shell.is_dash() => {
                let braces = braces(&bare).then_some(("{…}", "leaves it as it is"));
                let signs = BASH_SYNTAX.into_iter().filter(|(sign, _)| bare.contains(sign));
                let found = signs.chain(braces).next();
                found.map(|(sign, does)| {
                    let (sign, own) = (sign.trim(), &shell_words[0]);
                    format!("'{name}' has bash's `{sign}`, but {own} is dash here, which {does}; give --shell bash")
                })
            }
            Shell::Words(_) => None,
        }
    }
}

/// Whether there is a list or a range in braces.
fn braces(bare: &str) -> bool {
    let mut opened = bare.split('{').skip(1).zip(bare.split('{'));
    opened.any(|(inside, before)| {
        let list = inside.split('}').next().filter(|list| list.len() < inside.len());
        let is_word = |list: &&str| !list.contains(char::is_whitespace) && !before.ends_with('$');
        list.filter(is_word)
            .is_some_and(|list| list.contains(',') || list.contains(".."))
    })
}

/// What a shell acts on, outside of quotes.
const SHELL_SYNTAX: [&str; 8] = ["|", "&", ";", "<", ">", "$", "`", "*"];

/// What bash acts on otherwise than dash, outside of quotes, and what dash does.
const BASH_SYNTAX: [(&str, &str); 7] = [
    ("&>", "runs what is before it in the background"),
    (">&|", "does not know it"),
    ("|&", "does not know it"),
    ("<<<", "does not know it"),
    ("<(", "does not know it"),
    ("[[ ", "takes it for a program"),
    ("source ", "takes it for a program"),
];

/// The text with what is quoted or escaped replaced by blanks; in double quotes a shell still acts on `$` and backticks.
fn bare(text: &str) -> String {
    let (mut out, mut quote) = (String::new(), None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(q), _) if q == c => quote = None,
            (None | Some('"'), '\\') => {
                chars.next();
                out.push(' ');
            }
            (None, _) | (Some('"'), '$' | '`') => out.push(c),
            (Some(_), _) => out.push(' '),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, shell: &str) -> Vec<String> {
        let line = Line::new("command", text, &Shell::parse(shell).unwrap());
        line.unwrap().words
    }

    #[test]
    fn the_words_are_those_of_the_shell_or_of_the_line() {
        assert_eq!(words("a 'b c'", "default"), ["sh", "-c", "a 'b c'"]);
        assert_eq!(words("-x", "default"), ["sh", "-c", "--", "-x"]);
        assert_eq!(words("a", "bash --norc"), ["bash", "--norc", "-c", "a"]);
        assert_eq!(words("a 'b c'", "none"), ["a", "b c"]);
        let error = Shell::parse("").unwrap_err();
        assert!(error.message.contains("names no program"), "{error}");
    }

    #[track_caller]
    fn read_without_a_shell(text: &str, sign: Option<&str>) {
        let line = Line::new("command", text, &Shell::None).unwrap();
        let said = line.misread(&Shell::None);
        let expected = sign.map(|sign| format!("shell's `{sign}`"));
        assert_eq!(said.is_some(), expected.is_some(), "{text}: {said:?}");
        assert!(
            said.unwrap_or_default().contains(&expected.unwrap_or_default()),
            "{text}"
        );
    }

    #[test]
    fn a_shells_syntax_without_a_shell_is_told() {
        read_without_a_shell("echo a > f; ls | wc", Some("|"));
        read_without_a_shell("echo a > f", Some(">"));
        read_without_a_shell("echo \"$HOME\"", Some("$"));
        read_without_a_shell("A=1 make", Some("="));
        // The twins: quoted or escaped it is no syntax.
        for text in ["grep 'a|b' file", "echo a\\;b \"c > d\"", "make A=1", "echo '$HOME'"] {
            read_without_a_shell(text, None);
        }
    }

    #[test]
    fn what_dash_reads_otherwise_than_bash_is_told_where_sh_is_dash() {
        let folder = tempfile::tempdir().unwrap();
        let shell = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            Shell::parse(path.to_str().unwrap()).unwrap()
        };
        let [dash, bash] = ["dash", "bash"].map(shell);
        let link = folder.path().join("sh");
        std::os::unix::fs::symlink(folder.path().join("dash"), &link).unwrap();
        let sh = Shell::parse(link.to_str().unwrap()).unwrap();
        for text in [
            "sleep 1 &>/dev/null",
            "cmp <(a) <(b)",
            "echo {1..5}",
            "cp a.{c,h} b",
            "[[ -e a ]]",
        ] {
            let misread = |shell: &Shell| Line::new("command", text, shell).unwrap().misread(shell);
            assert!(misread(&dash).is_some() && misread(&sh).is_some(), "{text}");
            assert_eq!(misread(&bash), None, "{text}");
        }
        for text in [
            "a >f 2>&1 &",
            "{ a; b; }",
            "echo ${a:-b,c}",
            "echo '&>'",
            "find -exec a {} +",
        ] {
            assert_eq!(
                Line::new("command", text, &dash).unwrap().misread(&dash),
                None,
                "{text}"
            );
        }
    }
}
