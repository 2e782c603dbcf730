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

#[cfg(test)]
mod tests {
    use super::inherit_locations;
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
        inherit_locations(&mut function);
        let found: Vec<Location> = function.instructions().map(|i| i.location).collect();
        assert_eq!(found, [first, first, second, second, second]);
    }
}
