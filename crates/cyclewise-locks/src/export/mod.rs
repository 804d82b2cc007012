//! What people read of a counted program: words, a table, a page.

pub mod html;
mod rows;
pub mod table;
mod words;
