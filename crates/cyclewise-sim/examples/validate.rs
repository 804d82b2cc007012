//! Prints the validation report: `cargo run --release -p cyclewise-sim --example validate > crates/cyclewise-sim/VALIDATION.md`.

fn main() {
    print!("{}", cyclewise_sim::validation::run().to_markdown());
}
