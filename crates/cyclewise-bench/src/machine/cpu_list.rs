//! The kernel's list format for CPUs and nodes: `0-3,8,10-11`.

/// The most CPUs in a list: the largest NR_CPUS of any architecture. Bounds the cost of a broken file.
const MOST: u32 = 8192;

/// Parses a list; `None` if it is malformed. An empty list gives an empty vector.
pub(super) fn parse(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|p| !p.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        // Ranges may overlap in a broken file, but not come to more than all CPUs.
        if first > last || last >= MOST || cpus.len() >= MOST as usize {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_cpus() {
        assert_eq!(parse("0-2,5,7-8\n"), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(parse("3"), Some(vec![3]));
        assert_eq!(parse("4,0-1,1"), Some(vec![0, 1, 4]));
        assert_eq!(parse(""), Some(vec![]));
    }

    #[test]
    fn malformed_lists_are_none() {
        for text in ["x", "1-", "3-1", "0-99999999", "(null)"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"0-8191,".repeat(600)), None);
    }
}
