//! The cell of a value, found by its bits, is the one between whose bounds it is.

use crate::percpu::histogram::cells::{ABOVE, BELOW, CELLS, bound, exponential_index, word};
use std::vec::Vec;

/// Bounds by the definition: 32 steps of one width in each octave.
fn bounds() -> Vec<f64> {
    let steps = |exponent: i32| (0..32).map(move |n| f64::from(exponent).exp2() * (1.0 + f64::from(n) / 32.0));
    (-32..64).flat_map(steps).chain([64f64.exp2()]).collect()
}

/// The number of values tried that are in another cell than the bounds say.
fn wrong(word: impl Fn(f64) -> usize) -> usize {
    let bounds = bounds();
    assert_eq!(bounds.len(), CELLS + 1);
    // Above a lower bound, and at most the upper one.
    let expected = |value: f64| match bounds.partition_point(|&bound| bound < value) {
        0 => BELOW,
        n if n <= CELLS => n - 1,
        _ => ABOVE,
    };
    let around = |at: f64| [at.next_down(), at, at.next_up(), at * 1.01];
    let values = bounds.iter().copied().flat_map(around);
    let odd = [
        0.0,
        -0.0,
        -1.0,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    values
        .chain(odd)
        .filter(|&value| word(value) != expected(value))
        .count()
}

#[test]
fn every_value_is_between_the_bounds_of_its_cell() {
    assert_eq!(wrong(word), 0);
    assert_eq!((word(f64::NAN), word(-f64::NAN)), (ABOVE, ABOVE));
    assert_eq!((0..=CELLS).map(bound).collect::<Vec<_>>(), bounds());
}

/// The twin has a cell's lower bound in it, and not the upper one.
#[test]
fn the_twin_that_takes_the_lower_bound_in_is_caught() {
    let twin = |value: f64| word(value.next_up());
    assert!(wrong(twin) >= CELLS);
}

/// The bucket of each cell's middle, by logarithms; and at scale 0, where bounds are those of cells, of both its ends.
#[test]
fn exponential_buckets_are_those_of_logarithms() {
    for cell in 0..CELLS {
        let middle = f64::midpoint(bound(cell), bound(cell + 1));
        for scale in 0..=3 {
            let expected = (middle.log2() * f64::from(1 << scale)).ceil() as i32 - 1;
            assert_eq!(exponential_index(cell, scale), expected, "{middle} at scale {scale}");
        }
        let octave = exponential_index(cell, 0);
        assert!(bound(cell) >= f64::from(octave).exp2() && bound(cell + 1) <= f64::from(octave + 1).exp2());
    }
}
