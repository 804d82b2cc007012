//! What each variant is, in one line: what `cyclewise list NAME` prints.

/// By experiment in brackets: a variant's name, in which a star stands for any text, a colon, and what it is.
const TEXT: &str = include_str!("meanings.txt");

/// A variant's name, and what it is.
pub(crate) type Meaning = (&'static str, &'static str);

/// The variants of an experiment, in the order of its table. Where several names fit a variant, each says a part.
pub(crate) fn of_experiment(name: &str) -> Vec<Meaning> {
    let of_it = |line: &&str| line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) != Some(name);
    let lines = TEXT.lines().skip_while(of_it).skip(1);
    lines.map_while(|line| line.split_once(": ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::ALL;

    /// Whether the name, which may have stars in it, is the variant's.
    fn fits(name: &str, variant: &str) -> bool {
        match name.split_once('*') {
            None => name == variant,
            Some((start, rest)) => variant.strip_prefix(start).is_some_and(|tail| {
                let mut ends = tail.char_indices().map(|(i, _)| i).chain([tail.len()]);
                ends.any(|i| fits(rest, &tail[i..]))
            }),
        }
    }

    #[test]
    fn every_variant_has_a_line() {
        let mut without = Vec::new();
        for d in ALL {
            assert!(!of_experiment(d.name).is_empty(), "{}", d.name);
        }
        for found in crate::names_in_reports::names() {
            let meanings = of_experiment(found.definition.name);
            let names = found.rows.iter().chain(&found.missing);
            let unknown = names.filter(|name| !meanings.iter().any(|(m, _)| fits(m, name)));
            without.extend(unknown.map(|name| format!("{} {name}", found.definition.name)));
        }
        assert!(without.is_empty(), "{without:?}");
        assert!(of_experiment("no-such").is_empty());
    }

    /// A line whose name is misspelt explains nothing.
    #[test]
    fn every_line_is_of_a_variant() {
        let records = crate::names_in_reports::newest_records();
        let seen = |experiment: &str, name: &str| {
            let experiments = records.iter().flat_map(|record| &record.experiments);
            let of_it = experiments.filter(|e| e.name == experiment);
            of_it.flat_map(|e| &e.variants).any(|v| fits(name, &v.name))
        };
        let mut nobodys = Vec::new();
        for d in ALL.iter().filter(|d| !d.name.ends_with("-ring0")) {
            let names = of_experiment(d.name).into_iter().map(|(name, _)| name);
            let is_elsewhere = |name: &str| ELSEWHERE.split(' ').any(|there| there == name);
            nobodys.extend(names.filter(|name| !seen(d.name, name) && !is_elsewhere(name)));
        }
        assert!(nobodys.is_empty(), "{nobodys:?}");
    }

    /// Of which these records have no variant: other architectures', younger ones, those of long runs, and cells of a matrix.
    const ELSEWHERE: &str = "*-elided *-home-* */* again/* alone/* c-* c-*-elided c-*-locked c-lock-inc c-object-elided \
         c-object-locked c-refcount* c11-* c11-atomic* c11-inc c11-object cntvct cycle-t* isb-cntvct lkdtm-* \
         ll-sc-t* lock-*-t* pause quanta-raw yield isb sevl sevl-wfe portable-add store-and-add";

    #[test]
    fn a_star_is_any_text() {
        assert!(fits("*-64", "tls-64") && fits("c-*-locked", "c-inc-locked") && fits("*", "x") && fits("a", "a"));
        assert!(fits("*-*", "xchg8-mov8") && !fits("*-*", "adds30"));
        assert!(!fits("*-64", "tls") && !fits("ab*ba", "aba") && !fits("a", "ab"));
    }
}
