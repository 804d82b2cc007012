//! Documents and records of perf events that are mangled, for each of their readers.

use crate::export::{self, json};
use crate::machine::doctor::{self, Inputs};
use crate::machine::fake::Tree;
use crate::mangle::{Owes, hold};
use crate::record::fleet::{Document, Fault, Names, lines};
use crate::record::{self, Record, Tool};
use crate::{compare, error::Error};

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|e| e.to_string())
}

/// The same for each build: a seed tries the same files.
fn tool() -> Tool {
    Tool {
        version: "0.1.0".to_owned(),
        commit: Some("0123456789abcdef".to_owned()),
    }
}

fn why(error: Error) -> String {
    error.message
}

/// As a fleet names it.
fn problem(fault: Fault) -> String {
    fault.in_file("f").why
}

/// What a document is made into takes memory as well.
fn printed() -> Owes {
    Owes {
        most_bytes: |file| (64 << 20) + 256 * file,
        ..Owes::default()
    }
}

/// Small records of this tree: of a command, of a program run several times, of a guest.
fn records() -> [String; 3] {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    [
        "records/2026-11-21-epyc-genoa-kvm-interpreter.json",
        "records/2026-11-23-xeon-kvm-glib/bytes.json.gz",
        "crates/cyclewise-lab/tests/cli/made/hardware.json",
    ]
    .map(|name| record::read_text(&std::path::Path::new(root).join(name)).unwrap())
}

/// Reads a record and makes everything of it that people and programs read; its table.
fn record_and_what_is_printed_of_it(first: &Record, bytes: &[u8]) -> Result<String, String> {
    let record = record::from_str("f", text(bytes)?).map_err(why)?;
    let look = export::table::Look::new(None, true);
    let table = export::table::record(&record, look);
    let others = (json::record(&record), export::csv::record(&record));
    let _ = (others, export::bmf::record(&record));
    // A page takes half a second.
    if bytes.len().is_multiple_of(16) {
        let _ = export::html::render(std::slice::from_ref(&record), &|_| &[]);
    }
    if let Ok(report) = compare::compare(vec![first.clone(), record]) {
        export::table::comparison(&report, look);
    }
    Ok(table)
}

#[test]
fn records_and_what_is_printed_of_them() {
    let good = records();
    let first = record::from_str("f", &good[0]).unwrap();
    hold(&good.each_ref().map(|text| text.as_bytes()), printed(), move |bytes| {
        record_and_what_is_printed_of_it(&first, bytes)
    });
}

#[test]
fn records_with_other_numbers() {
    let good = records();
    let first = record::from_str("f", &good[0]).unwrap();
    let owes = Owes {
        numbers_only: true,
        ..printed()
    };
    hold(&good.each_ref().map(|text| text.as_bytes()), owes, move |bytes| {
        serde_json::from_slice::<serde::de::IgnoredAny>(bytes).expect("JSON");
        record_and_what_is_printed_of_it(&first, bytes)
    });
}

#[test]
fn records_of_a_fleet() {
    let good = records();
    hold(
        &good.each_ref().map(|text| text.as_bytes()),
        Owes::default(),
        |bytes| match Document::parse("f", text(bytes)?, &Names::default()) {
            Ok(Document::Member(member)) => lines::to_line(&member).map_err(|e| e.to_string()),
            Ok(_) => Ok(Vec::new()),
            Err(fault) => Err(problem(fault)),
        },
    );
}

#[test]
fn joined_fleets() {
    let mut good = format!(
        "{{\"schema\":\"cyclewise.fleet/1\",\"tool\":{},\"members\":3,\"checkups\":0,\"problems\":[]}}\n",
        serde_json::to_string(&tool()).unwrap()
    )
    .into_bytes();
    for text in records() {
        let Ok(Document::Member(member)) = Document::parse("f", &text, &Names::default()) else {
            panic!("a record")
        };
        good.extend(lines::to_line(&member).unwrap());
    }
    hold(&[&good], Owes::default(), |bytes| {
        let names = Names::default();
        let mut reader = lines::Lines::new(bytes);
        let mut read = Vec::new();
        while let Some(line) = reader.next(&names).map_err(problem)? {
            if let lines::FleetLine::Member(member) = line {
                read.push(*member);
            }
        }
        Ok(read)
    });
}

#[test]
fn reports_of_the_doctor() {
    let report = doctor::Report {
        tool: tool(),
        created: "2026-01-02T03:04:05Z".to_owned(),
        ..doctor::examine_with(&Inputs::guest(&Tree::guest()))
    };
    let good = json::pretty(&report).unwrap();
    hold(&[good.as_bytes()], Owes::default(), |bytes| {
        let report = record::doctor::from_str("f", text(bytes)?).map_err(why)?;
        Ok(report.checkup("f"))
    });
}

#[test]
fn records_of_perf_events() {
    let record = |kind: u32, body: &[u64]| {
        let size = (8 + 8 * body.len() as u64) << 48;
        let head = [u64::from(kind) | 1 << 32 | size];
        head.iter()
            .chain(body)
            .flat_map(|word| word.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
    // A mapping, a name, a fork, an exit, lost records, a sample.
    let good: Vec<u8> = [
        record(
            10,
            &[1 << 32 | 1, 0x1000, 0x1000, 0, 0, 0, 0, 5 << 32 | 2, 0x78_2f, 7, 1, 9],
        ),
        record(3, &[1 << 32 | 1, 0x78, 7, 1, 9]),
        record(7, &[1, 1, 5, 1, 9]),
        record(4, &[1, 1, 5, 1, 9]),
        record(2, &[1, 3, 7, 1, 9]),
        record(9, &[1, 0x1234, 1 << 32 | 1, 5, 1, 100, 1, 1, 0]),
    ]
    .concat();
    hold(&[&good], Owes::default(), |bytes| {
        Ok(crate::sys::perf_record::parse(bytes))
    });
}

#[test]
fn packed_documents() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packer, records()[0].as_bytes()).unwrap();
    let good = [packer.finish().unwrap(), records()[0].clone().into_bytes()];
    let owes = Owes {
        most_bytes: |file| (64 << 20) + 400 * file,
        ..Owes::default()
    };
    hold(&good.each_ref().map(Vec::as_slice), owes, |bytes| {
        record::text_of(bytes.to_vec()).map_err(|e| e.to_string())
    });
}

/// A record as it is made into others, for the harness's values.
#[test]
fn a_good_record_reads_back_as_it_is_written() {
    for text in records() {
        let record: Record = record::from_str("f", &text).unwrap();
        assert_eq!(record::from_str("f", &json::record(&record).unwrap()).unwrap(), record);
    }
}
