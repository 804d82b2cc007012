//! One run of our hackbench with rt-tests' options and its line of output, to hold the two side by side:
//! `cargo run --release -p cyclewise-lab --example hackbench -- [-g GROUPS] [-l LOOPS] [-T] [-p]`.

use cyclewise_lab::experiment::hackbench::{Carrier, Plan, run};
use cyclewise_lab::sys::channel::ChannelKind;
use std::process::exit;

fn main() {
    let (mut groups, mut loops) = (10, 100);
    let (mut carrier, mut channel) = (Carrier::Processes, ChannelKind::SocketPair);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || match args.next().and_then(|n| n.parse().ok()) {
            Some(n) => n,
            None => usage(&format!("{arg} wants a number")),
        };
        match arg.as_str() {
            "-g" | "--groups" => groups = number(),
            "-l" | "--loops" => loops = number(),
            "-T" | "--threads" => carrier = Carrier::Threads,
            "-p" | "--pipe" => channel = ChannelKind::Pipe,
            other => usage(&format!("{other} is not an option")),
        }
    }
    match Plan::new(carrier, channel, groups, loops).and_then(|plan| run(&plan)) {
        Ok(outcome) => println!("Time: {:.6}", outcome.elapsed.as_secs_f64()),
        Err(e) => {
            eprintln!("{e}");
            exit(e.status as i32);
        }
    }
}

fn usage(what: &str) -> ! {
    eprintln!("{what}; usage: hackbench [-g GROUPS] [-l LOOPS] [-T] [-p]");
    exit(2)
}
