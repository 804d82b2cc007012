//! Columns of the lab's matrix: kinds of code, and which of them the code around a site is.
//!
//! A column stands for one kind of code. The code's instructions do not tell whether they wait for each other, but the
//! program's speed does ([`waiting`]): of each kind there are columns whose instructions wait and columns whose do not.

use super::costs::Costs;
use crate::profile::Mix;

/// Kinds of instructions around a site.
pub(super) const KINDS: usize = 4;

/// The columns of a kind of code.
pub(super) struct Columns {
    /// Instructions that do not wait for each other.
    pub(super) free: &'static str,
    /// Those that wait for each other or for a branch, but not for loads.
    pub(super) waiting: Option<&'static str>,
    /// Whether they may wait for loads as well, as the chain of loads does.
    pub(super) for_loads: bool,
}

/// The column of loads that wait for each other.
pub(super) const CHAIN: &str = "load-chain-8";

/// The kinds, in the order of [`shares`].
///
/// A branch that is predicted costs what arithmetic costs. Misses of caches are left out: on a guest their cells seldom tell
/// anything, and a program that misses is slow, which counts.
pub(super) const COLUMNS: [Columns; KINDS] = [
    Columns {
        free: "adds-4x30",
        waiting: Some("adds-30"),
        for_loads: true,
    },
    Columns {
        free: "loads-32",
        waiting: None,
        for_loads: true,
    },
    Columns {
        free: "stores-16",
        waiting: Some("load-add-store-8"),
        for_loads: true,
    },
    Columns {
        free: "adds-4x30",
        waiting: Some("mispredict"),
        for_loads: false,
    },
];

/// How probable it is that waiting arithmetic, or a store of its result, waits for a load: in proportion to the loads, of which
/// one serves four other instructions. The four is a guess.
pub(super) fn waits_for_loads(shares: &[f64; KINDS]) -> f64 {
    let [arithmetic, loads, stores, _] = shares;
    loads / (loads + (arithmetic + stores) / 4.0).max(f64::MIN_POSITIVE)
}

/// Columns whose time is that of the instructions' number, what they have most of, and how many: all instructions, loads, stores.
const THROUGHPUT: [(&str, f64); 3] = [("adds-4x30", 120.0), ("loads-32", 32.0), ("stores-16", 16.0)];
/// Code that needs less than the first times what it would need at least if nothing waited does not wait for a path of
/// dependent instructions, and with more than the second it does: then a delay of that path delays all.
///
/// From 24 random loops on Zen 3, made as those of `truth` are, but others: of nine below 1.2 none paid a tenth of a chain's
/// price, of fourteen above 1.35 all paid a third or more.
const WAITING: [f64; 2] = [1.15, 1.4];

/// How probable it is that code of these shares waits for a path of dependent instructions, if it needs so many ticks an
/// instruction.
///
/// What it would need at least is what the busiest of three resources needs: the width of the core, and the ports of loads
/// and of stores.
pub(super) fn waiting(costs: &Costs, shares: &[f64; KINDS], ticks: f64) -> f64 {
    let demands = [1.0, shares[1], shares[2]];
    let least = THROUGHPUT.iter().zip(demands).map(|((name, instructions), demand)| {
        let column = costs.surroundings.iter().find(|s| s.name == *name);
        column.map_or(0.0, |column| demand * column.own_ticks / instructions)
    });
    let least = least.fold(0.0, f64::max);
    if least == 0.0 {
        return 1.0;
    }
    ((ticks / least - WAITING[0]) / (WAITING[1] - WAITING[0])).clamp(0.0, 1.0)
}

/// The mix of ordinary compiled code, where that around a site is not known: about a quarter loads, a tenth stores, a
/// sixth branches (A. Limaye and T. Adegbija, ISPASS 2018, on SPEC CPU2017), rounded.
const ORDINARY: [f64; KINDS] = [0.48, 0.25, 0.11, 0.16];

pub(super) fn shares(mix: &Mix) -> [f64; KINDS] {
    let counts = [mix.arithmetic, mix.loads, mix.stores, mix.branches].map(f64::from);
    let sum: f64 = counts.iter().sum();
    if sum == 0.0 { ORDINARY } else { counts.map(|n| n / sum) }
}

#[cfg(test)]
mod tests {
    use super::{shares, waiting, waits_for_loads};
    use crate::profile::Mix;

    #[test]
    fn fast_code_does_not_wait_and_slow_code_does() {
        let costs = crate::forecast::truth::truths()[0].costs.clone();
        let ordinary = shares(&Mix::default());
        // Four instructions a cycle are 0.2 ticks each.
        let [fast, between, slow] = [0.2, 0.255, 0.5].map(|ticks| waiting(&costs, &ordinary, ticks));
        assert!(
            fast == 0.0 && slow == 1.0 && (0.2..0.8).contains(&between),
            "{fast} {between} {slow}"
        );
        let stores = Mix {
            stores: 10,
            ..Mix::default()
        };
        assert_eq!(waiting(&costs, &shares(&stores), 0.8), 0.0, "its port is busy");
    }

    #[test]
    fn without_loads_nothing_waits_for_them() {
        assert_eq!(waits_for_loads(&[1.0, 0.0, 0.0, 0.0]), 0.0);
        assert_eq!(waits_for_loads(&[0.0, 1.0, 0.0, 0.0]), 1.0);
        assert!((0.4..0.8).contains(&waits_for_loads(&shares(&Mix::default()))));
    }
}
