//! What people read of a counted program: words, a table, a page.

pub mod html;
pub mod table;
mod words;
