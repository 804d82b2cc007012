//! Whatever runs a guest once: `/dev/kvm`, or an emulator.

use crate::error::Result;
use crate::image::Image;
use crate::outcome::Outcome;

/// Whatever runs a guest once.
pub trait Machine {
    /// Runs what an image has; with a local APIC if asked.
    ///
    /// # Errors
    /// Where no guest runs at all.
    fn run_once(&mut self, image: Image, apic: bool) -> Result<Outcome>;
}
