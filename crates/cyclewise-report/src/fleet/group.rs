//! Groups of machines that are alike: the facts, the groups, and their labels.

use crate::error::{Error, Result};
use crate::record::fleet::Member;
use crate::record::fleet_report::Group;
use crate::record::letters;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What is written for a fact that a record does not have.
const UNKNOWN: &str = "unknown";

/// The longest value in a label, in characters.
const LONGEST: usize = 32;

#[derive(Clone, Copy)]
pub(super) struct Fact {
    pub name: &'static str,
    /// Its value; empty if the record does not have it.
    of: fn(&Member) -> String,
}

impl Fact {
    const fn new(name: &'static str, of: fn(&Member) -> String) -> Self {
        Self { name, of }
    }
}

/// All of them, in the order in which they are shown.
const FACTS: [Fact; 13] = [
    Fact::new("arch", |m| m.machine.arch.clone()),
    Fact::new("cpu-model", |m| m.machine.cpu_model.clone()),
    Fact::new("cpu-id", |m| m.machine.cpu_id.clone()),
    Fact::new("microcode", |m| {
        m.machine.identity.microcode.clone().unwrap_or_default()
    }),
    Fact::new("cpus", |m| m.machine.cpus.to_string()),
    Fact::new("kernel", |m| m.machine.kernel.clone()),
    Fact::new("hypervisor", |m| {
        m.machine.hypervisor_name().unwrap_or("none").to_owned()
    }),
    Fact::new(MITIGATIONS, mitigations),
    Fact::new("product", product),
    Fact::new("smt", |m| m.machine.smt.clone().unwrap_or_default()),
    Fact::new("governor", |m| m.machine.governor.clone().unwrap_or("none".to_owned())),
    Fact::new("clocksource", |m| m.machine.clocksource.clone()),
    Fact::new("version", version),
];

const MITIGATIONS: &str = "mitigations";

/// Between the entries of the mitigations: no vulnerability's text has it, since control characters are replaced.
const BETWEEN: char = '\u{1f}';

fn mitigations(m: &Member) -> String {
    let entries = m
        .machine
        .mitigations
        .iter()
        .map(|(name, value)| format!("{}={}", plain(name), plain(value)));
    entries.collect::<Vec<_>>().join(&BETWEEN.to_string())
}

/// The cloud's name of the machine's kind, else the firmware's.
fn product(m: &Member) -> String {
    let identity = &m.machine.identity;
    identity
        .instance_type
        .clone()
        .or_else(|| identity.product())
        .unwrap_or_default()
}

fn version(m: &Member) -> String {
    match &m.tool.commit {
        Some(commit) => format!("{} ({})", m.tool.version, commit.chars().take(9).collect::<String>()),
        None => m.tool.version.clone(),
    }
}

/// Text from a record in one line.
pub(super) fn plain(text: &str) -> String {
    text.replace(crate::error::is_control, " ").trim().to_owned()
}

/// The facts that `--by` names; all if it names none.
pub(super) fn facts(by: &[String]) -> Result<Vec<Fact>> {
    let unknown = by
        .iter()
        .find(|name| FACTS.iter().all(|fact| fact.name != name.as_str()));
    if let Some(name) = unknown {
        let known: Vec<&str> = FACTS.iter().map(|fact| fact.name).collect();
        let near = known
            .iter()
            .map(|fact| (strsim::jaro_winkler(fact, name), fact))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(likeness, _)| *likeness > 0.7);
        let nearest = near
            .map(|(_, fact)| format!("; the nearest is `{fact}`"))
            .unwrap_or_default();
        let text = format!(
            "--by: no fact is named `{name}`{nearest}; there are {}",
            known.join(", ")
        );
        return Err(Error::usage(text).in_one_line());
    }
    let chosen = FACTS
        .iter()
        .filter(|fact| by.is_empty() || by.iter().any(|name| name == fact.name));
    Ok(chosen.copied().collect())
}

pub(super) fn values(facts: &[Fact], member: &Member) -> Vec<String> {
    let value = |fact: &Fact| {
        let value = (fact.of)(member);
        // Mitigations are plain already, but for what is between them.
        let value = if fact.name == MITIGATIONS { value } else { plain(&value) };
        if value.is_empty() { UNKNOWN.to_owned() } else { value }
    };
    facts.iter().map(value).collect()
}

/// The groups of machines with these values of `facts`, the largest first, and the group of each machine.
pub(super) fn group(facts: &[Fact], machines: &[&[String]]) -> (Vec<Group>, Vec<usize>) {
    let mut sizes: BTreeMap<&[String], usize> = BTreeMap::new();
    for values in machines {
        *sizes.entry(values).or_default() += 1;
    }
    let mut order: Vec<(&[String], usize)> = sizes.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let places: BTreeMap<&[String], usize> = order.iter().enumerate().map(|(i, (values, _))| (*values, i)).collect();
    let keys: Vec<&[String]> = order.iter().map(|(values, _)| *values).collect();
    let shown = shown(facts, &keys);
    let labels = labels(facts, &shown);
    let groups = order.iter().enumerate().map(|(i, (_, machines))| Group {
        name: letters(i),
        facts: facts
            .iter()
            .zip(&shown[i])
            .map(|(fact, value)| (fact.name.to_owned(), value.clone()))
            .collect(),
        label: labels[i].clone(),
        machines: *machines,
    });
    (groups.collect(), machines.iter().map(|values| places[values]).collect())
}

/// The values as they are read: of mitigations only the entries in which the groups differ.
fn shown(facts: &[Fact], keys: &[&[String]]) -> Vec<Vec<String>> {
    let mut shown: Vec<Vec<String>> = keys.iter().map(|values| values.to_vec()).collect();
    let Some(place) = facts.iter().position(|fact| fact.name == MITIGATIONS) else {
        return shown;
    };
    let entries: Vec<BTreeSet<&str>> = keys
        .iter()
        .map(|values| values[place].split(BETWEEN).collect())
        .collect();
    let everywhere = entries
        .iter()
        .skip(1)
        .fold(entries.first().cloned().unwrap_or_default(), |all, some| &all & some);
    for (values, entries) in shown.iter_mut().zip(&entries) {
        let own: Vec<&str> = entries.difference(&everywhere).copied().collect();
        let alike = everywhere.len();
        values[place] = match own.as_slice() {
            [] if everywhere.contains(UNKNOWN) => UNKNOWN.to_owned(),
            [] => format!("{alike} alike"),
            own => own.join(", "),
        };
    }
    shown
}

/// Labels of the facts in which the groups differ; of one group, its CPU.
fn labels(facts: &[Fact], shown: &[Vec<String>]) -> Vec<String> {
    let differs = |place: usize| shown.iter().any(|values| values[place] != shown[0][place]);
    let mut places: Vec<usize> = (0..facts.len()).filter(|place| differs(*place)).collect();
    if places.is_empty() {
        places.extend(
            facts
                .iter()
                .position(|fact| fact.name == "cpu-model")
                .or((!facts.is_empty()).then_some(0)),
        );
    }
    // What tells most groups apart comes first: where there is little room, it is what remains.
    let distinct = |place: usize| shown.iter().map(|values| &values[place]).collect::<BTreeSet<_>>().len();
    places.sort_by_key(|place| Reverse(distinct(*place)));
    let tidied = |place: usize| shown.iter().map(move |values| tidy(facts[place].name, &values[place]));
    let shared: Vec<usize> = places
        .iter()
        .map(|place| shared(&tidied(*place).collect::<Vec<_>>()))
        .collect();
    let label = |values: &Vec<String>| {
        let parts = places.iter().zip(&shared);
        let parts = parts.map(|(place, shared)| brief(facts[*place].name, &values[*place], *shared));
        parts.collect::<Vec<_>>().join(", ")
    };
    let labels: Vec<String> = shown.iter().map(label).collect();
    // What was cut off may be all that told two groups apart.
    let whole = |values: &Vec<String>| {
        places
            .iter()
            .map(|place| values[*place].as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let twice = |label: &String| labels.iter().filter(|other| *other == label).count() > 1;
    labels
        .iter()
        .zip(shown)
        .map(|(label, values)| if twice(label) { whole(values) } else { label.clone() })
        .collect()
}

/// A fact without what says nothing.
fn tidy(fact: &str, value: &str) -> String {
    let value = match fact {
        "cpu-model" => value.replace("(R)", "").replace("(TM)", "").replace(" Processor", ""),
        _ => value.replace("Mitigation: ", ""),
    };
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many bytes all of these begin with, up to the end of a word.
fn shared(values: &[String]) -> usize {
    let Some((first, others)) = values.split_first() else {
        return 0;
    };
    let is_shared = |end: &usize| others.iter().all(|other| other.starts_with(&first[..*end]));
    let words = first.char_indices().filter(|(_, c)| !c.is_alphanumeric());
    let ends = words.map(|(at, c)| at + c.len_utf8());
    ends.take_while(is_shared)
        .last()
        .filter(|_| !others.is_empty())
        .unwrap_or(0)
}

/// A fact in a label: a number or an id with its name, a name alone. Of a long one what all begin with is left out, and then its end.
fn brief(fact: &str, value: &str, shared: usize) -> String {
    let mut short = tidy(fact, value);
    if short.chars().count() > LONGEST && shared > 0 {
        short.replace_range(..shared, "…");
    }
    if short.chars().count() > LONGEST {
        short = short.chars().take(LONGEST - 1).chain(['…']).collect();
    }
    match fact {
        "cpu-model" | "arch" | "product" | "clocksource" => short,
        "cpus" => format!("{short} CPUs"),
        "hypervisor" if short == "none" => "bare metal".to_owned(),
        "hypervisor" => short,
        _ => format!("{fact} {short}"),
    }
}

pub(super) fn differing(a: &Group, b: &Group) -> Vec<String> {
    let pairs = a.facts.iter().zip(&b.facts).filter(|(a, b)| a.1 != b.1);
    pairs.map(|(a, _)| a.0.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label_of(fact: &str, values: [&str; 2]) -> Vec<String> {
        let facts: Vec<Fact> = FACTS.into_iter().filter(|known| known.name == fact).collect();
        labels(&facts, &values.map(|value| vec![value.to_owned()]))
    }

    #[test]
    fn a_label_begins_with_what_tells_most_groups_apart() {
        let named = |name: &str| FACTS.into_iter().find(|fact| fact.name == name).unwrap();
        let groups = [["EPYC", "1"], ["EPYC", "2"], ["Xeon", "3"]].map(|values| values.map(str::to_owned).to_vec());
        let labels = labels(&["cpu-model", "microcode"].map(named), &groups);
        assert_eq!(labels, ["microcode 1, EPYC", "microcode 2, EPYC", "microcode 3, Xeon"]);
    }

    #[test]
    fn a_label_keeps_the_part_in_which_groups_differ() {
        let kernels = [
            "6.1.0-18-cloud-amd64-with-a-long-name-1",
            "6.1.0-18-cloud-amd64-with-a-long-name-2",
        ];
        assert_eq!(label_of("kernel", kernels), ["kernel …1", "kernel …2"]);
        let cpus = [
            "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
            "Intel(R) Xeon(R) Platinum 8490H CPU @ 1.90GHz",
        ];
        assert_eq!(
            label_of("cpu-model", cpus),
            ["…8481C CPU @ 2.70GHz", "…8490H CPU @ 1.90GHz"]
        );
        assert_eq!(
            label_of("kernel", ["6.1.0-18", "6.1.0-20"]),
            ["kernel 6.1.0-18", "kernel 6.1.0-20"]
        );
    }
}
