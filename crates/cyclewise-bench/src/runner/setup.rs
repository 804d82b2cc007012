//! An experiment that is ready to be measured.

#[cfg(feature = "commands")]
use super::MatrixPlan;
use super::{Control, Sampler};
use crate::record::{FigureKind, Guest};
use std::time::Duration;

/// A variant that cannot be sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVariant {
    pub name: String,
    pub why: String,
    /// Whether this machine could have measured it.
    pub possible: bool,
}

/// What the samplers of an experiment are.
#[derive(Debug, Default)]
pub enum Shape {
    #[default]
    Variants,
    #[cfg(feature = "commands")]
    Matrix(MatrixPlan),
    /// Variants that this guest of ring 0 runs. There are none if no CPU runs it.
    Guest(Guest),
}

/// Rows that are a chain of latencies or a throughput, by name; a row that is not listed is neither, or not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kinds {
    /// Names with a space between two.
    latency: &'static str,
    throughput: &'static str,
    others: Option<FigureKind>,
}

impl Kinds {
    /// Rows by their names, with a space between two: those whose copies wait for the one before, and those whose do not.
    pub const fn new(latency: &'static str, throughput: &'static str) -> Self {
        Self {
            latency,
            throughput,
            others: None,
        }
    }

    pub const fn all(kind: FigureKind) -> Self {
        Self {
            others: Some(kind),
            ..Self::new("", "")
        }
    }

    pub(super) fn of_row(&self, name: &str) -> Option<FigureKind> {
        let lists = [
            (self.latency, FigureKind::Latency),
            (self.throughput, FigureKind::Throughput),
        ];
        let listed = lists
            .iter()
            .find(|(names, _)| names.split_whitespace().any(|known| known == name));
        listed.map(|(_, kind)| *kind).or(self.others)
    }

    /// The rows that are listed.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.latency
            .split_whitespace()
            .chain(self.throughput.split_whitespace())
    }
}

/// An experiment whose variants borrow nothing.
pub type Setup = SetupOf<'static>;

/// An experiment made ready for this machine. Its variants may borrow, as a function that is benchmarked does.
#[derive(Default)]
pub struct SetupOf<'a> {
    /// The variants, in the order of the table.
    pub samplers: Vec<Box<dyn Sampler + 'a>>,
    /// Comparisons: (a, b) as indices of `samplers`; the verdict is on a.
    pub compare: Vec<(usize, usize)>,
    pub control: Control,
    /// Notes for the reader: what could not be run, and why.
    pub notes: Vec<String>,
    /// What each row's figure is.
    pub kinds: Kinds,
    /// Variants that are left out.
    pub missing: Vec<MissingVariant>,
    /// An error of a sample in the first round ends the measurement: what is measured was named wrongly, most likely.
    pub first_error_ends: bool,
    pub shape: Shape,
    /// Time after which no further round begins, where that is less than the mode's.
    pub most_time: Option<Duration>,
    /// Time before which the measurement goes on though there are rounds enough.
    pub least_time: Duration,
}

impl SetupOf<'_> {
    /// Leaves the variants whose names are `asked` for, with the comparisons between them.
    pub(crate) fn retain(&mut self, asked: impl Fn(&str) -> bool) {
        let kept: Vec<bool> = self.samplers.iter().map(|row| asked(row.name())).collect();
        let place = |old: usize| kept.get(old)?.then(|| kept[..old].iter().filter(|kept| **kept).count());
        let both = |&(a, b): &(usize, usize)| Some((place(a)?, place(b)?));
        self.compare = self.compare.iter().filter_map(both).collect();
        self.control = match self.control {
            Control::Repeat(row) => Control::Repeat(place(row).unwrap_or(0)),
            Control::Split(row) => Control::Split(place(row).unwrap_or(0)),
        };
        let mut kept = kept.iter();
        self.samplers.retain(|_| *kept.next().expect("one for each"));
        self.missing.retain(|row| asked(&row.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Bench;

    #[test]
    fn what_is_left_is_compared_as_before() {
        let mut bench = Bench::new();
        let mut setup = Setup {
            samplers: ["a", "b", "c", "d"].map(|name| bench.calls(name, || {})).into(),
            compare: vec![(1, 0), (3, 1), (2, 3)],
            control: Control::Repeat(3),
            ..Setup::default()
        };
        setup.retain(|name| name != "a");
        let names: Vec<&str> = setup.samplers.iter().map(|row| row.name()).collect();
        assert_eq!((names, setup.control), (vec!["b", "c", "d"], Control::Repeat(2)));
        assert_eq!(setup.compare, [(2, 0), (1, 2)]);
        for name in ["b", "no row's"] {
            setup.retain(|row| row == name);
            assert_eq!((&setup.compare[..], setup.control), (&[][..], Control::Repeat(0)));
        }
    }
}
