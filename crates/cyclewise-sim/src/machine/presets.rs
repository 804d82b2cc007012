//! The machines that come with the crate: one file each in `machines/`, with the source of each figure.

use super::{Machine, ParseError};

/// A machine file that is part of the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What the command line calls it; its file is `machines/<name>.toml`.
    pub name: &'static str,
    /// The file's text.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal)*) => {
        &[$(Preset { name: $name, text: include_str!(concat!("../../machines/", $name, ".toml")) }),*]
    };
}

const ALL: &[Preset] = presets! {
    "a64fx-like"
    "epyc-7742"
    "epyc-7r13"
    "graviton2"
    "graviton3"
    "i5-1035g4"
    "i7-6700hq"
    "i7-6700k"
    "kunpeng-920"
    "thunderx2"
    "xeon-112"
    "xeon-8275cl"
    "xeon-8375c"
    "xeon-e5-2695v4"
};

impl Preset {
    /// The machine that the file describes.
    ///
    /// # Errors
    /// None for a preset of this crate: a test reads them all.
    pub fn machine(&self) -> Result<Machine, ParseError> {
        Machine::parse(self.text, &format!("machines/{}.toml", self.name))
    }
}

impl Machine {
    /// The presets, in the order of their names.
    pub fn presets() -> impl Iterator<Item = &'static Preset> {
        ALL.iter()
    }

    /// The preset of a name.
    #[must_use]
    pub fn preset(name: &str) -> Option<&'static Preset> {
        ALL.iter().find(|preset| preset.name == name)
    }
}
