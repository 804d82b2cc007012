//! `cyclewise install-docs`: puts manual pages and completions where `man` and shells look for them.

use super::cli::Shell;
use super::{completions, manual};
use crate::error::{Error, Result};
use cyclewise_report::files::output;
use std::path::{Path, PathBuf};

/// Installs below `prefix`, or below `~/.local`.
pub(super) fn install(prefix: Option<PathBuf>) -> Result<()> {
    let prefix = match prefix {
        Some(prefix) => prefix,
        None => home_prefix(std::env::home_dir())?,
    };
    let mut written = String::new();
    for (file, text) in files() {
        let path = prefix.join(file);
        write(&path, &text).map_err(|cause| {
            Error::usage(format!(
                "{}: {cause}; name a folder that you can write by --prefix",
                path.display()
            ))
        })?;
        written += &format!("{}\n", path.display());
    }
    output::put(Path::new("-"), &written)
}

fn home_prefix(home: Option<PathBuf>) -> Result<PathBuf> {
    match home {
        Some(home) if home.is_absolute() => Ok(home.join(".local")),
        _ => Err(Error::usage("HOME names no folder; name one by --prefix")),
    }
}

/// The files below the prefix, and what is in them.
fn files() -> Vec<(String, String)> {
    let pages = manual::pages().into_iter();
    let mut files: Vec<_> = pages
        .map(|page| (format!("share/man/man1/{}.1", page.name), page.text))
        .collect();
    for (shell, file) in [
        (Shell::Bash, "share/bash-completion/completions/cyclewise"),
        (Shell::Zsh, "share/zsh/site-functions/_cyclewise"),
        (Shell::Fish, "share/fish/vendor_completions.d/cyclewise.fish"),
    ] {
        files.push((file.to_owned(), completions::script(shell)));
    }
    files
}

/// Replaces the file in one step: a shell that reads it meanwhile gets the old one or the new one.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_added_extension(format!("new-{}", std::process::id()));
    std::fs::write(&new, text)?;
    std::fs::rename(&new, path).inspect_err(|_| drop(std::fs::remove_file(&new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_in_the_home_folder_and_nowhere_else() {
        assert_eq!(
            home_prefix(Some("/users/a".into())).unwrap(),
            Path::new("/users/a/.local")
        );
        for none in [None, Some(PathBuf::new()), Some("relative".into())] {
            assert!(home_prefix(none).unwrap_err().message.contains("--prefix"));
        }
    }
}
