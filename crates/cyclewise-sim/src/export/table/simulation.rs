//! A simulated sweep, and the lists of workloads and machines.

use crate::band::Band;
use crate::predict::Range;
use crate::record::{Point, Simulation};
use crate::{Machine, Outcome, Workload};
use cyclewise_report::export::table::grid::{BOLD, Column, DIM, Look, YELLOW, fitted, in_blocks, wrapped};
use cyclewise_report::number::{count, fixed, percent, significant};
use std::fmt::Write;

/// A sweep: one table of points per machine.
pub(crate) fn simulation(s: &Simulation, look: Look) -> String {
    let mut out = String::new();
    for (i, machine) in s.sweep.machines.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out.push_str(&heading(machine, look));
        if machine.topology_only {
            out.push_str(&labelled("topology only:", TOPOLOGY_ONLY, look));
        }
        let _ = writeln!(out, "{}", points(s, i, look));
    }
    let sweep = &s.sweep;
    let parameters = format!(
        "simulated, seven runs a row, each with a seed of its own: the range is over both starts too, and over a clock and transfers 15 % up \
         and down; the other columns are of the run in the middle; {} cycles of critical work, {} of parallel work, {} readers, placement {}, seed {}; \
         retries, moves and fallback: per operation; off by: {OFF_BY}",
        sweep.critical_cycles,
        sweep.parallel_words(),
        sweep.readers,
        sweep.placement.name(),
        sweep.seed
    );
    let _ = writeln!(out, "{DIM}{}{DIM:#}", wrapped(&parameters, look, 0, 2));
    if let Some(shard) = s.shard {
        let _ = writeln!(
            out,
            "{DIM}shard {} of {}; join them with `cyclewise fleet join`{DIM:#}",
            shard.index, shard.count
        );
    }
    out.extend(left_out(s).map(|line| format!("{YELLOW}warning:{YELLOW:#} {line}\n")));
    for p in &s.points {
        let of = format!("{} threads of {}:", p.job.threads, p.job.workload);
        let not_stationary = p
            .outcome
            .as_ref()
            .filter(|outcome| outcome.stationary == Some(false))
            .map(|outcome| {
                let ops = outcome.warm_up_ops + outcome.ops;
                format!("{of} throughput was not stationary after {ops} operations; --ops fixes a length")
            });
        let refused = p
            .refused
            .as_ref()
            .filter(|_| !p.is_left_out())
            .map(|why| format!("{of} {why}"));
        let in_doubt = in_doubt(p, scale(s, p.machine))
            .into_iter()
            .map(|why| format!("{of} {why}"));
        for warning in not_stationary.into_iter().chain(refused).chain(in_doubt) {
            let _ = writeln!(out, "{YELLOW}warning:{YELLOW:#} {}", wrapped(&warning, look, 9, 4));
        }
    }
    out
}

/// What a factor in the column of errors says.
const OFF_BY: &str = "within this factor were at least 80 % of rows like it that had not been fitted to; unknown: too few such rows, or too large errors";

/// A band as tables show it: `×1.40`, or that there is none.
pub(crate) fn off_by(band: Option<&Band>) -> String {
    band.map_or_else(|| "unknown".to_owned(), |band| format!("×{:.2}", band.factor))
}

/// What is said of a machine without a scale.
const TOPOLOGY_ONLY: &str = "no contended row gives its times, so they are ratios to the first row";

/// What a machine's times are divided by, and the unit in which they are then.
fn scale(s: &Simulation, machine: usize) -> (f64, &'static str) {
    let first = || {
        s.points
            .iter()
            .find_map(|p| p.outcome.as_ref().filter(|_| p.machine == machine))
    };
    match s.sweep.machines[machine].topology_only {
        true => (first().map_or(1.0, |o| o.ns_per_op), "times the first row"),
        false => (1.0, "ns/op"),
    }
}

/// How many points a signal left out, if it did.
pub(crate) fn left_out(s: &Simulation) -> Option<String> {
    let left_out = s.points.iter().filter(|p| p.is_left_out());
    let (n, why) = (left_out.clone().count(), left_out.clone().next()?.refused.as_ref()?);
    Some(format!("{n} of {} points were {why}", s.points.len()))
}

/// The machine, and which of its laws are fitted.
pub(super) fn heading(machine: &Machine, look: Look) -> String {
    let name = format!("{}, {} CPUs  ", machine.name, machine.cpus());
    let about = wrapped(&machine.about, look, name.chars().count(), 4);
    let fitted = match machine.fitted.as_slice() {
        [] => String::new(),
        fitted => labelled("fitted, not measured:", &fitted.join(", "), look),
    };
    format!(
        "{BOLD}{}{BOLD:#}{}{DIM}{about}{DIM:#}\n{fitted}",
        machine.name,
        &name[machine.name.len()..]
    )
}

/// A line of text behind a dim label.
pub(super) fn labelled(label: &str, text: &str, look: Look) -> String {
    format!(
        "{DIM}{label}{DIM:#} {}\n",
        wrapped(text, look, label.chars().count() + 1, 4)
    )
}

fn points(s: &Simulation, machine: usize, look: Look) -> String {
    let simulated = s.points.iter().filter(|p| p.machine == machine && !p.is_left_out());
    let points: Vec<&Point> = simulated.collect();
    let limit = |p: &Point| match p.job.retry_limit {
        Some(limit) => limit.to_string(),
        None if p.job.workload.takes_retry_limit() => "none".to_owned(),
        None => String::new(),
    };
    let column = |title: &str, cell: &dyn Fn(&Point) -> String| Column::new(title, 0, points.iter().map(|p| cell(p)));
    let figure = |title: &str, cell: &dyn Fn(&Point, &Outcome) -> String| {
        column(title, &|p| p.outcome.as_ref().map_or_else(String::new, |o| cell(p, o)))
    };
    let number = |title: &str, of: &dyn Fn(&Outcome) -> f64| figure(title, &|_, o| significant(of(o), 3));
    let rate = |p: &Point| match &p.outcome {
        Some(o) => significant(o.ops_per_s / 1e6, 3),
        None => "refused".to_owned(),
    };
    let (one, _) = scale(s, machine);
    let topology_only = s.sweep.machines[machine].topology_only;
    let (time, of_times) = if topology_only {
        ("ratio", "range")
    } else {
        ("ns/op", "range ns/op")
    };
    let absolute = |column: Column| (!topology_only).then_some(column);
    let columns = [
        Some(Column::text(
            "workload",
            points.iter().map(|p| p.job.workload.name().to_owned()),
        )),
        Some(Column::text("limit", points.iter().map(|p| limit(p)))),
        Some(Column::text("relax", points.iter().map(|p| p.job.relax.to_string()))),
        Some(column("threads", &|p| p.job.threads.to_string())),
        absolute(column("Mop/s", &rate)),
        Some(column(time, &|p| match &p.outcome {
            Some(o) => significant(o.ns_per_op / one, 3),
            None if topology_only => "refused".to_owned(),
            None => String::new(),
        })),
        Some(column(of_times, &|p| {
            p.range.as_ref().map_or_else(String::new, |r| range(r, one))
        })),
        Some(figure("off by", &|p, _| off_by(p.band.as_ref()))),
        absolute(number("p50 ns", &|o| o.latency.p50_ns)),
        absolute(number("p99 ns", &|o| o.latency.p99_ns)),
        absolute(number("max ns", &|o| o.latency.max_ns)),
        Some(figure("Jain", &|_, o| fixed(o.jain, 3))),
        absolute(number("longest wait ns", &|o| o.longest_wait_ns)),
        Some(number("retries", &|o| o.retries_per_success)),
        Some(number("moves", &|o| o.line_moves_per_op)),
        Some(number("ops/ownership", &|o| o.ops_per_ownership)),
        Some(figure("fallback", &|_, o| percent(o.fallback_share))),
    ];
    let columns: Vec<Column> = columns.into_iter().flatten().collect();
    in_blocks(4, &columns, look)
}

/// The range of a prediction in units of `one` nanosecond: both ranges where there are two regimes.
pub(super) fn range(range: &Range, one: f64) -> String {
    let between =
        |[least, most]: &[f64; 2]| format!("{}–{}", significant(*least / one, 3), significant(*most / one, 3));
    match range.regimes.as_slice() {
        [] => between(&range.ns),
        regimes => regimes.iter().map(between).collect::<Vec<_>>().join(" or "),
    }
}

/// What a point's figures do not say by themselves: two regimes, and threads that starve.
fn in_doubt(p: &Point, (one, unit): (f64, &str)) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(range) = p.range.as_ref().filter(|range| !range.regimes.is_empty()) {
        warnings.push(format!(
            "two regimes, {} {unit}: which of them a machine is in depends on its start, its clock and its transfers",
            self::range(range, one)
        ));
    }
    let starving = p.outcome.as_ref().filter(|o| o.starves());
    if let Some(share) = starving.and_then(|o| o.slowest_share) {
        warnings.push(format!(
            "the slowest thread makes {} of the operations of an equal share: it starves, and the time is that of the others",
            percent(share)
        ));
    }
    warnings
}

/// A machine's description, with what is told of it.
fn description(machine: &Machine) -> String {
    let mark = if machine.topology_only { "topology only: " } else { "" };
    format!("{mark}{}", machine.about)
}

/// The lists of workloads and machines.
pub(crate) fn simulated(machines: &[(&str, Machine)], look: Look) -> String {
    let names = |names: &mut dyn Iterator<Item = &str>| {
        Column::new("name", 0, names.map(str::to_owned).collect::<Vec<_>>().into_iter())
    };
    let workloads = vec![
        names(&mut Workload::ALL.iter().map(|w| w.name())),
        Column::text("one operation", Workload::ALL.iter().map(|w| w.about().to_owned())),
    ];
    let machines = vec![
        names(&mut machines.iter().map(|(name, _)| *name)),
        Column::new("CPUs", 0, machines.iter().map(|(_, m)| count(m.cpus() as usize))),
        Column::text("description", machines.iter().map(|(_, m)| description(m))),
    ];
    format!(
        "{BOLD}workloads{BOLD:#}\n{}\n\n{BOLD}machines{BOLD:#}\n{}\n",
        fitted(workloads, look),
        fitted(machines, look)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::band::Evidence;
    use crate::machine::HeldOut;
    use crate::record::{Sweep, testing};
    use crate::{Job, Placement, Relax, Topology};

    #[test]
    fn the_table_as_people_read_it() {
        let mut machine = Machine::plain(Topology::new(2, 1, 2, 1));
        machine.fitted = vec!["line.hold".to_owned()];
        // Its error is its own, not that of published machines.
        machine.held_out = (1..=4)
            .map(|threads| HeldOut::of(&Job::new(Workload::FetchAdd, threads), 100.0, 125.0))
            .collect();
        let sweep = Sweep {
            machines: vec![machine],
            workloads: vec![Workload::FetchAdd, Workload::Lockref],
            retry_limits: vec![Some(100), None],
            relax: vec![Relax::Exponential { max: 64 }],
            critical_cycles: 5,
            parallel_cycles: Some(50),
            placement: Placement::CompactSmt,
            ..testing::sweep(&[4])
        };
        let mut simulation = testing::document(&sweep, None);
        simulation.shard = testing::shard(1, 2);
        let [first, second, third] = &mut simulation.points[..] else {
            panic!("three points");
        };
        third.refused = Some("no operation was done in 9 events".to_owned());
        for (point, share) in [(&mut *first, 0.9), (&mut *second, 0.04)] {
            let outcome = Outcome {
                slowest_share: Some(share),
                ..testing::outcome(4, 45.0)
            };
            let range = Range {
                ns: [40.0, 121.0],
                regimes: Vec::new(),
            };
            (point.outcome, point.range, point.refused) = (Some(outcome), Some(range), None);
        }
        second.range.as_mut().unwrap().regimes = vec![[40.0, 50.0], [118.0, 121.0]];
        second.band = Some(Band {
            factor: 1.4,
            rows: 9,
            coverage: 0.8,
            from: Evidence::ThisMachine,
        });
        let text = super::simulation(&simulation, Look::new(Some(80), false));
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
