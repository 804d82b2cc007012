//! Reduces a core-to-core matrix to the transfer times of a machine file.
//!
//! ```text
//! cargo run -p cyclewise-sim --example reduce_matrix -- FILE SOCKETS CLUSTERS CORES THREADS (adjacent|apart) [SKIP]
//! ```

use cyclewise_sim::Topology;
use cyclewise_sim::exam::matrix::{Layout, is_ordered, reduce};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    const USAGE: &str = "arguments: FILE SOCKETS CLUSTERS CORES THREADS (adjacent|apart) [SKIP]; give the layout of the measured machine";
    let [file, sockets, clusters, cores, threads, numbering, rest @ ..] = args else {
        return Err(USAGE.to_string());
    };
    let number = |text: &String| text.parse().ok().filter(|n| *n > 0).ok_or(USAGE);
    let siblings_adjacent = match numbering.as_str() {
        "adjacent" => true,
        "apart" => false,
        _ => return Err(USAGE.to_string()),
    };
    let layout = Layout {
        topology: Topology {
            sockets: number(sockets)?,
            clusters_per_socket: number(clusters)?,
            cores_per_cluster: number(cores)?,
            threads_per_core: number(threads)?,
        },
        siblings_adjacent,
        skip: rest
            .first()
            .map_or(Ok(0), |skip| skip.parse().map_err(|_| USAGE.to_string()))?,
    };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}; give a file of --csv"))?;
    let latency = reduce(&text, &layout).map_err(|error| format!("{file}: {error}"))?;
    let classes = [
        ("sibling_ns", latency.sibling_ns),
        ("cluster_ns", latency.cluster_ns),
        ("socket_ns", latency.socket_ns),
        ("remote_ns", latency.remote_ns),
    ];
    let classes: Vec<String> = classes
        .iter()
        .filter_map(|(name, ns)| Some(format!("{name} = {}", (*ns)?)))
        .collect();
    let order = if is_ordered(&latency) {
        ""
    } else {
        " # out of order: check the layout"
    };
    Ok(format!("{}{order}", classes.join(", ")))
}
