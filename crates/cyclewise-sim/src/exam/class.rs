//! Classes of machines, whose laws are learned together.

use super::data::PublishedMachine;

/// A family needs this many machines to learn from, so that one can be held out. Of two, each is predicted by the other alone: machines of a
/// family are taken to be alike.
pub const LEAST_MACHINES: usize = 2;

/// An instruction set needs this many families, which need not be alike.
pub const LEAST_FAMILIES: usize = 3;

/// The class of a machine: its family where enough machines were learned from, or else its instruction set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Machines with the same kind of interconnect and atomics.
    Family(String),
    /// Machines with the same instruction set.
    Isa(String),
}

impl Class {
    /// Its name in files and tables.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Family(name) | Self::Isa(name) => name,
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn named(name: &str, learners: &[PublishedMachine]) -> Self {
        if learners.iter().any(|machine| machine.isa == name) {
            Self::Isa(name.to_owned())
        } else {
            Self::Family(name.to_owned())
        }
    }

    /// What is left out with a machine: the machine of a family, the family of an instruction set.
    #[must_use]
    pub fn unit<'a>(&self, machine: &'a PublishedMachine) -> &'a str {
        match self {
            Self::Family(_) => &machine.name,
            Self::Isa(_) => &machine.family,
        }
    }

    /// How many units it needs to learn from.
    #[must_use]
    pub const fn least_units(&self) -> usize {
        match self {
            Self::Family(_) => LEAST_MACHINES,
            Self::Isa(_) => LEAST_FAMILIES,
        }
    }

    /// Whether a machine is in it.
    #[must_use]
    pub fn has(&self, machine: &PublishedMachine) -> bool {
        match self {
            Self::Family(family) => machine.family == *family,
            Self::Isa(isa) => machine.isa == *isa,
        }
    }
}
