//! Models of the protocols and storms on the real types, each with twins that they catch.

#[cfg(loom)]
mod models;
#[cfg(all(feature = "std", not(loom)))]
mod real {
    mod storms;
    mod values;
}
