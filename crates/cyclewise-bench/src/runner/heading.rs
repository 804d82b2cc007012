//! The heading of an experiment.

use super::Guards;
use crate::record::Unit;

/// The heading of an experiment in the record.
#[derive(Clone, Copy, Debug)]
pub struct Heading<'a> {
    /// The name scripts use.
    pub name: &'a str,
    pub question: &'a str,
    /// Where the question comes from.
    pub source: &'a str,
    pub unit: Unit,
    /// What spoils a sample.
    pub guards: Guards,
}
