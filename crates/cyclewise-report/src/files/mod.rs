//! Where documents go: stdout and files; and progress on stderr.

pub mod default_names;
pub mod hidden;
pub mod output;
pub mod progress;
mod thread_pool;

pub use cyclewise_bench::files::{document_file, programs};
