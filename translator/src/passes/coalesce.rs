//! Coalesces accesses: addresses that are affine become that of the first lane and a stride; affine parameters become scalars.

use rustc_hash::FxHashMap;

use super::simplify::Rebuild;
use super::strides::Strides;
use super::sums::{in_lanes, row_fits};
use crate::middle::function::{Block, Function, Instruction, Target, Value};
use crate::middle::op::{Access, Addressing, Binary, Convert, Op};
use crate::middle::types::{Scalar, Type};

/// The same function with such accesses.
pub fn coalesce(function: &Function) -> Function {
    let strides = Strides::new(function);
    let mut pass = Coalesce {
        function,
        strides,
        rebuild: Rebuild::new(function),
        firsts: FxHashMap::default(),
        added: FxHashMap::default(),
    };
    for block in pass.rebuild.order.clone() {
        pass.block(block);
    }
    pass.finish()
}

/// The scalars of a value that is affine.
#[derive(Clone, Copy)]
struct First {
    /// Of the first lane.
    value: Value,
    /// Whether (a mask of one lane) the stride is what it is taken for.
    holds: Value,
}

struct Coalesce<'a> {
    function: &'a Function,
    strides: Strides,
    rebuild: Rebuild<'a>,
    firsts: FxHashMap<Value, First>,
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
        self.firsts.insert(parameter, First { value: first, holds });
        self.added.entry(block).or_default().push((parameter, proved));
        if proved {
            let all = in_lanes(&mut self.rebuild.builder, first, ty, stride);
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
            let is_aligned = stride % i32::from(access.alignment) == 0;
            (is_aligned && self.function.ty(data.operands[1]).lanes > 1).then_some((access, stride, proved))
        });
        match row {
            Some((access, stride, proved)) => self.access(instruction, access, stride, proved),
            None => self.rebuild.copy(instruction),
        }
        for result in &data.results {
            let ty = self.function.ty(*result);
            if ty.lanes > 1
                && let Some((stride, proved)) = self.strides.stride(*result)
                && (matches!(ty.scalar, Scalar::Int(_)) || stride == 0)
            {
                self.note_first(instruction, *result, proved);
            }
        }
    }

    /// An access whose addresses are affine.
    fn access(&mut self, instruction: Instruction, access: &Access, stride: i32, proved: bool) {
        let data = self.function.instruction(instruction);
        let First { value, holds } = self.first(data.operands[1]);
        let mut operands: Vec<Value> =
            data.operands.iter().map(|operand| self.rebuild.value(*operand)).collect();
        operands.splice(2..2, [value, holds]);
        let access = Box::new(Access { addressing: Addressing::Affine(stride), ..access.clone() });
        self.rebuild.builder.origin = data.origin;
        let Op::Load(_) = data.op else {
            self.rebuild.builder.effect(Op::Store(access), &operands, &[]);
            return;
        };
        // What all read at one address is a scalar.
        let is_one = stride == 0 && proved;
        let types: Vec<Type> = data
            .results
            .iter()
            .map(|result| self.function.ty(*result))
            .map(|ty| if is_one { ty.with_lanes(1) } else { ty })
            .collect();
        let found = self.rebuild.builder.effect(Op::Load(access), &operands, &types);
        for (result, value) in data.results.iter().zip(found) {
            let lanes = self.function.ty(*result).lanes.into();
            let all = self.rebuild.builder.splat(value, if is_one { lanes } else { 1 });
            let all = if is_one { all } else { value };
            self.rebuild.values.insert(*result, all);
        }
    }

    /// Computes the first lane of a result, and whether its stride holds.
    fn note_first(&mut self, instruction: Instruction, result: Value, proved: bool) {
        let data = self.function.instruction(instruction);
        let ty = self.function.ty(result);
        let by_lane = match &data.op {
            Op::Binary(_) | Op::Unary(_) | Op::Fma | Op::ICmp(_) | Op::FCmp(_) | Op::Select | Op::Fence => {
                true
            }
            Op::Convert(convert) => {
                *convert != Convert::Bitcast || self.function.ty(data.operands[0]).lanes == ty.lanes
            }
            _ => false,
        };
        let known = by_lane
            && data.operands.iter().all(|operand| {
                self.firsts.contains_key(operand)
                    || self.function.ty(*operand).lanes == 1
                    || self.function.as_constant(*operand).is_some()
            });
        // Lanes of a shuffle are as far apart as those of what is shuffled.
        let asked: &[Value] = if known || !proved { &data.operands } else { &[] };
        let firsts: Vec<First> = asked.iter().map(|operand| self.first(*operand)).collect();
        let new = self.rebuild.value(result);
        let builder = &mut self.rebuild.builder;
        let value = if known {
            let operands: Vec<Value> = firsts.iter().map(|first| first.value).collect();
            builder.pure(data.op.clone(), &operands, ty.with_lanes(1))
        } else {
            builder.shuffle(new, None, [0])
        };
        let mut holds = builder.mask(1, true);
        if !proved {
            for first in &firsts {
                holds = builder.binary(Binary::And, holds, first.holds);
            }
            if let (Op::Convert(extend @ (Convert::ZExt | Convert::SExt)), true) = (&data.op, known) {
                let stride = self.strides.stride(data.operands[0]).map_or(0, |(stride, _)| stride);
                let distance = (i64::from(ty.lanes) - 1).wrapping_mul(stride);
                let narrow = self.function.ty(data.operands[0]).scalar;
                let fits = row_fits(builder, value, distance, *extend, narrow);
                holds = builder.binary(Binary::And, holds, fits);
            }
        }
        self.firsts.insert(result, First { value, holds });
    }

    /// The scalars of a value that is affine.
    fn first(&mut self, value: Value) -> First {
        if let Some(first) = self.firsts.get(&value) {
            return *first;
        }
        let holds = self.rebuild.builder.mask(1, true);
        let own = self.rebuild.value(value);
        First { value: self.rebuild.builder.shuffle(own, None, [0]), holds }
    }

    /// Gives scalars to the blocks that take them now.
    fn finish(self) -> Function {
        let Coalesce { function, rebuild, firsts, added, .. } = self;
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
                let first = firsts.get(argument).copied();
                if !proved {
                    arguments.push(rebuild.value(*argument));
                }
                arguments.push(match first {
                    Some(first) => first.value,
                    None => rebuild.constant_lane(*argument),
                });
                if !proved {
                    arguments.push(first.map_or_else(|| rebuild.builder.mask(1, true), |first| first.holds));
                }
            }
            arguments
        })
    }
}
