//! Names of system calls.
//!
//! # References
//! The tables are those of Linux 6.16: `arch/x86/entry/syscalls/syscall_64.tbl` and `scripts/syscall.tbl` for AArch64.

use crate::counts::Arch;

/// Numbers and names, a line each.
const X86_64: &str = include_str!("../../tables/system_calls_x86_64.txt");
const AARCH64: &str = include_str!("../../tables/system_calls_aarch64.txt");

/// The name of a system call, or `#N` of one that is not in the table.
pub(super) fn name(arch: Arch, number: u32) -> String {
    let table = match arch {
        Arch::X86_64 => X86_64,
        Arch::Aarch64 => AARCH64,
    };
    let numbered = table.lines().filter_map(|line| line.split_once(' '));
    let mut found = numbered.filter(|(n, _)| n.parse() == Ok(number));
    found
        .next()
        .map_or_else(|| format!("#{number}"), |(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_names_of_each_architecture() {
        assert_eq!(name(Arch::X86_64, 0), "read");
        assert_eq!(name(Arch::X86_64, 202), "futex");
        assert_eq!(name(Arch::X86_64, 435), "clone3");
        assert_eq!(name(Arch::Aarch64, 98), "futex");
        assert_eq!(name(Arch::Aarch64, 63), "read");
        assert_eq!(name(Arch::Aarch64, 222), "mmap");
        assert_eq!(name(Arch::Aarch64, 462), "mseal");
        assert_eq!(name(Arch::X86_64, 9999), "#9999");
    }

    #[test]
    fn no_number_is_twice_in_a_table() {
        for table in [X86_64, AARCH64] {
            let mut numbers: Vec<u32> = table
                .lines()
                .map(|l| l.split_once(' ').unwrap().0.parse().unwrap())
                .collect();
            let all = numbers.len();
            assert!(all > 300, "{all}");
            numbers.dedup();
            assert_eq!(numbers.len(), all);
            assert!(numbers.is_sorted());
        }
    }
}
