//! Words for a shell, and for the lines that sbatch reads from a script.

use crate::error::{Error, Result};

/// These words as a shell reads them.
///
/// # Errors
/// Exit 2: a word has a control character, which a terminal would obey where the script is shown.
pub(crate) fn command_line<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Result<String> {
    let mut quoted = Vec::new();
    for word in words {
        let word = word.as_ref();
        let refused = || Error::usage(format!("{word:?} has a control character; use a name without"));
        if word.contains(char::is_control) {
            return Err(refused());
        }
        quoted.push(shlex::try_quote(word).map_err(|_| refused())?.into_owned());
    }
    Ok(quoted.join(" "))
}

/// An option of sbatch as its `#SBATCH` line says it: `--name=value`, `--name value`, `-n value` or `-nvalue`, where the value is
/// all that follows and may have blanks.
///
/// sbatch reads the quotes and backslashes of these lines by rules of its own: a backslash takes the next character as it is, even
/// in quotes; blanks end a word except in quotes; # begins a comment.
pub(crate) fn directive(option: &str) -> String {
    let name = option.split(['=', ' ', '\t']).next().unwrap_or(option);
    match option[name.len()..].chars().next() {
        Some('=') | None => word(option),
        Some(_) => format!("{} {}", word(name), word(option[name.len()..].trim_start())),
    }
}

fn word(text: &str) -> String {
    if !text.is_empty() && !text.contains([' ', '\t', '"', '\'', '\\', '#']) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if c == '"' || c == '\\' {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
