//! Parts of a recorded run of a noisy machine, compared as if they were records: the instrument's `runner/data/zen3-noisy.json.gz`, an
//! EPYC of the family Zen 3 under KVM whose neighbour comes and goes. No figure was tuned to it.

use super::*;
use std::io::Read;

/// Part `part` of `parts` of the recorded run, whose rows take `change` times as long.
fn part(whole: &Record, part: usize, parts: usize, change: f64) -> Record {
    let mut record = whole.clone();
    record.runs.clear();
    for e in &mut record.experiments {
        e.comparisons.clear();
        for v in &mut e.variants {
            let n = v.samples.len();
            let kept = v.samples[part * n / parts..(part + 1) * n / parts].iter();
            v.samples = kept.map(|s| s * change).collect();
            let s = stats::describe(&v.samples).unwrap();
            (v.n, v.mean, v.median) = (s.n, s.mean, s.median);
        }
    }
    record
}

fn recorded() -> Record {
    let packed = include_bytes!("../../../../cyclewise-bench/src/runner/data/zen3-noisy.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .unwrap();
    crate::record::from_str("zen3-noisy", &text).unwrap()
}

#[test]
fn parts_of_one_run_claim_at_most_one_row_in_fifty() {
    let whole = recorded();
    let (mut rows, mut claims, mut by_samples) = (0, 0, 0);
    for parts in [2, 4] {
        for first in 0..parts - 1 {
            let pair = [first, first + 1].map(|n| part(&whole, n, parts, 1.0));
            let report = report(pair.into());
            for row in report.experiments.iter().flat_map(|e| &e.rows) {
                rows += 1;
                claims += usize::from(row.verdict.is_claim());
                by_samples += usize::from(row.p_holm < 0.05);
            }
        }
    }
    println!("{claims} of {rows} rows claimed, {by_samples} by Welch's t over samples");
    assert!(rows > 300 && claims * 50 <= rows, "{claims} of {rows}");
    // The twin: samples tested against each other.
    assert!(by_samples * 50 > rows, "{by_samples} of {rows}");
}

#[test]
fn a_row_that_takes_twice_as_long_is_found_on_a_noisy_machine() {
    let whole = recorded();
    let report = report(
        [(0, 1.0), (1, 2.0)]
            .map(|(n, change)| part(&whole, n, 2, change))
            .into(),
    );
    let verdicts = verdicts(&report);
    let slower = verdicts.iter().filter(|v| **v == Verdict::Slower).count();
    assert!(!verdicts.contains(&Verdict::Faster));
    assert!(slower * 2 > verdicts.len(), "{slower} of {}", verdicts.len());
}
