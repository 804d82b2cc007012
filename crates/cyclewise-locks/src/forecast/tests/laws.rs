//! What holds for every program and every matrix.

use super::made_up::{clones, milan, program, seconds, site, turin, xeon};
use crate::counts::Method;
use crate::forecast::estimate::{HotSite, Pace, estimate};
use crate::forecast::rows::Replacement;
use crate::forecast::{Costs, Forecast, Remedy, RemedyForecast, Verdict, forecast};
use crate::profile::{Class, Form, Mix, Operation, Profile, SiteProfile};
use proptest::prelude::*;

fn of(forecast: &Forecast, remedy: Remedy) -> &RemedyForecast {
    forecast.remedies.iter().find(|r| r.remedy == remedy).unwrap()
}

/// Three machines, and none.
fn machines() -> Vec<Costs> {
    vec![milan(), xeon(), turin(), Costs::default()]
}

fn any_site() -> impl Strategy<Value = SiteProfile> {
    let operations = [
        Operation::Add,
        Operation::FetchAdd,
        Operation::CompareExchange,
        Operation::Exchange,
        Operation::Bit,
    ];
    let classes = [Class::CountUp, Class::CountDownAndTest, Class::LockTaken, Class::Other];
    let mix = (0u32..20, 0u32..20, 0u32..20, 0u32..5);
    (
        0..classes.len(),
        0..operations.len(),
        0u64..1_000_000,
        0usize..8,
        0usize..8,
        mix,
    )
        .prop_map(
            move |(class, operation, executed, near, far, (arithmetic, loads, stores, branches))| {
                let mut distances = [0; 8];
                distances[near] += executed / 2;
                distances[far] += executed - executed / 2;
                let mut made = site(classes[class], operations[operation], executed, distances);
                made.mix = Mix {
                    arithmetic,
                    loads,
                    stores,
                    locked: 0,
                    branches,
                };
                made
            },
        )
}

fn any_program() -> impl Strategy<Value = Profile> {
    (prop::collection::vec(any_site(), 1..6), 10u64..1000).prop_map(|(sites, spread)| {
        let executed: u64 = sites.iter().map(|s| s.executed).sum();
        program((executed + 1) * spread, sites)
    })
}

fn times(profile: &Profile, factor: u64) -> Profile {
    let mut more = profile.clone();
    more.instructions *= factor;
    for site in &mut more.sites {
        site.executed *= factor;
        site.before_threads *= factor;
        site.words.private *= factor;
        site.distances = site.distances.map(|n| n * factor);
    }
    more
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn intervals_are_ordered_and_end_at_the_price_back_to_back(profile in any_program(), machine in 0usize..4) {
        let made = forecast(&profile, &machines()[machine], Some(&seconds(profile.instructions as f64 * 0.3e-9)));
        for remedy in &made.remedies {
            let [low, high] = remedy.saved_s;
            prop_assert!(low.is_finite() && low <= high, "{:?}", remedy);
            prop_assert!(high <= remedy.back_to_back_s.max(low) * (1.0 + 1e-9), "{:?}", remedy);
            prop_assert!(low >= -remedy.back_to_back_s, "{:?}", remedy);
        }
        let order: Vec<f64> = made.remedies.iter().map(|r| r.saved_s[1]).collect();
        prop_assert!(order.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn a_run_that_is_longer_by_a_factor_saves_more_by_that_factor(profile in any_program(), machine in 0usize..4, factor in 2u64..9) {
        let costs = &machines()[machine];
        let time = profile.instructions as f64 * 0.3e-9;
        let once = forecast(&profile, costs, Some(&seconds(time)));
        let often = forecast(&times(&profile, factor), costs, Some(&seconds(time * factor as f64)));
        for remedy in &once.remedies {
            let other = of(&often, remedy.remedy);
            for (one, many) in remedy.saved_s.iter().zip(other.saved_s) {
                prop_assert!((one * factor as f64 - many).abs() <= 1e-9 * many.abs() + 1e-12, "{} {}", one, many);
            }
        }
        // But that little time is too short.
        if time >= 0.1 {
            prop_assert_eq!(once.verdict, often.verdict);
        }
    }

    #[test]
    fn more_locked_instructions_never_save_less(profile in any_program(), machine in 0usize..4, at in 0usize..6) {
        let costs = &machines()[machine];
        let native = seconds(profile.instructions as f64 * 0.3e-9);
        let mut more = profile.clone();
        let at = at % more.sites.len();
        // The gap between groups of locked instructions stays: the instructions grow with them.
        more.sites[at] = times(&program(1, vec![more.sites[at].clone()]), 2).sites.remove(0);
        let groups = |p: &Profile| -> u64 { p.sites.iter().map(|s| s.executed - s.distances[0]).sum() };
        more.instructions = (profile.instructions as f64 * groups(&more).max(1) as f64 / groups(&profile).max(1) as f64) as u64;
        let native_more = seconds(native.user_s * more.instructions as f64 / profile.instructions as f64);
        let [few, many] = [(&profile, &native), (&more, &native_more)].map(|(p, n)| forecast(p, costs, Some(n)));
        // Whole numbers of instructions move the pace a little.
        let (few, many) = (of(&few, Remedy::NoLock), of(&many, Remedy::NoLock));
        prop_assert!(many.back_to_back_s >= few.back_to_back_s);
        prop_assert!(many.saved_s[1] >= few.saved_s[1] - 1e-3 * few.saved_s[1].abs(), "{:?} {:?}", few, many);
    }

    #[test]
    fn no_remedy_of_elision_beats_their_bound(profile in any_program(), machine in 0usize..4) {
        let made = forecast(&profile, &machines()[machine], None);
        let most = of(&made, Remedy::NoLock).saved_s[1];
        for remedy in made.remedies.iter().filter(|r| [Remedy::SingleMode, Remedy::SingleLocks].contains(&r.remedy)) {
            prop_assert!(remedy.saved_s[1] <= most * (1.0 + 1e-9), "{:?}", made);
        }
    }
}

#[test]
fn nothing_executed_saves_nothing() {
    for costs in machines() {
        for sites in [Vec::new(), clones(0, 3)] {
            let made = forecast(&program(1_000_000, sites), &costs, Some(&seconds(1.0)));
            assert_eq!(made.verdict, Verdict::NotWorthIt);
            assert_eq!(made.answer, "not worth it: no locked instruction was executed");
            for remedy in made.remedies {
                assert_eq!(
                    (remedy.saved_s, remedy.back_to_back_s, remedy.executed),
                    ([0.0; 2], 0.0, 0),
                    "{costs:?}"
                );
            }
        }
    }
}

#[test]
fn a_clone_and_its_drop_close_together_save_more_than_far_apart() {
    for costs in [milan(), xeon(), turin()] {
        // The intervals' ends have the model's error, which is the same for both.
        let made = |sites: Vec<SiteProfile>| {
            let sites: Vec<HotSite> = sites.iter().map(|s| HotSite::new(s, s.executed as f64)).collect();
            let pace = Pace::new(&costs, 1e9, Some(0.3), &sites);
            estimate(&costs, &sites, pace, Replacement::Plain).saved.mid
        };
        let mut apart = clones(1_000_000, 6);
        apart[1].distances = apart[0].distances;
        let [close, apart] = [clones(1_000_000, 6), apart].map(made);
        assert!(close > apart, "{}: {close} {apart}", costs.cpu);
    }
}

#[test]
fn samples_widen_the_interval_and_none_seen_leave_some() {
    let exact = program(1_000_000_000, clones(100_000, 4));
    let mut sampled = exact.clone();
    sampled.method = Method::Counter {
        event: "mem_inst_retired.lock_loads".into(),
        period: 20_000,
    };
    let [exact, sampled] =
        [exact, sampled].map(|p| of(&forecast(&p, &xeon(), Some(&seconds(0.3))), Remedy::NoLock).clone());
    let width = |r: &RemedyForecast| r.saved_s[1] - r.saved_s[0];
    assert!(width(&sampled) > 1.005 * width(&exact), "{exact:?} {sampled:?}");
    assert!(
        sampled.back_to_back_s > 1.5 * exact.back_to_back_s,
        "ten samples may be 18"
    );
}

#[test]
fn cells_that_cannot_tell_widen_the_interval() {
    let profile = program(1_000_000_000, clones(5_000_000, 4));
    let mut blind = xeon();
    for cell in blind.operations.iter_mut().filter(|o| o.name.starts_with("lock-")) {
        cell.added.iter_mut().skip(1).for_each(|cell| *cell = None);
    }
    let [sees, blind, none] = [xeon(), blind, Costs::default()].map(|costs| {
        let made = forecast(&profile, &costs, Some(&seconds(0.3)));
        let [low, high] = of(&made, Remedy::NoLock).saved_s;
        high - low
    });
    assert!(sees < blind && blind < none, "{sees} {blind} {none}");
}

#[test]
fn exchanges_keep_their_lock_in_single_mode_and_fences_are_no_locked_instruction() {
    let mut sites = vec![site(
        Class::LockTaken,
        Operation::Exchange,
        1000,
        [0, 0, 0, 0, 1000, 0, 0, 0],
    )];
    sites.push(SiteProfile {
        form: Form::Fence,
        operation: Operation::Fence,
        ..sites[0].clone()
    });
    let made = forecast(&program(1_000_000, sites), &xeon(), None);
    assert!(made.remedies.iter().all(|r| r.remedy != Remedy::SingleLocks));
    assert_eq!(of(&made, Remedy::NoLock).sites, [0]);
}

#[test]
fn what_is_not_known_of_the_code_averages_out_over_sites() {
    let width = |sites: u64| {
        let profile = program(
            1_000_000_000,
            (0..sites).flat_map(|_| clones(10_000_000 / sites, 4)).collect(),
        );
        let [low, high] = of(&forecast(&profile, &milan(), Some(&seconds(0.3))), Remedy::NoLock).saved_s;
        high - low
    };
    assert!(width(20) < 0.95 * width(1), "{} {}", width(20), width(1));
    assert!(width(20) > 0.6 * width(1), "not all of it: what is common to all stays");
}
