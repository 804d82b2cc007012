//! The phase diagram as a document: hold time against fairness, and where the machine itself is in it.

use crate::error::{Error, Result};
use crate::record::Tool;
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
    /// What wrote it.
    pub tool: Tool,
    /// The machine in full; its hold and arbiter are what is varied.
    pub machine: Machine,
    /// What was run in every cell.
    pub job: Job,
    /// A row for each number of requests that may overtake the oldest, from none; each by ascending hold.
    pub cells: Vec<Vec<Cell>>,
}

impl Phase {
    /// Plays every cell out.
    ///
    /// # Errors
    /// Exit 2: the job does not fit the machine.
    pub fn of(machine: Machine, job: Job, tool: Tool) -> Result<Phase> {
        let cells = phase::diagram(&machine, &job).map_err(|e| Error::usage(format!("{}: {e}", machine.name)))?;
        Ok(Phase {
            schema: SCHEMA,
            tool,
            machine,
            job,
            cells,
        })
    }

    /// Where the machine's own laws lie, in words.
    pub fn own_place(&self) -> String {
        let transfer = self.machine.transfer_ns(Distance::Socket) * self.machine.ghz;
        let hold = match self.machine.line.hold {
            Hold::None => "no hold".to_owned(),
            Hold::Fixed { cycles } => format!("a hold of {:.2} transfers", f64::from(cycles) / transfer),
            Hold::Adaptive { cycles, max, .. } => {
                format!(
                    "a hold that adapts, up to {:.2} transfers",
                    f64::from(cycles * max) / transfer
                )
            }
        };
        // The model's own names: they are the machine file's, and a new law needs no word here.
        let arbiter = format!("{:?}", self.machine.line.arbiter).to_lowercase();
        format!("{} itself: {hold}, arbiter {arbiter}", self.machine.name)
    }
}
