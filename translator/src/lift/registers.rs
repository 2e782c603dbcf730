//! Registers as SSA variables: each variable of [`crate::analysis::variables`] is cut into pieces that instructions access as vectors, and a piece has one value at a time.

use gencl_eu::dispatch::GRF_SIZE;
use gencl_eu::file::GRF_BYTES;

use super::Lift;
use super::ssa::Variable;
use crate::analysis::access::Access;
use crate::analysis::plan::Plan;
use crate::analysis::variables::Variables;
use crate::middle::function::{Constant, Value};
use crate::middle::op::{Binary, Convert, Op};
use crate::middle::types::Type;

/// Bytes of a variable that are one value.
#[derive(Clone, Debug)]
pub struct Piece {
    /// First byte, in the register file.
    pub start: usize,
    /// Integers.
    pub ty: Type,
}

impl Piece {
    fn bytes(&self) -> usize {
        self.ty.bits() as usize / 8
    }

    /// The end of its bytes.
    pub fn end(&self) -> usize {
        self.start + self.bytes()
    }
}

/// The pieces of all variables.
#[derive(Default)]
pub struct Pieces {
    /// All of them.
    pub all: Vec<Piece>,
    /// The pieces of each variable, by their bytes.
    pub of_variable: Vec<std::ops::Range<usize>>,
}

impl Pieces {
    /// Cuts variables.
    pub fn new(plan: &Plan<'_>, variables: &Variables) -> Pieces {
        let count = variables.all.len();
        // Of each byte of a variable: whether the next one is in the same piece; and the size of the largest elements that it is in.
        let mut joined: Vec<Vec<bool>> = variables.all.iter().map(|v| vec![false; v.end - v.start]).collect();
        let mut sizes: Vec<Vec<u8>> = variables.all.iter().map(|v| vec![0; v.end - v.start]).collect();
        let mut look = |variable: usize, access: &Access| {
            let own = &variables.all[variable];
            let (start, end) = access.extent();
            let is_run = access.owner.is_none() && access.at.len() == 1;
            let size = if access.size > 8 { 4 } else { access.size as u8 };
            for byte in start - own.start..end - own.start {
                // Of what is only moved, each register is a value.
                let goes_on = byte + 1 < end - own.start
                    && !(is_run && (own.start + byte + 1).is_multiple_of(GRF_SIZE));
                joined[variable][byte] |= goes_on;
                sizes[variable][byte] = sizes[variable][byte].max(size);
            }
        };
        for (index, effects) in plan.effects.iter().enumerate() {
            for (access, variable) in effects.uses.iter().zip(&variables.uses[index]) {
                if let (Some(access), Some(variable)) = (access, variable) {
                    look(*variable, access);
                }
            }
            for (definition, variable) in effects.definitions.iter().zip(&variables.definitions[index]) {
                if *variable != usize::MAX {
                    look(*variable, &definition.access);
                }
            }
        }
        let mut pieces = Pieces::default();
        for variable in 0..count {
            let first = pieces.all.len();
            let (own, mut start) = (&variables.all[variable], 0);
            for byte in 0..own.end - own.start {
                // Bytes that nothing accesses stay together, too.
                let is_idle = |byte: usize| sizes[variable].get(byte) == Some(&0);
                let is_end = (own.start + byte + 1).is_multiple_of(GRF_SIZE);
                if joined[variable][byte] || is_idle(byte) && is_idle(byte + 1) && !is_end {
                    continue;
                }
                let bytes = byte + 1 - start;
                // Elements that nothing accesses are as large as may be, as registers are copied by dwords.
                let widest =
                    sizes[variable][start..=byte].iter().copied().max().filter(|size| *size > 0).unwrap_or(4);
                let fits = |size: &usize| bytes.is_multiple_of(*size);
                let size =
                    [8, 4, 2].into_iter().filter(|size| *size <= usize::from(widest)).find(fits).unwrap_or(1);
                let ty = Type::int(size as u32 * 8, bytes / size);
                pieces.all.push(Piece { start: own.start + start, ty });
                start = byte + 1;
            }
            pieces.of_variable.push(first..pieces.all.len());
        }
        pieces
    }
}

impl Lift<'_> {
    /// The elements of a read, as integers.
    pub fn read_access(&mut self, index: usize, number: usize) -> Option<Value> {
        let access = self.plan.effects[index].uses[number].clone()?;
        let variable = self.variables.as_ref().and_then(|v| v.uses[index][number]);
        Some(self.read_elements(variable, &access))
    }

    /// Elements in a variable, or where registers stay in memory, in the register file.
    pub fn read_elements(&mut self, variable: Option<usize>, access: &Access) -> Value {
        let size = usize::from(access.size);
        if let Some(wide) = self.wider(variable, access) {
            let all = self.read_bytes(variable, wide.start, wide.end);
            let all = self.as_elements(all, wide.step);
            let shift = self.builder.int(self.builder.ty(all), wide.shift);
            let moved = self.builder.binary(Binary::LShr, all, shift);
            return self.builder.resize(moved, size as u32 * 8, false);
        }
        let (start, end) = access.extent();
        let offsets: Vec<usize> = access.at.iter().map(|at| usize::from(*at) - start).collect();
        let whole = self.read_bytes(variable, start, end);
        self.elements(whole, &offsets, size)
    }

    /// The wider elements, one for each lane, of which elements are parts, if all of them are in one piece. So no element has to change its lane.
    fn wider(&self, variable: Option<usize>, access: &Access) -> Option<Wider> {
        let (at, size) = (&access.at, usize::from(access.size));
        let step = usize::from(at.get(1)?.checked_sub(at[0])?);
        let is_even = at.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step as u16));
        let first = usize::from(at[0]);
        let pieces = &self.pieces.all[self.pieces.of_variable[variable?].clone()];
        let piece = pieces.iter().find(|piece| (piece.start..piece.end()).contains(&first))?;
        let inside = (first - piece.start) % step.max(1);
        let (start, end) = (first - inside, first - inside + step * at.len());
        let fits =
            end <= piece.end() && inside + size <= step && (piece.end() - piece.start).is_multiple_of(step);
        (is_even && matches!(step, 2 | 4 | 8) && step > size && fits).then_some(Wider {
            start,
            end,
            step,
            shift: inside as u64 * 8,
        })
    }

    /// Bytes, as a vector of integers of any size.
    fn read_bytes(&mut self, variable: Option<usize>, start: usize, end: usize) -> Value {
        let Some(variable) = variable else {
            return self.builder.effect(Op::Get(start as u16), &[], &[bytes_of(end - start)])[0];
        };
        let mut parts = Vec::new();
        for number in self.pieces.of_variable[variable].clone() {
            let piece = self.pieces.all[number].clone();
            let (first, last) = (start.max(piece.start), end.min(piece.end()));
            if first < last {
                let value = self.read_variable(Variable::Register(number as u32), piece.ty);
                parts.push(self.cut(value, first - piece.start, last - first));
            }
        }
        self.joined(parts)
    }

    /// Bytes of a vector.
    fn cut(&mut self, value: Value, first: usize, bytes: usize) -> Value {
        let ty = self.builder.ty(value);
        if bytes * 8 == ty.bits() as usize {
            return value;
        }
        let own = ty.scalar.bits() as usize / 8;
        let size = (1..=own).rev().find(|size| {
            own.is_multiple_of(*size) && first.is_multiple_of(*size) && bytes.is_multiple_of(*size)
        });
        let size = size.unwrap_or(1);
        let value = self.as_elements(value, size);
        self.builder.slice(value, first / size, bytes / size)
    }

    /// Concatenates vectors.
    fn joined(&mut self, parts: Vec<Value>) -> Value {
        if let [only] = parts[..] {
            return only;
        }
        let sizes = parts.iter().map(|part| self.builder.ty(*part)).collect::<Vec<_>>();
        let element = |ty: &Type| ty.scalar.bits() as usize / 8;
        let size = sizes.iter().map(element).min().unwrap_or(1);
        let mut parts: Vec<Value> = parts.iter().map(|part| self.as_elements(*part, size)).collect();
        // As a tree, so that halves are joined where they are.
        while parts.len() > 1 {
            parts = parts
                .chunks(2)
                .map(|pair| if let [a, b] = *pair { self.concatenated(a, b) } else { pair[0] })
                .collect();
        }
        parts[0]
    }

    /// Concatenates two vectors of one element type.
    pub fn concatenated(&mut self, a: Value, b: Value) -> Value {
        let count = usize::from(self.builder.ty(a).lanes) + usize::from(self.builder.ty(b).lanes);
        self.builder.shuffle(a, Some(b), 0..count)
    }

    /// The same bits as elements of a size in bytes.
    pub fn as_elements(&mut self, value: Value, size: usize) -> Value {
        let bits = self.builder.ty(value).bits() as usize;
        self.builder.bitcast(value, Type::int(size as u32 * 8, bits / 8 / size))
    }

    /// Elements at byte offsets of a vector.
    fn elements(&mut self, whole: Value, offsets: &[usize], size: usize) -> Value {
        let bytes = self.builder.ty(whole).bits() as usize / 8;
        let is_even =
            |unit: usize| bytes.is_multiple_of(unit) && offsets.iter().all(|at| at.is_multiple_of(unit));
        if size > 8 {
            // Bytes that follow each other.
            return whole;
        }
        let unit =
            [8, 4, 2, 1].into_iter().filter(|unit| *unit <= size).find(|unit| is_even(*unit)).unwrap_or(1);
        let units = self.as_elements(whole, unit);
        let order = offsets.iter().flat_map(|at| (0..size / unit).map(move |n| at / unit + n));
        let found = self.builder.shuffle(units, None, order.collect::<Vec<_>>());
        self.builder.bitcast(found, Type::int(size as u32 * 8, offsets.len()))
    }

    /// Writes elements where a mask (`None`: everywhere) says so.
    pub fn write_elements(&mut self, index: usize, number: usize, new: Value, mask: Option<Value>) {
        let access = self.plan.effects[index].definitions[number].access.clone();
        let variable = self.variables.as_ref().map(|v| v.definitions[index][number]);
        let merging = self.variables.as_ref().is_none_or(|v| v.merging[index][number]);
        let mask = mask.filter(|_| merging);
        self.write_to(variable, &access, new, mask);
    }

    /// Writes elements of a variable, or of the register file.
    pub fn write_to(&mut self, variable: Option<usize>, access: &Access, new: Value, mask: Option<Value>) {
        let (start, end) = access.extent();
        let is_all =
            |mask: &Value| matches!(self.builder.function.as_constant(*mask), Some(Constant::All(1)));
        let new = match mask.filter(|mask| !is_all(mask)) {
            Some(mask) => {
                let old = self.read_elements(variable, access);
                self.builder.select(mask, new, old)
            }
            None => new,
        };
        let size = usize::from(access.size);
        let offsets: Vec<usize> = access.at.iter().map(|at| usize::from(*at) - start).collect();
        let is_packed = offsets.iter().enumerate().all(|(n, at)| *at == n * size);
        if let Some(wide) = self.wider(variable, access) {
            let all = self.merged_parts(variable, &wide, new, size);
            return self.write_bytes(variable, wide.start, wide.end, all);
        }
        let all = if is_packed {
            new
        } else {
            let old = self.read_bytes(variable, start, end);
            self.inserted(old, new, &offsets, size)
        };
        self.write_bytes(variable, start, end, all);
    }

    /// Wider elements with other parts.
    fn merged_parts(&mut self, variable: Option<usize>, wide: &Wider, new: Value, size: usize) -> Value {
        let old = self.read_bytes(variable, wide.start, wide.end);
        let old = self.as_elements(old, wide.step);
        let ty = self.builder.ty(old);
        let part = u64::MAX >> (64 - size * 8) << wide.shift;
        let others = self.builder.int(ty, !part);
        let others = self.builder.binary(Binary::And, old, others);
        let own = self.builder.convert(Convert::ZExt, new, ty.scalar);
        let by = self.builder.int(ty, wide.shift);
        let own = self.builder.binary(Binary::Shl, own, by);
        self.builder.binary(Binary::Or, others, own)
    }

    /// A vector with other elements at byte offsets.
    fn inserted(&mut self, old: Value, new: Value, offsets: &[usize], size: usize) -> Value {
        let bytes = self.builder.ty(old).bits() as usize / 8;
        let fits =
            |unit: &usize| bytes.is_multiple_of(*unit) && offsets.iter().all(|at| at.is_multiple_of(*unit));
        let unit = [8, 4, 2, 1].into_iter().filter(|unit| *unit <= size).find(fits).unwrap_or(1);
        let (old, new) = (self.as_elements(old, unit), self.as_elements(new, unit));
        let count = bytes / unit;
        let mut order: Vec<usize> = (0..count).collect();
        for (n, at) in offsets.iter().enumerate() {
            (0..size / unit).for_each(|k| order[at / unit + k] = count + n * (size / unit) + k);
        }
        self.builder.shuffle(old, Some(new), order)
    }

    /// Writes bytes.
    fn write_bytes(&mut self, variable: Option<usize>, start: usize, end: usize, value: Value) {
        let Some(variable) = variable else {
            self.builder.effect(Op::Put(start as u16), &[value], &[]);
            return;
        };
        for number in self.pieces.of_variable[variable].clone() {
            let piece = self.pieces.all[number].clone();
            let (first, last) = (start.max(piece.start), end.min(piece.end()));
            if first >= last {
                continue;
            }
            let own = self.cut(value, first - start, last - first);
            let name = Variable::Register(number as u32);
            if (first, last) == (piece.start, piece.end()) {
                let own = self.builder.bitcast(own, piece.ty);
                self.write_variable(name, own);
                continue;
            }
            let old = self.read_variable(name, piece.ty);
            let (size, offset) = (last - first, first - piece.start);
            let unit = [8, 4, 2, 1].into_iter().find(|unit| {
                size.is_multiple_of(*unit)
                    && offset.is_multiple_of(*unit)
                    && piece.bytes().is_multiple_of(*unit)
            });
            let unit = unit.unwrap_or(1);
            let (old, own) = (self.as_elements(old, unit), self.as_elements(own, unit));
            let count = piece.bytes() / unit;
            let inside = offset / unit..(offset + size) / unit;
            let order = (0..count).map(|n| if inside.contains(&n) { count + n - inside.start } else { n });
            let new = self.builder.shuffle(old, Some(own), order.collect::<Vec<_>>());
            let new = self.builder.bitcast(new, piece.ty);
            self.write_variable(name, new);
        }
    }

    /// What a piece of the registers has when the thread begins: what the launch put there, and zeros.
    pub fn initial_piece(&mut self, number: usize) -> Value {
        let piece = self.pieces.all[number].clone();
        let mut parts = Vec::new();
        let mut at = piece.start;
        while at < piece.end() {
            if let Some((words, end)) = self.patterned(at, piece.end()) {
                parts.push(words);
                at = end;
                continue;
            }
            let (input, end) = self.input_at(at);
            // Half registers may have a pattern each.
            let end = if matches!(input, Some(crate::middle::op::Input::PerThread(_))) {
                end.min(at / 16 * 16 + 16)
            } else {
                end
            };
            let end = end.min(piece.end());
            let ty = if (at, end) == (piece.start, piece.end()) { piece.ty } else { bytes_of(end - at) };
            parts.push(match input {
                Some(input) => self.builder.pure(Op::Input(input), &[], ty),
                None => self.builder.int(ty, 0),
            });
            at = end;
        }
        let all = self.joined(parts);
        self.builder.bitcast(all, piece.ty)
    }
}

/// So many bytes, as dwords if they are.
pub fn bytes_of(bytes: usize) -> Type {
    debug_assert!(bytes <= GRF_BYTES);
    if bytes.is_multiple_of(4) { Type::int(32, bytes / 4) } else { Type::int(8, bytes) }
}

/// Elements of which others are parts.
struct Wider {
    /// The first byte, and the end.
    start: usize,
    end: usize,
    /// Bytes of each.
    step: usize,
    /// The bit of each with which the part begins.
    shift: u64,
}
