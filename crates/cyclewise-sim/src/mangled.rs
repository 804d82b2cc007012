//! Sweeps that are mangled, for their readers.

use crate::export::{self, json};
use crate::mangle::{Owes, hold, one};
use crate::record::{self, testing};
use cyclewise_bench::record::Tool;
use cyclewise_report::export::table::Look;

/// The same for each build: a seed tries the same files.
fn tool() -> Tool {
    Tool {
        version: "0.1.0".to_owned(),
        commit: Some("0123456789abcdef".to_owned()),
    }
}

#[test]
fn simulations() {
    let document = record::Simulation {
        tool: tool(),
        ..testing::document(&testing::sweep(&[1, 2]))
    };
    let text = json::simulation(&document).unwrap();
    // What a document is made into takes memory as well.
    let owes = Owes {
        most_bytes: |file| (64 << 20) + 256 * file,
        ..Owes::default()
    };
    hold(&[text.as_bytes()], owes, |bytes| {
        let simulation =
            record::from_str("f", std::str::from_utf8(bytes).map_err(|e| e.to_string())?).map_err(|e| e.message)?;
        let _ = (export::csv::simulation(&simulation), json::simulation(&simulation));
        Ok(export::table::simulation(&simulation, Look::new(None, false)))
    });
}

#[test]
fn a_short_text_of_many_points_makes_no_list_of_them() {
    let mut sweep = testing::sweep(&(1..=2000).collect::<Vec<_>>());
    sweep.retry_limits = (1..50).map(Some).collect();
    sweep.relax = vec![sweep.relax[0]; 40];
    assert!(sweep.points() > 4_000_000);
    let simulation = record::Simulation {
        points: Vec::new(),
        sweep,
        ..testing::document(&testing::sweep(&[1]))
    };
    let text = json::simulation(&simulation).unwrap();
    let read = one(text.as_bytes(), &Owes::default(), &|bytes| {
        record::from_str("f", std::str::from_utf8(bytes).unwrap()).map_err(|e| e.message)
    });
    assert_eq!(read, Ok(None));
}
