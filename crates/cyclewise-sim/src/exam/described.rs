//! A machine that someone describes, made as the examined ones are: the laws of its family, and transfers from a contended row.

use super::anchor::{LEAST, MOST, agrees, scaled_to};
use super::build::{Parts, built, counted};
use super::{data, learn};
use crate::machine::FAMILIES;
use crate::{Machine, Workload};

/// A machine with the laws of its family.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub machine: Machine,
    /// By how much the row's transfers are longer than the matrix's.
    pub factor: f64,
    /// Whether they are about the matrix's.
    pub agrees: bool,
}

/// The families that laws were learned of.
pub(crate) fn families() -> Vec<&'static str> {
    let is_learned = |family: &&str| learn::learned().iter().any(|learned| learned.family == *family);
    FAMILIES.iter().copied().filter(is_learned).collect()
}

/// The machine of these parts. With a contended row its transfers are scaled until the row comes out.
///
/// # Errors
/// Nothing was learned of such machines, or the row does not come out.
pub(crate) fn described(
    parts: Parts<'_>,
    family: &str,
    row: Option<(Workload, u32, f64)>,
) -> Result<Described, String> {
    let learned = learn::learned().iter().find(|learned| learned.family == family);
    let learned = learned.ok_or_else(|| {
        format!(
            "no laws were learned of {family:?}, of which too little is published; they were of {}",
            families().join(", ")
        )
    })?;
    let (plain, laws) = (built(parts), &learned.laws);
    let (machine, factor) = match row {
        None => (laws.apply(&plain), 1.0),
        Some((workload, threads, ns)) => {
            scaled_to(&plain, laws, &counted(workload, threads), ns).ok_or_else(|| {
                format!(
                    "no transfers from {LEAST} to {MOST} times the matrix's give {workload} on {threads} threads in {ns} ns; give the time for one \
                     operation of all threads together, at this clock"
                )
            })?
        }
    };
    Ok(Described {
        machine,
        factor,
        agrees: agrees(factor),
    })
}

/// The instruction set of a family's machines.
pub(crate) fn isa_of(family: &str) -> String {
    let found = data::machines().into_iter().find(|machine| machine.family == family);
    found.map_or_else(|| "x86-64".to_owned(), |machine| machine.isa)
}
