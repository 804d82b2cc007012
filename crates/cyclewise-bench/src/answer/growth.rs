//! How the time of functions grows with their parameter, in words.

use crate::number::estimate;
use crate::record::{Experiment, PowerLaw};

/// `n^1.50 [1.45, 1.55] over 5 sizes`.
pub fn law(law: &PowerLaw) -> String {
    let [low, high] = law.ci95;
    format!(
        "n^{} [{}, {}] over {} sizes",
        estimate(law.exponent, law.ci95),
        estimate(low, law.ci95),
        estimate(high, law.ci95),
        law.sizes
    )
}

/// `fib grows as n^1.50 [1.45, 1.55] over 5 sizes`, of each function that has a law.
pub fn growth(e: &Experiment) -> Vec<String> {
    let laws = e.growth.iter();
    laws.map(|(member, of_member)| format!("{member} grows as {}", law(of_member)))
        .collect()
}
