//! The answer in one line: worth it, not worth it, or not to be told apart.

use super::estimate::FASTEST_NS;
use super::outcome::{Remedy, RemedyForecast, Verdict};
use crate::profile::Profile;

/// A remedy that saves less than this is not worth its work, in percent of the program's user time.
pub(super) const WORTH: f64 = 1.0;
/// What a remedy is called.
pub(super) fn name(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SingleMode => "single mode",
        Remedy::PlainCounts => "plain counting",
        Remedy::PerCpuCounter => "per-CPU counting",
        Remedy::FewerClones => "cloning half as often",
        Remedy::NoLock => "no LOCK at all",
    }
}

/// What to do to find out.
fn experiment(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SingleMode => "use the library's types at the hottest sites and compare both modes by `cyclewise time`",
        Remedy::PlainCounts => "replace Arc by Rc at the hottest site and compare by `cyclewise time`",
        Remedy::PerCpuCounter => "replace the hottest counter and compare by `cyclewise time`",
        Remedy::FewerClones | Remedy::NoLock => "borrow at the hottest site and compare by `cyclewise time`",
    }
}

/// Decides. The bound of all remedies is not one, so it decides nothing.
pub(super) fn decide(profile: &Profile, remedies: &[RemedyForecast], note: &str) -> (Verdict, String) {
    let locked: u64 = profile
        .sites
        .iter()
        .filter(|s| s.form != crate::profile::Form::Fence)
        .map(|s| s.executed)
        .sum();
    if locked == 0 {
        return (
            Verdict::NotWorthIt,
            format!("not worth it: no locked instruction was {}", seen(profile)),
        );
    }
    let rate = 1000.0 * locked as f64 / (profile.instructions as f64).max(1.0);
    let rate = format!("{} locked instructions per 1000", digits(rate));
    let real = || remedies.iter().filter(|r| r.remedy != Remedy::NoLock);
    // Backwards, so that the first of equals is taken.
    let by_seconds = |r: &&RemedyForecast| r.saved_s[1];
    let Some(best) = real().rev().max_by(|a, b| by_seconds(a).total_cmp(&by_seconds(b))) else {
        return (
            Verdict::CannotTell,
            format!("cannot tell: {rate}, and no remedy was looked at"),
        );
    };
    let name = name(best.remedy);
    let Some([low, high]) = best.saved_percent else {
        let most = 100.0 * best.saved_s[1] / (profile.instructions as f64 * FASTEST_NS * 1e-9);
        return if most < WORTH {
            let line = format!(
                "not worth it: {rate}; {name} saves less than 1 % of the time of any program of so many instructions"
            );
            (Verdict::NotWorthIt, line)
        } else {
            let [low, high] = best.saved_s.map(digits);
            let line = format!(
                "cannot tell: {name} saves {low} to {high} s a run, and the program's own time is not known{note}"
            );
            (Verdict::CannotTell, line)
        };
    };
    let surest = real()
        .rev()
        .filter_map(|r| Some((r, r.saved_percent?)))
        .max_by(|a, b| a.1[0].total_cmp(&b.1[0]));
    if high < WORTH {
        let line = if best.saved_s[1] > 0.0 {
            format!(
                "not worth it: {rate}; the best remedy, {name}, saves at most {} % of the user time",
                digits(high)
            )
        } else {
            format!("not worth it: {rate}; no remedy applies to them")
        };
        return (Verdict::NotWorthIt, line);
    }
    match surest {
        Some((r, [low, high])) if low >= WORTH => {
            let [low, high] = [low, high].map(digits);
            let line = format!(
                "worth it: {} saves {low} to {high} % of the user time, by forecast",
                self::name(r.remedy)
            );
            (Verdict::WorthIt, line)
        }
        _ => {
            let [low, high] = [low, high].map(digits);
            let line = format!(
                "cannot tell: {name} saves {low} to {high} % of the user time; {}{note}",
                experiment(best.remedy)
            );
            (Verdict::CannotTell, line)
        }
    }
}

fn seen(profile: &Profile) -> &'static str {
    match profile.method {
        crate::counts::Method::Emulator { .. } => "executed",
        crate::counts::Method::Counter { .. } => "sampled",
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
