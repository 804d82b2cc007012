//! Loops whose way back is too long to be executed: whether a failed exchange comes back to the site, and a made one does not.

use super::scene::Scene;
use crate::decode::What;
use std::collections::{HashSet, VecDeque};

/// How many instructions are looked at on each side.
const LIMIT: usize = 2000;

/// By how much the way back of one side has to be shorter: an outer loop has both on it.
const SHORTER: u32 = 8;

/// Whether the way back to the site from `failed` is shorter than the one from `made`, or the only one.
pub(super) fn comes_back(scene: &Scene<'_>, failed: u64, made: u64) -> bool {
    match (distance(scene, failed), distance(scene, made)) {
        (Some(failed), Some(made)) => failed + SHORTER < made,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// The number of instructions on the shortest way from an address to the site, within the function.
fn distance(scene: &Scene<'_>, from: u64) -> Option<u32> {
    let (start, end) = scene.function?;
    let mut ahead = VecDeque::from([(from, 0)]);
    let mut seen = HashSet::new();
    while let Some((at, steps)) = ahead.pop_front() {
        if at == scene.site {
            return Some(steps);
        }
        if !(start..end).contains(&at) || !seen.insert(at) || seen.len() > LIMIT {
            continue;
        }
        let Some(step) = scene.code.step(at) else { continue };
        match step.what {
            What::Branch { target, .. } | What::BranchOn { target, .. } => {
                ahead.extend([(step.end(), steps + 1), (target, steps + 1)]);
            }
            What::Jump(target) => ahead.extend(target.map(|target| (target, steps + 1))),
            What::Return | What::Trap | What::Invalid => {}
            _ => ahead.push_back((step.end(), steps + 1)),
        }
    }
    None
}
