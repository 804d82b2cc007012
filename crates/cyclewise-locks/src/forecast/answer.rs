//! The answer in one line: what atomics cost at most, and whether a remedy is worth it, not worth it, or not to be told apart.

use super::estimate::FASTEST_NS;
use super::kind::{Kind, kind};
use super::outcome::{Remedy, RemedyForecast, Verdict};
use crate::counts::{Method, saturating_sum};
use crate::profile::{Form, Profile, SiteProfile};
use std::collections::BTreeMap;

/// A remedy that saves less than this is not worth its work, in percent of the program's user time.
pub(super) const WORTH: f64 = 1.0;
/// Less user time, in seconds, is mostly that of starting: what is true of it is not true of a longer run.
pub(super) const SHORTEST_S: f64 = 0.1;

/// What to do to find out.
fn experiment(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SingleMode | Remedy::SingleLocks => {
            "use the library's types at the hottest sites and compare both modes by `cyclewise time`"
        }
        Remedy::PlainCounts => "count plainly at the hottest site and compare by `cyclewise time`",
        Remedy::PerCpuCounter => "replace the hottest counter and compare by `cyclewise time`",
        Remedy::FewerSections => "join the hottest sections and compare by `cyclewise time`",
        Remedy::QueuedLock => "replace the hottest lock and compare by `cyclewise time`",
        Remedy::FewerClones | Remedy::NoLock => "borrow at the hottest site and compare by `cyclewise time`",
    }
}

/// Decides, and says so after what is paid: the bound of all remedies is not one, so it decides nothing.
pub(super) fn decide(profile: &Profile, remedies: &[RemedyForecast], is_short: bool, note: &str) -> (Verdict, String) {
    let locked: u64 = saturating_sum(
        profile
            .sites
            .iter()
            .filter(|s| s.form != Form::Fence)
            .map(|s| s.executed),
    );
    if locked == 0 {
        return (
            Verdict::NotWorthIt,
            format!("not worth it: no locked instruction was {}", seen(profile)),
        );
    }
    let (verdict, then) = if is_short {
        let why =
            format!("cannot tell: less than {SHORTEST_S} s of user time is too short; give the program more to do");
        (Verdict::CannotTell, why)
    } else {
        by_intervals(profile, remedies, note)
    };
    (
        verdict,
        format!("{}; {then}", paid(profile, remedies, locked, is_short)),
    )
}

/// What atomics cost at most, and what most of them are.
fn paid(profile: &Profile, remedies: &[RemedyForecast], locked: u64, is_short: bool) -> String {
    let bound = remedies.iter().find(|r| r.remedy == Remedy::NoLock);
    let most = bound.and_then(|r| r.saved_percent).filter(|_| !is_short);
    let cost = match most {
        Some([_, most]) => format!("atomics cost at most {} % of user time", digits(most.min(100.0))),
        None => {
            let rate = 1000.0 * locked as f64 / (profile.instructions as f64).max(1.0);
            format!("{} locked instructions per 1000", digits(rate))
        }
    };
    let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
    for site in profile.sites.iter().filter(|s| s.form != Form::Fence) {
        let executed = kinds.entry(kind(site)).or_default();
        *executed = executed.saturating_add(site.executed);
    }
    match kinds.into_iter().max_by_key(|(_, executed)| *executed) {
        Some((kind, executed)) => {
            let share = 100.0 * executed as f64 / locked as f64;
            format!("{cost}; {} % of them are {}", digits(share), plural(kind, profile))
        }
        None => cost,
    }
}

fn plural(kind: Kind, profile: &Profile) -> &'static str {
    let is_mutex = |site: &SiteProfile| site.family.as_ref().is_some_and(|f| f.to_lowercase().contains("mutex"));
    match kind {
        Kind::References => "reference counts",
        Kind::Counters => "counters",
        Kind::Locks if profile.sites.iter().filter(|s| self::kind(s) == kind).all(is_mutex) => "mutexes",
        Kind::Locks => "locks",
        Kind::Loops => "exchange loops",
        Kind::States => "flags and states",
    }
}

fn by_intervals(profile: &Profile, remedies: &[RemedyForecast], note: &str) -> (Verdict, String) {
    let real = || remedies.iter().filter(|r| r.remedy != Remedy::NoLock);
    // Backwards, so that the first of equals is taken.
    let by_seconds = |r: &&RemedyForecast| r.saved_s[1];
    let Some(best) = real().rev().max_by(|a, b| by_seconds(a).total_cmp(&by_seconds(b))) else {
        return (
            Verdict::NotWorthIt,
            "not worth it: no remedy applies to them".to_owned(),
        );
    };
    let names: Vec<&str> = real().map(|r| r.name.as_str()).collect();
    let names = names.join(", ");
    let Some([low, high]) = best.saved_percent else {
        let most = 100.0 * best.saved_s[1] / (profile.instructions as f64 * FASTEST_NS * 1e-9);
        return if most < WORTH {
            let line = format!(
                "not worth it: no remedy ({names}) saves 1 % of the time of any program of so many instructions"
            );
            (Verdict::NotWorthIt, line)
        } else {
            let [low, high] = best.saved_s.map(digits);
            let line = format!(
                "cannot tell: {} saves {low} to {high} s a run, and the program's own time is not known{note}",
                best.name
            );
            (Verdict::CannotTell, line)
        };
    };
    if high < WORTH {
        let line = format!(
            "not worth it: no remedy ({names}) saves more than {} % of user time",
            digits(high.max(0.0))
        );
        return (Verdict::NotWorthIt, line);
    }
    let surest = real()
        .rev()
        .filter_map(|r| Some((r, r.saved_percent?)))
        .max_by(|a, b| a.1[0].total_cmp(&b.1[0]));
    match surest {
        Some((r, [low, high])) if low >= WORTH => {
            let [low, high] = [low, high].map(digits);
            let line = format!("worth it: {} saves {low} to {high} % of user time, by forecast", r.name);
            (Verdict::WorthIt, line)
        }
        _ => {
            let [low, high] = [low, high].map(digits);
            let line = format!(
                "cannot tell: {} saves {low} to {high} % of user time; {}{note}",
                best.name,
                experiment(best.remedy)
            );
            (Verdict::CannotTell, line)
        }
    }
}

fn seen(profile: &Profile) -> &'static str {
    match profile.method {
        Method::Emulator { .. } => "executed",
        Method::Counter { .. } => "sampled",
    }
}

/// A number with two or three digits that count.
pub(super) fn digits(x: f64) -> String {
    let size = x.abs();
    let decimals = match size {
        _ if size >= 10.0 || size == 0.0 => 0,
        _ if size >= 1.0 => 1,
        _ => (1.0 - size.log10().floor()).min(6.0) as usize,
    };
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| matches!(b, b'0' | b'.')) => rest.to_string(),
        Some(rest) => format!("\u{2212}{rest}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn digits_that_count() {
        let read = [0.0, 12.34, 1.26, 0.042, 0.0042, -3.21, -0.000_000_01].map(digits);
        assert_eq!(read, ["0", "12", "1.3", "0.042", "0.0042", "\u{2212}3.2", "0.000000"]);
    }
}
