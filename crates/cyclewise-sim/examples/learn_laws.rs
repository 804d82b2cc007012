//! Learns the laws of the examination from the learning half, and prints `data/laws.toml`.
//!
//! Only the learning half is simulated: the laws are the same whatever the examined half's rows are. It takes minutes.

use cyclewise_sim::exam::laws::Space;
use cyclewise_sim::exam::learn;

fn main() {
    let learners = learn::learners();
    for machine in &learners {
        eprintln!("learning from {}", machine.name);
    }
    print!("{}", learn::to_toml(&learn::learn(&learners, &Space::full())));
}
