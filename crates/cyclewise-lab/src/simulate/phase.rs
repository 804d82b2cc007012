//! The phase diagram as a document: retries over hold time and fairness, with the machine's own laws.

use crate::error::{Error, Result};
use crate::record::Tool;
use cyclewise_sim::band::{Band, band};
use cyclewise_sim::exam::Reach;
use cyclewise_sim::machine::{Distance, Hold};
use cyclewise_sim::phase::{self, Cell};
use cyclewise_sim::{Job, Machine};
use serde::Serialize;

/// The schema of the document.
pub const SCHEMA: &str = "cyclewise.phase/1";

/// A phase diagram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The program that wrote it.
    pub tool: Tool,
    /// The machine in full; its hold and arbiter are varied.
    pub machine: Machine,
    /// The job of every cell.
    pub job: Job,
    /// By how much the times of the machine's own laws may be off; cells of other laws are of no real machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// One row per number of requests that may overtake the oldest, ascending from 0; in each, cells by ascending hold.
    pub cells: Vec<Vec<Cell>>,
}

impl Phase {
    /// Simulates every cell.
    ///
    /// # Errors
    /// Exit 2: the job does not fit the machine.
    pub fn of(machine: Machine, job: Job, tool: Tool) -> Result<Phase> {
        let cells = phase::diagram(&machine, &job).map_err(|e| Error::usage(format!("{}: {e}", machine.name)))?;
        Ok(Phase {
            schema: SCHEMA,
            tool,
            band: band(&machine, job.workload, Reach::of(&machine, &job)),
            machine,
            job,
            cells,
        })
    }

    /// The machine's own hold and arbiter, in words.
    pub fn own_laws(&self) -> String {
        let transfer = self.machine.transfer_ns(Distance::Socket) * self.machine.ghz;
        let hold = match self.machine.line.hold {
            Hold::None => "no hold".to_owned(),
            Hold::Fixed { cycles } => format!("a hold of {:.2} transfers", f64::from(cycles) / transfer),
            Hold::Adaptive { cycles, max, .. } => {
                format!(
                    "an adaptive hold of up to {:.2} transfers",
                    f64::from(cycles * max) / transfer
                )
            }
        };
        // The model's names, which are also the machine file's.
        let arbiter = format!("{:?}", self.machine.line.arbiter).to_lowercase();
        format!("{} itself has {hold}, arbiter {arbiter}", self.machine.name)
    }
}
