//! The verdicts of a whole record, withheld if the machine is too noisy.

use crate::record::{Record, Variant, Verdict};
use crate::{record, stats};

/// An experiment that rejects a larger share of its samples than this gets no verdicts.
const TOO_NOISY: f64 = 0.20;

/// The note if more than [`TOO_NOISY`] of the samples were rejected.
pub(super) fn noise_note(variants: &[Variant]) -> Option<String> {
    let lost: usize = variants.iter().map(|v| v.rejected).sum();
    let all = lost + variants.iter().map(|v| v.n).sum::<usize>();
    let share = lost as f64 / all.max(1) as f64;
    (share > TOO_NOISY).then(|| {
        format!(
            "this machine is too noisy: {:.0} % of the samples were rejected (limit {:.0} %), so no verdict is given; \
             stop other work, choose another CPU with --cpu, or run on an idle or dedicated machine",
            100.0 * share,
            100.0 * TOO_NOISY
        )
    })
}

/// Corrects the p of all comparisons of `record` by Holm's method and sets the verdicts.
pub(crate) fn give_verdicts(record: &mut Record) {
    let p: Vec<f64> = record
        .experiments
        .iter()
        .flat_map(|e| &e.comparisons)
        .map(|c| c.p)
        .collect();
    let mut corrected = stats::holm(&p).into_iter();
    for e in &mut record.experiments {
        let noisy = noise_note(&e.variants).is_some();
        let floor = e.control.as_ref().map(|c| c.floor);
        for c in &mut e.comparisons {
            c.p_holm = corrected.next().unwrap_or(1.0);
            let reference = e.variants.iter().find(|v| v.name == c.b).map_or(f64::NAN, |v| v.mean);
            c.verdict = if noisy {
                Verdict::Undecided
            } else {
                stats::verdict(
                    c.difference,
                    reference,
                    c.p_holm,
                    c.p_rank,
                    record::bounds(c.ratio_ci95),
                    floor,
                    e.unit.more_is_faster(),
                )
            };
        }
    }
}
