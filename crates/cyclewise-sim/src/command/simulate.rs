//! `cyclewise simulate`: sweeps over simulated machines, and the tools for machine files.

use super::cli::{ExamineArgs, SimulateArgs, SimulateCommand, SweepArgs};
use super::machine;
use crate::export;
use crate::record::{Head, MOST_POINTS, PointReader, Shard, Simulation, Sweep};
use crate::sweep::machines;
use crate::{Machine, Relax, exam};
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::{Tool, unpacked};
use cyclewise_bench::sys::interrupt;
use cyclewise_report::files::output::{self, Documents};
use cyclewise_report::files::progress::Reporter;
use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

pub(super) fn simulate(args: SimulateArgs) -> Result<()> {
    match args.command {
        None => run(args.sweep),
        Some(SimulateCommand::List) => list(),
        Some(SimulateCommand::Fit(args)) => super::fit::fit(&args),
        Some(SimulateCommand::Machine(args)) => machine::print(&args),
        Some(SimulateCommand::Examine(args)) => examine(&args),
    }
}

fn run(args: SweepArgs) -> Result<()> {
    let documents = Documents {
        json: args.json.clone(),
        csv: args.csv.clone(),
        html: args.html.clone(),
    };
    let files: Vec<PathBuf> = args
        .machines
        .iter()
        .map(PathBuf::from)
        .chain(args.matrix.from.clone())
        .collect();
    documents.check(&files)?;
    let machines = match machine::of_matrix(&args.matrix, args.relax.0.iter().any(|relax| *relax != Relax::None))? {
        Some(made) => {
            args.workloads.iter().try_for_each(|workload| made.check(*workload))?;
            vec![made.machine]
        }
        None => args
            .machines
            .iter()
            .map(|name| machines::find(name))
            .collect::<Result<_>>()?,
    };
    machine::check_absolute(&machines, &[&documents.json, &documents.csv, &documents.html])?;
    let sweep = sweep(&args, machines)?;
    let (shard, tool) = (args.shard, Tool::this());
    let result = args.json.as_deref().filter(|_| args.if_missing);
    // Reading it, and writing it, would wait for another process.
    if let Some(path) = result.filter(|path| path.metadata().is_ok_and(|m| m.file_type().is_fifo())) {
        let what = format!(
            "--json {}: is a FIFO, which has no whole result; name a file",
            path.display()
        );
        return Err(Error::usage(what).in_one_line());
    }
    if let Some(path) = result
        && is_whole(path, &sweep, shard, &tool)
    {
        output::tell(&format!("{} has the whole result already", path.display()));
        return Ok(());
    }
    interrupt::listen();
    let simulation = Reporter::shared("points", |tell| crate::sweep::run(sweep, shard, tool, tell));
    let left_out = simulation.points.iter().filter(|p| p.is_left_out()).count();
    if left_out == 0 {
        return write(&simulation, &documents);
    }
    let all = simulation.points.len();
    if left_out < all {
        write(&simulation, &documents)?;
    }
    output::tell(&format!(
        "cyclewise: {} came when {} of {all} points were simulated; {}",
        interrupt::name(),
        all - left_out,
        if left_out < all {
            "the others are marked"
        } else {
            "nothing is written"
        }
    ));
    interrupt::end()
}

/// Writes a sweep in every format named; prints the table unless a document takes stdout.
pub(super) fn write(simulation: &Simulation, documents: &Documents) -> Result<()> {
    let formats = [
        export::json::simulation,
        export::csv::simulation,
        export::html::render_simulation,
    ];
    documents.put(simulation, formats, |s| {
        export::table::simulation(s, output::look(false))
    })
}

/// The sweep that `args` describe, over these machines.
pub(super) fn sweep(args: &SweepArgs, machines: Vec<Machine>) -> Result<Sweep> {
    distinct(&machines)?;
    let threads = match &args.threads {
        Some(counts) => counts.0.clone(),
        None => powers_of_two(&machines, args.readers),
    };
    for machine in &machines {
        machines::check_threads(machine, &threads, args.readers)?;
    }
    let mut workloads = Vec::new();
    for workload in &args.workloads {
        if !workloads.contains(workload) {
            workloads.push(*workload);
        }
    }
    let sweep = Sweep {
        machines,
        workloads,
        threads,
        retry_limits: args.retry_limit.0.clone(),
        relax: args.relax.0.clone(),
        critical_cycles: args.critical,
        parallel_cycles: args.parallel,
        placement: args.placement,
        readers: args.readers,
        ops: args.ops,
        seed: args.seed,
    };
    let points = sweep.points();
    if points > MOST_POINTS {
        return Err(Error::usage(format!(
            "the lists multiply to {points} points, more than the maximum of {MOST_POINTS}; shorten them or use larger steps"
        )));
    }
    Ok(sweep)
}

/// Whether the file at `path` is this shard of this sweep to its last byte, written by this program.
fn is_whole(path: &Path, sweep: &Sweep, shard: Option<Shard>, tool: &Tool) -> bool {
    let open = || unpacked(BufReader::new(File::open(path)?)).map(BufReader::new);
    let Ok(text) = open() else {
        return false;
    };
    let expected = Head {
        tool: tool.clone(),
        sweep: sweep.clone(),
        shard,
    };
    PointReader::new(text).is_ok_and(|mut reader| *reader.head() == expected && reader.check().is_ok())
}

/// Rejects two machines of one name: their rows could not be told apart.
fn distinct(machines: &[Machine]) -> Result<()> {
    for (i, machine) in machines.iter().enumerate() {
        if machines[..i].iter().any(|m| m.name == machine.name) {
            return Err(Error::usage(format!(
                "two machines are named {:?}; give each machine once, and each file a unique name",
                machine.name
            )));
        }
    }
    Ok(())
}

/// Powers of two, up to all CPUs that the readers leave on the smallest machine.
pub(super) fn powers_of_two(machines: &[Machine], readers: u32) -> Vec<u32> {
    let cpus = machines.iter().map(|m| m.cpus()).min().unwrap_or(1);
    let most = cpus.saturating_sub(readers).max(1);
    let mut counts: Vec<u32> = std::iter::successors(Some(1u32), |n| n.checked_mul(2))
        .take_while(|n| *n < most)
        .collect();
    counts.push(most);
    counts
}

fn list() -> Result<()> {
    let machines = Machine::presets().map(|p| Ok((p.name, machines::find(p.name)?)));
    let machines = machines.collect::<Result<Vec<_>>>()?;
    output::put(
        Path::new("-"),
        &export::table::simulated(&machines, output::look(false)),
    )
}

fn examine(args: &ExamineArgs) -> Result<()> {
    output::check_named(&[("--markdown", &args.markdown)], &[])?;
    let examination = exam::run();
    let path = args.markdown.as_deref().unwrap_or(Path::new("-"));
    output::put(path, &examination.to_markdown())?;
    let kinds = examination.kinds();
    let far = kinds.iter().filter(|kind| kind.is_met() == Some(false));
    let missed: Vec<&str> = far.map(|kind| kind.kind.name()).collect();
    if missed.is_empty() {
        return Ok(());
    }
    Err(Error::check(format!(
        "simulate examine: errors above their limits: {}; the report lists them",
        missed.join(", ")
    )))
}
