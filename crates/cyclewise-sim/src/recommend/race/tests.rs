//! Choices from invented results.

use super::*;
use crate::band::Evidence;

fn candidate(limit: u32) -> Candidate {
    Candidate {
        workload: Workload::Lockref,
        retry_limit: Some(limit),
        relax: None,
    }
}

/// A race of candidates with limits from 1 on and these rates of long runs; the first rate is also the short run's. The limits
/// in `starving` starve a thread.
fn raced(rates: &[Option<&[f64]>], starving: &[u32]) -> Race {
    let all = || (1..).zip(rates);
    let mut race = Race {
        kind: "lockref",
        threads: 8,
        short_rates: all()
            .map(|(limit, rates)| (candidate(limit), rates.map(|r| r[0])))
            .collect(),
        long_runs: Vec::new(),
    };
    loop {
        let due = race.finalists_without_long_run();
        if due.is_empty() {
            return race;
        }
        let run = |limit: u32, rate: &f64| RunResult {
            rate: *rate,
            jain: 0.5,
            starved: starving.contains(&limit),
        };
        let tried = all()
            .filter(|(limit, _)| due.contains(&candidate(*limit)))
            .map(|(limit, rates)| CandidateRuns {
                candidate: candidate(limit),
                runs: rates.map(|all| all.iter().map(|rate| run(limit, rate)).collect()),
            });
        let tried: Vec<CandidateRuns> = tried.collect();
        race.long_runs.extend(tried);
    }
}

/// A model whose predictions are off by this factor.
fn off_by(factor: f64) -> impl Fn(Workload) -> Option<Band> {
    move |_| {
        Some(Band {
            factor,
            rows: 9,
            coverage: 0.8,
            from: Evidence::ThisMachine,
        })
    }
}

fn chosen(rates: &[Option<&[f64]>]) -> Option<Choice> {
    raced(rates, &[]).choose(&off_by(1.01), &off_by(1.01))
}

#[test]
fn a_difference_within_the_models_error_cannot_be_told() {
    let rates: [&[f64]; 2] = [&[1.0, 1.001, 0.999], &[1.5, 1.501, 1.499]];
    let rates = rates.map(Some);
    let choice = |bands: &dyn Fn(Workload) -> Option<Band>| raced(&rates, &[]).choose(bands, bands).unwrap();
    // Both off by 1.2: the ratio by 1.29.
    let told = choice(&off_by(1.2));
    let next = told.next.unwrap();
    assert_eq!((next.verdict, next.doubt, told.measure), (Verdict::Faster, None, None));
    assert_eq!((told.alike.len(), told.band.unwrap().factor), (1, 1.2));
    let [least, most] = next.model_interval.unwrap();
    assert!(
        (1.1..1.2).contains(&least) && (1.9..2.0).contains(&most),
        "{least} {most}"
    );
    // Both off by 1.4: by 1.6, which is more than the difference.
    let wide = choice(&off_by(1.4));
    let next = wide.next.unwrap();
    assert_eq!((next.verdict, next.doubt), (Verdict::Undecided, Some(Doubt::Model)));
    assert_eq!((wide.alike.len(), wide.measure), (2, Some("cyclewise run lockref")));
    assert_eq!(
        wide.take.retry_limit,
        Some(2),
        "the better guess is still the better guess"
    );
    // Nothing is known of the error.
    let untested = choice(&|_| None);
    let next = untested.next.unwrap();
    assert_eq!((next.verdict, next.doubt), (Verdict::Undecided, Some(Doubt::Untested)));
    assert_eq!((next.model_interval, untested.band), (None, None));
    assert!(untested.measure.is_some());
}

#[test]
fn what_a_measurement_would_not_decide_asks_for_none() {
    let same: [&[f64]; 2] = [&[1.0, 1.0, 1.0], &[1.04, 1.04, 1.04]];
    let noisy: [&[f64]; 2] = [&[1.0, 1.2, 0.8], &[1.2, 1.4, 1.0]];
    for (rates, doubt) in [(same, Doubt::Small), (noisy, Doubt::Seeds)] {
        let choice = raced(&rates.map(Some), &[]).choose(&|_| None, &|_| None).unwrap();
        assert_eq!((choice.next.unwrap().doubt, choice.measure), (Some(doubt), None));
    }
}

#[test]
fn the_best_is_chosen_if_it_is_distinguishable() {
    let choice = chosen(&[
        Some(&[1.0, 1.01, 0.99]),
        Some(&[2.0, 2.02, 1.98]),
        Some(&[1.5, 1.51, 1.49]),
        None,
    ])
    .unwrap();
    assert_eq!(choice.take.retry_limit, Some(2));
    let next = choice.next.unwrap();
    assert_eq!((next.candidate.retry_limit, next.verdict), (Some(3), Verdict::Faster));
    assert!(
        (next.ratio - 4.0 / 3.0).abs() < 1e-3 && next.ratio_ci95[0] > 1.2,
        "{next:?}"
    );
    let worst = choice.worst.unwrap();
    assert_eq!(
        (worst.candidate.retry_limit, worst.ratio),
        (Some(1), 2.0),
        "it ran once"
    );
    assert_eq!((choice.alike.len(), choice.stuck.len()), (1, 1));
    // The next best has a margin even if it is far behind.
    let far = chosen(&[Some(&[1.0, 1.01]), Some(&[9.0, 9.01])]).unwrap();
    assert!((far.next.unwrap().ratio - 9.0).abs() < 0.1);
}

#[test]
fn of_indistinguishable_candidates_the_simplest_is_chosen() {
    // The second is better by less than the model's error; or by more, but its seeds differ more.
    let same: [&[f64]; 2] = [&[1.0, 1.0, 1.0], &[1.04, 1.04, 1.04]];
    let noisy: [&[f64]; 2] = [&[1.0, 1.2, 0.8], &[1.2, 1.4, 1.0]];
    for (all, taken) in [(same, 1), (noisy, 2)] {
        let choice = chosen(&all.map(Some)).unwrap();
        assert_eq!(choice.take.retry_limit, Some(taken));
        assert_eq!(choice.next.unwrap().verdict, Verdict::Undecided);
        assert_eq!(choice.alike.len(), 2);
    }
}

#[test]
fn without_progress_there_is_no_choice() {
    assert_eq!(chosen(&[None]), None);
}

#[test]
fn a_starving_candidate_is_chosen_only_if_all_starve() {
    let rates: [&[f64]; 4] = [&[1.0, 1.0], &[9.0, 9.1], &[1.1, 1.2], &[0.1, 0.1]];
    let rates = rates.map(Some);
    // Without the fastest, slower ones become finalists.
    let choice = raced(&rates, &[2]).choose(&off_by(1.01), &off_by(1.01)).unwrap();
    let next = choice.next.unwrap().candidate.retry_limit;
    assert_eq!((choice.take.retry_limit, next), (Some(3), Some(1)));
    assert_eq!(choice.starving, [candidate(2)]);
    assert_eq!(choice.worst.unwrap().candidate, candidate(4));
    // The twin without starving.
    assert_eq!(chosen(&rates).unwrap().take.retry_limit, Some(2));
    // If all starve, the best of them is chosen.
    let choice = raced(&rates, &[1, 2, 3, 4])
        .choose(&off_by(1.01), &off_by(1.01))
        .unwrap();
    assert_eq!((choice.take.retry_limit, choice.starving.len()), (Some(2), 4));
}

#[test]
fn a_thread_that_waits_for_nearly_a_whole_run_is_starved() {
    let machine = crate::Machine::preset("thunderx2").unwrap().machine().unwrap();
    let ran = |workload| {
        let job = crate::Job::new(workload, 224);
        RunResult::of(&crate::simulate(&machine, &job).unwrap())
    };
    // On this machine, a thread that keeps the line also keeps the lock in it.
    let (unfair, fair) = (ran(Workload::LockQueued), ran(Workload::LockMcs));
    assert!(unfair.starved && unfair.jain < 0.01, "{unfair:?}");
    assert!(!fair.starved && fair.jain > 0.9, "{fair:?}");
}

#[test]
fn a_comparison_has_its_band_where_the_rate_itself_has_none() {
    let rates: [&[f64]; 2] = [&[1.0, 1.001, 0.999], &[3.0, 3.001, 2.999]];
    let choice = raced(&rates.map(Some), &[]).choose(&off_by(1.1), &|_| None).unwrap();
    assert_eq!(choice.band, None);
    assert!(choice.next.unwrap().doubt.is_none());
}
