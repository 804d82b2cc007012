//! The formats that people and programs read.

pub mod doctor;
pub mod html;
