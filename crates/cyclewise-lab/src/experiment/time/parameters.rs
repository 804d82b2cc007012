//! Commands with parameters: `{NAME}` in a text stands for the parameter's value. Names and orders are as in hyperfine.

use crate::error::{Error, Result};

/// The most commands that parameters may make.
const MOST: usize = 100_000;

/// A command before it is run: its name, its text, and the parameters that are filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Named {
    /// The name, if it was given one.
    pub name: Option<String>,
    pub text: String,
    pub parameters: Vec<(String, String)>,
}

impl Named {
    /// The text of another command line with this one's parameters.
    pub(super) fn fill(&self, text: &str) -> String {
        fill(text, &self.parameters)
    }

    /// What the row is called: the name or the text, and the parameters that neither of them has.
    pub(super) fn shown(&self) -> String {
        let template = self.name.as_ref().unwrap_or(&self.text);
        let unused = self
            .parameters
            .iter()
            .filter(|(p, _)| !template.contains(&format!("{{{p}}}")));
        let unused: Vec<String> = unused.map(|(p, value)| format!("{p} = {value}")).collect();
        match unused.is_empty() {
            true => self.fill(template),
            false => format!("{} ({})", self.fill(template), unused.join(", ")),
        }
    }
}

/// Replaces each `{NAME}` once: a value is not searched for further names.
fn fill(text: &str, parameters: &[(String, String)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let named = parameters.iter().find_map(|(p, value)| {
            let after = rest.strip_prefix('{')?.strip_prefix(p.as_str())?.strip_prefix('}')?;
            Some((value, after))
        });
        match named {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Every command with every combination of values, the command first and then the parameters in their order; with the names given.
///
/// # Errors
/// Exit 2: a parameter is given twice, there are too many combinations, or names that are neither one nor as many.
pub(crate) fn all(texts: &[String], lists: &[(String, Vec<String>)], names: &[String]) -> Result<Vec<Named>> {
    if let Some((twice, _)) = lists
        .iter()
        .enumerate()
        .find_map(|(i, l)| lists[..i].iter().find(|o| o.0 == l.0))
    {
        return Err(Error::usage(format!(
            "time: the parameter {twice} is given twice; give all its values at once"
        )));
    }
    let wanted = lists
        .iter()
        .try_fold(texts.len(), |n, (_, values)| n.checked_mul(values.len()));
    let Some(count) = wanted.filter(|n| *n <= MOST) else {
        return Err(Error::usage(format!(
            "time: the parameters make more than {MOST} commands; give fewer values"
        )));
    };
    let fits = match lists.is_empty() {
        true => names.len() <= count,
        false => names.len() <= 1 || names.len() == count,
    };
    if !fits {
        return Err(Error::usage(format!(
            "time: {} names by --command-name for {count} commands; give one for each{}",
            names.len(),
            if lists.is_empty() {
                ", or fewer"
            } else {
                ", or one for all, with {PARAMETER} in it"
            }
        )));
    }
    let one_for_all = names.first().filter(|_| !lists.is_empty() && names.len() == 1);
    Ok((0..count)
        .map(|i| {
            let mut at = i / texts.len().max(1);
            let parameters = lists.iter().map(|(parameter, values)| {
                let value = values[at % values.len()].clone();
                at /= values.len();
                (parameter.clone(), value)
            });
            Named {
                name: one_for_all.or(names.get(i)).cloned(),
                text: texts[i % texts.len()].clone(),
                parameters: parameters.collect(),
            }
        })
        .collect())
}

/// The values of a list, `a,b\,c` has two.
pub(crate) fn listed(values: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut chars = values.chars().peekable();
    while let Some(c) = chars.next() {
        let last = all.len() - 1;
        match c {
            ',' => all.push(String::new()),
            '\\' if matches!(chars.peek(), Some(',' | '\\')) => all[last].extend(chars.next()),
            c => all[last].push(c),
        }
    }
    all
}

/// A decimal number: `units` of 10^-`scale`.
#[derive(Clone, Copy)]
struct Decimal {
    units: i64,
    scale: u32,
}

impl Decimal {
    /// The most decimals.
    const MOST_SCALE: u32 = 9;

    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let scale = u32::try_from(fraction.len()).ok().filter(|n| *n <= Self::MOST_SCALE)?;
        let digits = fraction.chars().all(|c| c.is_ascii_digit());
        let units = format!("{whole}{fraction}").parse().ok().filter(|_| digits)?;
        Some(Self { units, scale })
    }

    /// The units at a larger scale.
    fn at(self, scale: u32) -> Option<i64> {
        self.units.checked_mul(10i64.pow(scale - self.scale))
    }

    fn text(self) -> String {
        let sign = if self.units < 0 { "-" } else { "" };
        let digits = format!("{:0width$}", self.units.unsigned_abs(), width = self.scale as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.scale as usize);
        match fraction {
            "" => format!("{sign}{whole}"),
            _ => format!("{sign}{whole}.{fraction}"),
        }
    }
}

/// The values from `min` to `max`, each a `step` after the one before; without a step whole numbers.
///
/// # Errors
/// Exit 2: one is no number, the range is empty or too large, or the step is not above 0 or missing.
pub(crate) fn scanned(min: &str, max: &str, step: Option<&str>) -> Result<Vec<String>> {
    let wrong = |why: &str| Error::usage(format!("time: --parameter-scan {min} {max}: {why}"));
    let number = |text: &str| {
        Decimal::parse(text).ok_or_else(|| {
            wrong(&format!(
                "{text:?} is no number of at most {} decimals",
                Decimal::MOST_SCALE
            ))
        })
    };
    let (least, most) = (number(min)?, number(max)?);
    if step.is_none() && least.scale + most.scale > 0 {
        return Err(wrong(
            "between numbers with decimals the step is missing; give it by -D",
        ));
    }
    let step = number(step.unwrap_or("1"))?;
    let scale = least.scale.max(most.scale).max(step.scale);
    let too_large = || wrong("the numbers are too large");
    let [first, last, by] = [least, most, step].map(|d| d.at(scale).ok_or_else(too_large));
    let (first, last, by) = (first?, last?, by?);
    if by <= 0 {
        return Err(wrong("the step is not above 0"));
    }
    if last < first {
        return Err(wrong("the range is empty: the first number is the smaller one"));
    }
    if last.abs_diff(first) / by.unsigned_abs() >= MOST as u64 {
        return Err(wrong(&format!(
            "there are more than {MOST} values; give a larger step by -D"
        )));
    }
    // The first is as it was given, and the others have the decimals of the sum.
    let shown = least.scale.max(step.scale);
    let text = |units: i64| {
        Decimal {
            units: units / 10i64.pow(scale - shown),
            scale: shown,
        }
        .text()
    };
    let others = (first.saturating_add(by)..=last).step_by(by as usize).map(text);
    Ok(std::iter::once(least.text()).chain(others).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn every_combination_is_made_with_the_command_first() {
        let lists = [
            ("n".to_owned(), strings(&["1", "2"])),
            ("c".to_owned(), strings(&["a", "b"])),
        ];
        let made = all(&strings(&["x {n} {c}", "y {n}"]), &lists, &[]).unwrap();
        let shown: Vec<String> = made.iter().map(Named::shown).collect();
        assert_eq!(
            shown,
            [
                "x 1 a",
                "y 1 (c = a)",
                "x 2 a",
                "y 2 (c = a)",
                "x 1 b",
                "y 1 (c = b)",
                "x 2 b",
                "y 2 (c = b)"
            ]
        );
    }

    #[test]
    fn names_are_one_for_each_or_a_template() {
        let lists = [("v".to_owned(), strings(&["1", "2"]))];
        let named = |lists: &[(String, Vec<String>)], names: &[&str]| {
            let made = all(&strings(&["x {v}", "y"]), lists, &strings(names))?;
            Ok::<_, Error>(made.iter().map(Named::shown).collect::<Vec<_>>())
        };
        assert_eq!(named(&[], &["first"]).unwrap(), ["first", "y"]);
        assert_eq!(named(&lists, &["at {v}"]).unwrap(), ["at 1", "at 1", "at 2", "at 2"]);
        assert_eq!(
            named(&lists, &["a", "b", "c", "d"]).unwrap(),
            ["a (v = 1)", "b (v = 1)", "c (v = 2)", "d (v = 2)"]
        );
        for (lists, names) in [(&lists[..0], &["a", "b", "c"][..]), (&lists[..], &["a", "b"])] {
            assert!(named(lists, names).unwrap_err().message.contains("--command-name"));
        }
        let twice = [lists[0].clone(), lists[0].clone()];
        assert!(
            named(&twice, &[])
                .unwrap_err()
                .message
                .contains("parameter v is given twice")
        );
    }

    #[test]
    fn a_value_is_not_searched_for_names() {
        let made = all(
            &strings(&["echo {foo} {bar} {baz} {"]),
            &[
                ("foo".to_owned(), strings(&["{bar} x"])),
                ("bar".to_owned(), strings(&["y"])),
            ],
            &[],
        );
        assert_eq!(made.unwrap()[0].shown(), "echo {bar} x y {baz} {");
    }

    #[test]
    fn lists_have_commas_and_escapes() {
        assert_eq!(listed("foo,,bar"), ["foo", "", "bar"]);
        assert_eq!(listed(r"a\,b,c\\,\n"), ["a,b", r"c\", r"\n"]);
        assert_eq!(listed(""), [""]);
    }

    #[test]
    fn ranges_are_exact_decimals() {
        let scan = |min, max, step| scanned(min, max, step).map_err(|e| e.message);
        assert_eq!(scan("1", "7", Some("3")).unwrap(), ["1", "4", "7"]);
        assert_eq!(scan("0.3", "0.7", Some("0.2")).unwrap(), ["0.3", "0.5", "0.7"]);
        assert_eq!(scan("0", "1", Some("0.33")).unwrap(), ["0", "0.33", "0.66", "0.99"]);
        assert_eq!(scan("-1", "1", None).unwrap(), ["-1", "0", "1"]);
        assert_eq!(scan("-0.5", "0", Some("0.25")).unwrap(), ["-0.5", "-0.25", "0.00"]);
        for (min, max, step, says) in [
            ("0", "1.5", None, "by -D"),
            ("2", "1", None, "empty"),
            ("1", "2", Some("0"), "not above 0"),
            ("0", "1000000", None, "more than"),
            ("a", "2", None, "is no number"),
            ("0", "9223372036854775807", Some("0.5"), "too large"),
        ] {
            let error = scan(min, max, step).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
