//! Manual pages, and what shells offer after TAB, from the definition of a command line: those of every program here.

use crate::error::{Error, Result};
use crate::files::output;
use clap::{Arg, Command, Subcommand, ValueEnum};
use clap_complete::aot;
use clap_mangen::Man;
use std::path::{Path, PathBuf};

/// A shell that there are completions for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash.
    Bash,
    /// fish.
    Fish,
    /// The Z shell.
    Zsh,
}

/// The subcommands that write them.
#[derive(Subcommand)]
pub enum DocsCommand {
    /// Print the completions for a shell
    ///
    /// `install-docs` puts those of every shell where the shell looks for them.
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Put manual pages and completions for bash, zsh and fish below a folder
    ///
    /// Writes them below share/man/man1, share/bash-completion/completions, share/zsh/site-functions and
    /// share/fish/vendor_completions.d, and prints their names. Files of an earlier version are replaced. After
    /// `cargo install`, which installs the program alone, this does the rest; a package names the root of its /usr.
    InstallDocs {
        /// The folder that has or gets share/ [default: ~/.local]
        #[arg(long, value_name = "DIR")]
        prefix: Option<PathBuf>,
    },
}

impl DocsCommand {
    /// Runs it for the program of this name and definition.
    ///
    /// # Errors
    /// Exit 2: the folder cannot be written.
    pub fn run(&self, program: &'static str, definition: Command) -> Result<()> {
        match self {
            Self::Completions { shell } => output::put(Path::new("-"), &script(program, &definition, *shell)),
            Self::InstallDocs { prefix } => install(program, definition, prefix.clone()),
        }
    }
}

/// The completions for a shell, in its own language.
fn script(program: &'static str, definition: &Command, shell: Shell) -> String {
    let shell = match shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Fish => aot::Shell::Fish,
        Shell::Zsh => aot::Shell::Zsh,
    };
    let mut script = Vec::new();
    let mut shown = shown(program, definition);
    aot::generate(shell, &mut shown, program, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    // bash's generator lists what the help hides.
    hidden(&shown).fold(script, |script, option| script.replace(&format!(" {option} "), " "))
}

/// The command line without the subcommands that no help shows: they are the program's own affair.
fn shown(program: &'static str, definition: &Command) -> Command {
    let subcommands = definition
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set());
    Command::new(program)
        .version(env!("CARGO_PKG_VERSION"))
        .about(definition.get_about().cloned().unwrap_or_default())
        .args(definition.get_arguments().cloned())
        .subcommands(subcommands.cloned())
}

/// The options that no help shows.
fn hidden(definition: &Command) -> impl Iterator<Item = String> {
    let arguments = definition.get_subcommands().flat_map(Command::get_arguments);
    let long = arguments.filter(|arg| arg.is_hide_set()).filter_map(Arg::get_long);
    long.map(|name| format!("--{name}"))
}

/// Installs below `prefix`, or below `~/.local`.
fn install(program: &'static str, definition: Command, prefix: Option<PathBuf>) -> Result<()> {
    let prefix = match prefix {
        Some(prefix) => prefix,
        None => home_prefix(std::env::home_dir())?,
    };
    let mut written = String::new();
    for (file, text) in files(program, definition) {
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
fn files(program: &'static str, definition: Command) -> Vec<(String, String)> {
    let scripts = [
        (Shell::Bash, format!("share/bash-completion/completions/{program}")),
        (Shell::Zsh, format!("share/zsh/site-functions/_{program}")),
        (Shell::Fish, format!("share/fish/vendor_completions.d/{program}.fish")),
    ]
    .map(|(shell, file)| (file, script(program, &definition, shell)));
    let mut built = definition.disable_help_subcommand(true);
    built.build();
    let mut files = Vec::new();
    add_pages(&built, program, &mut files);
    files.extend(scripts);
    files
}

/// Programs that `cyclewise` starts by a subcommand, whose page would have the name of theirs.
const OTHERS: [&str; 2] = ["cyclewise-locks", "cyclewise-fleet"];

/// The page of a command, and those of its subcommands: that of `cyclewise-sim simulate fit` is cyclewise-sim-simulate-fit.
fn add_pages(command: &Command, program: &str, files: &mut Vec<(String, String)>) {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let man = Man::new(command.clone())
        .title(name.clone())
        .section("1")
        .manual(program)
        .source(format!("{program} {}", env!("CARGO_PKG_VERSION")))
        // The same on every day: packages are built twice and compared.
        .date("");
    let mut text = Vec::new();
    // A Vec takes everything.
    if man.render(&mut text).is_ok() {
        files.push((
            format!("share/man/man1/{name}.1"),
            String::from_utf8_lossy(&text).into_owned(),
        ));
    }
    let is_ours =
        |of: &&Command| !of.is_hide_set() && !of.get_display_name().is_some_and(|name| OTHERS.contains(&name));
    let subcommands = command.get_subcommands().filter(is_ours);
    subcommands.for_each(|subcommand| add_pages(subcommand, program, files));
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
            assert_says!(home_prefix(none).unwrap_err().message, "--prefix");
        }
    }

    #[test]
    fn pages_and_scripts_have_what_help_shows_and_nothing_that_it_hides() {
        let definition = || {
            let secret = Command::new("secret")
                .hide(true)
                .arg(Arg::new("s").long("secret-option"));
            let open = Command::new("open").arg(Arg::new("o").long("open-option"));
            let hidden = Arg::new("h")
                .long("hidden-option")
                .action(clap::ArgAction::SetTrue)
                .hide(true);
            let other = Command::new("locks").display_name("cyclewise-locks");
            Command::new("program").subcommands([secret, open.arg(hidden), other])
        };
        let files = files("program", definition());
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names[..2],
            ["share/man/man1/program.1", "share/man/man1/program-open.1"]
        );
        assert_eq!(names.len(), 5, "{names:?}");
        let all: String = files.iter().map(|(_, text)| text.replace('\\', "")).collect();
        assert_says!(all, "open-option");
        assert_lacks!(all, "secret");
        let bash = &files[2].1;
        assert_lacks!(bash, "hidden-option");
        // The twin: the generator alone lists it.
        let mut script = Vec::new();
        aot::generate(aot::Shell::Bash, &mut definition(), "program", &mut script);
        assert_says!(String::from_utf8_lossy(&script), "hidden-option");
    }
}
