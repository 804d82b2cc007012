//! From samples to the record's figures: summaries, core cycles, noise floor, comparisons, and finally verdicts.
//!
//! Verdicts wait for [`give_verdicts`](verdicts::give_verdicts), because Holm's correction is over all comparisons of a record.

use super::by_state::{Column, mark_linearity};
#[cfg(feature = "commands")]
use super::matrix;
use super::neighbour::Neighbour;
use super::quantities;
use super::samples::{Measurement, VariantSamples};
use super::{CORE_CYCLES, Control, Heading, INSTRUCTIONS, Sample, SetupOf, Shape};
use super::{lengths, verdicts};
use crate::error::{Error, Result};
use crate::record::{
    Body, Comparison, CycleSource, Cycles, CyclesPerTick, Experiment, Guest, Metric, State, StateFloor, Unit, Variant,
};
use crate::stats::PairedFloor;
use crate::{record, stats};
use std::collections::BTreeMap;

/// The most rows that a note names.
const NAMED: usize = 6;

/// Makes the record's experiment from the measurement. Comparisons have no verdict yet: see [`give_verdicts`](verdicts::give_verdicts).
///
/// # Errors
/// Exit 3 if no variant kept two samples.
pub fn conclude(heading: Heading<'_>, setup: &SetupOf<'_>, measured: &Measurement, seed: u64) -> Result<Experiment> {
    let guest = match &setup.shape {
        #[cfg(feature = "commands")]
        Shape::Matrix(plan) => return Ok(matrix::conclude(heading, setup, plan, measured)),
        Shape::Guest(guest) if setup.samplers.is_empty() => return Ok(without_costs(heading, setup, guest)),
        Shape::Guest(guest) => Some(guest),
        Shape::Variants => None,
    };
    let chain = measured.add_chain.as_ref().and_then(|c| cycles_per_tick(&c.kept()));
    let columns = &measured.columns;
    let neighbour = Neighbour::of_measurement(measured);
    let provenance = guest.map(|g| g.provenance.clone());
    let variants: Vec<Variant> = columns
        .iter()
        .filter_map(|c| variant(c, heading.unit, chain.as_ref(), &neighbour))
        .map(|v| Variant {
            provenance: provenance.clone(),
            ..v
        })
        .collect();
    if variants.is_empty() {
        let first = columns.first();
        let why = first.map_or(String::new(), |c| format!("{}: {}", c.name, c.why_too_few()));
        return Err(Error::unsupported(why));
    }
    let comparisons: Vec<Comparison> = setup
        .compare
        .iter()
        .filter_map(|&(a, b)| comparison([&columns[a], &columns[b]], &neighbour, seed))
        .map(|c| lengths::with_lengths(c, &variants))
        .collect();
    let mut notes = setup.notes.clone();
    notes.extend(setup.samplers.iter().filter_map(|s| s.finding(&variants)));
    notes.extend(incomplete(setup, measured));
    notes.extend(no_ratio_note(setup, measured, &comparisons));
    notes.extend(no_batches_note(heading, measured));
    notes.extend(precision_note(measured));
    notes.extend(verdicts::noise_note(&variants));
    Ok(Experiment {
        name: heading.name.to_string(),
        question: heading.question.to_string(),
        source: heading.source.to_string(),
        unit: heading.unit,
        rounds: measured.columns.iter().map(|c| c.rounds.len()).max().unwrap_or(0),
        control: control(setup.control, columns, measured.again.as_ref(), &neighbour),
        variants,
        probe: neighbour.probe,
        body: guest.cloned().map_or(Body::Variants, Body::Guest),
        comparisons,
        notes,
        ..Experiment::default()
    })
}

/// What an experiment has whose instructions an emulator ran: what they did, and no row with a cost.
fn without_costs(heading: Heading<'_>, setup: &SetupOf<'_>, guest: &Guest) -> Experiment {
    Experiment {
        name: heading.name.to_string(),
        question: heading.question.to_string(),
        source: heading.source.to_string(),
        unit: heading.unit,
        body: Body::Guest(guest.clone()),
        notes: setup.notes.clone(),
        ..Experiment::default()
    }
}

/// Core cycles per tick from samples of ticks per dependent add, each of which takes one core cycle.
pub fn cycles_per_tick(add_chain: &[f64]) -> Option<CyclesPerTick> {
    let s = stats::describe(add_chain)?;
    let positive = s.n >= 2 && s.ci95[0] > 0.0;
    positive.then(|| CyclesPerTick {
        value: 1.0 / s.mean,
        ci95: [1.0 / s.ci95[1], 1.0 / s.ci95[0]],
        source: CycleSource::AddChain,
        why: String::new(),
    })
}

/// `None` if fewer than two samples were kept.
fn variant(
    column: &VariantSamples,
    unit: Unit,
    chain: Option<&CyclesPerTick>,
    neighbour: &Neighbour,
) -> Option<Variant> {
    let samples = column.kept();
    let rejected: usize = column.rejected.values().sum();
    let s = stats::describe(&samples).filter(|s| s.n >= 2)?;
    let mut metrics = metrics(column);
    let pmu = pmu_cycles(&mut metrics);
    let rejected_rounds = column
        .rounds
        .iter()
        .enumerate()
        .filter(|(_, r)| r.is_none())
        .map(|(i, _)| i)
        .collect();
    let rounds = in_states(column, neighbour);
    let mut figures = rounds.figures();
    let sample_states = rounds.letters();
    let batches = column.batches();
    let linearity = batches
        .as_ref()
        .and_then(|b| mark_linearity(&mut figures, b, &sample_states));
    // The cycles of the figure that the row is read by.
    let ticks = figures.headline.as_ref().map(|h| (h.median, record::bounds(h.ci95)));
    let ticks = ticks
        .filter(|(_, ci)| ci.iter().all(|bound| bound.is_finite()))
        .unwrap_or((s.mean, s.ci95));
    let cycles = pmu.or_else(|| {
        chain
            .filter(|_| unit == Unit::TicksPerOp)
            .map(|c| chain_cycles(ticks, c))
    });
    Some(Variant {
        name: column.name.clone(),
        headline: figures.headline,
        states: figures.others,
        sample_states,
        linearity,
        n: s.n,
        rejected,
        rejected_by: record::map_of(column.rejected.iter().map(|(r, n)| (r.as_str().to_string(), *n))),
        rejected_rounds,
        mean: s.mean,
        sd: s.sd,
        median: s.median,
        min: s.min,
        ci95: s.ci95,
        code_bytes: column.code_bytes,
        cycles,
        metrics,
        samples,
        kind: column.kind,
        batches,
        rejected_samples: column.rejected_entries(),
        stolen: column.stolen(),
        timed: column.timed_command(),
        ..Variant::default()
    })
}

/// A column's values with the state of each round.
fn in_states(column: &VariantSamples, neighbour: &Neighbour) -> Column {
    Column {
        values: column.rounds.iter().map(|r| r.as_ref().map(|s| s.value)).collect(),
        states: neighbour.states(column),
    }
}

fn metrics(column: &VariantSamples) -> BTreeMap<String, Metric> {
    let kept = || column.rounds.iter().flatten();
    let Some(first) = kept().next() else {
        return BTreeMap::new();
    };
    let metric = |i: usize, unit: &str| {
        let samples: Vec<f64> = kept().filter_map(|s| s.metrics.get(i)).map(|m| m.2).collect();
        let s = stats::describe(&samples)?;
        Some(Metric {
            unit: unit.to_string(),
            mean: s.mean,
            sd: s.sd,
            samples,
        })
    };
    let named = first.metrics.iter().enumerate();
    record::map_of(named.filter_map(|(i, (name, unit, _))| Some((name.to_string(), metric(i, unit)?))))
}

/// The PMU's own count, taken out of the metrics.
fn pmu_cycles(metrics: &mut BTreeMap<String, Metric>) -> Option<Cycles> {
    let cycles = metrics.remove(CORE_CYCLES)?;
    let instructions = metrics.remove(INSTRUCTIONS)?;
    let s = stats::describe(&cycles.samples)?;
    Some(Cycles {
        per_op: s.mean,
        ci95: s.ci95,
        instructions: Some(instructions.mean),
        ipc: (s.mean > 0.0).then(|| instructions.mean / s.mean),
        source: CycleSource::Pmu,
    })
}

/// Ticks times cycles per tick; the relative half-widths of independent factors add as squares.
fn chain_cycles((ticks, ci95): (f64, [f64; 2]), chain: &CyclesPerTick) -> Cycles {
    let per_op = ticks * chain.value;
    let share = |half: f64, of: f64| if of == 0.0 { 0.0 } else { half / of };
    let own = share((ci95[1] - ci95[0]) / 2.0, ticks);
    let rate = share((chain.ci95[1] - chain.ci95[0]) / 2.0, chain.value);
    let half = per_op.abs() * own.hypot(rate);
    Cycles {
        per_op,
        ci95: [per_op - half, per_op + half],
        instructions: None,
        ipc: None,
        source: CycleSource::AddChain,
    }
}

fn comparison([a, b]: [&VariantSamples; 2], neighbour: &Neighbour, seed: u64) -> Option<Comparison> {
    let (kept_a, kept_b) = (a.kept(), b.kept());
    let welch = stats::welch(&kept_a, &kept_b)?;
    let value = |sample: &Option<Sample>| sample.as_ref().map(|s| s.value);
    let rounds: Vec<_> = a
        .rounds
        .iter()
        .zip(&b.rounds)
        .map(|(a, b)| (value(a), value(b)))
        .collect();
    let ratio = stats::describe(&kept_a)?.mean / stats::describe(&kept_b)?.mean;
    let paired = in_states(a, neighbour).against(&in_states(b, neighbour));
    Some(Comparison {
        a: a.name.clone(),
        b: b.name.clone(),
        difference: welch.difference,
        ci95: welch.ci95,
        ratio,
        ratio_ci95: stats::rounds_ratio_ci(&rounds, seed).map_or([None; 2], |ci| ci.map(Some)),
        t: welch.t,
        df: welch.df,
        p: welch.p,
        p_rank: stats::mann_whitney(&kept_a, &kept_b).unwrap_or(1.0),
        p_holm: 1.0,
        headline: paired.headline,
        states: paired.others,
        quantities: quantities::of_commands(a, b),
        ..Comparison::default()
    })
    .filter(|c| c.ratio.is_finite())
}

/// The A/A control: the paired differences of a variant's two samplings, or of its own neighbouring rounds.
fn control(
    kind: Control,
    columns: &[VariantSamples],
    again: Option<&VariantSamples>,
    neighbour: &Neighbour,
) -> Option<record::Control> {
    let (Control::Repeat(index) | Control::Split(index)) = kind;
    let of = in_states(&columns[index], neighbour);
    let (samples, again) = match kind {
        Control::Repeat(_) => (again?.kept(), Some(in_states(again?, neighbour))),
        Control::Split(_) => (Vec::new(), None),
    };
    let floor = |state: State| match &again {
        Some(again) => stats::paired_floor(&of.pairs_in(again, state)),
        None => stats::split_paired_floor(&of.kept_in(state)),
    };
    let all = floor(State::All)?;
    let told_apart = [State::Quiet, State::Busy, State::Mixed]
        .into_iter()
        .filter(|_| neighbour.told_apart());
    let states = told_apart.filter_map(|state| {
        // Without an interval it is a chance figure, which may well be 0.
        let PairedFloor { n, share, .. } = floor(state).filter(|f| f.bounded)?;
        Some(StateFloor { state, n, floor: share })
    });
    Some(record::Control {
        of: columns[index].name.clone(),
        n: all.n,
        difference: all.difference,
        ci99: all.ci99,
        floor: all.share,
        states: states.collect(),
        samples,
    })
}

/// What is missing, and the comparisons that fall with it.
fn incomplete(setup: &SetupOf<'_>, measured: &Measurement) -> Vec<String> {
    let mut notes = Vec::new();
    // What a setup has left out has its own notes.
    let too_few = measured.too_few("");
    for missing in measured.missing.iter().skip(setup.missing.len()).chain(&too_few) {
        let variant = missing.variant.as_deref().unwrap_or_default();
        notes.push(format!("{variant} is missing or incomplete: {}", missing.why));
    }
    let lost = |i: &usize| measured.columns[*i].kept().len() < 2;
    let fallen: Vec<String> = setup
        .compare
        .iter()
        .filter(|(a, b)| lost(a) || lost(b))
        .map(|&(a, b)| format!("{} with {}", measured.columns[a].name, measured.columns[b].name))
        .collect();
    if !fallen.is_empty() {
        notes.push(format!(
            "not compared, as one side has too few samples: {}",
            fallen.join(", ")
        ));
    }
    if measured.interrupted {
        let rounds = measured.columns.iter().map(|c| c.rounds.len()).max().unwrap_or(0);
        notes.push(format!("cut short by an interrupt after {rounds} rounds"));
    }
    notes
}

/// The comparisons that have samples and no ratio.
fn no_ratio_note(setup: &SetupOf<'_>, measured: &Measurement, comparisons: &[Comparison]) -> Option<String> {
    let kept = |i: usize| measured.columns[i].kept().len() >= 2;
    let name = |i: usize| &*measured.columns[i].name;
    let made = |a: usize, b: usize| comparisons.iter().any(|c| c.a == name(a) && c.b == name(b));
    let without = setup
        .compare
        .iter()
        .filter(|&&(a, b)| kept(a) && kept(b) && !made(a, b));
    let names: Vec<String> = without.map(|&(a, b)| format!("{} with {}", name(a), name(b))).collect();
    (!names.is_empty()).then(|| {
        format!(
            "not compared, because the second has no measurable cost, so there is no ratio: {}",
            names.join(", ")
        )
    })
}

/// Why rows of an experiment that counts ticks have no batches.
fn no_batches_note(heading: Heading<'_>, measured: &Measurement) -> Option<String> {
    let all = measured.columns.len();
    let without: Vec<&str> = measured
        .columns
        .iter()
        .filter(|c| c.loops.is_none())
        .map(|c| &*c.name)
        .collect();
    if without.is_empty() || heading.unit != Unit::TicksPerOp {
        return None;
    }
    let which = match without.len() {
        n if n == all => "no variant has".to_string(),
        n if n > NAMED => format!("{n} of {all} variants do not have"),
        _ => format!("{} do not have", without.join(", ")),
    };
    Some(format!(
        "{which} batches of three lengths: their samples are whole runs (of a long call, of several threads, of a change, of a transfer \
         between CPUs), with no loop of copies that could be longer"
    ))
}

fn precision_note(measured: &Measurement) -> Option<String> {
    if measured.imprecise.is_empty() {
        return None;
    }
    let each = measured.imprecise.iter().map(|(name, p)| match p {
        Some(p) => format!("{name} ±{:.2} %", 100.0 * p),
        None => format!("{name} too few samples"),
    });
    Some(format!(
        "target precision ±{:.2} % not reached in {} rounds: {}",
        100.0 * measured.target,
        measured.columns.first().map_or(0, |c| c.rounds.len()),
        each.collect::<Vec<_>>().join(", ")
    ))
}
