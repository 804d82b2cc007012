//! Models of the timeline, and twins of it that they catch.

mod models;
mod twins;
