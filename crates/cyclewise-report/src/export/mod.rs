//! Output formats, one per file. Nothing here measures or computes statistics.

pub mod csv;
mod fleet;
pub mod html;
pub mod hyperfine;
mod in_unit;
pub mod json;
mod limits;
pub mod markdown;
pub mod openmetrics;
mod row;
mod side_by_side;
pub mod table;

use crate::number;
use crate::record::compare::RecordHead;
use crate::record::{Experiment, Variant, core_to_core};
pub use cyclewise_bench::export::bmf;

/// What tells a record from others: its machine, its kernel, its date, and how many runs it was made of.
fn record_name(r: &RecordHead) -> String {
    let date = r.created.split('T').next().unwrap_or_default();
    let runs = match r.runs {
        0 | 1 => "one run".to_owned(),
        n => format!("{n} runs"),
    };
    let linux = match r.machine.kernel.as_str() {
        "" => String::new(),
        kernel => format!("Linux {kernel}, "),
    };
    format!("{}, {linux}{date}, {runs}", r.machine.cpu_model)
}

/// The variants that get their own row or strip: all, except pairs of CPUs if there are more than `most_pairs` of them.
fn listed_variants(e: &Experiment, most_pairs: usize) -> Vec<&Variant> {
    let is_pair = |v: &&Variant| e.name == core_to_core::NAME && core_to_core::is_pair(&v.name);
    let crowded = e.variants.iter().filter(is_pair).count() > most_pairs;
    e.variants.iter().filter(|v| !crowded || !is_pair(v)).collect()
}
