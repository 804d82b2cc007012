//! Tests of the clock: with a mock, and on threads with the machine's counter. The loom models are in `timeline`.

mod checked_reader;
mod faults;
mod instants;
mod interleaved;
mod random;
mod slot;
mod threads;
mod tracking;
mod unwinding;

/// Lets other threads run until `is_so`.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}
