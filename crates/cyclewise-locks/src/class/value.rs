//! What registers, places on the stack and flags can hold, as far as it concerns a site's word, and what arithmetic makes of it.

use crate::decode::Op;

/// What a register or a place on the stack holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Anything.
    Unknown,
    /// A number.
    Const(i64),
    /// What the word held before the site changed it, plus a number.
    Old(i64),
    /// That plus something unknown.
    Raised,
    /// That minus something unknown.
    Lowered,
    /// Computed from that in another way: a mask, a shift.
    Derived,
    /// Something unknown by a number, so that its copies are known to be the same, plus a number.
    Symbol(u32, i64),
    /// Something unknown, negated.
    Negated,
    /// 1 where the exchange was made (`true`) or failed (`false`), else 0.
    Swapped(bool),
    /// 1 or 0 by a comparison of the word's value; the test has been noted.
    Tested,
    /// The status of a store-exclusive: 0 where it was made.
    Status,
    /// After a compare-and-exchange: what the word was expected to hold, plus a number.
    Expected(i64),
}

/// What the flags say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flags {
    /// Anything.
    Unknown,
    /// The word's new value, compared with zero.
    NewValue,
    /// Whether the exchange was made: equal, if it was.
    Swap,
    /// The bit that a BTS, BTR or BTC found, in the carry.
    OldBit,
    /// Two values, compared (Sub) or tested (And), or the result of an addition compared with zero (Add).
    Compared {
        op: Op,
        /// The first.
        a: Value,
        /// The second.
        b: Value,
    },
}

/// Whether a value depends on the word's.
pub(super) fn is_about_word(value: Value) -> bool {
    matches!(
        value,
        Value::Old(_) | Value::Raised | Value::Lowered | Value::Derived | Value::Swapped(_) | Value::Tested
    )
}

/// Whether nothing is known of a value but what it is a copy of.
pub(super) fn is_unknown(value: Value) -> bool {
    matches!(value, Value::Unknown | Value::Symbol(..) | Value::Negated)
}

/// A comparison of a truth value with 0 or 1.
pub(super) fn swap_of(op: Op, a: Value, b: Value) -> Option<bool> {
    match (op, a, b) {
        (Op::Sub | Op::Add, Value::Swapped(made), Value::Const(0)) => Some(!made),
        (Op::Sub, Value::Swapped(made), Value::Const(1)) => Some(made),
        (Op::And, Value::Swapped(made), Value::Swapped(_) | Value::Const(_)) => Some(!made),
        _ => None,
    }
}

pub(super) fn compute(op: Op, a: Value, b: Value) -> Value {
    use Value::{Const, Derived, Lowered, Negated, Old, Raised, Swapped, Symbol, Unknown};
    match (op, a, b) {
        (Op::Add, Const(x), Const(y)) => Const(x.wrapping_add(y)),
        (Op::Sub, Const(x), Const(y)) => Const(x.wrapping_sub(y)),
        // The short way to write −1, and 0.
        (Op::Or, _, Const(-1)) => Const(-1),
        (Op::And, _, Const(0)) => Const(0),
        (Op::Or, Const(x), Const(y)) => Const(x | y),
        (Op::And, Const(x), Const(y)) => Const(x & y),
        (Op::Xor, Const(x), Const(y)) => Const(x ^ y),
        (Op::Add, Old(x), Const(y)) | (Op::Add, Const(y), Old(x)) => Old(x.wrapping_add(y)),
        (Op::Sub, Old(x), Const(y)) => Old(x.wrapping_sub(y)),
        (Op::Add, Symbol(n, x), Const(y)) => Symbol(n, x.wrapping_add(y)),
        (Op::Sub, Symbol(n, x), Const(y)) => Symbol(n, x.wrapping_sub(y)),
        (Op::Add, Value::Expected(x), Const(y)) => Value::Expected(x.wrapping_add(y)),
        (Op::Sub, Value::Expected(x), Const(y)) => Value::Expected(x.wrapping_sub(y)),
        (Op::Add, Old(_), Unknown | Symbol(..)) | (Op::Add, Unknown | Symbol(..), Old(_)) => Raised,
        (Op::Add, Old(_), Negated) | (Op::Sub, Old(_), Unknown | Symbol(..)) => Lowered,
        (Op::Sub, Const(0), Unknown | Symbol(..)) => Negated,
        // Widths of registers are not followed, so a mask of all bits of one keeps the number.
        (Op::And, x, Const(0xff | 0xffff | 0xffff_ffff | -1)) => x,
        (Op::Or | Op::Xor | Op::Add | Op::Sub, x, Const(0)) => x,
        (Op::And, Swapped(made), Const(1)) => Swapped(made),
        (Op::Xor, Swapped(made), Const(1)) => Swapped(!made),
        (Op::And | Op::Or, x, y) if x == y => x,
        _ if is_about_word(a) || is_about_word(b) => Derived,
        _ => Unknown,
    }
}
