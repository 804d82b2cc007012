//! The manual pages: one for the program, and one for each subcommand, from the definition of the command line.

use super::cli::Cli;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

/// A manual page.
pub(super) struct Page {
    /// Its name without the section, such as `cyclewise-run`.
    pub(super) name: String,
    /// In roff's language.
    pub(super) text: String,
}

/// The pages, that of the program first.
pub(super) fn pages() -> Vec<Page> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    add(&program, &mut pages);
    pages
}

fn add(command: &Command, pages: &mut Vec<Page>) {
    // `cyclewise simulate fit` has the page cyclewise-simulate-fit.
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let program = concat!("cyclewise ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone())
        .title(name.clone())
        .section("1")
        .manual("cyclewise")
        .source(program)
        // The same on every day: packages are built twice and compared.
        .date("");
    let mut text = Vec::new();
    // A Vec takes everything.
    if man.render(&mut text).is_ok() {
        let text = String::from_utf8_lossy(&text).into_owned();
        pages.push(Page { name, text });
    }
    let subcommands = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    subcommands.for_each(|subcommand| add(subcommand, pages));
}
