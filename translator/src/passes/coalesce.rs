//! Coalesces accesses: addresses that are affine become that of the first lane and a stride; affine parameters become scalars.

use rustc_hash::FxHashMap;

use super::simplify::Rebuild;
use super::strides::Strides;
use super::sums::Row;
use crate::middle::function::{Block, Function, Instruction, Target, Value};
use crate::middle::op::{Addressing, Binary, Convert, Op};
use crate::middle::types::{Scalar, Type};

/// The same function with such accesses.
pub fn coalesce(function: &Function) -> Function {
    let strides = Strides::new(function);
    let mut pass = Coalesce {
        function,
        strides,
        rebuild: Rebuild::new(function),
        rows: FxHashMap::default(),
        added: FxHashMap::default(),
    };
    for block in pass.rebuild.order.clone() {
        pass.block(block);
    }
    pass.finish()
}

struct Coalesce<'a> {
    function: &'a Function,
    strides: Strides,
    rebuild: Rebuild<'a>,
    /// The scalars of each value that is affine.
    rows: FxHashMap<Value, Row>,
    /// Of each block, the parameters that have become scalars, and whether they have a condition.
    added: FxHashMap<Block, Vec<(Value, bool)>>,
}

impl Coalesce<'_> {
    fn block(&mut self, block: Block) {
        self.rebuild.begin(block);
        for parameter in &self.function.block(block).parameters {
            let ty = self.function.ty(*parameter);
            let stride = self
                .strides
                .stride(*parameter)
                .filter(|(stride, _)| ty.lanes > 1 && (matches!(ty.scalar, Scalar::Int(_)) || *stride == 0));
            match stride {
                Some((stride, proved)) => self.scalar_parameter(block, *parameter, stride, proved),
                None => self.rebuild.add_parameter(block, *parameter),
            }
        }
        for instruction in &self.function.block(block).instructions {
            self.instruction(*instruction);
        }
        self.rebuild.end(block);
    }

    /// A parameter of which the first lane is enough, if its stride is proved; otherwise that is beside it.
    fn scalar_parameter(&mut self, block: Block, parameter: Value, stride: i64, proved: bool) {
        let ty = self.function.ty(parameter);
        let new = self.rebuild.block(block);
        if !proved {
            self.rebuild.add_parameter(block, parameter);
        }
        let first = self.rebuild.builder.function.add_parameter(new, ty.with_lanes(1));
        let holds = match proved {
            true => self.rebuild.builder.mask(1, true),
            false => self.rebuild.builder.function.add_parameter(new, Type::mask(1)),
        };
        let row = Row { first, stride, holds };
        self.rows.insert(parameter, row);
        self.added.entry(block).or_default().push((parameter, proved));
        if proved {
            let all = row.lanes(&mut self.rebuild.builder, ty);
            self.rebuild.values.insert(parameter, all);
        }
    }

    fn instruction(&mut self, instruction: Instruction) {
        let data = self.function.instruction(instruction);
        let access = match &data.op {
            Op::Load(access) | Op::Store(access) if access.addressing == Addressing::Varying => Some(access),
            _ => None,
        };
        let row = access.and_then(|access| {
            let (stride, proved) = self.strides.stride(data.operands[1])?;
            let stride = i32::try_from(stride).ok()?;
            // Where the first lane is aligned all have to be.
            let is_aligned = stride % i32::from(access.elements.alignment) == 0;
            (is_aligned && self.function.ty(data.operands[1]).lanes > 1).then_some((stride, proved))
        });
        match row {
            Some((stride, proved)) => {
                let Row { first, holds, .. } = self.row(data.operands[1]);
                self.rebuild.copy_access(instruction, &[first, holds], stride == 0 && proved, |access| {
                    access.addressing = Addressing::Affine(stride);
                });
            }
            None => self.rebuild.copy(instruction),
        }
        for result in &data.results {
            let ty = self.function.ty(*result);
            if ty.lanes > 1
                && let Some((stride, proved)) = self.strides.stride(*result)
                && (matches!(ty.scalar, Scalar::Int(_)) || stride == 0)
            {
                self.note_row(instruction, *result, stride, proved);
            }
        }
    }

    /// Computes the first lane of a result, and whether its stride holds.
    fn note_row(&mut self, instruction: Instruction, result: Value, stride: i64, proved: bool) {
        let data = self.function.instruction(instruction);
        let ty = self.function.ty(result);
        // What chooses may be one lane.
        let is_by_lane = |first: &Value| data.op.is_by_lane(self.function.ty(*first), ty);
        let by_lane = data.op == Op::Select || data.operands.first().is_some_and(is_by_lane);
        let known = by_lane
            && data.operands.iter().all(|operand| {
                self.rows.contains_key(operand)
                    || self.function.ty(*operand).lanes == 1
                    || self.function.as_constant(*operand).is_some()
            });
        // Lanes of a shuffle are as far apart as those of what is shuffled.
        let asked: &[Value] = if known || !proved { &data.operands } else { &[] };
        let rows: Vec<Row> = asked.iter().map(|operand| self.row(*operand)).collect();
        let new = self.rebuild.value(result);
        let builder = &mut self.rebuild.builder;
        let first = if known {
            let operands: Vec<Value> = rows.iter().map(|row| row.first).collect();
            builder.pure(data.op.clone(), &operands, ty.with_lanes(1))
        } else {
            builder.shuffle(new, None, [0])
        };
        let mut row = Row { first, stride, holds: builder.mask(1, true) };
        if !proved {
            for operand in &rows {
                row.holds = builder.binary(Binary::And, row.holds, operand.holds);
            }
            if let (Op::Convert(extend @ (Convert::ZExt | Convert::SExt)), true) = (&data.op, known) {
                let fits = row.fits(builder, *extend, self.function.ty(data.operands[0]));
                row.holds = builder.binary(Binary::And, row.holds, fits);
            }
        }
        self.rows.insert(result, row);
    }

    /// The scalars of a value that is affine.
    fn row(&mut self, value: Value) -> Row {
        if let Some(row) = self.rows.get(&value) {
            return *row;
        }
        let holds = self.rebuild.builder.mask(1, true);
        let own = self.rebuild.value(value);
        let stride = self.strides.stride(value).map_or(0, |(stride, _)| stride);
        Row { first: self.rebuild.builder.shuffle(own, None, [0]), stride, holds }
    }

    /// Gives scalars to the blocks that take them now.
    fn finish(self) -> Function {
        let Coalesce { function, rebuild, rows, added, .. } = self;
        rebuild.finish_with(|rebuild, target: &Target| {
            let own = &function.block(target.block).parameters;
            let mut arguments = Vec::new();
            // In the order in which they were added.
            for (parameter, argument) in own.iter().zip(&target.arguments) {
                let change =
                    added.get(&target.block).and_then(|all| all.iter().find(|(added, _)| added == parameter));
                let Some((_, proved)) = change else {
                    arguments.push(rebuild.value(*argument));
                    continue;
                };
                let row = rows.get(argument).copied();
                if !proved {
                    arguments.push(rebuild.value(*argument));
                }
                arguments.push(match row {
                    Some(row) => row.first,
                    None => rebuild.constant_lane(*argument),
                });
                if !proved {
                    arguments.push(row.map_or_else(|| rebuild.builder.mask(1, true), |row| row.holds));
                }
            }
            arguments
        })
    }
}
