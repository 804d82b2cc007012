//! A program's locked instructions in words, for the terminal and for the page.

use crate::counts::{Arch, Method, Words};
use crate::forecast::{Forecast, Remedy, RemedyForecast};
use crate::profile::{Class, Executed, Form};
use crate::record::{Exit, Locks, Place};
use cyclewise_report::number::{NONE, count, decimals, fixed, percent, significant};
use std::fmt::Write;

pub(super) fn executions(n: u64) -> String {
    usize::try_from(n).map_or_else(|_| n.to_string(), count)
}

/// A smaller share is not told from others.
const LEAST_SHARE: f64 = 1e-4;
/// Fewer of 1000 instructions are not told from others.
const LEAST_PER_1000: f64 = 1e-3;

/// `part` as a percentage of `whole`; a dash of nothing.
pub(super) fn share(part: u64, whole: u64) -> String {
    match (part, part as f64 / whole as f64) {
        _ if whole == 0 => NONE.to_owned(),
        (1.., share) if share < LEAST_SHARE => format!("< {}", percent(LEAST_SHARE)),
        (_, share) => percent(share),
    }
}

/// Executions for each 1000 instructions.
pub(super) fn per_1000(executed: u64, instructions: u64) -> String {
    match (executed, 1000.0 * executed as f64 / instructions as f64) {
        _ if instructions == 0 => NONE.to_owned(),
        (1.., per_1000) if per_1000 < LEAST_PER_1000 => format!("< {LEAST_PER_1000}"),
        (_, per_1000) => significant(per_1000, 3),
    }
}

/// The first sentence: what the program would gain, or that this is not known.
pub(super) fn answer(locks: &Locks) -> String {
    match &locks.forecast {
        Some(forecast) => forecast.answer.clone(),
        None => "no forecast: see the notes below".to_owned(),
    }
}

/// The program and its arguments, as they were given.
pub(super) fn program(locks: &Locks) -> String {
    one_line(&locks.program.join(" "))
}

/// The program's name, without its folders.
pub(super) fn name(locks: &Locks) -> String {
    let program = locks.program.first().map_or("", String::as_str);
    one_line(program.rsplit('/').next().unwrap_or(program))
}

/// How many locked instructions it executed, each form apart.
pub(super) fn per_1000_of_each_form(locks: &Locks) -> String {
    let profile = &locks.profile;
    let of = |n: u64, what: &str| format!("{} {what}", per_1000(n, profile.instructions));
    let Executed {
        lock,
        xchg,
        lse,
        exclusive,
        fence,
    } = profile.executed;
    let fences = of(fence, "fences");
    let forms = match profile.arch {
        Arch::X86_64 => [of(lock, "with LOCK"), of(xchg, "XCHG with memory"), fences],
        Arch::Aarch64 => [of(lse, "LSE atomics"), of(exclusive, "store-exclusives"), fences],
    };
    format!(
        "of 1000 instructions: {} ({} instructions executed)",
        forms.join(", "),
        executions(profile.instructions)
    )
}

/// How it was counted, and how the program ended.
pub(super) fn circumstances(locks: &Locks) -> String {
    let mut out = match &locks.profile.method {
        Method::Emulator { version } if locks.profile.partial => {
            format!("counted exactly but for what is missing, by {version}")
        }
        Method::Emulator { version } => format!("counted exactly, by {version}"),
        Method::Counter { event, period } => {
            format!("sampled by {event}, one of {} locked instructions", executions(*period))
        }
    };
    if let Some(how) = ended(locks.exit) {
        let _ = write!(out, "; {how}");
    }
    out
}

/// The program's own time, and how many times as long it took when it was counted.
pub(super) fn time(locks: &Locks) -> Option<String> {
    let native = locks.forecast.as_ref()?.native?;
    let mut out = format!("{}\u{a0}s of user time without counting", significant(native.user_s, 3));
    let _ = match native.runs {
        0 => Ok(()),
        1 => write!(out, ", in one run"),
        n => write!(
            out,
            ", the median of {n} runs from {} to {}",
            significant(native.range[0], 3),
            significant(native.range[1], 3)
        ),
    };
    if let Some(slowdown) = locks.slowdown {
        let _ = write!(out, "; counted, {} times as slow", significant(slowdown, 2));
    }
    Some(out)
}

/// How the program ended, where that is not status 0.
fn ended(exit: Exit) -> Option<String> {
    let how = match (exit.code, exit.signal) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("it ended with status {code}")),
        (None, Some(signal)) => Some(format!("signal {signal} ended it")),
        (None, None) => Some("how it ended is not known".to_owned()),
    };
    let until = "and these are the counts until then";
    match (exit.interrupted, how) {
        (true, _) => Some(format!("Ctrl-C or the like ended it, {until}")),
        (false, Some(how)) if exit.code.is_none() => Some(format!("{how}, {until}")),
        (false, how) => how,
    }
}

/// A line of code: the function, and where it is in the source.
pub(super) fn place(place: &Place) -> String {
    let function = short(&one_line(&place.function));
    match line_of_code(place) {
        line if line.is_empty() => function,
        line => format!("{function}, {line}"),
    }
}

/// Where the sources of a toolchain are.
const TOOLCHAIN: &str = "/lib/rustlib/src/rust/";
/// Folders of sources whose next part is a commit or a registry's name.
const SOURCES: &[&str] = &["/rustc/", "/.cargo/registry/src/"];

/// `src/tree.rs:42`, of a library without the folders that are the same for all of it; empty where no file is known.
pub(super) fn line_of_code(place: &Place) -> String {
    let line = one_line(&place.line_of_code());
    let toolchain = line.split_once(TOOLCHAIN).map(|(_, rest)| rest);
    let source = || SOURCES.iter().find_map(|source| line.split_once(source));
    let short = toolchain.or_else(|| source()?.1.split_once('/').map(|(_, rest)| rest));
    short.map(str::to_owned).unwrap_or(line)
}

/// What a line of code does, and for which type: `count up, std Arc`.
pub(super) fn purpose(of: Class, family: Option<&String>) -> String {
    match family {
        None => class(of).to_owned(),
        Some(family) => format!("{}, {}", class(of), one_line(family)),
    }
}

/// What a family is called where none is known.
pub(super) fn family(family: Option<&String>) -> String {
    family.map_or_else(|| NONE.to_owned(), |family| one_line(family))
}

/// How much of what was executed was on words of one thread.
pub(super) fn private(words: Words) -> String {
    match words.private.saturating_add(words.shared) {
        0 => NONE.to_owned(),
        known => share(words.private, known),
    }
}

pub(super) fn class(class: Class) -> &'static str {
    match class {
        Class::CountUp => "count up",
        Class::CountDownAndTest => "count down and test",
        Class::ExchangeLoop => "exchange loop",
        Class::LockTaken => "lock taken",
        Class::LockGivenBack => "lock given back",
        Class::Flag => "flag",
        Class::Fence => "fence",
        Class::Other => "other",
    }
}

pub(super) fn form(form: Form) -> &'static str {
    match form {
        Form::Lock => "LOCK",
        Form::Xchg => "XCHG",
        Form::Lse => "LSE",
        Form::Exclusive => "exclusive",
        Form::Fence => "fence",
    }
}

pub(super) fn remedy(of: &RemedyForecast) -> String {
    match of.name.as_str() {
        // Of an older version.
        "" => format!("{:?}", of.remedy),
        name => one_line(name),
    }
}

/// What a remedy would save: of the program's time where that is known, else seconds.
pub(super) fn saved(remedy: &RemedyForecast) -> String {
    match remedy.saved_percent {
        Some(saved) => format!("{}\u{a0}%", range(saved, PERCENT_DECIMALS)),
        None => saved_seconds(remedy),
    }
}

/// What it would save at most, were each execution as dear as back to back.
pub(super) fn bound(remedy: &RemedyForecast) -> String {
    match remedy.back_to_back_percent {
        Some(bound) => format!("{}\u{a0}%", range([bound; 2], PERCENT_DECIMALS)),
        None => format!("{}\u{a0}s", range([remedy.back_to_back_s; 2], SECONDS_DECIMALS)),
    }
}

pub(super) fn saved_seconds(remedy: &RemedyForecast) -> String {
    format!("{}\u{a0}s", range(remedy.saved_s, SECONDS_DECIMALS))
}

/// No gain is told in smaller parts than a hundredth of a percent.
const PERCENT_DECIMALS: i32 = 2;
/// Nor in smaller ones than a tenth of a millisecond.
const SECONDS_DECIMALS: i32 = 4;

/// An interval, with as many decimals as show two digits of its greater end, and no more than `most`. One value, where both ends
/// are the same.
fn range([low, high]: [f64; 2], most: i32) -> String {
    let greater = low.abs().max(high.abs());
    if greater > 0.0 && greater < 0.5 * 10f64.powi(-most) {
        return format!("< {}", fixed(10f64.powi(-most), most));
    }
    let decimals = decimals(greater, f64::NAN).min(most);
    let [low_text, high_text] = [low, high].map(|end| fixed(end, decimals));
    // A dash beside a minus sign is hard to read.
    let between = if low_text.starts_with('−') { " to " } else { "–" };
    match low_text == high_text {
        true => low_text,
        false => format!("{low_text}{between}{high_text}"),
    }
}

/// The remedies of a forecast, and after them what none of them can exceed.
pub(super) fn remedies(forecast: &Forecast) -> Vec<&RemedyForecast> {
    let (bounds, mut remedies): (Vec<_>, Vec<_>) = forecast.remedies.iter().partition(|r| r.remedy == Remedy::NoLock);
    remedies.extend(bounds);
    remedies
}

/// The text without line breaks and control characters.
pub(super) fn one_line(text: &str) -> String {
    text.replace(cyclewise_bench::error::is_control, " ")
}

/// The most characters of a name. Those of generic code may have tens of thousands; documents keep the whole.
const MOST_OF_A_NAME: usize = 200;

/// A name without its middle, if it is long: the begin has the path, and the end the function.
fn short(name: &str) -> String {
    let length = name.chars().count();
    if length <= MOST_OF_A_NAME {
        return name.to_owned();
    }
    let kept = MOST_OF_A_NAME / 2;
    let begin: String = name.chars().take(kept).collect();
    let end: String = name.chars().skip(length - kept).collect();
    format!("{begin}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up;

    #[test]
    fn a_long_name_keeps_its_begin_and_its_end() {
        let name = format!("begin{}end", "é".repeat(60_000));
        let shown = place(&Place {
            function: name,
            file: String::new(),
            line: 0,
        });
        assert_eq!(shown.chars().count(), MOST_OF_A_NAME + 1);
        assert!(shown.starts_with("begin") && shown.ends_with("end"), "{shown}");
        let whole = "x".repeat(MOST_OF_A_NAME);
        assert_eq!(short(&whole), whole);
    }

    #[test]
    fn counts_without_a_part_of_the_run_are_not_called_exact() {
        let mut locks = made_up::cplusplus();
        assert!(circumstances(&locks).starts_with("counted exactly, by"));
        locks.profile.partial = true;
        assert!(circumstances(&locks).starts_with("counted exactly but for what is missing, by"));
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_no_number() {
        assert_eq!(share(1, 0), NONE);
        assert_eq!(per_1000(1, 0), NONE);
        assert_eq!(private(Words::default()), NONE);
        assert_eq!(family(None), NONE);
        assert_eq!(
            (share(1, 1_000_000).as_str(), share(0, 9).as_str()),
            ("< 0.010\u{a0}%", "0\u{a0}%")
        );
        assert_eq!(
            (per_1000(1, 9_000_000).as_str(), per_1000(0, 9).as_str()),
            ("< 0.001", "0")
        );
    }

    #[test]
    fn each_form_is_counted_apart() {
        assert_eq!(
            per_1000_of_each_form(&made_up::rust()),
            "of 1000 instructions: 13.5 with LOCK, 0.416 XCHG with memory, 0.0312 fences (4\u{202f}812\u{202f}345\u{202f}678 \
             instructions executed)"
        );
        let arm = per_1000_of_each_form(&made_up::aarch64());
        assert!(arm.contains("0.500 LSE atomics, 0.400 store-exclusives"), "{arm}");
    }

    #[test]
    fn how_it_ended_is_said_unless_all_is_well() {
        let of = |code, signal, interrupted| {
            ended(Exit {
                code,
                signal,
                interrupted,
            })
        };
        assert_eq!(of(Some(0), None, false), None);
        assert_eq!(of(Some(3), None, false).unwrap(), "it ended with status 3");
        assert!(of(None, Some(9), false).unwrap().starts_with("signal 9 ended it, and"));
        assert!(of(Some(0), None, true).unwrap().starts_with("Ctrl-C"));
    }

    #[test]
    fn a_librarys_line_is_short() {
        let of = |file: &str| {
            line_of_code(&Place {
                function: String::new(),
                file: file.to_owned(),
                line: 7,
            })
        };
        assert_eq!(of("src/main.rs"), "src/main.rs:7");
        assert_eq!(
            of("/rustc/abc/library/alloc/src/sync.rs"),
            "library/alloc/src/sync.rs:7"
        );
        assert_eq!(
            of("/opt/lib/rustlib/src/rust/library/core/src/x.rs"),
            "library/core/src/x.rs:7"
        );
        assert_eq!(
            of("/x/.cargo/registry/src/host-1/loom-0.7.2/src/lib.rs"),
            "loom-0.7.2/src/lib.rs:7"
        );
        assert_eq!(of(""), "");
    }

    #[test]
    fn the_bound_comes_last() {
        let forecast = made_up::rust().forecast.unwrap();
        assert_eq!(forecast.remedies[0].remedy, Remedy::NoLock);
        let shown: Vec<Remedy> = remedies(&forecast).iter().map(|r| r.remedy).collect();
        assert_eq!(shown, [Remedy::PlainCounts, Remedy::FewerClones, Remedy::NoLock]);
    }

    #[test]
    fn a_gain_without_a_time_is_in_seconds() {
        let mut remedy = made_up::rust().forecast.unwrap().remedies.swap_remove(1);
        assert_eq!(
            (saved(&remedy), bound(&remedy)),
            ("1.3–6.9\u{a0}%".to_owned(), "11\u{a0}%".to_owned())
        );
        (remedy.saved_percent, remedy.back_to_back_percent) = (None, None);
        assert_eq!(
            (saved(&remedy), bound(&remedy)),
            ("0.02–0.11\u{a0}s".to_owned(), "0.17\u{a0}s".to_owned())
        );
        remedy.saved_s = [-0.01, 0.02];
        assert_eq!(saved(&remedy), "−0.010 to 0.020\u{a0}s");
        remedy.saved_s = [-1e-7, 0.0031];
        assert_eq!(saved(&remedy), "0.0000–0.0031\u{a0}s");
        remedy.saved_s = [-1e-7, 2e-5];
        assert_eq!(saved(&remedy), "< 0.0001\u{a0}s");
        remedy.saved_s = [0.0, 0.0];
        assert_eq!(saved(&remedy), "0.00\u{a0}s");
    }
}
