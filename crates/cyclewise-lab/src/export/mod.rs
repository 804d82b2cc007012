//! The outputs: one format a file. Only this room knows formats; none of it measures or computes statistics.

pub mod bmf;
pub mod csv;
pub mod doctor;
pub mod html;
pub mod json;
mod number;
pub mod table;
