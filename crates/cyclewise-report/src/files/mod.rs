//! Where documents go: stdout, and files that are written whole or not at all; and progress on stderr.

pub mod default_names;
pub mod document_file;
pub mod hidden;
pub mod output;
pub mod programs;
pub mod progress;
mod thread_pool;
