//! Analyses of IR registers before selection.

use crate::ir::signature::Class;
use crate::ir::{BinaryOp, Family, Function, Instruction, Op, Reg, Type};

/// Properties of IR registers, by register number.
pub struct RegisterFacts {
    /// Registers with one definition, which is a constant.
    pub constants: Vec<Option<u64>>,
    /// Registers with one element for all lanes.
    pub scalars: Vec<bool>,
    /// Registers accessed in one block only, and written there first.
    pub local: Vec<bool>,
    /// Registers with one definition.
    pub single_definition: Vec<bool>,
    /// Quadwords that are extended dwords, and dwords that are extended words, if they are only operands of
    /// additions: the register they extend and its type. The addition extends its operand.
    pub extended: Vec<Option<(Reg, Type)>>,
}

fn instructions(function: &Function) -> impl Iterator<Item = (usize, &Instruction)> {
    function
        .layout
        .iter()
        .filter_map(|b| function.blocks.get(b.0 as usize))
        .enumerate()
        .flat_map(|(index, block)| block.instructions.iter().map(move |i| (index, i)))
}

/// Analyses a function.
pub fn analyse(function: &Function) -> RegisterFacts {
    let count = function.registers.len();
    let mut definitions = vec![0u32; count];
    for (_, i) in instructions(function).filter(|(_, i)| i.op != Op::Undefined) {
        for d in &i.dsts {
            definitions[d.0 as usize] += 1;
        }
    }
    let single_definition: Vec<bool> = definitions.iter().map(|n| *n == 1).collect();
    let mut constants = vec![None; count];
    for (_, i) in instructions(function) {
        if let (Op::Immediate { bits, .. }, [dst]) = (i.op, i.dsts.as_slice())
            && single_definition[dst.0 as usize]
        {
            constants[dst.0 as usize] = Some(bits);
        }
    }
    let local = local(function);
    let scalars = scalars(function, &single_definition, &local, &constants);
    let extended = extended(function, &single_definition, &constants);
    RegisterFacts { constants, scalars, local, single_definition, extended }
}

fn extended(
    function: &Function,
    single_definition: &[bool],
    constants: &[Option<u64>],
) -> Vec<Option<(Reg, Type)>> {
    let mut list = vec![None; function.registers.len()];
    for (_, i) in instructions(function).filter(|(_, i)| i.predicate.is_none()) {
        let Op::Convert { to, from, saturate: false, .. } = i.op else { continue };
        let twice = matches!(to, Type::S64 | Type::U64) && matches!(from, Type::S32 | Type::U32)
            || matches!(to, Type::S32 | Type::U32) && matches!(from, Type::S16 | Type::U16);
        if !twice {
            continue;
        }
        let (dst, [src]) = (i.result().0 as usize, i.sources());
        if single_definition[dst] && single_definition[src.0 as usize] && constants[src.0 as usize].is_none()
        {
            list[dst] = Some((src, from));
        }
    }
    for (_, i) in instructions(function) {
        let add = matches!(i.op, Op::Binary(BinaryOp::Add, Type::S32 | Type::U32 | Type::S64 | Type::U64));
        for (index, src) in i.srcs.iter().enumerate() {
            // At least one operand must have the width of the addition.
            let other = add.then(|| i.srcs[1 - index].0 as usize);
            let fits = other.is_some_and(|o| constants[o].is_none() && (index == 0 || list[o].is_none()));
            if !fits {
                list[src.0 as usize] = None;
            }
        }
    }
    list
}

/// Registers that can be scalar: those marked uniform, and those with a single definition whose sources are
/// all scalar, without those with a definition that cannot be a scalar instruction.
///
/// In a masked block a lane keeps its last value when others execute another iteration of a loop: a register
/// that is read in another block is scalar only if the uniformity analysis marks it.
fn scalars(
    function: &Function,
    single_definition: &[bool],
    local: &[bool],
    constants: &[Option<u64>],
) -> Vec<bool> {
    let mut kept = vec![false; function.registers.len()];
    for block in function.layout.iter().map(|id| function.block(*id)).filter(|block| block.masked) {
        for d in block.instructions.iter().flat_map(|i| &i.dsts) {
            kept[d.0 as usize] = !local[d.0 as usize];
        }
    }
    let known = |r: Reg| constants[r.0 as usize].is_some();
    let mut scalar: Vec<bool> = function
        .registers
        .iter()
        .enumerate()
        .map(|(index, r)| r.family != Family::Bool && (r.uniform || single_definition[index] && !kept[index]))
        .collect();
    loop {
        let mut changed = false;
        for (_, i) in instructions(function) {
            // A uniform truth value has the same bit for all lanes: a scalar instruction uses that of lane 0.
            let truth = |s: Reg| {
                let info = function.register(s);
                info.family == Family::Bool && info.uniform
            };
            let sources = i.srcs.iter().all(|s| known(*s) || scalar[s.0 as usize] || truth(*s));
            let signature = i.op.signature();
            for d in &i.dsts {
                let marked = function.registers[d.0 as usize].uniform;
                let fits = match signature.class {
                    // The predicate selects the lanes that take part; the result is uniform.
                    Class::CrossLane => marked,
                    // It is predicated because a parked lane reads the previous value: the register differs
                    // between lanes.
                    _ if i.predicate.is_some() => false,
                    Class::Undefined => true,
                    Class::Pure | Class::Launch => signature.uniform && sources,
                    Class::Read => signature.uniform && sources && marked,
                    Class::Write | Class::Order | Class::Terminator => false,
                };
                if scalar[d.0 as usize] && !fits {
                    scalar[d.0 as usize] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return scalar;
        }
    }
}

fn local(function: &Function) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Home {
        Unseen,
        One(usize),
        Many,
    }
    let mut homes = vec![Home::Unseen; function.registers.len()];
    for (block, i) in instructions(function).filter(|(_, i)| i.op != Op::Undefined) {
        let reads = i.srcs.iter().copied().chain(i.predicate.map(|p| p.reg)).map(|r| (r, false));
        let writes = i.dsts.iter().map(|r| (*r, true));
        for (reg, write) in reads.chain(writes) {
            let home = &mut homes[reg.0 as usize];
            *home = match *home {
                Home::Unseen if write => Home::One(block),
                Home::One(known) if known == block => Home::One(known),
                _ => Home::Many,
            };
        }
    }
    homes.iter().map(|home| matches!(home, Home::One(_))).collect()
}
