//! The combinations of features that are compiled.
//!
//! Not all subsets: a `cfg` of the library names one subject, or one and `std`. A subject that uses another without saying so
//! is found where it is alone, and an item that another's absence leaves unused where that one is left out.

use super::{Features, Implied};
use std::collections::BTreeSet;

/// Nothing; all; each feature alone; the default ones without each; all of it with `std` and without, where there is that.
pub(super) fn to_try(implied: &Implied) -> BTreeSet<Features> {
    let default = implied.get("default").cloned().unwrap_or_default();
    let names: Features = implied.keys().filter(|name| *name != "default").cloned().collect();
    let mut asked = vec![Features::new(), names.clone(), default.clone()];
    for name in &names {
        asked.push(Features::from([name.clone()]));
        // Whatever needs it is left out as well.
        let without = default
            .iter()
            .filter(|other| !closed(implied, &Features::from([(*other).clone()])).contains(name));
        asked.push(without.cloned().collect());
    }
    let mut combinations = BTreeSet::new();
    for mut features in asked {
        features.remove("std");
        combinations.insert(closed(implied, &features));
        features.extend(names.get("std").cloned());
        combinations.insert(closed(implied, &features));
    }
    combinations
}

/// These features and all that they turn on.
pub(super) fn closed(implied: &Implied, features: &Features) -> Features {
    let mut closed = features.clone();
    loop {
        let more: Features = closed
            .iter()
            .filter_map(|name| implied.get(name))
            .flatten()
            .cloned()
            .collect();
        let before = closed.len();
        closed.extend(more);
        if closed.len() == before {
            return closed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::joined;
    use super::*;

    fn implied(rows: &[(&str, &[&str])]) -> Implied {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        rows.iter()
            .map(|(name, names)| ((*name).to_owned(), set(names)))
            .collect()
    }

    #[test]
    fn each_is_alone_and_left_out() {
        let implied = implied(&[
            ("default", &["std", "lock", "refs", "clock"]),
            ("std", &[]),
            ("lock", &[]),
            ("refs", &["lock"]),
            ("clock", &[]),
            ("serde", &["refs"]),
            ("mask", &["std"]),
        ]);
        let found: Vec<_> = to_try(&implied).iter().map(joined).collect();
        let expected = "none clock clock,lock clock,lock,mask,refs,serde,std clock,lock,refs clock,lock,refs,std clock,lock,std clock,std \
                        lock lock,refs lock,refs,serde lock,refs,serde,std lock,refs,std lock,std mask,std std";
        assert_eq!(found.join(" "), expected.trim_start_matches("none"));
    }

    #[test]
    fn what_a_feature_turns_on_is_followed() {
        let implied = implied(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"])]);
        assert_eq!(joined(&closed(&implied, &Features::from(["b".to_owned()]))), "a,b,c");
    }
}
