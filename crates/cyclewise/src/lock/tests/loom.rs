//! The loom models, and their broken twins. They are the only tests in a build with `--cfg loom`, because loom's atomics work
//! only inside models.

mod forward;
mod hand_overs;
mod kernel;
mod models;
mod twins;
