//! Translation of instructions by opcode, and of those that only move values.

use super::Failure;
use super::translator::{Regs, Translator};
use super::types::{Scalar, layout, pieces};
use crate::ir::{BinaryOp, Condition, Op, Type};
use crate::llvm::view::{self, Opcode, TypeKind, Value};

impl<'m> Translator<'_, 'm> {
    /// Translates an instruction that is neither a terminator nor a phi.
    pub fn instruction(&mut self, instruction: Value<'m>) -> Result<(), Failure> {
        if instruction.opcode() == Opcode::LLVMCall && pieces(instruction.ty()).is_some() {
            return Err(Failure::new(format!("{} is not supported", instruction.text())));
        }
        let result = match instruction.opcode() {
            Opcode::LLVMStore => return self.store_instruction(instruction),
            Opcode::LLVMCall => self.call(instruction)?,
            Opcode::LLVMFence => {
                self.emit(Op::Fence { local: true, global: true }, &[], &[]);
                return Ok(());
            }
            Opcode::LLVMLoad => self.load_instruction(instruction)?,
            Opcode::LLVMAtomicRMW => self.atomic(instruction)?,
            Opcode::LLVMAtomicCmpXchg => self.compare_exchange(instruction)?,
            Opcode::LLVMAlloca => Regs::from_elem(self.alloca(instruction)?, 1),
            _ => self.expression(instruction)?,
        };
        self.define(instruction, result);
        Ok(())
    }

    /// Translates an instruction or a constant expression.
    pub fn expression(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        use Opcode::{
            LLVMAShr, LLVMAdd, LLVMAddrSpaceCast, LLVMAnd, LLVMBitCast, LLVMExtractElement, LLVMExtractValue,
            LLVMFAdd, LLVMFCmp, LLVMFDiv, LLVMFMul, LLVMFNeg, LLVMFPExt, LLVMFPToSI, LLVMFPToUI, LLVMFPTrunc,
            LLVMFRem, LLVMFSub, LLVMFreeze, LLVMGetElementPtr, LLVMICmp, LLVMInsertElement, LLVMInsertValue,
            LLVMIntToPtr, LLVMLShr, LLVMMul, LLVMOr, LLVMPtrToInt, LLVMSDiv, LLVMSExt, LLVMSIToFP, LLVMSRem,
            LLVMSelect, LLVMShl, LLVMShuffleVector, LLVMSub, LLVMTrunc, LLVMUDiv, LLVMUIToFP, LLVMURem,
            LLVMXor, LLVMZExt,
        };
        let has_pieces = |value: Value| pieces(value.ty()).is_some();
        match value.opcode() {
            LLVMBitCast => self.bit_cast(value),
            LLVMSelect => self.select_instruction(value),
            LLVMFreeze => self.value(value.operand(0)),
            LLVMExtractValue | LLVMInsertValue => self.field(value),
            LLVMExtractElement => self.extract_element(value),
            LLVMInsertElement => self.insert_element(value),
            LLVMShuffleVector => self.shuffle(value),
            _ if has_pieces(value) || has_pieces(value.operand(0)) => self.wide(value),
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr
            | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv
            | LLVMFRem | LLVMFNeg => self.arithmetic(value),
            LLVMICmp => self.integer_compare(value),
            LLVMFCmp => self.float_compare(value),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPTrunc | LLVMFPExt | LLVMFPToUI | LLVMFPToSI
            | LLVMUIToFP | LLVMSIToFP | LLVMPtrToInt | LLVMIntToPtr | LLVMAddrSpaceCast => self.cast(value),
            LLVMGetElementPtr => Ok(Regs::from_elem(self.element_address(value)?, 1)),
            _ => Err(Failure::new(format!("{} is not supported", value.text()))),
        }
    }

    /// `extractvalue` and `insertvalue`.
    fn field(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let mut aggregate = self.value(value.operand(0))?;
        if value.opcode() == Opcode::LLVMExtractValue {
            let (begin, end) = self.field_registers(value, value)?;
            return Ok(Regs::from_slice(&aggregate[begin..end]));
        }
        let (begin, end) = self.field_registers(value, value.operand(1))?;
        let field = self.value(value.operand(1))?;
        aggregate[begin..end].copy_from_slice(&field);
        Ok(aggregate)
    }

    fn select_instruction(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let [condition, yes, no] = [0, 1, 2].map(|i| value.operand(i));
        let (condition, yes, no) = (self.value(condition)?, self.value(yes)?, self.value(no)?);
        let scalars = self.scalars(value)?;
        let mut result = Regs::new();
        for (i, scalar) in scalars.into_iter().enumerate() {
            let condition = if condition.len() == 1 { condition[0] } else { condition[i] };
            result.push(if yes[i] == no[i] {
                yes[i]
            } else {
                self.select(scalar.arithmetic(), condition, yes[i], no[i])
            });
        }
        Ok(result)
    }

    fn extract_element(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let vector = self.value(value.operand(0))?;
        let (count, ty) = self.element_registers(value.ty())?;
        let mut elements = vector.chunks(count).map(Regs::from_slice);
        let mut result = elements.next().unwrap_or_default();
        if let Some(index) = value.operand(1).integer() {
            return Ok(match index {
                0 => result,
                index => elements.nth(index as usize - 1).unwrap_or(result),
            });
        }
        // A dynamic index is compared with that of each element.
        let (index, index_type) = self.vector_index(value.operand(1))?;
        for (i, element) in (1..).zip(elements) {
            let number = self.immediate(index_type, i);
            let hit = self.compare(Condition::Equal, index_type, index, number);
            for (register, own) in result.iter_mut().zip(element) {
                *register = self.select(ty, hit, own, *register);
            }
        }
        Ok(result)
    }

    fn insert_element(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let [vector, element, index] = [0, 1, 2].map(|i| value.operand(i));
        let mut result = self.value(vector)?;
        let (count, ty) = self.element_registers(element.ty())?;
        let element = self.value(element)?;
        if let Some(index) = index.integer() {
            if let Some(place) = result.chunks_mut(count).nth(index as usize) {
                place.copy_from_slice(&element);
            }
            return Ok(result);
        }
        let (index, index_type) = self.vector_index(index)?;
        for (i, place) in (0..).zip(result.chunks_mut(count)) {
            let number = self.immediate(index_type, i);
            let hit = self.compare(Condition::Equal, index_type, index, number);
            for (register, &own) in place.iter_mut().zip(&element) {
                *register = self.select(ty, hit, own, *register);
            }
        }
        Ok(result)
    }

    /// Registers of a vector's element, and their type: integers of more than 64 bits have several.
    fn element_registers(&self, ty: view::Type<'m>) -> Result<(usize, Type), Failure> {
        match pieces(ty) {
            Some(count) => Ok((count as usize, Type::U32)),
            None => Ok((1, super::types::scalar(self.module, ty)?.arithmetic())),
        }
    }

    /// An index into a vector, truncated to 32 bits.
    fn vector_index(&mut self, index: Value<'m>) -> Result<(crate::ir::Reg, Type), Failure> {
        let scalar = super::types::scalar(self.module, index.ty())?;
        let register = self.one(index)?;
        let register = self.extended(scalar, register, false);
        Ok((self.width_changed(scalar.unsigned(), Type::U32, register), Type::U32))
    }

    fn shuffle(&mut self, value: Value<'m>) -> Result<Regs, Failure> {
        let mut source = self.value(value.operand(0))?;
        source.extend(self.value(value.operand(1))?);
        let TypeKind::Vector(_, element) = value.ty().kind() else { return Ok(source) };
        let (count, _) = self.element_registers(element)?;
        let places = value.shuffle_mask().into_iter().map(|place| place.unwrap_or(0) as usize * count);
        Ok(places.flat_map(|place| source[place..place + count].iter().copied()).collect())
    }

    /// The range of an aggregate's registers that belong to the field of an `extractvalue` or `insertvalue`.
    fn field_registers(&self, value: Value<'m>, field: Value<'m>) -> Result<(usize, usize), Failure> {
        let mut ty = value.operand(0).ty();
        let mut begin = 0;
        for index in value.indices() {
            match ty.kind() {
                TypeKind::Struct(_) => {
                    for before in 0..index {
                        begin += layout(self.module, ty.field(before))?.len();
                    }
                    ty = ty.field(index);
                }
                TypeKind::Array(_, element) => {
                    begin += index as usize * layout(self.module, element)?.len();
                    ty = element;
                }
                _ => return Err(Failure::new(format!("{} is not supported", value.text()))),
            }
        }
        Ok((begin, begin + layout(self.module, field.ty())?.len()))
    }

    /// An unsigned integer, truncated or zero-extended to another width.
    pub fn width_changed(&mut self, from: Type, to: Type, register: crate::ir::Reg) -> crate::ir::Reg {
        if from.family() == to.family() { register } else { self.convert(to, from, register) }
    }

    /// An integer, sign- or zero-extended to its register.
    pub fn extended(&mut self, scalar: Scalar, register: crate::ir::Reg, signed: bool) -> crate::ir::Reg {
        let Scalar::Integer(bits) = scalar else { return register };
        let ty = scalar.unsigned();
        let spare = ty.bits() - bits;
        if spare == 0 {
            return register;
        }
        if signed {
            let up = self.binary_constant(BinaryOp::Shl, ty, register, spare.into());
            self.binary_constant(BinaryOp::Shr, scalar.signed(), up, spare.into())
        } else {
            self.binary_constant(BinaryOp::And, ty, register, (1 << bits) - 1)
        }
    }
}
