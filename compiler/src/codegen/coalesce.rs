//! Payload coalescing: values are computed directly in message payloads.
//!
//! Selection assembles the payload of a message by copies. If a value is live in one block only and each part
//! of it is copied to one place of one payload, its register is replaced by that part of the payload, which
//! removes the copies. This precedes allocation, which coalesces whole registers only.

use super::allocate::plain_copy;
use super::lir::{Fixup, Inst, InstKind, Program, VRef, Vreg};
use smallvec::SmallVec;

/// Replaces registers by parts of payloads, and removes the copies.
pub fn coalesce(program: &mut Program) {
    let uses = Uses::new(program);
    let mut moved: Vec<Option<Move>> = vec![None; program.vregs.len()];
    let mut is_payload = vec![false; program.vregs.len()];
    for number in 0..program.vregs.len() {
        // A register that has been replaced, or that replaces one, is not considered again: other copies
        // depend on it.
        if let Some(found) = plan(program, &uses, number).filter(|_| !is_payload[number]) {
            let payload = found.payload.0 as usize;
            if moved[payload].is_none() {
                is_payload[payload] = true;
                moved[number] = Some(found);
            }
        }
    }
    if moved.iter().all(Option::is_none) {
        return;
    }
    for inst in program.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        for place in inst.srcs.iter_mut().chain([&mut inst.dst]).flatten() {
            if let Some(at) = moved[place.vreg.0 as usize].as_ref().and_then(|m| m.place(place.offset, 1)) {
                *place = at;
            }
        }
    }
    for block in &mut program.blocks {
        block.insts.retain(|inst| !is_self_copy(inst));
    }
}

/// Whether the replacement made it a copy of a register to itself.
fn is_self_copy(inst: &Inst) -> bool {
    plain_copy(inst).is_some_and(|(dst, d, src, s)| (dst, d) == (src, s))
}

/// The replacement of a register by parts of a payload.
#[derive(Clone, Debug)]
struct Move {
    payload: Vreg,
    /// First byte, end, and first byte in the payload.
    parts: SmallVec<[(u32, u32, u32); 2]>,
}

impl Move {
    /// The location of bytes of the register in the payload, if one part contains all of them.
    fn place(&self, first: u32, size: u32) -> Option<VRef> {
        let part = self.parts.iter().find(|(begin, end, _)| *begin <= first && first + size <= *end)?;
        Some(VRef { vreg: self.payload, offset: part.2 + first - part.0 })
    }
}

/// One access to a register.
#[derive(Clone, Copy, Debug)]
struct Use {
    index: usize,
    write: bool,
    first: u32,
    span: u32,
}

/// The accesses to each register that is used in one block.
struct Uses {
    /// By register: the block and the accesses in program order; `None` if several blocks use it, or if it is
    /// accessed indirectly.
    of: Vec<Option<(usize, Vec<Use>)>>,
}

impl Uses {
    fn new(program: &Program) -> Uses {
        let count = program.vregs.len();
        let mut of: Vec<Option<(usize, Vec<Use>)>> = vec![Some((usize::MAX, Vec::new())); count];
        for (block, insts) in program.blocks.iter().map(|b| &b.insts).enumerate() {
            for (index, inst) in insts.iter().enumerate() {
                if let Some(Fixup::AddressOf(v)) = inst.fixup {
                    of[v.vreg.0 as usize] = None;
                }
                let reads = inst
                    .srcs
                    .iter()
                    .enumerate()
                    .filter_map(|(n, v)| Some((v.as_ref()?, false, inst.src_span(n))));
                let writes = inst.dst.iter().map(|v| (v, true, inst.dst_span()));
                for (v, write, span) in reads.chain(writes) {
                    let known = &mut of[v.vreg.0 as usize];
                    let Some((home, uses)) = known else { continue };
                    if !(*home == usize::MAX || *home == block)
                        || inst.kind != InstKind::Normal
                        || inst.indirect_span > 0
                    {
                        *known = None;
                        continue;
                    }
                    *home = block;
                    uses.push(Use { index, write, first: v.offset, span });
                }
            }
        }
        Uses { of }
    }
}

/// Finds the replacement of a register, if it can be replaced.
fn plan(program: &Program, uses: &Uses, number: usize) -> Option<Move> {
    let (block, own) = uses.of[number].as_ref()?;
    let insts = &program.blocks.get(*block)?.insts;
    let info = &program.vregs[number];
    let source = Vreg(number as u32);
    let mut found: Option<Move> = None;
    let mut copies: SmallVec<[usize; 4]> = SmallVec::new();
    for access in own.iter().filter(|u| !u.write) {
        let inst = &insts[access.index];
        let copy = plain_copy(inst).filter(|c| c.2 == source && inst.isa.predicate.is_none());
        let Some((payload, to, _, from)) = copy else { continue };
        let known = found.get_or_insert(Move { payload, parts: SmallVec::new() });
        if known.payload != payload || payload == source {
            return None;
        }
        known.parts.push((from, from + access.span, to));
        copies.push(access.index);
    }
    let found = found?;
    let target = &program.vregs[found.payload.0 as usize];
    let aligned = found.parts.iter().all(|(first, _, to)| to % info.align == first % info.align);
    let disjoint = |list: &[(u32, u32)]| {
        list.iter().enumerate().all(|(n, a)| list[..n].iter().all(|b| a.1 <= b.0 || b.1 <= a.0))
    };
    let from: SmallVec<[(u32, u32); 2]> = found.parts.iter().map(|p| (p.0, p.1)).collect();
    let to: SmallVec<[(u32, u32); 2]> = found.parts.iter().map(|p| (p.2, p.2 + p.1 - p.0)).collect();
    if info.fixed.is_some() || target.fixed.is_some() || target.align < info.align || !aligned {
        return None;
    }
    if !disjoint(&from) || !disjoint(&to) || !own.iter().all(|u| found.place(u.first, u.span).is_some()) {
        return None;
    }
    // All writes precede the first copy.
    let (first_copy, begin) = (*copies.iter().min()?, own.first()?);
    let last_write = own.iter().filter(|u| u.write).map(|u| u.index).max()?;
    if !begin.write || last_write >= first_copy {
        return None;
    }
    // No other instruction writes that part of the payload, and none reads the payload before it is complete.
    let (home, others) = uses.of[found.payload.0 as usize].as_ref()?;
    let last_copy = *copies.iter().max()?;
    let meets = |u: &Use| to.iter().any(|(first, end)| u.first < *end && *first < u.first + u.span);
    let free = others.iter().all(|u| match u.write {
        true => copies.contains(&u.index) || !meets(u),
        false => u.index > last_copy,
    });
    let masks = copies.iter().all(|&copy| {
        let writes = own.iter().filter(|u| u.write).map(|u| &insts[u.index].isa);
        writes.into_iter().all(|isa| isa.no_mask == insts[copy].isa.no_mask)
    });
    (home == block && free && masks).then_some(found)
}
