//! The cells of the tables of limits, in the terminal and in Markdown.

use super::number::{NONE, brief, cost_range, interval, ratio, significant};
use crate::limits::{ByLength, Cost, NoCost, Ratio};
use crate::record::{Unit, Verdict, bounds};

/// A figure with its unit where that is not ticks; a dash for what is not known. Of a row that is not linear the range: `1.4–6.8 (adds
/// 0–2.1)`.
pub(super) fn cost(cost: Option<&Cost>) -> String {
    let Some(cost) = cost else { return NONE.to_owned() };
    let unit = match cost.unit {
        Unit::TicksPerOp => "",
        Unit::NanosPerOp => " ns",
        Unit::OpsPerSecond => " op/s",
        Unit::Seconds => " s",
        Unit::Milliseconds => " ms",
        Unit::Microseconds => " µs",
        Unit::Nanoseconds => " ns",
    };
    match (cost.value, cost.range) {
        (Ok(value), _) => format!("{}{unit}", brief(value, bounds(cost.ci95))),
        (Err(NoCost::NotACost), _) => "not a cost".to_owned(),
        (Err(NoCost::NotLinear), None) => "not linear".to_owned(),
        (Err(NoCost::NotLinear), Some(range)) => {
            let adds = cost.adds.map(|adds| adds.map(|ticks| significant(ticks, 2)));
            let adds = adds.map_or(String::new(), |[least, most]| format!(" (adds {least}–{most})"));
            format!("{}{unit}{adds}", cost_range(range, 1.0))
        }
    }
}

pub(super) fn row(of: Option<&Cost>) -> String {
    match of {
        Some(of) => format!("{} {}", of.row, cost(Some(of))),
        None => NONE.to_owned(),
    }
}

/// Ours relative to a peer, and which: `0.492× spin`.
pub(super) fn times_peer(of: Option<&Ratio>, peer: Option<&Cost>) -> String {
    match peer {
        Some(peer) if of.is_some() => format!("{}× {}", times(of), peer.row),
        _ => NONE.to_owned(),
    }
}

/// A ratio; over loops of each length, the least and the greatest.
pub(super) fn times(of: Option<&Ratio>) -> String {
    match of {
        Some(Ratio {
            by_length: Some(ByLength { least, most, .. }),
            ..
        }) => format!("{}–{}", significant(*least, 3), significant(*most, 3)),
        Some(of) => ratio(of.value, bounds(of.ci95)),
        None => NONE.to_owned(),
    }
}

/// The interval of a ratio, or why it has none; over loops of each length, their verdict.
pub(super) fn spread(of: Option<&Ratio>) -> String {
    match of {
        Some(Ratio {
            by_length: Some(by_length),
            ..
        }) => by_length.verdict.in_words().to_owned(),
        Some(of) if of.paired => interval(of.value, bounds(of.ci95)),
        Some(_) => "not paired".to_owned(),
        None => NONE.to_owned(),
    }
}

/// Why loops of each length give no verdict: `faster at 4 copies, slower at 8 and 16`; `None` if they do.
pub(super) fn why_undecided(of: Option<&Ratio>) -> Option<String> {
    let by_length = of?.by_length.as_ref()?;
    let reason = by_length
        .reason
        .as_ref()
        .filter(|_| by_length.verdict == Verdict::Undecided)?;
    Some(reason.detail().to_owned())
}

/// A ratio and its interval in one cell, or its verdict over loops of each length.
pub(super) fn ratio_and_spread(of: Option<&Ratio>) -> String {
    let why = why_undecided(of).map_or(String::new(), |why| format!(": {why}"));
    match (times(of), spread(of)) {
        (ratio, none) if none == NONE => ratio,
        (ratio, spread) => format!("{ratio} ({spread}{why})"),
    }
}
