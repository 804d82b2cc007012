//! `raw` in models, which have no system to sleep in.

/// Never sleeps.
pub(crate) type DefaultPark = super::SpinOnly;
