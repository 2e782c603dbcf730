//! Reading sources and writing results.

use gencl_eu::file::{ADDRESS, FLAG, GRF_BYTES};
use gencl_eu::operand::{SourceLocation, Target};

use super::rounding::scalar;
use super::{Emitter, FILE};
use crate::affine::Affine;
use crate::ir::{I32, Label, Scalar, Ty, Value};
use crate::modes;
use crate::native::Number;
use crate::plan::{is_address, is_flag};

/// Words of the address register.
const ADDRESS_WORDS: u32 = 16;

/// Elements of which others are parts.
struct Wider {
    /// Of the variable.
    place: Value,
    /// Of the first, in bytes from there on.
    offset: usize,
    ty: Ty,
    /// The bit of each with which the part begins.
    shift: u64,
}

impl Emitter<'_> {
    /// Where the first byte of a read is.
    pub(super) fn use_place(&mut self, index: usize, number: usize) -> Value {
        let Some(access) = &self.plan.effects[index].uses[number] else { return self.file.clone() };
        let start = access.extent().0;
        let variable = self.variables.as_ref().and_then(|v| v.uses[index][number]);
        self.place(variable, start)
    }

    /// Where the first byte of a write is.
    pub(super) fn definition_place(&mut self, index: usize, number: usize) -> Value {
        let start = self.plan.effects[index].definitions[number].access.extent().0;
        let variable = self.variables.as_ref().map(|v| v.definitions[index][number]);
        self.place(variable, start)
    }

    fn place(&mut self, variable: Option<usize>, byte: usize) -> Value {
        let base = match (&self.variables, variable) {
            (Some(variables), Some(variable)) => {
                return self.f.at(&self.places[variable].clone(), byte - variables.all[variable].start);
            }
            _ => self.file.clone(),
        };
        self.f.at(&base, byte)
    }

    /// The elements of a source as they are, as integers.
    pub(super) fn bits(&mut self, index: usize, number: usize) -> Value {
        let op = &self.plan.ops[index];
        let src = &op.src[number];
        let lanes = if self.scalar || self.lane.is_some() { 1 } else { u32::from(op.lanes) };
        let size = src.ty.size() * 8;
        let ty = Ty::int(size, lanes);
        let one = Ty::int(size, 1);
        match &src.location {
            SourceLocation::Constant(bits) => return Value::int(ty, *bits),
            SourceLocation::Constants(constants) => return Value::ints(ty, |lane| constants[lane as usize]),
            SourceLocation::None => return Value::int(ty, 0),
            SourceLocation::Indirect { word, offset, rows, steps } => {
                let words: Vec<u32> =
                    rows[..lanes as usize].iter().map(|row| u32::from(word + row) % ADDRESS_WORDS).collect();
                let beyond = Value::ints(Ty::int(32, lanes), |lane| {
                    (i64::from(*offset) + i64::from(steps[lane as usize])) as u64
                });
                return self.indirect(index, &words, &beyond, ty);
            }
            SourceLocation::Packed(at) if is_address(*at) => {
                let place = self.f.at(&self.file.clone(), *at);
                return self.f.load(ty, &place, FILE);
            }
            SourceLocation::Scalar(at) if is_address(*at) => {
                let place = self.f.at(&self.file.clone(), *at);
                let element = self.f.load(one, &place, FILE);
                return self.f.splat(&element, lanes);
            }
            place if src.is_accumulator() => return self.accumulator_bits(place, ty),
            SourceLocation::Packed(at) | SourceLocation::Scalar(at) if *at >= GRF_BYTES => {
                return self.flag_operand(*at, ty);
            }
            _ => {}
        }
        if let (SourceLocation::Packed(_), Some(place)) = (&src.location, self.lane_use(index, number)) {
            return self.f.load(one, &place, FILE);
        }
        if let SourceLocation::Scalar(_) = &src.location {
            let element = self.elements(index, number, one);
            return self.f.splat(&element, lanes);
        }
        let place = self.use_place(index, number);
        match &src.location {
            SourceLocation::Scattered(offsets) => {
                let offsets = &offsets[..lanes as usize];
                if let Some(wide) = self.wider(self.variable_of_use(index, number), offsets, size / 8) {
                    let place = self.f.at(&wide.place, wide.offset);
                    let all = self.f.load(wide.ty, &place, FILE);
                    let own = self.f.binary("lshr", &all, &Value::int(wide.ty, wide.shift));
                    return self.f.resize(&own, size, false);
                }
                let first = offsets.iter().min().copied().unwrap_or(0);
                let step = (size / 8) as u16;
                if offsets.iter().any(|at| (at - first) % step != 0) {
                    return self.byte_by_byte(&place, offsets, first, ty);
                }
                let order: Vec<u32> = offsets.iter().map(|at| u32::from((at - first) / step)).collect();
                let count = order.iter().max().copied().unwrap_or(0) + 1;
                let all = self.f.load(Ty { lanes: count, ..one }, &place, FILE);
                self.f.shuffle(&all, None, &order)
            }
            _ => self.elements(index, number, ty),
        }
    }

    fn variable_of_use(&self, index: usize, number: usize) -> Option<usize> {
        self.variables.as_ref()?.uses[index][number]
    }

    /// Elements that are a power of two apart as parts of wider ones, one for each lane, if these are all in the variable. So no element has to
    /// change its lane, and what is written part by part is one value at the end.
    fn wider(&self, variable: Option<usize>, offsets: &[u16], size: u32) -> Option<Wider> {
        let number = variable?;
        let variable = &self.variables.as_ref()?.all[number];
        let step = usize::from(offsets.get(1)?.checked_sub(offsets[0])?);
        let even = offsets.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step as u16));
        if !even || !matches!(step, 2 | 4 | 8) || step <= size as usize {
            return None;
        }
        let first = usize::from(offsets[0]) - variable.start;
        let offset = first - first % step;
        let bytes = (variable.end - variable.start).next_multiple_of(4);
        let ty = Ty::int(step as u32 * 8, offsets.len() as u32);
        (offset + step * offsets.len() <= bytes).then(|| Wider {
            place: self.places[number].clone(),
            offset,
            ty,
            shift: (first % step) as u64 * 8,
        })
    }

    /// Elements at addresses in registers: of each lane in a word of the address register, and so many bytes beyond.
    fn indirect(&mut self, index: usize, words: &[u32], beyond: &Value, ty: Ty) -> Value {
        let place = self.f.at(&self.file.clone(), ADDRESS);
        let all = self.f.load(Ty::int(16, ADDRESS_WORDS), &place, FILE);
        let bases = self.f.shuffle(&all, None, words);
        let bases = self.f.resize(&bases, 32, false);
        let addresses = self.f.binary("add", &bases, beyond);
        let last = Value::int(addresses.ty, (GRF_BYTES - ty.scalar.bits() as usize / 8) as u64);
        let inside = self.f.compare("icmp ule", &addresses, &last);
        let mask = self.mask(index).map(|mask| self.f.mask(&mask));
        let holds = self.all_where_enabled(&inside, mask.as_ref());
        let [right, wrong] = [self.f.label(), self.f.label()];
        self.f.branch_likely(&holds, right, wrong);
        self.f.begin(wrong);
        // The interpreter has the text of the fault.
        self.store_operands(index, None);
        self.execute_rarely(index);
        let fault = self.fault;
        self.f.jump(fault);
        self.f.begin(right);
        let suffix = format!(".{}", addresses.ty.mangled());
        let addresses = self.f.intrinsic("umin", &suffix, addresses.ty, &[&addresses, &last]);
        let file = self.file.clone();
        if ty.lanes == 1 {
            let place = self.f.offset(&file, &addresses);
            return self.f.load(ty, &place, FILE);
        }
        self.gathered_at(&file, &addresses, ty, 1, None)
    }

    /// The first elements of a read.
    pub(super) fn elements(&mut self, index: usize, number: usize, ty: Ty) -> Value {
        let Some((first, step)) = self.affine_use(index, number) else {
            let place = self.use_place(index, number);
            return self.f.load(ty, &place, FILE);
        };
        self.steps_from(&first, step, ty.lanes)
    }

    /// The first element of a read of a variable that is kept as a scalar, and the steps from lane to lane.
    pub(super) fn affine_use(&mut self, index: usize, number: usize) -> Option<(Value, i64)> {
        let variables = self.variables.as_ref()?;
        let variable = variables.uses[index][number]?;
        let Affine { step, size } = self.affine[variable]?;
        let access = self.plan.effects[index].uses[number].as_ref()?;
        let lane = (access.extent().0 - variables.all[variable].start) / size;
        let base = self.f.load(Ty::int(size as u32 * 8, 1), &self.places[variable].clone(), FILE);
        let before = Value::int(base.ty, (lane as i64).wrapping_mul(step) as u64);
        let first = if lane == 0 { base } else { self.f.binary("add", &base, &before) };
        Some((first, step))
    }

    /// A value that changes by equal steps from lane to lane.
    pub(super) fn steps_from(&mut self, first: &Value, step: i64, lanes: u32) -> Value {
        let all = self.f.splat(first, lanes);
        if lanes == 1 || step == 0 {
            return all;
        }
        let steps = Value::ints(all.ty, |lane| i64::from(lane).wrapping_mul(step) as u64);
        // Words are those of the payload, which do not wrap.
        let operation = if first.ty.scalar.bits() == 16 { "add nuw" } else { "add" };
        self.f.binary(operation, &all, &steps)
    }

    /// Elements that are not multiples of their size apart.
    fn byte_by_byte(&mut self, place: &Value, offsets: &[u16], first: u16, ty: Ty) -> Value {
        let mut result = Value::poison(ty);
        for (lane, at) in offsets.iter().enumerate() {
            let at = self.f.at(place, usize::from(at - first));
            let element = self.f.load(Ty { lanes: 1, ..ty }, &at, FILE);
            result = self.f.insert(&result, &element, lane as u32);
        }
        result
    }

    /// Flags, or `null`, as a source.
    fn flag_operand(&mut self, at: usize, ty: Ty) -> Value {
        if !is_flag(at) {
            return Value::int(ty, 0);
        }
        let bits = self.flags_from((at - FLAG) as u32 * 8);
        self.f.resize(&bits, ty.scalar.bits(), false)
    }

    /// A source as numbers, with its modifiers. What is the same for all lanes is a scalar until it is a number: hosts read floats from memory
    /// into all lanes, and integers, which are in other registers, they do not.
    pub(super) fn number(&mut self, index: usize, number: usize, kind: Number) -> Value {
        if self.scalar || self.lane.is_some() || !self.is_uniform(index, number) {
            return self.number_of(index, number, kind);
        }
        self.scalar = true;
        let value = self.number_of(index, number, kind);
        self.scalar = false;
        self.f.splat(&value, u32::from(self.plan.ops[index].lanes))
    }

    /// Is a source in the general registers certainly the same for all lanes?
    fn is_uniform(&self, index: usize, number: usize) -> bool {
        let src = &self.plan.ops[index].src[number];
        let affine = self.variable_of_use(index, number).and_then(|variable| self.affine[variable]);
        match src.location {
            SourceLocation::Scalar(at) => at < GRF_BYTES,
            SourceLocation::Packed(_) => affine.is_some_and(|affine| affine.step == 0),
            _ => false,
        }
    }

    fn number_of(&mut self, index: usize, number: usize, kind: Number) -> Value {
        let src = &self.plan.ops[index].src[number];
        let mut bits = self.bits(index, number);
        if kind.is_float() {
            let width = bits.ty.scalar.bits();
            let sign = Value::int(bits.ty, 1 << (width - 1));
            if modes::flushes(self.plan.modes[index], src.ty) {
                bits = self.flushed(&bits);
            }
            if src.abs {
                let rest = Value::int(bits.ty, (1 << (width - 1)) - 1);
                bits = self.f.binary("and", &bits, &rest);
            }
            if src.negate {
                bits = self.f.binary("xor", &bits, &sign);
            }
            let value = self.f.cast(&bits, scalar(src.ty));
            let to = if kind == Number::Double { Scalar::Double } else { Scalar::Float };
            return self.f.convert("fpext", &value, value.ty.of(to));
        }
        let mut value = self.f.resize(&bits, kind.bits(), src.ty.is_signed());
        let zero = Value::int(value.ty, 0);
        if src.complement {
            return self.f.binary("xor", &value, &Value::int(value.ty, u64::MAX));
        }
        if src.abs && src.ty.is_signed() {
            let positive = self.f.compare("icmp sge", &value, &zero);
            let negated = self.f.binary("sub", &zero, &value);
            value = self.f.select(&positive, &value, &negated);
        }
        if src.negate {
            value = self.f.binary("sub", &zero, &value);
        }
        value
    }

    /// Writes elements as they are to write `number` of an instruction.
    pub(super) fn write(&mut self, index: usize, number: usize, bits: &Value, mask: Option<&Value>) {
        if let Some(place) = self.lane_definition(index, number) {
            let new = match mask {
                Some(mask) => {
                    let old = self.f.load(bits.ty, &place, FILE);
                    self.f.select(mask, bits, &old)
                }
                None => bits.clone(),
            };
            self.f.store(&new, &place, FILE);
            return;
        }
        let plan = self.plan;
        let access = &plan.effects[index].definitions[number].access;
        if let Some(variables) = &self.variables {
            let variable = variables.definitions[index][number];
            if self.affine[variable].is_some() {
                self.f.store(bits, &self.places[variable].clone(), FILE);
                return;
            }
        }
        let place = self.definition_place(index, number);
        let merging = self.variables.as_ref().is_none_or(|v| v.merging[index][number]);
        let mask = mask.filter(|_| merging).cloned();
        let variable = self.variables.as_ref().map(|v| v.definitions[index][number]);
        if let Some(wide) = self.wider(variable, &access.at, u32::from(access.size)) {
            self.merge_parts(&wide, bits, mask.as_ref());
            return;
        }
        let step = if access.at.len() > 1 { (access.at[1] - access.at[0]) / access.size } else { 1 };
        self.merge(&place, u32::from(step), bits, mask.as_ref());
    }

    /// Writes parts of wider elements, where the mask says so.
    fn merge_parts(&mut self, wide: &Wider, bits: &Value, mask: Option<&Value>) {
        let place = self.f.at(&wide.place, wide.offset);
        let old = self.f.load(wide.ty, &place, FILE);
        let part = u64::MAX >> (64 - bits.ty.scalar.bits()) << wide.shift;
        let others = self.f.binary("and", &old, &Value::int(wide.ty, !part));
        let own = self.f.resize(bits, wide.ty.scalar.bits(), false);
        let own = self.f.binary("shl", &own, &Value::int(wide.ty, wide.shift));
        let mut new = self.f.binary("or", &others, &own);
        if let Some(mask) = mask {
            let mask = self.f.mask(mask);
            new = self.f.select(&mask, &new, &old);
        }
        self.f.store(&new, &place, FILE);
    }

    /// Writes elements that are so many of their sizes apart, where the mask says so.
    fn merge(&mut self, place: &Value, step: u32, bits: &Value, mask: Option<&Value>) {
        let lanes = bits.ty.lanes;
        if step == 1 || lanes == 1 {
            let new = match mask {
                Some(mask) => {
                    let old = self.f.load(bits.ty, place, FILE);
                    let mask = self.f.mask(mask);
                    self.f.select(&mask, bits, &old)
                }
                None => bits.clone(),
            };
            self.f.store(&new, place, FILE);
            return;
        }
        let count = (lanes - 1) * step + 1;
        let all = self.f.load(Ty { lanes: count, ..bits.ty }, place, FILE);
        let mut new = bits.clone();
        if let Some(mask) = mask {
            let order: Vec<u32> = (0..lanes).map(|n| n * step).collect();
            let old = self.f.shuffle(&all, None, &order);
            let mask = self.f.mask(mask);
            new = self.f.select(&mask, bits, &old);
        }
        // As wide as what is there, and then each element from the one or the other.
        let wide: Vec<u32> = (0..count).map(|n| n.min(lanes - 1)).collect();
        let new = self.f.shuffle(&new, None, &wide);
        let order: Vec<u32> = (0..count).map(|n| if n % step == 0 { count + n / step } else { n }).collect();
        let merged = self.f.shuffle(&all, Some(&new), &order);
        self.f.store(&merged, place, FILE);
    }

    /// The first byte of a register-indirect destination, and the last that it may be; `None` for a direct one.
    fn indirect_destination(&mut self, index: usize) -> Option<(Value, Value)> {
        let op = &self.plan.ops[index];
        let Target::Indirect { word, offset, stride } = op.dst.target else { return None };
        let channels = op.write_lanes & (u32::MAX >> (32 - u32::from(op.lanes)));
        let bytes = stride * channels.checked_ilog2().unwrap_or(0) as usize + op.dst.ty.size() as usize;
        let word = usize::from(word) % ADDRESS_WORDS as usize;
        let place = self.f.at(&self.file.clone(), ADDRESS + word * 2);
        let base = self.f.load(Ty::int(16, 1), &place, FILE);
        let base = self.f.resize(&base, 32, false);
        let first = self.f.binary("add", &base, &Value::int(I32, i64::from(offset) as u64));
        Some((first, Value::int(I32, (GRF_BYTES - bytes) as u64)))
    }

    /// Looks whether a register-indirect destination is within the registers. Where it is not, the interpreter has the text of the fault;
    /// `None` for a direct one, else the place behind the instruction.
    pub(super) fn check_destination(&mut self, index: usize) -> Option<Label> {
        let (first, last) = self.indirect_destination(index)?;
        let mut holds = self.f.compare("icmp ule", &first, &last);
        if let Some(mask) = self.mask(index) {
            let nothing = self.f.compare("icmp eq", &mask, &Value::int(mask.ty, 0));
            holds = self.f.binary("or", &holds, &nothing);
        }
        let [inside, outside, done] = [self.f.label(), self.f.label(), self.f.label()];
        self.f.branch_likely(&holds, inside, outside);
        self.f.begin(outside);
        self.store_operands(index, None);
        self.execute_rarely(index);
        self.load_flags();
        self.f.jump(done);
        self.f.begin(inside);
        Some(done)
    }

    /// Writes an instruction's result, which may go to flags.
    pub(super) fn result(&mut self, index: usize, bits: &Value, mask: Option<&Value>) {
        if let Target::Indirect { stride, .. } = self.plan.ops[index].dst.target
            && let Some((first, last)) = self.indirect_destination(index)
        {
            // Without an enabled channel it may be anywhere.
            let first = self.f.intrinsic("umin", ".i32", I32, &[&first, &last]);
            let first = self.f.resize(&first, 64, false);
            let place = self.f.offset(&self.file.clone(), &first);
            let step = stride as u32 / self.plan.ops[index].dst.ty.size();
            self.merge(&place, step, bits, mask);
            return;
        }
        if !self.plan.effects[index].definitions.is_empty() {
            self.write(index, 0, bits, mask);
            return;
        }
        if let Target::Direct { offset, .. } = self.plan.ops[index].dst.target
            && is_address(offset)
        {
            let place = self.f.at(&self.file.clone(), offset);
            let new = match mask {
                Some(mask) => {
                    let old = self.f.load(bits.ty, &place, FILE);
                    let mask = self.f.mask(mask);
                    self.f.select(&mask, bits, &old)
                }
                None => bits.clone(),
            };
            self.f.store(&new, &place, FILE);
            return;
        }
        if let Target::Direct { offset, .. } = self.plan.ops[index].dst.target
            && is_flag(offset)
        {
            let first = (offset - FLAG) as u32 * 8;
            let width = bits.ty.scalar.bits();
            let all = mask.map(|mask| self.f.convert("sext", mask, Ty::int(width, 1)));
            if width + first % 32 <= 32 {
                self.set_flags(first, bits, all.as_ref());
            } else {
                debug_assert!(false, "{I32:?}: flags beyond their register");
            }
        }
    }
}
