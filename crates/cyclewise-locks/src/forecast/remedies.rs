//! Which executions each remedy makes cheaper, and what has to hold in the program.

use super::estimate::HotSite;
use super::outcome::Remedy;
use super::rows::Twin;
use crate::counts::Arch;
use crate::profile::{Class, Form, Operation, Profile, SiteProfile};

/// A remedy in a profile.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Applied {
    /// The remedy.
    pub(super) remedy: Remedy,
    /// What is executed in place of the locked instructions.
    pub(super) twin: Twin,
    /// Indexes of the sites.
    pub(super) sites: Vec<usize>,
    /// The executions that it makes cheaper for certain.
    pub(super) certain: Vec<HotSite>,
    /// Those of which it is not known whether it would.
    pub(super) perhaps: Vec<HotSite>,
    /// What has to hold.
    pub(super) condition: String,
}

/// Sites that make this share of all counting are the hottest.
const HOTTEST: f64 = 0.9;

/// Every remedy, whether or not it applies anywhere.
pub(super) fn all(profile: &Profile) -> Vec<Applied> {
    let remedies = [
        Remedy::SingleMode,
        Remedy::PlainCounts,
        Remedy::PerCpuCounter,
        Remedy::FewerClones,
        Remedy::NoLock,
    ];
    let hottest = hottest_counts(profile);
    remedies.map(|remedy| apply(profile, remedy, &hottest)).into()
}

fn apply(profile: &Profile, remedy: Remedy, hottest: &[usize]) -> Applied {
    let mut applied = Applied {
        remedy,
        twin: match remedy {
            Remedy::PerCpuCounter => Twin::PerCpu,
            Remedy::FewerClones => Twin::Absent,
            _ => Twin::Plain,
        },
        sites: Vec::new(),
        certain: Vec::new(),
        perhaps: Vec::new(),
        condition: condition(remedy, profile.arch).into(),
    };
    for (at, site) in profile
        .sites
        .iter()
        .enumerate()
        .filter(|(_, site)| site.form != Form::Fence)
    {
        let [certain, perhaps] = match remedy {
            Remedy::FewerClones if hottest.contains(&at) => [site.executed as f64 / 2.0, 0.0],
            Remedy::FewerClones => [0.0; 2],
            _ => executions(profile.arch, remedy, site),
        };
        if certain + perhaps > 0.0 {
            applied.sites.push(at);
            applied.certain.push(HotSite::new(site, certain));
            applied.perhaps.push(HotSite::new(site, perhaps));
        }
    }
    applied
}

fn is_count(site: &SiteProfile) -> bool {
    matches!(site.class, Class::CountUp | Class::CountDownAndTest)
}

/// Executions that the remedy makes cheaper, and those of which that is not known.
fn executions(arch: Arch, remedy: Remedy, site: &SiteProfile) -> [f64; 2] {
    let (executed, words) = (site.executed as f64, &site.words);
    match remedy {
        // Swaps are XCHG in the library as in std, and no prefix locks them. On AArch64 nothing is elided.
        Remedy::SingleMode if arch == Arch::X86_64 && site.form == Form::Lock => [site.before_threads as f64, 0.0],
        Remedy::PlainCounts if is_count(site) => [words.private as f64, words.unknown as f64],
        // A count that is tested when it goes down needs one sum at once, so it is no counter.
        Remedy::PerCpuCounter if site.class == Class::CountUp && site.threads >= 2 && adds(site) => {
            [words.shared as f64, words.unknown as f64]
        }
        Remedy::NoLock => [executed, 0.0],
        _ => [0.0; 2],
    }
}

/// Whether it adds. Whether the old value is used is in the class: a count up does not.
fn adds(site: &SiteProfile) -> bool {
    matches!(
        site.operation,
        Operation::Add | Operation::FetchAdd | Operation::StoreExclusive
    )
}

/// The count sites that make most of all counting.
fn hottest_counts(profile: &Profile) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..profile.sites.len())
        .filter(|at| is_count(&profile.sites[*at]))
        .collect();
    counts.sort_by_key(|at| std::cmp::Reverse(profile.sites[*at].executed));
    let all: f64 = counts.iter().map(|at| profile.sites[*at].executed as f64).sum();
    let mut before = 0.0;
    counts.retain(|at| {
        let hot = before < HOTTEST * all;
        before += profile.sites[*at].executed as f64;
        hot
    });
    counts
}

fn condition(remedy: Remedy, arch: Arch) -> &'static str {
    match (remedy, arch) {
        (Remedy::SingleMode, Arch::X86_64) => {
            "LOCK executed before the first second thread; the program would have to use the library's types, \
             and exchanges (XCHG) keep their lock"
        }
        (Remedy::SingleMode, Arch::Aarch64) => "LOCK is elided on x86-64 only",
        (Remedy::PlainCounts, _) => {
            "counts in words that one thread alone used in this run; the types must make sure of that"
        }
        (Remedy::PerCpuCounter, _) => {
            "counts up in words that several threads used, priced without the moves of the cache line between CPUs: those would \
             be saved too, and are not in the matrix"
        }
        (Remedy::FewerClones, _) => "half of the executions at the count sites that make 90 % of all counting",
        (Remedy::NoLock, _) => {
            "every locked instruction without its lock, which no program can do: no other remedy saves more by eliding"
        }
    }
}
