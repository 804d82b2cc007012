//! The figures of all records in columns, filled while records are read: the rows of a fleet of 20 000 machines are held once,
//! and those of a record go with its text.

use crate::record::fleet::{Member, Row};
use crate::record::fleet_report::MachineValue;
use crate::record::{Unit, bounds};
use crate::stats;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The rates that a tick may have: from a counter of 1 MHz to ten times the fastest processor.
const TICKS: RangeInclusive<f64> = 1e6..=1e11;

pub struct Column {
    pub experiment: Arc<str>,
    pub variant: Arc<str>,
    /// After conversion.
    pub unit: Unit,
    /// The first place that it has in a record.
    pub place: usize,
    /// Records of which it is the experiment's first.
    pub firsts: usize,
    /// One for each record that has it, whose number is in place of the machine's; then one for each machine.
    pub values: Vec<MachineValue>,
    /// The figures of the runs of each value, one after another.
    pub runs: Vec<f64>,
}

pub struct Kept {
    /// Without its rows.
    pub member: Member,
    /// Its number in the columns.
    pub record: u32,
    /// Whether it has figures in ticks, which cannot be converted.
    pub without_ticks: bool,
    /// Figures that are no cost.
    pub left_out: usize,
    /// Columns that are the first of their experiment.
    pub firsts: Box<[u32]>,
}

/// The records of a fleet and their figures.
#[derive(Default)]
pub struct Measured {
    /// Those that count, in their order.
    pub records: Vec<Kept>,
    /// Also of records that do not count.
    pub figures: Figures,
}

impl Measured {
    pub fn of_members(members: Vec<Member>) -> Self {
        let figures = Figures::default();
        let records = members.into_iter().map(|member| figures.keep(member)).collect();
        Self { records, figures }
    }
}

/// Columns that several threads fill.
#[derive(Default)]
pub struct Figures(Mutex<Columns>);

#[derive(Default)]
struct Columns {
    columns: Vec<Column>,
    by_row: HashMap<(Arc<str>, Arc<str>, &'static str), usize>,
    records: u32,
}

impl Figures {
    /// Takes the rows of a record into the columns.
    pub fn keep(&self, mut member: Member) -> Kept {
        let rows = std::mem::take(&mut member.rows);
        // The analysis does not use them, and a partial record has many.
        member.missing = Vec::new();
        self.all().take(member, &rows)
    }

    /// The number of records that were taken.
    pub fn records(&self) -> usize {
        self.all().records as usize
    }

    /// The columns, in no order.
    pub fn into_columns(self) -> Vec<Column> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).columns
    }

    fn all(&self) -> MutexGuard<'_, Columns> {
        // A panic of a reading thread is passed on; these columns are not used then.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Columns {
    fn take(&mut self, member: Member, rows: &[Row]) -> Kept {
        let record = self.records;
        self.records += 1;
        let hz = member.machine.tsc_hz;
        let ticks_known = TICKS.contains(&hz);
        let mut left_out = 0;
        let mut firsts = Vec::new();
        let mut before = "";
        for (place, row) in rows.iter().enumerate() {
            let is_first = *row.experiment != *before;
            before = &row.experiment;
            let (unit, scale) = match row.unit {
                Unit::TicksPerOp if !ticks_known => continue,
                Unit::TicksPerOp => (Unit::NanosPerOp, 1e9 / hz),
                unit => (unit, 1.0),
            };
            if row.n == 0 && row.runs.is_empty() {
                continue;
            }
            let is_cost = |x: f64| x.is_finite() && x > 0.0;
            if row.not_linear || !is_cost(row.value * scale) || !row.runs.iter().all(|x| is_cost(x * scale)) {
                left_out += 1;
                continue;
            }
            let index = self.column(row, unit, place);
            if is_first {
                firsts.push(index as u32);
            }
            let column = &mut self.columns[index];
            column.place = column.place.min(place);
            column.add(record, row, scale);
        }
        Kept {
            without_ticks: !ticks_known && rows.iter().any(|row| row.unit == Unit::TicksPerOp),
            member,
            record,
            left_out,
            firsts: firsts.into(),
        }
    }

    fn column(&mut self, row: &Row, unit: Unit, place: usize) -> usize {
        let key = (Arc::clone(&row.experiment), Arc::clone(&row.variant), unit.as_str());
        let next = self.columns.len();
        let index = *self.by_row.entry(key).or_insert(next);
        if index == next {
            self.columns.push(Column {
                experiment: Arc::clone(&row.experiment),
                variant: Arc::clone(&row.variant),
                unit,
                place,
                firsts: 0,
                values: Vec::new(),
                runs: Vec::new(),
            });
        }
        index
    }
}

impl Column {
    fn add(&mut self, record: u32, row: &Row, scale: f64) {
        let runs = row.runs.len().max(1);
        self.values.push(MachineValue {
            machine: record,
            runs: u32::try_from(runs).unwrap_or(u32::MAX),
            n: u32::try_from(row.n).unwrap_or(u32::MAX),
            value: row.value * scale,
            ci95: bounds(row.ci95).map(|bound| bound * scale),
        });
        match row.runs.as_slice() {
            [] => self.runs.push(row.value * scale),
            runs => self.runs.extend(runs.iter().map(|x| x * scale)),
        }
    }

    /// One value for each machine; `machines` are those of the records, `None` of a record that does not count.
    pub fn in_order_of(&mut self, machines: &[Option<u32>]) {
        let mut ends = 0;
        let mut parts: Vec<(MachineValue, usize)> = Vec::with_capacity(self.values.len());
        for value in std::mem::take(&mut self.values) {
            ends += value.runs as usize;
            if let Some(machine) = machines[value.machine as usize] {
                parts.push((MachineValue { machine, ..value }, ends));
            }
        }
        parts.sort_unstable_by_key(|(value, end)| (value.machine, *end));
        let mut runs = Vec::with_capacity(self.runs.len());
        self.values.reserve_exact(parts.len());
        for records in parts.chunk_by(|a, b| a.0.machine == b.0.machine) {
            let start = runs.len();
            for (value, end) in records {
                runs.extend_from_slice(&self.runs[end - value.runs as usize..*end]);
            }
            // Whatever the order in which the records were read.
            runs[start..].sort_unstable_by(f64::total_cmp);
            let of_machine = &runs[start..];
            self.values.push(MachineValue {
                runs: of_machine.len() as u32,
                n: records.iter().map(|(value, _)| value.n).fold(0, u32::saturating_add),
                value: middle(of_machine),
                ci95: match records {
                    [(one, _)] => one.ci95,
                    _ => bounds_of_runs(of_machine),
                },
                ..records[0].0
            });
        }
        self.runs = runs;
    }
}

/// The interval of a figure over runs; NaN where it is not known.
fn bounds_of_runs(runs: &[f64]) -> [f64; 2] {
    stats::between_runs(runs).map_or([f64::NAN; 2], |between| bounds(between.ci95))
}

/// The middle of the sorted figures of a machine's runs; of the two in the middle their geometric mean.
fn middle(runs: &[f64]) -> f64 {
    let half = runs.len() / 2;
    if runs.len() % 2 == 1 {
        runs[half]
    } else {
        runs[half - 1] * (runs[half] / runs[half - 1]).sqrt()
    }
}
