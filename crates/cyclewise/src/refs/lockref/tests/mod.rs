//! Tests of private parts: the word, the reports, and a simulated load. The models are in `loom.rs`.

mod edges;
mod hysteresis;
mod load_simulation;
mod scripted;
