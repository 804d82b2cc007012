//! Tests of the forecast on made-up programs, on records, and on truths.

mod answers;
mod coverage;
mod laws;
mod made_up;
mod truths;
