//! One comparison in words: its verdict with the figures that the verdict rests on.

use super::lengths::{Ratio, of_lengths, times_of_range};
use crate::number::{self, NONE, brief, interval, significant};
#[cfg(feature = "commands")]
use crate::record::compare::CompareRow;
use crate::record::{Comparison, Paired, Reason, State, Unit, Verdict, bounds};

/// A ratio from here on is "1.20 times", below it is a percentage.
const TIMES_FROM: f64 = 1.2;
/// A ratio below it is told the other way round.
const TURNED_BELOW: f64 = 0.1;

/// The result of a comparison of `a` with `b`, before it is put in words.
pub struct Finding<'a> {
    /// The first.
    pub a: &'a str,
    pub b: &'a str,
    /// Whether a larger value is the faster one.
    pub more_is_faster: bool,
    pub verdict: Verdict,
    /// Why there is none.
    pub reason: Option<&'a Reason>,
    /// The state of the neighbour that it is about.
    pub state: State,
    /// The ratio of a to b; of rows compared in loops of each length, the one nearest to 1.
    pub ratio: f64,
    /// Its 95 % interval; of rows compared at each length, from the least bound to the greatest.
    pub ci95: [f64; 2],
    /// The least and the greatest ratio over the lengths, where these are compared.
    range: Option<[Ratio; 2]>,
    /// The ratio in words and the verdict in the other states of the neighbour.
    others: Vec<(State, String, Verdict)>,
    /// The first test that does not show a difference.
    unmet: Option<String>,
}

impl<'a> Finding<'a> {
    /// The finding of a record's comparison.
    pub fn of_comparison(c: &'a Comparison, unit: Unit) -> Self {
        let at = of_lengths(&c.ratios_at_lengths());
        let (ratio, ci95) = match at {
            Some((nearest, _)) => nearest,
            None => {
                let (ratio, ci95) = c.ratio_of();
                (ratio, bounds(ci95))
            }
        };
        let in_state = |s: &Paired| {
            let at: Vec<_> = c
                .at_lengths(s.state)
                .into_iter()
                .map(|(n, p)| (n, p.ratio, p.ratio_ci95))
                .collect();
            of_lengths(&at).map_or_else(
                || times(s.ratio, bounds(s.ratio_ci95)),
                |(_, range)| times_of_range(range),
            )
        };
        Finding {
            a: &c.a,
            b: &c.b,
            more_is_faster: unit.more_is_faster(),
            verdict: c.verdict,
            reason: c.reason.as_ref(),
            state: c.paired().state,
            ratio,
            ci95,
            range: at.map(|(_, range)| range),
            // What both states share says nothing about either.
            others: c
                .states
                .iter()
                .filter(|s| s.state != State::Mixed)
                .map(|s| (s.state, in_state(s), s.verdict))
                .collect(),
            unmet: c
                .tests
                .iter()
                .find(|t| !t.passed)
                .map(|t| format!("{}: {}", t.name.replace('-', " "), t.seen)),
        }
    }

    /// The finding of one variant in two records, which are called `a` and `b`.
    #[cfg(feature = "commands")]
    pub fn between(row: &'a CompareRow, unit: Unit, a: &'a str, b: &'a str) -> Self {
        let at: Vec<_> = row
            .lengths
            .iter()
            .map(|at| (at.copies, at.ratio, at.ratio_ci95))
            .collect();
        Finding {
            a,
            b,
            more_is_faster: unit.more_is_faster(),
            verdict: row.verdict,
            reason: row.reason.as_ref(),
            state: row.basis.state,
            ratio: row.ratio,
            ci95: bounds(row.ratio_ci95),
            range: of_lengths(&at).map(|(_, range)| range),
            others: Vec::new(),
            unmet: None,
        }
    }

    /// Whether loops of each length are compared, because a slope is no cost.
    pub fn is_by_length(&self) -> bool {
        self.range.is_some()
    }

    /// Whether the difference of two slopes is one of costs.
    pub fn has_difference(&self) -> bool {
        !self.is_by_length() && self.has_ratio()
    }

    /// Whether there is a ratio to show: slopes that are no costs have none.
    fn has_ratio(&self) -> bool {
        let is_cost = self.verdict != Verdict::None || !self.reason.is_some_and(Reason::is_no_cost);
        (is_cost || self.is_by_length()) && self.ratio.is_finite() && self.ratio != 0.0
    }

    /// The ratio: `1.26×`, the least and the greatest over lengths, or a dash.
    pub fn times(&self) -> String {
        match self.range {
            _ if !self.has_ratio() => NONE.to_owned(),
            Some(range) => times_of_range(range),
            None => times(self.ratio, self.ci95),
        }
    }

    /// The interval of the ratio: `1.25–1.27`, or a dash.
    pub fn interval(&self) -> String {
        if self.has_ratio() {
            interval(self.ratio, self.ci95)
        } else {
            NONE.to_owned()
        }
    }

    /// The verdict in words, with what it takes to understand it.
    pub fn verdict(&self) -> String {
        let word = self.verdict.in_words();
        match (self.verdict, self.reason) {
            (Verdict::Faster | Verdict::Slower, _) => {
                let by_length = self.is_by_length().then(|| "at every length".to_owned());
                within(word, [by_length, self.otherwise()])
            }
            (Verdict::Same, reason) => within(word, [reason.map(Reason::to_string), self.otherwise()]),
            (Verdict::Undecided, reason) => {
                let seen = Some(self.interval()).filter(|shown| shown != NONE && !self.is_by_length());
                let more = self.unmet().map(|test| format!("not met: {test}")).or(self.otherwise());
                within(word, [seen.or(reason.map(Reason::to_string)), more])
            }
            (Verdict::None, Some(reason)) => format!("{word}: {reason}"),
            (Verdict::None, None) => word.to_owned(),
            (Verdict::Depends, _) => format!("{word}: {}", self.by_state()),
        }
    }

    /// As [`Finding::verdict`], of a reason only what it begins with: `not linear`, without the figures that follow.
    pub fn verdict_in_short(&self) -> String {
        match (self.verdict, self.reason.map(Reason::in_short)) {
            (Verdict::None, Some(reason)) => format!("{}: {reason}", self.verdict.in_words()),
            _ => self.verdict(),
        }
    }

    /// As [`Finding::verdict`], for a table that has the interval in a column.
    pub fn verdict_alone(&self) -> String {
        match self.verdict {
            Verdict::Undecided if !self.is_by_length() => {
                let unmet = self.unmet().map(|test| format!("not met: {test}"));
                within(self.verdict.in_words(), [unmet, self.otherwise()])
            }
            _ => self.verdict(),
        }
    }

    /// The test that is not met where the interval alone would show a difference.
    fn unmet(&self) -> Option<&str> {
        let excludes_1 = self.ci95[0] > 1.0 || self.ci95[1] < 1.0;
        self.unmet.as_deref().filter(|_| excludes_1 && !self.is_by_length())
    }

    /// What a state says that does not say the same as the headline: `busy: 1.01×, undecided`.
    fn otherwise(&self) -> Option<String> {
        let (state, ratio, verdict) = self.others.iter().find(|(.., verdict)| *verdict != self.verdict)?;
        // Records of older versions, and states with too few rounds, have no verdict of the state.
        let known = *verdict != Verdict::None && self.reason.is_some();
        known.then(|| format!("{}: {ratio}, {}", state.as_str(), verdict.in_words()))
    }

    /// The ratio in each state: `0.22× quiet, 1.30× busy`.
    fn by_state(&self) -> String {
        let headline = (self.state, self.times());
        let others = self.others.iter().map(|(s, ratio, _)| (*s, ratio.clone()));
        let all = std::iter::once(headline).chain(others);
        let parts: Vec<String> = all.map(|(s, ratio)| format!("{ratio} {}", s.as_str())).collect();
        parts.join(", ")
    }

    pub fn sentence(&self) -> String {
        let Finding { a, b, .. } = self;
        let of_what = if self.more_is_faster { "the rate" } else { "the time" };
        let ratio = match self.times() {
            none if none == NONE => String::new(),
            shown => format!(": {shown} {of_what} (95\u{a0}% {})", self.interval()),
        };
        let reason = |before: &str| self.reason.map_or(String::new(), |r| format!("{before}{r}"));
        let otherwise = self.otherwise().map_or(String::new(), |o| format!("; {o}"));
        match self.verdict {
            Verdict::Faster | Verdict::Slower => {
                format!("{a} is {} than {b}{ratio}{otherwise}.", self.verdict.as_str())
            }
            Verdict::Same => format!("{a} and {b} are the same{}{ratio}{otherwise}.", reason(", ")),
            Verdict::Undecided => {
                let why = match self.unmet() {
                    Some(test) => format!("; not met: {test}"),
                    None if self.is_by_length() => reason("; "),
                    None => String::new(),
                };
                format!("{a} against {b} is undecided{ratio}{why}{otherwise}.")
            }
            Verdict::None => format!(
                "{a} against {b} has no verdict{}{}.",
                reason(": "),
                ratio.replacen(':', ";", 1)
            ),
            Verdict::Depends => format!("{a} against {b} depends on the neighbour: {}.", self.by_state()),
        }
    }

    /// What `a` costs more than `b`, as the object of "costs": `7 %`, `1.3 times`, `nothing`; `None` without a verdict that
    /// says so.
    pub fn cost(&self) -> Option<String> {
        match self.verdict {
            Verdict::Slower if self.is_by_length() => Some(format!("{} times", self.times().trim_end_matches('×'))),
            Verdict::Slower if self.ratio < TIMES_FROM => Some(percent_of(self.ratio - 1.0, self.ci95)),
            Verdict::Slower => Some(format!("{} times", brief(self.ratio, self.ci95))),
            Verdict::Faster => Some(format!("less than nothing ({})", self.times())),
            Verdict::Same => Some(within(
                "nothing",
                [self.reason.map(Reason::to_string), self.otherwise()],
            )),
            Verdict::Undecided | Verdict::None | Verdict::Depends => None,
        }
    }

    /// Describes `a`'s time relative to `b`'s: `the clock takes 0.82× the time of std's`, or the verdict where
    /// that is not a claim.
    pub fn takes(&self, what: &str, whose: &str) -> String {
        match self.verdict {
            Verdict::Faster | Verdict::Slower => format!("{what} takes {} the time of {whose}", self.times()),
            Verdict::Same => {
                let as_long = format!("{what} takes as long as {whose}");
                within(&as_long, [self.reason.map(Reason::to_string), self.otherwise()])
            }
            _ => format!("{what} against {whose}: {}", self.verdict_in_short()),
        }
    }

    /// The ratio as a sentence: `lock takes 18.0× the time of ds`. A small ratio is turned round, since nobody reads 0.00127 as
    /// 790.
    pub fn relation(&self) -> String {
        let (verb, what) = if self.more_is_faster {
            ("has", "rate")
        } else {
            ("takes", "time")
        };
        let turned = self.ratio > 0.0 && self.ratio < TURNED_BELOW && !self.is_by_length();
        let (a, b, shown) = if turned {
            let [low, high] = self.ci95.map(|bound| if bound > 0.0 { 1.0 / bound } else { f64::NAN });
            (self.b, self.a, times(1.0 / self.ratio, [high, low]))
        } else {
            (self.a, self.b, self.times())
        };
        format!("{a} {verb} {shown} the {what} of {b}")
    }
}

fn within(word: &str, said: [Option<String>; 2]) -> String {
    let said: Vec<String> = said.into_iter().flatten().collect();
    if said.is_empty() {
        word.to_owned()
    } else {
        format!("{word} ({})", said.join("; "))
    }
}

/// A ratio: `20.1×`, or a dash.
fn times(ratio: f64, ci: [f64; 2]) -> String {
    match number::ratio(ratio, ci) {
        none if none == NONE => none,
        shown => format!("{shown}×"),
    }
}

/// A share as a percentage, with at most two digits and none that the interval of the ratio does not support.
fn percent_of(share: f64, ratio_ci: [f64; 2]) -> String {
    let by_interval = brief(100.0 * share, ratio_ci.map(|bound| 100.0 * (bound - 1.0)));
    let two_digits = significant(100.0 * share, 2);
    let shorter = if by_interval.len() < two_digits.len() {
        by_interval
    } else {
        two_digits
    };
    format!("{shorter}\u{a0}%")
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{comparison, said};
    use super::*;
    use crate::record::Test;

    #[test]
    fn an_interval_that_excludes_1_is_undecided_by_a_test_that_is_named() {
        let mut c = comparison(Verdict::Undecided, 0.92, [0.867, 0.937]);
        let floor = Test {
            name: "noise-floor".to_owned(),
            seen: "8.00 % against a floor of 9.20 %".to_owned(),
            passed: false,
        };
        c.tests = vec![floor];
        let words = "not met: noise floor: 8.00 % against a floor of 9.20 %";
        let said = Finding::of_comparison(&c, Unit::Seconds);
        assert_eq!(said.verdict(), format!("undecided (0.867–0.937; {words})"));
        assert_eq!(said.verdict_alone(), format!("undecided ({words})"));
        assert!(said.sentence().ends_with(&format!("; {words}.")), "{}", said.sentence());
        // The twin: an interval with 1 in it says it alone.
        let mut twin = comparison(Verdict::Undecided, 0.98, [0.93, 1.02]);
        twin.tests = c.tests;
        assert_eq!(
            Finding::of_comparison(&twin, Unit::Seconds).verdict(),
            "undecided (0.930–1.020)"
        );
    }

    #[test]
    fn each_verdict_has_its_words() {
        let slower = comparison(Verdict::Slower, 1.3012, [1.29, 1.312]);
        assert_eq!(
            said(&slower),
            [
                "1.30× ds: slower",
                "lock is slower than ds: 1.30× the time (95\u{a0}% 1.290–1.312).",
                "1.30 times"
            ]
        );
        let mut same = comparison(Verdict::Same, 1.0012, [0.999, 1.004]);
        same.reason = Some(Reason::Other("within 1 %".to_owned()));
        assert_eq!(
            said(&same),
            [
                "1.0012× ds: same (within 1 %)",
                "lock and ds are the same, within 1 %: 1.0012× the time (95\u{a0}% 0.9990–1.0040).",
                "nothing (within 1 %)"
            ]
        );
        let undecided = comparison(Verdict::Undecided, 1.02, [0.93, 1.12]);
        assert_eq!(
            said(&undecided),
            [
                "1.020× ds: undecided (0.930–1.120)",
                "lock against ds is undecided: 1.020× the time (95\u{a0}% 0.930–1.120).",
                "no cost"
            ]
        );
        let mut none = comparison(Verdict::None, 17.6, [17.0, 18.0]);
        none.reason = Some(Reason::not_linear(""));
        let long = Comparison {
            reason: Some(Reason::not_linear(": a copy adds 0.85 ticks and then 0.79")),
            ..none.clone()
        };
        assert_eq!(
            Finding::of_comparison(&long, Unit::TicksPerOp).verdict_in_short(),
            "no verdict: not linear"
        );
        assert_eq!(
            said(&none),
            [
                "— ds: no verdict: not linear",
                "lock against ds has no verdict: not linear.",
                "no cost"
            ]
        );
    }

    #[test]
    fn what_depends_on_the_neighbour_shows_both_states() {
        let mut c = comparison(Verdict::Depends, 0.221, [0.21, 0.23]);
        c.states = vec![Paired {
            state: State::Busy,
            ratio: 1.3,
            ratio_ci95: [Some(1.2), Some(1.4)],
            ..Paired::default()
        }];
        assert_eq!(
            said(&c)[0],
            "0.221× ds: depends on the neighbour: 0.221× quiet, 1.30× busy"
        );
    }

    #[test]
    fn a_claim_says_where_the_busy_state_does_not_share_it() {
        let mut c = comparison(Verdict::Slower, 1.3, [1.29, 1.31]);
        c.reason = Some(Reason::Other(
            "undecided while the neighbour is busy: ratio 1.010, 90 rounds".to_owned(),
        ));
        c.states = vec![Paired {
            state: State::Busy,
            ratio: 1.01,
            ratio_ci95: [Some(0.9), Some(1.1)],
            verdict: Verdict::Undecided,
            ..Paired::default()
        }];
        assert_eq!(said(&c)[0], "1.30× ds: slower (busy: 1.01×, undecided)");
        // The twin: a busy state that agrees is not mentioned.
        c.states[0].verdict = Verdict::Slower;
        assert_eq!(said(&c)[0], "1.30× ds: slower");
    }

    #[test]
    fn same_and_undecided_say_what_the_busy_state_says() {
        let busy = Paired {
            state: State::Busy,
            ratio: 1.3,
            ratio_ci95: [Some(1.29), Some(1.31)],
            verdict: Verdict::Slower,
            ..Paired::default()
        };
        let mut same = comparison(Verdict::Same, 1.1, [1.0, 1.16]);
        same.reason = Some(Reason::Other("within 17 %".to_owned()));
        same.states = vec![busy.clone()];
        let said_of = said(&same);
        assert_eq!(said_of[2], "nothing (within 17 %; busy: 1.30×, slower)");
        assert!(said_of[1].ends_with("; busy: 1.30×, slower."), "{said_of:?}");
        let takes = |c: &Comparison| Finding::of_comparison(c, Unit::TicksPerOp).takes("a", "b");
        assert_eq!(takes(&same), "a takes as long as b (within 17 %; busy: 1.30×, slower)");
        let mut undecided = comparison(Verdict::Undecided, 1.1, [0.9, 1.3]);
        undecided.reason = Some(Reason::Other("none is shown".to_owned()));
        undecided.states = vec![busy];
        assert_says!(said(&undecided)[0], "; busy: 1.30×, slower)");
        // The twin: without the other state it is not mentioned.
        undecided.states.clear();
        assert_lacks!(said(&undecided)[0], "busy");
    }

    #[test]
    fn too_few_rounds_hide_no_factor_of_ten() {
        let mut few = comparison(Verdict::None, 9.7, [9.0, 10.4]);
        few.reason = Some(Reason::Other("too few rounds: 4".to_owned()));
        let said_of = said(&few);
        assert!(said_of[0].starts_with("9.7"), "{said_of:?}");
        assert_says!(said_of[1], "; 9.7");
        // The twin: a slope that is no cost shows nothing.
        few.reason = Some(Reason::not_linear(": 1, 5, 5"));
        assert!(said(&few).iter().all(|s| !s.contains("9.7")));
    }

    #[test]
    fn a_ratio_says_of_what_and_a_small_one_is_turned_round() {
        let relation = |c: &Comparison, unit| Finding::of_comparison(c, unit).relation();
        let slower = comparison(Verdict::Slower, 18.0, [17.9, 18.1]);
        assert_eq!(relation(&slower, Unit::TicksPerOp), "lock takes 18.0× the time of ds");
        let faster = comparison(Verdict::Faster, 0.00125, [0.00124, 0.00126]);
        assert_eq!(relation(&faster, Unit::TicksPerOp), "ds takes 800× the time of lock");
        assert_eq!(relation(&faster, Unit::OpsPerSecond), "ds has 800× the rate of lock");
        let unbounded = comparison(Verdict::Faster, 0.05, [f64::MIN, 0.06]);
        assert_eq!(
            relation(&unbounded, Unit::TicksPerOp),
            "ds takes 20.0× the time of lock"
        );
        let near = comparison(Verdict::Faster, 0.5, [0.49, 0.51]);
        assert_eq!(relation(&near, Unit::TicksPerOp), "lock takes 0.500× the time of ds");
    }

    #[test]
    fn a_small_cost_is_a_percentage_of_the_digits_that_its_interval_has() {
        let cost = |r, ci| said(&comparison(Verdict::Slower, r, ci))[2].clone();
        assert_eq!(cost(1.0697, [1.0689, 1.0705]), "7.0\u{a0}%");
        assert_eq!(cost(1.12, [1.02, 1.22]), "12\u{a0}%");
        assert_eq!(cost(6.7, [6.2, 7.3]), "6.70 times");
    }
}
