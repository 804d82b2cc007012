//! `cyclewise recommend`: recommends primitives for a machine, by simulation.

use super::cli::RecommendArgs;
use super::simulate;
use crate::export;
use crate::recommend::{self, Question};
use crate::sweep::machines;
use cyclewise_bench::error::Result;
use cyclewise_bench::record::Tool;
use cyclewise_bench::sys::interrupt;
use cyclewise_report::files::output;
use cyclewise_report::files::progress::Reporter;
use std::path::PathBuf;

pub(super) fn recommend(args: &RecommendArgs) -> Result<()> {
    output::check_named(&[("--json", &args.json)], &[PathBuf::from(&args.machine)])?;
    let machine = machines::find(&args.machine)?;
    super::machine::check_absolute(std::slice::from_ref(&machine), &[&args.json])?;
    let threads = match &args.threads {
        Some(counts) => counts.0.clone(),
        None => simulate::powers_of_two(std::slice::from_ref(&machine), 0),
    };
    machines::check_threads(&machine, &threads, 0)?;
    let question = Question {
        machine,
        threads,
        critical_cycles: args.critical,
        parallel_cycles: args.parallel,
        seed: args.seed,
    };
    interrupt::listen();
    let recommendation = Reporter::shared("predictions", |tell| {
        recommend::recommend(&question, Tool::this(), tell)
    });
    let recommendation = match recommendation {
        Err(error) if interrupt::asked() => {
            output::tell(&format!("cyclewise: {error}"));
            interrupt::end();
        }
        made => made?,
    };
    output::put_all(
        || export::table::recommendation(&recommendation, output::look(false)),
        &[(&args.json, &|| export::json::pretty(&recommendation))],
    )?;
    if recommendation.missing.is_empty() {
        return Ok(());
    }
    interrupt::end()
}
