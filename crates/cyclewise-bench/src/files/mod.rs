//! Files that are written whole or not at all, and where the project's other programs are.

pub mod document_file;
pub mod programs;
