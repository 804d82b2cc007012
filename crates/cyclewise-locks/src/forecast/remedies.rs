//! Which executions each remedy makes cheaper, what it is called in the program's language, and what has to hold in the program.

use super::answer::digits;
use super::estimate::HotSite;
use super::kind::{Kind, Language, kind, language};
use super::outcome::Remedy;
use super::rows::Replacement;
use crate::counts::Arch;
use crate::profile::{Class, Form, Operation, Profile, SiteProfile};
use std::collections::BTreeMap;

/// A remedy in a profile.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Applied {
    pub(super) remedy: Remedy,
    /// What it is called in the language of most of its executions.
    pub(super) name: &'static str,
    /// What is executed in place of the locked instructions.
    pub(super) replacement: Replacement,
    /// Indexes of the sites.
    pub(super) sites: Vec<usize>,
    /// The executions that it makes cheaper for certain.
    pub(super) certain: Vec<HotSite>,
    /// Those of which it is not known whether it would.
    pub(super) perhaps: Vec<HotSite>,
    /// What has to hold.
    pub(super) condition: String,
}

/// Sites that make this share of all counting, or of all locking, are the hottest.
const HOTTEST: f64 = 0.9;

/// A remedy that makes a smaller share of all executions cheaper is not told of: whatever all of them cost, it saves less than 1 %.
const LEAST: f64 = 1e-2;

const ALL: [Remedy; 8] = [
    Remedy::SingleMode,
    Remedy::PlainCounts,
    Remedy::PerCpuCounter,
    Remedy::FewerClones,
    Remedy::SingleLocks,
    Remedy::FewerSections,
    Remedy::QueuedLock,
    Remedy::NoLock,
];

/// Every remedy that applies anywhere, and the bound.
pub(super) fn all(profile: &Profile) -> Vec<Applied> {
    let hottest = [Kind::References, Kind::Locks]
        .map(|kind| hottest(profile, kind))
        .concat();
    let all = ALL.iter().map(|remedy| apply(profile, *remedy, &hottest));
    let locked: f64 = profile.sites.iter().map(|site| site.executed as f64).sum();
    let matters = |applied: &Applied| {
        let sites = applied.certain.iter().chain(&applied.perhaps);
        let cheaper: f64 = sites.map(|site| site.executed).sum();
        cheaper > 0.0 && cheaper >= LEAST * locked
    };
    all.filter(|a| a.remedy == Remedy::NoLock || matters(a)).collect()
}

fn apply(profile: &Profile, remedy: Remedy, hottest: &[usize]) -> Applied {
    let mut applied = Applied {
        remedy,
        name: "",
        replacement: match remedy {
            Remedy::PerCpuCounter => Replacement::PerCpu,
            Remedy::FewerClones | Remedy::FewerSections => Replacement::Absent,
            _ => Replacement::Plain,
        },
        sites: Vec::new(),
        certain: Vec::new(),
        perhaps: Vec::new(),
        condition: condition(remedy).into(),
    };
    let mut languages: BTreeMap<Language, u64> = BTreeMap::new();
    let sites = profile.sites.iter().enumerate();
    for (at, site) in sites.filter(|(_, site)| site.form != Form::Fence) {
        let [certain, perhaps] = match remedy {
            Remedy::FewerClones | Remedy::FewerSections if !hottest.contains(&at) => [0.0; 2],
            _ => executions(profile.arch, remedy, site),
        };
        if certain + perhaps > 0.0 {
            let language = language(site);
            let of_language = languages.entry(language).or_default();
            *of_language = of_language.saturating_add(site.executed);
            let removed = removed(remedy, language);
            applied.sites.push(at);
            applied.certain.push(HotSite::new(site, certain).removing(removed));
            applied.perhaps.push(HotSite::new(site, perhaps).removing(removed));
        }
    }
    let language = languages.into_iter().max_by_key(|(_, executed)| *executed);
    applied.name = name(remedy, language.map_or(Language::C, |(language, _)| language));
    applied
}

/// Executions that the remedy makes cheaper, and those of which that is not known.
fn executions(arch: Arch, remedy: Remedy, site: &SiteProfile) -> [f64; 2] {
    let (executed, words) = (site.executed as f64, &site.words);
    let (kind, language) = (kind(site), language(site));
    // Swaps are XCHG in the library as in std, and no prefix locks them. On AArch64 nothing is elided.
    let can_elide = arch == Arch::X86_64 && site.form == Form::Lock && language != Language::Go;
    match remedy {
        Remedy::SingleMode if can_elide && kind != Kind::Locks => [site.before_threads as f64, 0.0],
        Remedy::SingleLocks if can_elide && kind == Kind::Locks => [site.before_threads as f64, 0.0],
        // GObject has one kind of count.
        Remedy::PlainCounts if kind == Kind::References && language != Language::GObject => {
            [words.private as f64, words.unknown as f64]
        }
        Remedy::PerCpuCounter
            if kind == Kind::Counters && site.class == Class::CountUp && site.threads >= 2 && adds(site) =>
        {
            [words.shared as f64, words.unknown as f64]
        }
        Remedy::FewerClones if kind == Kind::References => [executed / 2.0, 0.0],
        Remedy::FewerSections if kind == Kind::Locks => [executed / 2.0, 0.0],
        // It is given back by a store.
        Remedy::QueuedLock if site.class == Class::LockGivenBack && language != Language::Go => [executed, 0.0],
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

/// Instructions that a remedy removes beside each locked one, read from the code of the usual libraries: tests whether there are threads,
/// calls and their returns.
///
/// libstdc++ (12): `_M_release` is a call, and both directions test `__gthread_active_p`. GLib (2.74): `g_object_ref` and `g_object_unref` are
/// calls that check the type. glibc (2.36): `pthread_mutex_lock` and `_unlock` test the kind and keep the owner.
fn removed(remedy: Remedy, language: Language) -> f64 {
    match (remedy, language) {
        (Remedy::PlainCounts | Remedy::FewerClones, Language::Cpp) => 8.0,
        (Remedy::FewerClones, Language::GObject) => 30.0,
        (Remedy::FewerClones, _) => 4.0,
        (Remedy::FewerSections, _) => 15.0,
        _ => 0.0,
    }
}

/// A line about locks that several threads use: what striping saves are moves of cache lines, which have no price here.
pub(super) fn striping(profile: &Profile) -> Option<String> {
    let share = |executed: &dyn Fn(&SiteProfile) -> u64| -> f64 {
        profile.sites.iter().map(|site| executed(site) as f64).sum()
    };
    let all = share(&|site| site.executed);
    let shared = share(&|site| {
        if kind(site) == Kind::Locks {
            site.words.shared
        } else {
            0
        }
    });
    let percent = 100.0 * shared / all.max(1.0);
    (percent >= 1.0).then(|| {
        format!(
            "{} % of the executions take or give back locks that several threads use: striping them (a lock for each part of the data) \
             saves moves of cache lines between CPUs, which are not priced here",
            digits(percent)
        )
    })
}

/// The sites of a kind that make most of its executions.
fn hottest(profile: &Profile, of: Kind) -> Vec<usize> {
    let mut sites: Vec<usize> = (0..profile.sites.len())
        .filter(|at| kind(&profile.sites[*at]) == of)
        .collect();
    sites.sort_by_key(|at| std::cmp::Reverse(profile.sites[*at].executed));
    let all: f64 = sites.iter().map(|at| profile.sites[*at].executed as f64).sum();
    let mut before = 0.0;
    sites.retain(|at| {
        let hot = before < HOTTEST * all;
        before += profile.sites[*at].executed as f64;
        hot
    });
    sites
}

fn name(remedy: Remedy, language: Language) -> &'static str {
    match (remedy, language) {
        (Remedy::SingleMode, _) => "single mode",
        (Remedy::PlainCounts, Language::Rust) => "plain counts (Rc for Arc)",
        (Remedy::PlainCounts, Language::Cpp) => "plain counts (boost::local_shared_ptr, intrusive_ptr)",
        (Remedy::PlainCounts, _) => "plain counts",
        (Remedy::PerCpuCounter, Language::Go) => "counters sharded by P",
        (Remedy::PerCpuCounter, _) => "per-CPU counters",
        (Remedy::FewerClones, Language::Rust) => "half of the clones (borrow)",
        (Remedy::FewerClones, Language::Cpp) => "half of the copies (references, std::move, unique_ptr)",
        (Remedy::FewerClones, Language::GObject) => "half of the references (floating ones, transfer full)",
        (Remedy::FewerClones, _) => "half of the references",
        (Remedy::SingleLocks, Language::Rust) => "locks with a single mode (cyclewise::lock)",
        (Remedy::SingleLocks, _) => "locks with a single mode (cyclewise-single)",
        (Remedy::FewerSections, _) => "half of the critical sections",
        (Remedy::QueuedLock, _) => "cyclewise's queued spinlock",
        (Remedy::NoLock, _) => "no LOCK at all",
    }
}

fn condition(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SingleMode => {
            "LOCK executed before the first second thread; the program would have to use the library's types, \
             and exchanges (XCHG) keep their lock"
        }
        Remedy::PlainCounts => {
            "counts in words that one thread alone used in this run; the types must make sure of that"
        }
        Remedy::PerCpuCounter => {
            "counts up in words that several threads used, priced without the moves of the cache line between CPUs: those would \
             be saved too, and are not in the matrix"
        }
        Remedy::FewerClones => "half of the executions at the sites that make 90 % of the counting of references",
        Remedy::SingleLocks => "locks taken before the first second thread, by the library's lock",
        Remedy::FewerSections => {
            "half of the executions at the sites that make 90 % of the locking: sections that follow each other joined"
        }
        Remedy::QueuedLock => "locks given back by a plain store; sections are short, and threads no more than CPUs",
        Remedy::NoLock => {
            "every locked instruction without its lock, which no program can do: no other remedy saves more by eliding"
        }
    }
}
