//! The cells of the tables of limits, in the terminal and in Markdown.

use super::number::{NONE, brief, interval, ratio};
use crate::limits::{Cost, NoCost, Ratio};
use crate::record::{Unit, bounds};

/// A figure with its unit where that is not ticks; a dash for what is not known.
pub(super) fn cost(cost: Option<&Cost>) -> String {
    let Some(cost) = cost else { return NONE.to_owned() };
    let value = match cost.value {
        Ok(value) => value,
        Err(NoCost::NotLinear) => return "not linear".to_owned(),
        Err(NoCost::NotACost) => return "not a cost".to_owned(),
    };
    let unit = match cost.unit {
        Unit::TicksPerOp => "",
        Unit::NanosPerOp => " ns",
        Unit::OpsPerSecond => " op/s",
        Unit::Seconds => " s",
    };
    format!("{}{unit}", brief(value, bounds(cost.ci95)))
}

/// The row and its figure.
pub(super) fn row(of: Option<&Cost>) -> String {
    match of {
        Some(of) => format!("{} {}", of.row, cost(Some(of))),
        None => NONE.to_owned(),
    }
}

/// Ours relative to a peer, and which: `0.492× spin`.
pub(super) fn times_peer(of: Option<Ratio>, peer: Option<&Cost>) -> String {
    match peer {
        Some(peer) if of.is_some() => format!("{}× {}", times(of), peer.row),
        _ => NONE.to_owned(),
    }
}

/// A ratio.
pub(super) fn times(of: Option<Ratio>) -> String {
    match of {
        Some(of) => ratio(of.value, bounds(of.ci95)),
        None => NONE.to_owned(),
    }
}

/// The interval of a ratio, or why it has none.
pub(super) fn spread(of: Option<Ratio>) -> String {
    match of {
        Some(of) if of.paired => interval(of.value, bounds(of.ci95)),
        Some(_) => "not paired".to_owned(),
        None => NONE.to_owned(),
    }
}

/// A ratio and its interval in one cell.
pub(super) fn ratio_and_spread(of: Option<Ratio>) -> String {
    match (times(of), spread(of)) {
        (ratio, none) if none == NONE => ratio,
        (ratio, spread) => format!("{ratio} ({spread})"),
    }
}
