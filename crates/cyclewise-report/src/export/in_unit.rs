//! Seconds in the unit that fits, for people: an experiment of commands that take milliseconds is shown in milliseconds.
//!
//! Records and CSV stay in seconds. What is shown is a copy whose figures are multiplied, so that no table, sentence or axis has to know
//! of two units.

use crate::record::compare::{CompareExperiment, CompareReport, Side};
use crate::record::{Experiment, Figure, Interval, Paired, Record, Unit, Variant};
use std::borrow::Cow;

/// The unit that fits these seconds: the one in which the least of them is at least 1.
fn fitting(seconds: impl Iterator<Item = f64>) -> Unit {
    match seconds.filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min) {
        s if s < 1e-6 => Unit::Nanoseconds,
        s if s < 1e-3 => Unit::Microseconds,
        s if s < 1.0 => Unit::Milliseconds,
        _ => Unit::Seconds,
    }
}

/// How many of this unit a second has.
fn per_second(unit: Unit) -> f64 {
    match unit {
        Unit::Milliseconds => 1e3,
        Unit::Microseconds => 1e6,
        Unit::Nanoseconds => 1e9,
        _ => 1.0,
    }
}

/// A record with its experiments in seconds as they are shown: in the unit that is asked for, or in the one that fits.
pub(super) fn record(record: &Record, asked: Option<Unit>) -> Cow<'_, Record> {
    if record.experiments.iter().all(|e| e.unit != Unit::Seconds) {
        return Cow::Borrowed(record);
    }
    let mut shown = record.clone();
    for (e, of) in shown.experiments.iter_mut().zip(&record.experiments) {
        *e = experiment(of, asked).into_owned();
    }
    Cow::Owned(shown)
}

pub(super) fn experiment(e: &Experiment, asked: Option<Unit>) -> Cow<'_, Experiment> {
    let unit = match e.unit {
        Unit::Seconds => asked.unwrap_or_else(|| fitting(e.variants.iter().filter(|v| v.n > 0).map(|v| v.value().0))),
        unit => unit,
    };
    if unit == e.unit {
        return Cow::Borrowed(e);
    }
    let k = per_second(unit);
    let mut e = e.clone();
    e.unit = unit;
    e.variants.iter_mut().for_each(|v| variant(v, unit, k));
    for c in &mut e.comparisons {
        c.difference *= k;
        scale(&mut c.ci95, k);
        c.headline.iter_mut().chain(&mut c.states).for_each(|p| paired(p, k));
        c.quantities.iter_mut().for_each(|q| scale(&mut q.medians, k));
    }
    if let Some(control) = &mut e.control {
        control.difference *= k;
        scale(&mut control.ci99, k);
        scale(&mut control.samples, k);
    }
    Cow::Owned(e)
}

fn variant(v: &mut Variant, unit: Unit, k: f64) {
    for x in [&mut v.mean, &mut v.sd, &mut v.median, &mut v.min] {
        *x *= k;
    }
    scale(&mut v.ci95, k);
    scale(&mut v.samples, k);
    v.headline.iter_mut().chain(&mut v.states).for_each(|f| figure(f, k));
    if let Some(between) = &mut v.between {
        between.value *= k;
        interval(&mut between.ci95, k);
    }
    for rejected in &mut v.rejected_samples {
        rejected.value = rejected.value.map(|x| x * k);
    }
    for metric in v.metrics.values_mut().filter(|m| m.unit == Unit::Seconds.as_str()) {
        metric.unit = unit.as_str().to_owned();
        metric.mean *= k;
        metric.sd *= k;
        scale(&mut metric.samples, k);
    }
}

fn figure(f: &mut Figure, k: f64) {
    f.median *= k;
    interval(&mut f.ci95, k);
    f.modes.iter_mut().for_each(|mode| mode.value *= k);
}

fn paired(p: &mut Paired, k: f64) {
    p.difference *= k;
    interval(&mut p.ci95, k);
}

/// A comparison of records as it is shown.
pub(super) fn comparison(report: &CompareReport) -> Cow<'_, CompareReport> {
    if report.experiments.iter().all(|e| e.unit != Unit::Seconds) {
        return Cow::Borrowed(report);
    }
    let mut shown = report.clone();
    shown
        .experiments
        .iter_mut()
        .filter(|e| e.unit == Unit::Seconds)
        .for_each(compared);
    Cow::Owned(shown)
}

fn compared(e: &mut CompareExperiment) {
    let unit = fitting(e.rows.iter().flat_map(|r| [r.basis.base, r.basis.other]));
    let k = per_second(unit);
    e.unit = unit;
    for row in &mut e.rows {
        row.difference *= k;
        scale(&mut row.ci95, k);
        for side in [&mut row.base_stats, &mut row.other_stats] {
            let Side { mean, sd, ci95, .. } = side;
            *mean *= k;
            *sd *= k;
            scale(ci95, k);
        }
        row.basis.base *= k;
        row.basis.other *= k;
        scale(&mut row.base_samples, k);
        scale(&mut row.other_samples, k);
    }
}

fn scale(values: &mut [f64], k: f64) {
    values.iter_mut().for_each(|x| *x *= k);
}

fn interval(bounds: &mut Interval, k: f64) {
    *bounds = bounds.map(|bound| bound.map(|x| x * k));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::table::{self, Look};
    use crate::record::Metric;
    use crate::record::made_up::record_of;

    fn timed(name: &str, seconds: f64) -> Variant {
        let samples = [0.99, 1.0, 1.01].map(|x| x * seconds).to_vec();
        let user = Metric {
            unit: "s".to_owned(),
            mean: seconds / 2.0,
            sd: seconds / 100.0,
            samples: samples.clone(),
        };
        Variant {
            name: name.to_owned(),
            n: 3,
            mean: seconds,
            median: seconds,
            min: 0.99 * seconds,
            ci95: [0.98 * seconds, 1.02 * seconds],
            samples,
            metrics: [("user".to_owned(), user)].into(),
            ..Variant::default()
        }
    }

    fn of(seconds: &[f64]) -> Record {
        let rows = seconds
            .iter()
            .enumerate()
            .map(|(i, s)| timed(&format!("command-{i}"), *s));
        let e = Experiment {
            name: "time".to_owned(),
            unit: Unit::Seconds,
            variants: rows.collect(),
            ..Experiment::default()
        };
        record_of(vec![e])
    }

    #[test]
    fn seconds_are_shown_in_the_unit_that_fits_the_least() {
        for (seconds, unit, median) in [
            (&[2.5, 40.0][..], "s", "2.50"),
            (&[0.0125, 2.0], "ms", "12.50"),
            (&[0.000_9], "µs", "900"),
            (&[5e-8], "ns", "50.0"),
        ] {
            let record = of(seconds);
            let text = table::record(&record, Look::new(Some(100), false));
            let text = anstream::adapter::strip_str(&text).to_string();
            assert!(
                text.contains(&format!("\n{unit}, ")) && text.contains(median),
                "{unit}: {text}"
            );
            assert_says!(text, &format!("user ({unit})"));
            let runs = table::runs(&record.experiments[0], Look::new(Some(100), false));
            assert_says!(runs, &format!("real ({unit})"));
        }
        // What is written is in seconds.
        assert_says!(crate::export::csv::record(&of(&[0.0125])).unwrap(), ",s,3,0,0.0125,");
        assert!(serde_json::from_str::<Unit>("\"ms\"").is_err() && serde_json::to_string(&Unit::Milliseconds).is_err());
    }
}
