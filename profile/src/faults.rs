//! What is slow about messages.

use crate::analysis::{Cost, ratio};

/// Bytes of a cache line.
pub const LINE: u64 = 64;

/// A fault of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The lanes access more cache lines than neighbouring addresses would.
    Uncoalesced,
    /// Lanes access different dwords of one bank of shared local memory.
    BankConflicts,
    /// Atomic operations of several lanes are on the same element.
    SameElement,
}

/// The number of cache lines that the bytes of messages take when they are neighbours.
pub fn needed_lines(cost: &Cost) -> u64 {
    cost.bytes.div_ceil(LINE).max(cost.line_sends).min(cost.lines)
}

/// The fault of messages of a class, if there is one.
pub fn fault(class: &str, cost: &Cost) -> Option<Fault> {
    if ratio(cost.conflicts, cost.port) >= 0.25 {
        return Some(if class.contains("atomic") { Fault::SameElement } else { Fault::BankConflicts });
    }
    // Two lines are those of one access that is not aligned.
    let scattered =
        cost.bytes > 0 && cost.lines > 2 * cost.line_sends && cost.lines >= 2 * needed_lines(cost);
    scattered.then_some(Fault::Uncoalesced)
}

/// The fault in a few words.
pub fn described(class: &str, cost: &Cost) -> Option<String> {
    let each = |count: u64| ratio(count, cost.sends);
    Some(match fault(class, cost)? {
        Fault::SameElement => {
            format!("operations on the same element: {:.1} clocks per message", each(cost.port))
        }
        Fault::BankConflicts => format!("bank conflicts: {:.1} clocks per message", each(cost.port)),
        Fault::Uncoalesced => format!(
            "uncoalesced: {:.1} cache lines per message, neighbouring addresses need {:.1}",
            each(cost.lines),
            each(needed_lines(cost))
        ),
    })
}
