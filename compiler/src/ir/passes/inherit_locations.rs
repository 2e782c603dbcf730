//! Locations for the instructions that passes have added.

use crate::ir::{Function, Location};

/// Gives an instruction without location that of the next one of its block that has one: what it was added
/// for. At the end of a block it is the previous one's, in layout order.
pub fn inherit_locations(function: &mut Function) {
    let mut last = Location::NONE;
    for block in function.layout.clone() {
        let instructions = &mut function.block_mut(block).instructions;
        let mut next = Location::NONE;
        for instruction in instructions.iter_mut().rev() {
            next = instruction.location.or(next);
            instruction.location = next;
        }
        for instruction in instructions {
            last = instruction.location.or(last);
            instruction.location = last;
        }
    }
}

/// The same for a debugger: an instruction without location takes the last one, in layout order. What stores a parameter
/// of an inlined call has none, and belongs to the call: at the function's first line its parameters are there.
pub fn continue_locations(function: &mut Function) {
    let mut last = Location::NONE;
    for block in function.layout.clone() {
        for instruction in &mut function.block_mut(block).instructions {
            last = instruction.location.or(last);
            instruction.location = last;
        }
    }
    // What is before the first location.
    inherit_locations(function);
}

#[cfg(test)]
mod tests {
    use super::{continue_locations, inherit_locations};
    use crate::ir::location::{Locations, Position, Scope};
    use crate::ir::{Function, Instruction, Location, Op};

    #[test]
    fn added_instructions_take_the_next_location_or_the_last() {
        let mut locations = Locations::default();
        let mut place = |line| {
            let inlined_at = Location::NONE;
            locations.add(Position { scope: Scope::Function(0), file: 0, line, column: 0, inlined_at })
        };
        let (first, second) = (place(1), place(2));
        let mut function = Function::new("k");
        let entry = function.layout[0];
        let added = || Instruction::new(Op::Undefined, [], []);
        let located = |location| added().at(location);
        function.block_mut(entry).instructions =
            vec![added(), located(first), added(), located(second), added()];
        let locations = |function: &Function| -> Vec<Location> {
            function.instructions().map(|instruction| instruction.location).collect()
        };
        let mut in_order = function.clone();
        inherit_locations(&mut function);
        assert_eq!(locations(&function), [first, first, second, second, second]);
        continue_locations(&mut in_order);
        assert_eq!(locations(&in_order), [first, first, first, second, second]);
    }
}
