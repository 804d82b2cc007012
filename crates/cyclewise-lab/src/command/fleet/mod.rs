//! `cyclewise fleet`: many machines, using an existing scheduler.

mod join;
mod names;
mod plan;
mod planned;
mod report;
mod sbatch;

use super::cli::{FleetArgs, FleetCommand};
use crate::error::Result;

pub(super) fn fleet(args: &FleetArgs) -> Result<()> {
    match &args.command {
        FleetCommand::Plan(args) => plan::plan(args),
        FleetCommand::Names { key, names } => names::names(key, names),
        FleetCommand::Join(args) => join::join(args),
        FleetCommand::Report(args) => report::report(args),
    }
}
