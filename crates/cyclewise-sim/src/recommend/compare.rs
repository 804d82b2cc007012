//! Compares the candidates of a line, run by run.

use super::{Candidate, Choice, Other, Verdict};
use crate::exam::{self, Reach};
use crate::predict::Prediction;
use crate::{Job, Machine, Outcome};

/// Times closer than this share are alike.
const ALIKE: f64 = 0.05;

/// A candidate, and its prediction if it makes progress.
pub(super) struct Runs {
    pub(super) candidate: Candidate,
    pub(super) found: Option<Prediction>,
}

/// A candidate that makes progress.
struct Known<'a> {
    candidate: Candidate,
    found: &'a Prediction,
}

impl Known<'_> {
    fn starves(&self) -> bool {
        self.found.runs.iter().any(Outcome::starves)
    }

    /// The time of each run, divided by that of another candidate in the same run: the least and the most.
    fn ratio(&self, to: &Self) -> [f64; 2] {
        let both = self.found.runs.iter().zip(&to.found.runs);
        let ratios = both.map(|(own, other)| own.ns_per_op / other.ns_per_op);
        ratios.fold([f64::INFINITY, 0.0], |[least, most], ratio| {
            [least.min(ratio), most.max(ratio)]
        })
    }
}

/// The choice of a line; `None` if no candidate makes progress.
pub(super) fn choose(machine: &Machine, kind: &'static str, threads: u32, all: &[Runs]) -> Option<Choice> {
    let known: Vec<Known> = all
        .iter()
        .filter_map(|runs| {
            let found = runs.found.as_ref()?;
            Some(Known {
                candidate: runs.candidate,
                found,
            })
        })
        .collect();
    let (starving, mut eligible): (Vec<&Known>, Vec<&Known>) = known.iter().partition(|known| known.starves());
    let excluded: Vec<Candidate> = starving.iter().map(|known| known.candidate).collect();
    if eligible.is_empty() {
        eligible = starving;
    }
    let other = |of: &Known, than: &Known| {
        let reach = Reach::of(machine, &Job::new(of.candidate.workload, threads));
        let ratio = of.ratio(than);
        let off = exam::ratio_off(machine, of.candidate.program(), than.candidate.program(), reach);
        Other {
            candidate: of.candidate,
            ratio,
            off,
            verdict: verdict(ratio, off),
        }
    };
    let is_beaten = |one: &&&Known| eligible.iter().any(|by| other(one, by).verdict == Verdict::Faster);
    let take = eligible.iter().find(|one| !is_beaten(one))?;
    let mut others: Vec<Other> = eligible
        .iter()
        .filter(|one| one.candidate != take.candidate)
        .map(|one| other(one, take))
        .collect();
    others.sort_by(|a, b| a.ratio[0].total_cmp(&b.ratio[0]));
    // A candidate that no published row is like is never preferred, and one that is slower in each run asks for no measurement.
    let may_be_faster = |other: &Other| other.verdict == Verdict::CannotTell && other.ratio[0] < 1.0;
    Some(Choice {
        kind,
        threads,
        take: take.candidate,
        range: take.found.range(),
        measure: others.iter().any(may_be_faster).then(|| measured_by(kind)),
        others,
        refused: all
            .iter()
            .filter(|runs| runs.found.is_none())
            .map(|runs| runs.candidate)
            .collect(),
        starving: excluded,
    })
}

/// How a candidate compares with one whose time is `ratio` times as long, where such ratios were off by a factor.
fn verdict(ratio: [f64; 2], off: Option<f64>) -> Verdict {
    if ratio[0] > 1.0 - ALIKE && ratio[1] < 1.0 + ALIKE {
        return Verdict::Alike;
    }
    match off {
        Some(off) if ratio[0] > off.max(1.0 + ALIKE) => Verdict::Faster,
        _ => Verdict::CannotTell,
    }
}

/// The experiment that measures candidates of a kind on the machine itself.
fn measured_by(kind: &str) -> &'static str {
    match kind {
        "lockref" => "cyclewise run lockref",
        _ => "cyclewise run spinlock",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Relax, Topology, Workload};

    fn runs(workload: Workload, relax: Relax, ns: [f64; 3], slowest_share: f64) -> Runs {
        let topology = Topology::new(1, 1, 4, 1);
        let any = crate::simulate(&Machine::plain(topology), &Job::new(Workload::FetchAdd, 2)).unwrap();
        let run = |ns_per_op| Outcome {
            ns_per_op,
            slowest_share: Some(slowest_share),
            ..any.clone()
        };
        Runs {
            candidate: Candidate {
                workload,
                retry_limit: None,
                relax: Some(relax),
            },
            found: Some(Prediction {
                runs: ns.map(run).to_vec(),
            }),
        }
    }

    fn choose(all: &[Runs]) -> Choice {
        let machine = Machine::preset("i7-6700hq").unwrap().machine().unwrap();
        super::choose(&machine, "lock", 4, all).unwrap()
    }

    #[test]
    fn an_order_that_one_run_reverses_or_the_error_hides_is_not_told() {
        assert_eq!(verdict([1.6, 3.0], Some(1.5)), Verdict::Faster);
        for (ratio, off) in [
            ([0.9, 3.0], Some(1.1)),
            ([1.4, 3.0], Some(1.5)),
            ([1.6, 3.0], None),
            ([1.03, 1.2], Some(1.0)),
        ] {
            assert_eq!(verdict(ratio, off), Verdict::CannotTell, "{ratio:?} {off:?}");
        }
        assert_eq!(verdict([0.96, 1.04], None), Verdict::Alike);
    }

    #[test]
    fn the_first_that_none_is_told_to_beat_is_taken_and_never_our_own_lock_for_its_speed() {
        let slow = runs(Workload::LockTas, Relax::None, [900.0, 1000.0, 800.0], 0.9);
        let fast = runs(Workload::LockTicket, Relax::Pause, [10.0, 11.0, 9.0], 0.9);
        let own = runs(Workload::LockQueued, Relax::None, [1.0, 1.1, 0.9], 0.9);
        let choice = choose(&[slow, fast, own]);
        assert_eq!(choice.take.workload, Workload::LockTicket);
        let verdicts: Vec<_> = choice
            .others
            .iter()
            .map(|o| (o.candidate.workload, o.verdict))
            .collect();
        let expected = [
            (Workload::LockQueued, Verdict::CannotTell),
            (Workload::LockTas, Verdict::Faster),
        ];
        assert_eq!(verdicts, expected);
        assert!(choice.measure == Some("cyclewise run spinlock"));
    }

    #[test]
    fn a_candidate_that_starves_a_thread_is_taken_only_if_all_do() {
        let starves = || runs(Workload::LockTas, Relax::None, [1.0; 3], 0.01);
        let fair = || runs(Workload::LockTicket, Relax::None, [900.0; 3], 0.9);
        let choice = choose(&[starves(), fair()]);
        assert_eq!((choice.take.workload, choice.starving.len()), (Workload::LockTicket, 1));
        assert_eq!(choose(&[starves()]).take.workload, Workload::LockTas);
    }
}
