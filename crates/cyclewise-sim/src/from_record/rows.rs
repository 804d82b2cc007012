//! A record's rows as the model's jobs.

use crate::fit::{MEASURED, MeasuredRow};
use crate::machine::Published;
use crate::{Relax, Workload};
use cyclewise_bench::record::{Experiment, Record, Variant};

/// The rows of counters and locks. Their threads were placed on cores first, socket by socket: the model's `compact`.
pub(super) fn contended(e: &Experiment) -> Vec<MeasuredRow> {
    let row = |v: &Variant| {
        let (workload, relax, threads) = parse(&v.name)?;
        Some(MeasuredRow {
            workload,
            threads,
            relax,
            ns_per_op: v.median,
        })
    };
    e.variants.iter().filter(|v| v.n > 0).filter_map(row).collect()
}

/// `lock-ttas-pause-t4` is a test-and-test-and-set lock whose waiters pause, by four threads.
fn parse(name: &str) -> Option<(Workload, Relax, u32)> {
    let (operation, threads) = name.rsplit_once("-t")?;
    let (operation, relax) = match operation.strip_suffix("-pause") {
        Some(operation) => (operation, Relax::Pause),
        None => (operation, Relax::None),
    };
    let workload = MEASURED.iter().find(|workload| workload.name() == operation)?;
    Some((*workload, relax, threads.parse().ok()?))
}

/// The median of a row of one instruction; `None` if it was not measured.
pub(super) fn single(e: &Experiment, name: &str) -> Option<f64> {
    let variant = e.variants.iter().find(|v| v.name == name && v.n > 0)?;
    (variant.median.is_finite() && variant.median > 0.0).then_some(variant.median)
}

/// Nanoseconds of a core cycle with the fewest and with the most threads; `None` if none was measured.
pub(super) fn cycles(e: &Experiment) -> Option<[f64; 2]> {
    let threads = |v: &Variant| v.name.strip_prefix("cycle-t")?.parse::<u32>().ok();
    let mut measured: Vec<(u32, f64)> = e
        .variants
        .iter()
        .filter_map(|v| Some((threads(v)?, single(e, &v.name)?)))
        .collect();
    measured.sort_by_key(|(threads, _)| *threads);
    Some([measured.first()?.1, measured.last()?.1])
}

/// One-way times of a pair whose line has its memory at the pair's own socket, and at another; `None` if they were not measured.
pub(super) fn homes(e: &Experiment) -> Option<[f64; 2]> {
    let homed = |v: &Variant| {
        let (pair, home) = v.name.split_once("-home-")?;
        let first = pair.split('-').nth(1)?;
        Some((first == home, single(e, &v.name)?))
    };
    let of = |own: bool| e.variants.iter().filter_map(homed).find(|(is_own, _)| *is_own == own);
    Some([of(true)?.1, of(false)?.1])
}

/// A row as a published figure, so that plots show it beside the simulated ones.
pub(super) fn published(row: &MeasuredRow, record: &Record) -> Published {
    Published {
        workload: row.workload.name().to_owned(),
        threads: row.threads,
        relax: row.relax,
        value: (row.ns_per_op * 1000.0).round() / 1000.0,
        unit: "ns/op".to_owned(),
        source: format!("measured here, {}", record.created),
    }
}

/// The row in words.
pub(super) fn label(row: &MeasuredRow) -> String {
    let threads = if row.threads == 1 { "thread" } else { "threads" };
    let pause = if row.relax == Relax::None { "" } else { " with pauses" };
    format!("{}{pause}, {} {threads}", row.workload, row.threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_by_their_names() {
        assert_eq!(parse("fetch-add-t2"), Some((Workload::FetchAdd, Relax::None, 2)));
        assert_eq!(
            parse("lock-ttas-pause-t16"),
            Some((Workload::LockTtas, Relax::Pause, 16))
        );
        assert_eq!(parse("ll-sc-t1"), Some((Workload::LlSc, Relax::None, 1)));
        for other in [
            "cycle-t1",
            "socket-0-1",
            "pause",
            "lockref-t2",
            "fetch-add-t",
            "fetch-add-tx",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
