//! `memcpy`, `memmove` and `memset`.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::{Layout, Scalar};
use crate::ir::{BinaryOp, Condition, Op, Reg, Space, Type, UnaryOp};
use crate::llvm::view::Value;

/// Maximum number of steps of a copy that is unrolled; longer ones become a loop.
const MAX_UNROLLED_STEPS: u64 = 16;

/// Bytes of one step of a copy with sufficiently aligned addresses.
const STEP: u64 = 16;

impl<'m> Translator<'_, 'm> {
    /// `memcpy`, or `memmove` when the areas may overlap.
    pub fn copy_memory(&mut self, instruction: Value<'m>, overlap: bool) -> Result<Regs, Failure> {
        let [target, source, length] = [0, 1, 2].map(|i| instruction.operand(i));
        let align = instruction.call_alignment(0).min(instruction.call_alignment(1)).min(STEP as u32);
        let spaces = (self.space(target)?, self.space(source)?);
        let known = length.integer();
        let short = known.is_some_and(|length| length <= STEP * MAX_UNROLLED_STEPS);
        if overlap && !short && spaces.0 == spaces.1 {
            return Err(Failure::new("a memmove whose length is not constant is not supported"));
        }
        let addresses = (self.one(target)?, self.one(source)?);
        let Some(length) = known else {
            let scalar = super::types::scalar(self.module, length.ty())?;
            let length = self.one(length)?;
            let length = self.width_changed(scalar.unsigned(), Type::U32, length);
            self.each_step(length, 1, |this, offset| {
                let piece = this.load_at(spaces.1, addresses.1, offset, 1, 1);
                this.store_at(spaces.0, addresses.0, offset, 1, 1, &piece);
            });
            return Ok(Regs::new());
        };
        let step = STEP;
        if length / step > MAX_UNROLLED_STEPS {
            let whole = length / step * step;
            let end = self.immediate(Type::U32, whole);
            self.each_step(end, step, |this, offset| {
                let piece = this.load_at(spaces.1, addresses.1, offset, step as u32, align);
                this.store_at(spaces.0, addresses.0, offset, step as u32, align, &piece);
            });
            let rest = (length - whole) as u32;
            if rest != 0 {
                let target = self.offset(spaces.0, addresses.0, whole as i64);
                let source = self.offset(spaces.1, addresses.1, whole as i64);
                let layout = chunk(rest, align);
                let piece = self.load(spaces.1, source, align, &layout);
                self.store(spaces.0, target, align, &layout, &piece);
            }
            return Ok(Regs::new());
        }
        // All loads precede all stores, which is also correct for overlapping areas.
        let layout = chunk(length as u32, align);
        if overlap {
            let all = self.load(spaces.1, addresses.1, align, &layout);
            self.store(spaces.0, addresses.0, align, &layout, &all);
            return Ok(Regs::new());
        }
        for begin in (0..length as u32).step_by(STEP as usize) {
            let layout = chunk((length as u32 - begin).min(STEP as u32), align);
            let source = self.offset(spaces.1, addresses.1, begin.into());
            let piece = self.load(spaces.1, source, align, &layout);
            let target = self.offset(spaces.0, addresses.0, begin.into());
            self.store(spaces.0, target, align, &layout, &piece);
        }
        Ok(Regs::new())
    }

    pub fn set_memory(&mut self, instruction: Value<'m>) -> Result<Regs, Failure> {
        let [target, value, length] = [0, 1, 2].map(|i| instruction.operand(i));
        let align = instruction.call_alignment(0).min(4);
        let space = self.space(target)?;
        let (address, byte) = (self.one(target)?, self.one(value)?);
        let Some(length) = length.integer() else {
            let scalar = super::types::scalar(self.module, length.ty())?;
            let length = self.one(length)?;
            let length = self.width_changed(scalar.unsigned(), Type::U32, length);
            self.each_step(length, 1, |this, offset| this.store_at(space, address, offset, 1, 1, &[byte]));
            return Ok(Regs::new());
        };
        let word = self.assemble(&[byte; 4], 8, Type::U32);
        let bytes = [byte; 4];
        let fill = |layout: &Layout| -> Regs {
            layout.iter().map(|(scalar, _)| if scalar.bits() == 8 { bytes[0] } else { word }).collect()
        };
        let whole = if length / STEP > MAX_UNROLLED_STEPS { length / STEP * STEP } else { 0 };
        if whole != 0 {
            let end = self.immediate(Type::U32, whole);
            let values = fill(&dwords(STEP as u32));
            self.each_step(end, STEP, |this, offset| {
                this.store_at(space, address, offset, STEP as u32, align, &values);
            });
        }
        let rest = dwords((length - whole) as u32);
        let target = self.offset(space, address, whole as i64);
        let values = fill(&rest);
        self.store(space, target, align, &rest, &values);
        Ok(Regs::new())
    }

    /// A loop over offsets from 0 to `end` (a U32, a multiple of `step`), not entered when `end` is 0.
    fn each_step(&mut self, end: Reg, step: u64, body: impl FnOnce(&mut Self, Reg)) {
        let ty = Type::U32;
        let offset = self.function.new_register(ty.family());
        let zero = self.immediate(ty, 0);
        self.emit(Op::Unary(UnaryOp::Mov, ty), &[offset], &[zero]);
        let more = self.compare(Condition::Less, ty, offset, end);
        let before = self.block;
        let inside = self.start_block();
        body(self, offset);
        let step = self.immediate(ty, step);
        self.emit(Op::Binary(BinaryOp::Add, ty), &[offset], &[offset, step]);
        let again = self.compare(Condition::Less, ty, offset, end);
        let last = self.block;
        let after = self.start_block();
        self.block = before;
        self.emit(Op::Branch { then: inside, otherwise: after }, &[], &[more]);
        self.block = last;
        self.emit(Op::Branch { then: inside, otherwise: after }, &[], &[again]);
        self.block = after;
    }

    fn at(&mut self, space: Space, address: Reg, offset: Reg) -> Reg {
        let offset = self.width_changed(Type::U32, self.pointers.address(space), offset);
        self.add_address(space, address, offset)
    }

    fn load_at(&mut self, space: Space, address: Reg, offset: Reg, bytes: u32, align: u32) -> Regs {
        let address = self.at(space, address, offset);
        self.load(space, address, align, &chunk(bytes, align))
    }

    fn store_at(&mut self, space: Space, address: Reg, offset: Reg, bytes: u32, align: u32, values: &[Reg]) {
        let address = self.at(space, address, offset);
        let layout =
            if values.len() == chunk(bytes, align).len() { chunk(bytes, align) } else { dwords(bytes) };
        self.store(space, address, align, &layout, values);
    }
}

/// Bytes as integers whose size fits the alignment of the address.
fn chunk(bytes: u32, align: u32) -> Layout {
    let unit = align.clamp(1, 4);
    let mut layout = Layout::new();
    let mut at = 0;
    while at < bytes {
        let mut size = unit;
        while at + size > bytes {
            size /= 2;
        }
        layout.push((Scalar::Integer(size * 8), at));
        at += size;
    }
    layout
}

/// Bytes as dwords, followed by the remaining bytes.
fn dwords(bytes: u32) -> Layout {
    let whole = bytes / 4 * 4;
    let dwords = (0..whole).step_by(4).map(|at| (Scalar::Integer(32), at));
    dwords.chain((whole..bytes).map(|at| (Scalar::Integer(8), at))).collect()
}
