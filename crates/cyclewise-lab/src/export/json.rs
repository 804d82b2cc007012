//! JSON of lists.

use crate::error::Result;
use crate::experiment::Definition;
use crate::experiment::meanings::of_experiment;
pub(crate) use cyclewise_report::export::json::*;
use serde::Serialize;

#[derive(Serialize)]
struct ExperimentItem {
    name: &'static str,
    question: &'static str,
    source: &'static str,
    unit: &'static str,
    variants: Vec<VariantItem>,
}

#[derive(Serialize)]
struct VariantItem {
    name: &'static str,
    meaning: &'static str,
}

/// The list of experiments.
pub(crate) fn experiments(all: &[&Definition]) -> Result<String> {
    let listed: Vec<ExperimentItem> = all
        .iter()
        .map(|d| ExperimentItem {
            name: d.name,
            question: d.question,
            source: d.source,
            unit: d.unit.as_str(),
            variants: of_experiment(d.name)
                .into_iter()
                .map(|(name, meaning)| VariantItem { name, meaning })
                .collect(),
        })
        .collect();
    pretty(&listed)
}
