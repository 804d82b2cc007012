//! Tests of private parts: counts set by hand. The models are in `loom.rs`.

mod edges;
