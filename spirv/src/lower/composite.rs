//! Vectors, arrays and structures: SPIR-V 1.6, 3.49.12 "Composite Instructions".

use rspirv::spirv::Op;

use super::FunctionWriter;
use crate::error::Result;
use crate::types::Type;
use crate::walk::{Id, Instruction};
use crate::writer::Value;

impl<'m> FunctionWriter<'_, 'm> {
    pub(super) fn composite(&mut self, own: &Instruction<'m>) -> Result<bool> {
        match own.op {
            Op::VectorExtractDynamic => self.extract_dynamic(own)?,
            Op::VectorInsertDynamic => {
                let list = [self.typed(own, 0)?, self.typed(own, 1)?, self.typed(own, 2)?];
                self.result(own, &format!("insertelement {}", list.join(", ")));
            }
            Op::VectorShuffle => self.shuffle(own)?,
            Op::CompositeConstruct => self.construct(own)?,
            Op::CompositeExtract => {
                let value = self.operand(own, 0)?;
                let found = self.extract(own, value, own.operands_from(1)?)?;
                self.is(own, found.text);
            }
            Op::CompositeInsert => {
                let (object, whole) = (self.operand(own, 0)?, self.operand(own, 1)?);
                let text = self.insert(own, whole, &object, own.operands_from(2)?)?;
                self.is(own, text);
            }
            Op::CopyObject | Op::CopyLogical => {
                let text = self.operand(own, 0)?.text;
                self.is(own, text);
            }
            Op::Undef => self.is(own, "undef".into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The type of a part.
    fn part(&self, own: &Instruction<'_>, ty: Id, index: u32) -> Result<Id> {
        self.w.types.part(ty, index).ok_or_else(|| own.error(format!("there is no part {index}")))
    }

    fn extract(&mut self, own: &Instruction<'m>, mut value: Value, indices: &[u32]) -> Result<Value> {
        for index in indices {
            let ty = self.part(own, value.ty, *index)?;
            let typed = self.w.typed(&value);
            let text = match self.w.types.get(value.ty) {
                Some(Type::Vector(..)) => format!("extractelement {typed}, i32 {index}"),
                _ => format!("extractvalue {typed}, {index}"),
            };
            value = Value { ty, text: self.temporary(&text) };
        }
        Ok(value)
    }

    /// Puts an object into a part of a whole.
    fn insert(
        &mut self,
        own: &Instruction<'m>,
        whole: Value,
        object: &Value,
        indices: &[u32],
    ) -> Result<String> {
        let Some((index, inner)) = indices.split_first() else { return Ok(object.text.clone()) };
        let ty = self.part(own, whole.ty, *index)?;
        let text = if inner.is_empty() {
            object.text.clone()
        } else {
            let part = self.extract(own, whole.clone(), &[*index])?;
            self.insert(own, part, object, inner)?
        };
        let (typed, part) = (self.w.typed(&whole), format!("{} {text}", self.w.types.text(ty)));
        Ok(match self.w.types.get(whole.ty) {
            Some(Type::Vector(..)) => self.temporary(&format!("insertelement {typed}, {part}, i32 {index}")),
            _ => self.temporary(&format!("insertvalue {typed}, {part}, {index}")),
        })
    }

    fn construct(&mut self, own: &Instruction<'m>) -> Result<()> {
        let whole = self.w.types.text(own.ty).to_owned();
        let is_vector = matches!(self.w.types.get(own.ty), Some(Type::Vector(..)));
        let mut all = "poison".to_owned();
        let mut next = 0;
        for number in 0..own.operands.len() {
            let value = self.operand(own, number)?;
            let count = if is_vector { self.w.types.element(value.ty).1 } else { 1 };
            for index in 0..count {
                // A vector is made of scalars and vectors.
                let part =
                    if count == 1 { value.clone() } else { self.extract(own, value.clone(), &[index])? };
                let part = self.w.typed(&part);
                all = match is_vector {
                    true => self.temporary(&format!("insertelement {whole} {all}, {part}, i32 {next}")),
                    false => self.temporary(&format!("insertvalue {whole} {all}, {part}, {next}")),
                };
                next += 1;
            }
        }
        self.is(own, all);
        Ok(())
    }

    fn shuffle(&mut self, own: &Instruction<'m>) -> Result<()> {
        let (a, b) = (self.operand(own, 0)?, self.operand(own, 1)?);
        let counts = [a.ty, b.ty].map(|ty| self.w.types.element(ty).1);
        let longest = counts[0].max(counts[1]);
        let scalar = self.w.types.text(self.w.types.element(a.ty).0).to_owned();
        let ty = format!("<{longest} x {scalar}>");
        let [a, b] =
            [(a, counts[0]), (b, counts[1])].map(|(value, count)| self.widened(&value, count, longest));
        let mut mask = Vec::new();
        for index in own.operands_from(2)? {
            mask.push(match *index {
                u32::MAX => "i32 poison".to_owned(),
                index if index < counts[0] => format!("i32 {index}"),
                index if index - counts[0] < counts[1] => format!("i32 {}", index - counts[0] + longest),
                index => return Err(own.error(format!("there is no element {index}"))),
            });
        }
        let mask = format!("<{} x i32> <{}>", mask.len(), mask.join(", "));
        self.result(own, &format!("shufflevector {ty} {a}, {ty} {b}, {mask}"));
        Ok(())
    }

    /// A vector with more elements.
    fn widened(&mut self, value: &Value, count: u32, longest: u32) -> String {
        if count == longest {
            return value.text.clone();
        }
        let index = |number| if number < count { format!("i32 {number}") } else { "i32 poison".into() };
        let mask: Vec<String> = (0..longest).map(index).collect();
        let (typed, ty) = (self.w.typed(value), self.type_of(value).to_owned());
        self.temporary(&format!(
            "shufflevector {typed}, {ty} poison, <{longest} x i32> <{}>",
            mask.join(", ")
        ))
    }
}
