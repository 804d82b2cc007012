//! Output formats, one per file. Nothing here measures or computes statistics.

pub(crate) mod bmf;
pub(crate) mod csv;
pub(crate) mod doctor;
pub mod html;
pub(crate) mod json;
mod number;
pub(crate) mod table;

use crate::experiment::core_to_core;
use crate::record::{Experiment, Variant};

/// The variants that get their own row or strip: all, except pairs of CPUs if there are more than `most_pairs` of them.
fn listed_variants(e: &Experiment, most_pairs: usize) -> Vec<&Variant> {
    let is_pair = |v: &&Variant| e.name == core_to_core::NAME && core_to_core::is_pair(&v.name);
    let crowded = e.variants.iter().filter(is_pair).count() > most_pairs;
    e.variants.iter().filter(|v| !crowded || !is_pair(v)).collect()
}
