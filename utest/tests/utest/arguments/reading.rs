//! Statements on an argument in memory: ways to read it and to write to it, each with what it does to the bytes.

use std::fmt::Write;

use gencl_utest::Random;

use super::layout::{Leaf, Type};

/// Elements that a step reads, at most.
const MAX_LEAVES: usize = 48;

/// A statement.
pub struct Step {
    /// OpenCL C. It adds to the hash `h`, or changes the argument; `z` is 0, `gid` the work-item's number.
    pub code: String,
    pub effect: Effect,
}

/// What a statement does.
pub enum Effect {
    /// Adds numbers that the layout has: sizes and offsets.
    Numbers(Vec<u32>),
    /// Adds the integers at these offsets, of these sizes in bytes.
    Read(Vec<(usize, usize)>),
    /// Combines the integer at an offset, of a size, with the work-item's number by exclusive or.
    Xor(usize, usize),
}

/// One more number in a hash.
fn mix(hash: u32, number: u32) -> u32 {
    hash.wrapping_mul(31).wrapping_add(number)
}

impl Effect {
    /// Does it for a work-item.
    pub fn apply(&self, bytes: &mut [u8], hash: &mut u32, item: u32) {
        match self {
            Effect::Numbers(numbers) => *hash = numbers.iter().fold(*hash, |hash, number| mix(hash, *number)),
            Effect::Read(places) => {
                for (offset, size) in places {
                    for dword in bytes[*offset..offset + size].chunks(4) {
                        let number =
                            dword.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
                        *hash = mix(*hash, number);
                    }
                }
            }
            Effect::Xor(offset, size) => {
                let places = bytes[*offset..offset + size].iter_mut();
                places.zip(item.to_le_bytes()).for_each(|(byte, own)| *byte ^= own);
            }
        }
    }
}

/// Sizes and offsets as the compiler has them.
pub fn layout(ty: &Type, name: &str) -> Step {
    let fields = ty.fields(name);
    let mut code = format!("h = h * 31u + (uint)sizeof({name});");
    for (path, _) in &fields {
        let _ = write!(code, " h = h * 31u + (uint)((uchar *)&{path} - (uchar *)&{name});");
    }
    let size = ty.layout().0 as u32;
    let offsets = fields.iter().map(|(_, offset)| *offset as u32);
    Step { code, effect: Effect::Numbers(std::iter::once(size).chain(offsets).collect()) }
}

/// The argument read in some way: by fields, by elements with computed indices, by bytes, or one of these on a copy.
pub fn read(random: &mut Random, ty: &Type, name: &str, declaration: &str) -> Step {
    if !matches!(ty, Type::Record(_)) {
        return by_fields(random, ty, name);
    }
    match random.below(8) {
        0 | 1 => by_fields(random, ty, name),
        2 | 3 => by_bytes(random, ty, name),
        4 => by_elements(ty, name),
        _ => by_copy(random, ty, name, declaration),
    }
}

fn by_fields(random: &mut Random, ty: &Type, name: &str) -> Step {
    let mut leaves = ty.leaves(name);
    if random.one_in(3) {
        leaves.retain(|_| random.one_in(2));
    }
    of_leaves(&leaves, |leaf| &leaf.known)
}

fn by_elements(ty: &Type, name: &str) -> Step {
    of_leaves(&ty.leaves(name), |leaf| &leaf.computed)
}

fn of_leaves(leaves: &[Leaf], path: impl Fn(&Leaf) -> &String) -> Step {
    let (mut code, mut places) = (String::new(), Vec::new());
    for leaf in &leaves[..leaves.len().min(MAX_LEAVES)] {
        let bits = format!("as_{}({})", leaf.scalar.bits, path(leaf));
        let _ = write!(code, " h = h * 31u + (uint){bits};");
        if leaf.scalar.size == 8 {
            let _ = write!(code, " h = h * 31u + (uint)({bits} >> 32);");
        }
        places.push((leaf.offset, leaf.scalar.size));
    }
    Step { code, effect: Effect::Read(places) }
}

/// Loops over bytes, without those between fields: copies need not have them. The compiler may unroll the loops.
fn by_bytes(random: &mut Random, ty: &Type, name: &str) -> Step {
    let is_unknown = random.one_in(2);
    let index = if is_unknown { "b + z" } else { "b" };
    let (mut code, mut places) = (String::new(), Vec::new());
    for (begin, end) in ranges(ty) {
        let _ = write!(
            code,
            " for (int b = {begin}; b < {end}; b++) h = h * 31u + ((const uchar *)&{name})[{index}];"
        );
        places.extend((begin..end).map(|byte| (byte, 1)));
    }
    Step { code, effect: Effect::Read(places) }
}

/// A copy in a variable, in an array of two with computed index, or in another structure's field.
fn by_copy(random: &mut Random, ty: &Type, name: &str, declaration: &str) -> Step {
    let (declared, source) = match random.below(4) {
        0 => (format!("{declaration} c = {name};"), "c".to_owned()),
        1 => (format!("{declaration} c[2]; c[0] = {name}; c[1] = {name};"), "c[z + 1]".to_owned()),
        2 => (format!("struct {{ uchar before; {declaration} v; }} c; c.v = {name};"), "c.v".to_owned()),
        _ => (format!("{declaration} c[1]; c[z] = {name};"), "c[0]".to_owned()),
    };
    let step = match random.below(3) {
        0 => by_fields(random, ty, &source),
        1 => by_elements(ty, &source),
        _ => by_bytes(random, ty, &source),
    };
    Step { code: format!("{{ {declared}{} }}", step.code), ..step }
}

/// A change of one element or byte. `None` where there is none that can be changed alone.
pub fn write(random: &mut Random, ty: &Type, name: &str) -> Option<Step> {
    if matches!(ty, Type::Record(_)) && random.one_in(2) {
        let bytes: Vec<usize> = ranges(ty).into_iter().flat_map(|(begin, end)| begin..end).collect();
        let byte = random.pick(&bytes);
        let index = if random.one_in(2) { format!("{byte} + z") } else { byte.to_string() };
        let code = format!("((uchar *)&{name})[{index}] ^= (uchar)gid;");
        return Some(Step { code, effect: Effect::Xor(byte, 1) });
    }
    let mut leaves = ty.leaves(name);
    leaves.retain(|leaf| leaf.is_alone);
    if leaves.is_empty() {
        return None;
    }
    let leaf = leaves.swap_remove(random.below(leaves.len()));
    let path = if random.one_in(2) { leaf.known } else { leaf.computed };
    let (own, bits) = (leaf.scalar.name, leaf.scalar.bits);
    let code = format!("{path} = as_{own}(({bits})(as_{bits}({path}) ^ gid));");
    Some(Step { code, effect: Effect::Xor(leaf.offset, leaf.scalar.size) })
}

/// The ranges of bytes that fields have.
fn ranges(ty: &Type) -> Vec<(usize, usize)> {
    let mut used = vec![false; ty.layout().0 + 1];
    for leaf in ty.leaves("") {
        used[leaf.offset..leaf.offset + leaf.scalar.size].fill(true);
    }
    let edges: Vec<usize> = (0..used.len()).filter(|&at| used[at] != (at > 0 && used[at - 1])).collect();
    edges.chunks(2).map(|edge| (edge[0], edge[1])).collect()
}
