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
fn simulations_and_their_shards() {
    let sweep = testing::sweep(&[1, 2]);
    let texts = [None, testing::shard(2, 3)].map(|part| {
        let document = record::Simulation {
            tool: tool(),
            ..testing::document(&sweep, part)
        };
        json::simulation(&document).unwrap()
    });
    // What a document is made into takes memory as well.
    let owes = Owes {
        most_bytes: |file| (64 << 20) + 256 * file,
        ..Owes::default()
    };
    hold(&texts.each_ref().map(|text| text.as_bytes()), owes, |bytes| {
        let streamed = record::PointReader::new(bytes)
            .and_then(|mut reader| reader.check())
            .map_err(|fault| fault.in_file("f").why);
        let simulation =
            record::from_str("f", std::str::from_utf8(bytes).map_err(|e| e.to_string())?).map_err(|e| e.message)?;
        let _ = (export::csv::simulation(&simulation), json::simulation(&simulation));
        let table = export::table::simulation(&simulation, Look::new(None, false));
        Ok((table, streamed.is_ok()))
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
        ..testing::document(&testing::sweep(&[1]), None)
    };
    let text = json::simulation(&simulation).unwrap();
    let read = one(text.as_bytes(), &Owes::default(), &|bytes| {
        record::from_str("f", std::str::from_utf8(bytes).unwrap()).map_err(|e| e.message)
    });
    assert_eq!(read, Ok(None));
}
