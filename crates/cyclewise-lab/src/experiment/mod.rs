//! The experiments: each answers one question, and knows what its source published.

pub mod hackbench;
pub mod open_read_close;
pub mod time;

use crate::error::Result;
use crate::record::Unit;
use crate::runner::Setup;

/// How much time a run may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One experiment within 10 s, all within 60 s.
    Quick,
    /// Minutes for all.
    #[default]
    Normal,
    /// The source's own parameters, however long.
    Full,
}

/// What the command line asks of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much time it may take.
    pub mode: Mode,
    /// `hackbench`: pipes as well as socket pairs.
    pub pipe: bool,
    /// `hackbench`: groups of 20 senders and 20 receivers.
    pub groups: Option<u32>,
    /// `hackbench`: messages from each sender to each receiver.
    pub loops: Option<u32>,
    /// `open-read-close`: counts of processes.
    pub threads: Vec<u32>,
}

/// A figure that the source of an experiment published.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// Our variant that it answers to; `None` where it is none of ours.
    pub variant: Option<&'static str>,
    /// What the source calls it.
    pub what: &'static str,
    /// The figure, as printed by the source.
    pub figure: f64,
    /// Its unit, in words.
    pub unit: &'static str,
    /// The machine it was measured on.
    pub machine: &'static str,
}

/// An experiment: a question, and how to ask it of this machine.
pub struct Definition {
    /// The name scripts use.
    pub name: &'static str,
    /// The question, as one sentence that ends with a question mark.
    pub question: &'static str,
    /// Where the question comes from: author, date, subject of the mail.
    pub source: &'static str,
    /// What its samples count.
    pub unit: Unit,
    /// What the source published.
    pub published: &'static [Published],
    /// Makes it ready, or says why this machine cannot run it.
    pub setup: fn(&Options) -> Result<Setup>,
}
