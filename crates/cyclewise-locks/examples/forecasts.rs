//! Holds forecasts against measured truths: `forecasts COSTS.json TRUTH.tsv FOLDER [SUMMARIES.json]`.
//!
//! TRUTH.tsv is what the example `truth` writes, FOLDER has the documents of `cyclewise locks --json FOLDER/PROGRAM.json` (or `.json.gz`), and
//! COSTS.json is a record of `cyclewise run in-context`, or a matrix of `src/forecast/truth`. The copies without LOCK keep what locks without a prefix, so only sites with a
//! LOCK prefix are forecast. With SUMMARIES.json it writes what the model keeps of each program, for `src/forecast/truth`.
//!
//! The redis of the truth is the server's process alone, while the document has its client too; so there, only the process whose
//! command names `redis-server` counts, by its share of all locked instructions.

use cyclewise_bench::record;
use cyclewise_locks::forecast::{Costs, NativeTime, Remedy, forecast};
use cyclewise_locks::profile::{Form, Profile};
use cyclewise_locks::record::costs;
use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};
use std::error::Error;
use std::fs::{File, read_to_string};
use std::io;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [costs, truth, folder, rest @ ..] = &words[..] else {
        return Err("usage: forecasts COSTS.json TRUTH.tsv FOLDER [SUMMARIES.json]".into());
    };
    let costs = read_costs(costs)?;
    let mut summaries = Map::new();
    let (mut inside, mut all) = (0, 0);
    println!("program\tLOCK per 1000\tns an instruction\tforecast %\tback to back %\ttruth %\tinside");
    for line in read_to_string(truth)?.lines().skip(1) {
        let row = Row::read(line)?;
        let Some(profile) = read_profile(Path::new(folder), &row.program)? else {
            println!("{}\tno {}.json in {folder}", row.program, row.program);
            continue;
        };
        let native = NativeTime {
            user_s: row.locked_s,
            range: row.locked_range,
            runs: row.rounds,
        };
        let forecast = forecast(&profile, &costs, Some(&native));
        let no_lock = forecast.remedies.iter().find(|r| r.remedy == Remedy::NoLock);
        let Some((no_lock, [low, high])) = no_lock.and_then(|r| Some((r, r.saved_percent?))) else {
            return Err(format!("{}: no forecast", row.program).into());
        };
        // The truth is an interval as well: the forecast is right where they meet.
        let is_inside = low <= row.saved[1] && row.saved[0] <= high;
        let holds_middle = (low..=high).contains(&row.saved_median);
        (inside, all) = (inside + u32::from(holds_middle), all + 1);
        let executed: u64 = profile.sites.iter().map(|s| s.executed).sum();
        println!(
            "{}\t{:.3}\t{:.3}\t{low:.2} to {high:.2}\t{:.1}\t{:.1} [{:.1}, {:.1}]\t{}",
            row.program,
            1000.0 * executed as f64 / profile.instructions as f64,
            1e9 * row.locked_s / profile.instructions as f64,
            no_lock.back_to_back_percent.unwrap_or(f64::NAN),
            row.saved_median,
            row.saved[0],
            row.saved[1],
            match (holds_middle, is_inside) {
                (true, _) => "yes",
                (false, true) => "no, but the intervals meet",
                (false, false) => "no",
            }
        );
        summaries.insert(row.program.clone(), summary(&profile));
    }
    println!("the truth's median is inside the forecast in {inside} of {all}");
    if let [summaries_file] = rest {
        std::fs::write(summaries_file, serde_json::to_string(&Value::Object(summaries))? + "\n")?;
    }
    Ok(())
}

struct Row {
    program: String,
    locked_s: f64,
    /// Its quartiles: where the lowest and the highest of three runs, the command's own, are expected.
    locked_range: [f64; 2],
    /// Percent of the user time saved without LOCK.
    saved_median: f64,
    saved: [f64; 2],
    rounds: u32,
}

impl Row {
    fn read(line: &str) -> Result<Self> {
        let cells: Vec<&str> = line.split('\t').collect();
        let [
            program,
            _how,
            locked,
            _elided,
            difference,
            low,
            high,
            rounds,
            first,
            third,
        ] = cells[..]
        else {
            return Err(format!("not a row of truths: {line}").into());
        };
        let number = |text: &str| text.parse::<f64>().map_err(|e| format!("{text}: {e}, in: {line}"));
        Ok(Self {
            program: program.to_owned(),
            locked_s: number(locked)?,
            locked_range: [number(first)?, number(third)?],
            // The table says by how much the time without LOCK differs.
            saved_median: -number(difference)?,
            saved: [-number(high)?, -number(low)?],
            rounds: rounds.parse()?,
        })
    }
}

/// The profile of a document, with sites of a LOCK prefix alone.
fn read_profile(folder: &Path, program: &str) -> Result<Option<Profile>> {
    let text = match read_to_string(folder.join(format!("{program}.json"))) {
        Ok(text) => text,
        Err(_) => match File::open(folder.join(format!("{program}.json.gz"))) {
            Ok(file) => io::read_to_string(GzDecoder::new(file))?,
            Err(_) => return Ok(None),
        },
    };
    let mut document: Value = serde_json::from_str(&text)?;
    let mut profile: Profile = serde_json::from_value(document["profile"].take())?;
    profile.sites.retain(|site| site.form == Form::Lock);
    let servers = profile.processes.iter().filter(|p| p.command.contains("redis-server"));
    let server = servers.max_by_key(|p| p.instructions);
    if let Some(server) = server {
        let all: u64 = profile.processes.iter().map(|p| p.locked).sum();
        let share = server.locked as f64 / all.max(1) as f64;
        profile.instructions = server.instructions;
        for site in &mut profile.sites {
            site.executed = (site.executed as f64 * share) as u64;
        }
    }
    Ok(Some(profile))
}

/// The share of all executions that a summary's sites have; the seldom executed ones change no forecast.
const KEPT: f64 = 0.995;

fn summary(profile: &Profile) -> Value {
    let all: u64 = profile.sites.iter().map(|s| s.executed).sum();
    let mut before = 0;
    let sites: Vec<Value> = profile
        .sites
        .iter()
        .take_while(|s| {
            let is_kept = before as f64 <= KEPT * all as f64;
            before += s.executed;
            is_kept
        })
        .map(|s| {
            json!({"form": s.form, "operation": s.operation, "width": s.width, "executed": s.executed as f64,
                "distances": s.distances, "mix": s.mix})
        })
        .collect();
    json!({"instructions": profile.instructions, "sites": sites})
}

/// The costs of a file of `src/forecast/truth`, or of a record.
fn read_costs(path: &str) -> Result<Costs> {
    if let Some(costs) = read_to_string(path)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
    {
        return Ok(costs);
    }
    let record = record::load(Path::new(path)).map_err(|e| e.message)?;
    Ok(costs(&record).ok_or("the record lacks in-context")?)
}
