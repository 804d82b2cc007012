//! The built-in machines: one file each in `machines/`, with the source of each figure.

use super::{Machine, ParseError};

/// A built-in machine file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name on the command line; the file is `machines/<name>.toml`.
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
    "graviton2"
    "i5-1035g4"
    "i7-6700hq"
    "kunpeng-920"
    "thunderx2"
    "xeon-112"
    "xeon-8275cl"
    "xeon-8375c"
    "xeon-e5-2695v4"
};

impl Preset {
    /// Parses the file.
    ///
    /// # Errors
    /// Never: a test parses all presets.
    pub fn machine(&self) -> Result<Machine, ParseError> {
        Machine::parse(self.text, &format!("machines/{}.toml", self.name))
    }
}

impl Machine {
    /// The presets, sorted by name.
    pub fn presets() -> impl Iterator<Item = &'static Preset> {
        ALL.iter()
    }

    /// The preset named `name`.
    pub fn preset(name: &str) -> Option<&'static Preset> {
        ALL.iter().find(|preset| preset.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_without_a_contended_row_is_topology_only() {
        for preset in Machine::presets() {
            let machine = preset.machine().unwrap();
            let has_row = machine.published.iter().any(|row| row.threads > 1);
            assert_eq!(machine.topology_only, !has_row, "{}", preset.name);
        }
    }
}
