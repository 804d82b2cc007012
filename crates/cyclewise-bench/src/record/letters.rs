//! Short names for the records of a comparison and the groups of a fleet.

/// The name of the one at `index`: A to Z, then AA, AB and so on, as the columns of a spreadsheet.
pub fn letters(index: usize) -> String {
    let mut name = Vec::new();
    let mut rest = Some(index);
    while let Some(i) = rest {
        name.push(char::from(b'A' + (i % 26) as u8));
        rest = (i / 26).checked_sub(1);
    }
    name.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn names_go_on_after_z_and_none_is_given_twice() {
        let of = [0, 25, 26, 51, 52, 701, 702].map(letters);
        assert_eq!(of, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
        let mut all: Vec<String> = (0..20_000).map(letters).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 20_000);
    }
}
