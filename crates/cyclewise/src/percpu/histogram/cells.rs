//! Which cell a value is in, and which values are in a cell.

/// Above the lowest bound: 2^-32, about a quarter of a nanosecond in seconds.
const LOWEST: u64 = (1023 - 32) << MANTISSA;
/// The bits of a mantissa.
const MANTISSA: u32 = 52;
/// The first bits of the mantissa, by which cells are told apart.
const FIRST_BITS: u32 = 5;
/// Cells between two powers of two.
const PER_OCTAVE: usize = 1 << FIRST_BITS;
const SHIFT: u32 = MANTISSA - FIRST_BITS;

/// The exponents of the lowest and the highest bound.
pub(super) const EXPONENTS: (i32, i32) = (-32, 64);
pub(super) const CELLS: usize = 96 * PER_OCTAVE;
/// The word for values above the highest bound, and for what is not a number.
pub(super) const ABOVE: usize = CELLS;
/// The word for values at the lowest bound and below.
pub(super) const BELOW: usize = CELLS + 1;
pub(super) const WORDS: usize = CELLS + 2;

/// The cell of a value by its bits; no number of a cell if it is in none.
///
/// The bits of positive numbers are in the numbers' order. One less, so that a bound is in the cell below it.
#[inline(always)]
pub(super) fn cell(bits: u64) -> usize {
    (bits.wrapping_sub(LOWEST + 1) >> SHIFT) as usize
}

/// The word that counts a value.
pub(super) fn word(value: f64) -> usize {
    match cell(value.to_bits()) {
        cell if cell < CELLS => cell,
        _ if value <= bound(0) => BELOW,
        _ => ABOVE,
    }
}

/// The lower bound of a cell, and the upper bound of the one before.
pub(super) fn bound(cell: usize) -> f64 {
    f64::from_bits(LOWEST + ((cell as u64) << SHIFT))
}

/// The number of cells below 2^`exponent`.
pub(super) fn below(exponent: i32) -> usize {
    let (lowest, highest) = EXPONENTS;
    (exponent.clamp(lowest, highest) - lowest) as usize * PER_OCTAVE
}

/// The upper bounds of the first seven of eight buckets between 1 and 2 whose bounds have one ratio: 2^(1/8), 2^(2/8) and so on.
const EIGHTHS: [f64; 7] = [
    1.090_507_732_665_257_7,
    1.189_207_115_002_721,
    1.296_839_554_651_009_6,
    core::f64::consts::SQRT_2,
    1.542_210_825_407_940_7,
    1.681_792_830_507_429,
    1.834_008_086_409_342_4,
];

/// The finest scale of [`exponential_index`].
pub(super) const FINEST: u32 = 3;

/// The bucket of a cell's middle in a base-2 exponential histogram of this scale: i where it is above 2^(i / 2^scale), and not
/// above the next.
pub(super) fn exponential_index(cell: usize, scale: u32) -> i32 {
    let octave = (cell / PER_OCTAVE) as i32 + EXPONENTS.0;
    let middle = 1.0 + ((cell % PER_OCTAVE) as f64 + 0.5) / PER_OCTAVE as f64;
    let eighth = EIGHTHS.iter().filter(|&&bound| bound < middle).count() as i32;
    ((octave << FINEST) + eighth) >> (FINEST - scale)
}
