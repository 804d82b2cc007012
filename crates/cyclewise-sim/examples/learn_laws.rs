//! Learns the laws of the examination from the learning half, and prints `data/laws.toml`.
//!
//! Only the learning half is simulated: the laws are the same whatever the examined half's rows are. It takes minutes; families as arguments restrict it to them.

use cyclewise_sim::exam::laws::Space;
use cyclewise_sim::exam::learn;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut learners = learn::learners();
    learners.retain(|m| words.is_empty() || words.contains(&m.family));
    for machine in &learners {
        eprintln!("learning from {}", machine.name);
    }
    print!("{}", learn::to_toml(&learn::learn(&learners, &Space::full())));
}
