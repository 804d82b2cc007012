//! What instructions cost, for a forecast: a record's matrix without its samples.

use crate::forecast::{Costs, OperationCost, Surroundings, Ticks};
use cyclewise_bench::record::matrix::{Cell, Reading};
use cyclewise_bench::record::{Matrix, Record};

/// The costs in a record; `None` if it lacks the matrix of `in-context`, or a clock rate.
pub fn costs(record: &Record) -> Option<Costs> {
    let matrix: &Matrix = record.experiments.iter().find_map(|e| e.matrix())?;
    let tick_ns = 1e9 / record.machine.tsc_hz;
    if !tick_ns.is_finite() || matrix.operations.is_empty() {
        return None;
    }
    Some(Costs {
        cpu: record.machine.cpu_model.clone(),
        tick_ns,
        surroundings: matrix
            .surroundings
            .iter()
            .map(|s| Surroundings {
                name: s.name.clone(),
                own_ticks: s.own.first().map_or(f64::NAN, |own| own.median),
            })
            .collect(),
        operations: matrix
            .operations
            .iter()
            .map(|o| OperationCost {
                name: o.name.clone(),
                added: o.cells.iter().map(|cell| cell.as_ref().and_then(ticks)).collect(),
            })
            .collect(),
    })
}

/// What a cell tells; `None` where it cannot tell, or a bound does not exist.
fn ticks(cell: &Cell) -> Option<Ticks> {
    let [low, high] = cell.added.ci95;
    let told = cell.reading() != Reading::Unknown;
    told.then_some(Ticks {
        ticks: cell.ticks(),
        ci95: [low?, high?],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclewise_bench::record;

    #[test]
    fn a_real_records_matrix_becomes_costs() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../records/2026-11-23-epyc-turin-kvm.json.gz"
        );
        let record = record::load(path.as_ref()).unwrap();
        let costs = costs(&record).unwrap();
        assert_eq!(costs.cpu, record.machine.cpu_model);
        assert!((0.3..1.0).contains(&costs.tick_ns), "{}", costs.tick_ns);
        let inc = costs.operations.iter().find(|o| o.name == "lock-inc64").unwrap();
        let alone = costs.surroundings.iter().position(|s| s.name == "nothing").unwrap();
        let back_to_back = inc.added[alone].unwrap();
        assert!((10.0..20.0).contains(&back_to_back.ticks), "{back_to_back:?}");
        assert!(
            costs
                .operations
                .iter()
                .all(|o| o.added.len() == costs.surroundings.len())
        );
        // The twin: without the experiment there are none.
        let mut without = record;
        without.experiments.retain(|e| e.matrix().is_none());
        assert_eq!(super::costs(&without), None);
    }
}
