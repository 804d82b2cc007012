//! Tests of the clock: with a mock, and on threads with the machine's counter. The loom models are in `timeline`.

#[cfg(all(feature = "std", not(loom)))]
mod checked_reader;
#[cfg(all(feature = "std", not(loom)))]
mod faults;
#[cfg(all(feature = "std", not(loom)))]
mod instants;
#[cfg(all(feature = "std", not(loom)))]
mod interleaved;
#[cfg(all(feature = "std", not(loom)))]
mod random;
#[cfg(all(feature = "std", not(loom)))]
mod threads;
#[cfg(all(feature = "std", not(loom)))]
mod tracking;
#[cfg(all(feature = "std", not(loom)))]
mod unwinding;
