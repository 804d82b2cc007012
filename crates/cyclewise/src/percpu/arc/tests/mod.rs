//! The protocol of owner and clones as models, with twins; and storms over the real pointers, with a twin.

mod models;
#[cfg(not(loom))]
mod real {
    mod pointers;
    mod storm;
}
