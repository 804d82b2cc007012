//! Why a comparison has the verdict that it has.

sentences! {
    /// Why a comparison has the verdict that it has; one sentence part in the JSON.
    Reason {
        /// A row's time is not linear in its copies, so that its slope is no cost.
        NotLinear, not_linear = "not linear",
    }
}

impl Reason {
    /// Whether a slope is no cost, so that there is no ratio to show.
    pub fn is_no_cost(&self) -> bool {
        matches!(self, Self::NotLinear(_))
    }

    /// This reason and one more.
    pub fn and(mut self, more: &str) -> Self {
        let text = self.text_mut();
        text.push_str("; ");
        text.push_str(more);
        self
    }

    /// What follows the kind: `faster at 4 copies, slower at 8` of `not linear: faster at 4 copies, slower at 8`.
    pub fn detail(&self) -> &str {
        match self {
            Self::NotLinear(text) => text.split_once(": ").map_or(text, |(_, detail)| detail),
            Self::Other(text) => text,
        }
    }

    /// What it begins with, without the figures: `too few rounds`.
    pub fn in_short(&self) -> &str {
        self.split_once(": ").map_or(self, |(short, _)| short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same_reason() {
        let bent = Reason::not_linear(": a has no constant cost");
        let few = Reason::Other("too few rounds: 4".to_owned());
        assert_eq!(
            (bent.detail(), few.detail()),
            ("a has no constant cost", "too few rounds: 4")
        );
        for (reason, no_cost, short) in [(bent, true, "not linear"), (few, false, "too few rounds")] {
            let reason = reason.and("seen in 2 of 3 runs");
            let text = serde_json::to_string(&reason).unwrap();
            assert_eq!(serde_json::from_str::<Reason>(&text).unwrap(), reason);
            assert_eq!((reason.is_no_cost(), reason.in_short()), (no_cost, short));
            assert!(text.ends_with("; seen in 2 of 3 runs\""), "{text}");
        }
    }
}
