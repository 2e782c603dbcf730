//! One instruction for all components of a row.

use inkwell::builder::BuilderError;
use inkwell::intrinsics::Intrinsic;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicMetadataValueEnum, VectorValue};

use super::groups::{Found, Group, Operand, Row, What, splat};
use super::{COMPONENT, Rows, operand, put};

impl<'c> Rows<'_, 'c> {
    /// Makes one instruction of each group that pays.
    pub(super) fn widen(&self, found: &Found<'c>) -> Result<(), BuilderError> {
        let mut made: Vec<Option<VectorValue<'c>>> = Vec::new();
        for (row, count) in found.rows.iter().zip(&found.counts) {
            made.push(match row {
                Row::Value(value) => Some(*value),
                Row::Group(group) if group.pays => {
                    self.builder.position_before(&found.first(&group.members));
                    Some(self.wide(group, *count, &made)?)
                }
                Row::Group(_) => None,
            });
        }
        for instruction in &found.interleaved {
            let row = found.whole(*instruction).and_then(|row| made[row]);
            if let Some(row) = row {
                put(row, *instruction);
            }
        }
        // Users come behind what they use.
        for (row, wide) in found.rows.iter().zip(&made).rev() {
            let (Row::Group(group), Some(wide)) = (row, wide) else { continue };
            for (number, member) in (0..).zip(&group.members) {
                if member.get_first_use().is_none() {
                    member.erase_from_basic_block();
                    continue;
                }
                self.builder.position_before(member);
                put(self.call_component(*wide, number, group.members.len() as u32)?, *member);
            }
        }
        Ok(())
    }

    /// The instruction of all components of a group.
    fn wide(
        &self,
        group: &Group<'c>,
        count: u32,
        made: &[Option<VectorValue<'c>>],
    ) -> Result<VectorValue<'c>, BuilderError> {
        let mut values = Vec::with_capacity(group.operands.len());
        for (index, own) in (0..).zip(&group.operands) {
            let all = || group.members.iter().filter_map(|member| operand(*member, index));
            let row = match own {
                Operand::Row(row) => made[*row],
                Operand::Constant => Some(self.interleave(&all().collect::<Vec<_>>())?),
                Operand::Own => Some(self.own(&all().collect::<Vec<_>>())?),
                Operand::Same(value) => {
                    let lanes = value.get_type().get_size();
                    let order: Vec<u32> = (0..lanes * count).map(|n| n / count).collect();
                    Some(self.shuffle(*value, None, &order)?)
                }
            };
            let Some(row) = row else { return Err(BuilderError::UnsetPosition) };
            values.push(row);
        }
        let b = &self.builder;
        let ty = |one: VectorType<'c>| of_lanes(one.get_element_type(), one.get_size() * count);
        let value = match &group.what {
            What::Binary(opcode) => b.build_binop(*opcode, values[0], values[1], "")?,
            What::Negate => b.build_float_neg(values[0], "")?.into(),
            What::Cast(opcode, to) => b.build_cast(*opcode, values[0], ty(to.0), "")?,
            What::Intrinsic(name) => {
                let declared = Intrinsic::find(name)
                    .and_then(|it| it.get_declaration(self.module, &[values[0].get_type().into()]));
                let Some(function) = declared else { return Err(BuilderError::UnsetPosition) };
                let arguments: Vec<BasicMetadataValueEnum<'c>> = values.iter().map(|v| (*v).into()).collect();
                b.build_call(function, &arguments, "")?.try_as_basic_value().unwrap_basic()
            }
        };
        Ok(value.into_vector_value())
    }

    /// The row of scalars that each component has in all lanes.
    fn own(&self, components: &[VectorValue<'c>]) -> Result<VectorValue<'c>, BuilderError> {
        let (ty, count) = (components[0].get_type(), components.len() as u32);
        let mut lane = of_lanes(ty.get_element_type(), count).get_poison();
        // Not the vectors, which may come behind this place.
        for (number, scalar) in (0..).zip(components.iter().filter_map(|all| splat(*all))) {
            let number = self.module.get_context().i32_type().const_int(number, false);
            lane = self.builder.build_insert_element(lane, scalar, number, "")?;
        }
        let order: Vec<u32> = (0..ty.get_size() * count).map(|n| n % count).collect();
        self.shuffle(lane, None, &order)
    }

    /// The component of a row, to be lowered later.
    fn call_component(
        &self,
        row: VectorValue<'c>,
        number: u32,
        count: u32,
    ) -> Result<VectorValue<'c>, BuilderError> {
        let ty = row.get_type();
        let element = ty.get_element_type();
        let own = of_lanes(element, ty.get_size() / count);
        let name = format!("{COMPONENT}.{number}.{count}.v{}{}", ty.get_size(), element.print_to_string());
        let function = match self.module.get_function(&name) {
            Some(function) => function,
            None => self.module.add_function(&name, own.fn_type(&[ty.into()], false), None),
        };
        let call = self.builder.build_call(function, &[row.into()], "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_vector_value())
    }
}

/// Elements of a type in so many lanes.
fn of_lanes(element: BasicTypeEnum<'_>, lanes: u32) -> VectorType<'_> {
    match element {
        BasicTypeEnum::FloatType(ty) => ty.vec_type(lanes),
        BasicTypeEnum::PointerType(ty) => ty.vec_type(lanes),
        other => other.into_int_type().vec_type(lanes),
    }
}
