//! Conditional modifiers.

use std::cmp::Ordering;

use gencl_isa::Condition;

use super::value::Value;

/// Whether a conditional modifier holds for a result with these properties (Volume 7, "Assigning Conditional
/// Modifiers").
#[inline(always)]
pub fn condition_holds(
    condition: Condition,
    zero: bool,
    negative: bool,
    unordered: bool,
    overflow: bool,
) -> bool {
    match condition {
        Condition::Equal => zero,
        Condition::NotEqual => !zero,
        Condition::Greater => !unordered && !zero && !negative,
        Condition::GreaterEqual => !unordered && (zero || !negative),
        Condition::Less => !unordered && !zero && negative,
        Condition::LessEqual => !unordered && (zero || negative),
        Condition::Overflow => overflow,
        Condition::Unordered => unordered,
    }
}

/// The comparison of `cmp`: NaN is unequal to everything, and neither less nor greater.
pub fn compare(condition: Condition, a: Value, b: Value) -> bool {
    let order = a.compare(b);
    condition_holds(
        condition,
        order == Some(Ordering::Equal),
        order == Some(Ordering::Less),
        order.is_none(),
        false,
    )
}
