//! Finds varying addresses that are the sum of a scalar of 64 bits and an offset of each lane of 32, as pointers that are indexed are, and those in memory that lanes have
//! for themselves: hosts compare and gather with offsets of 32 bits in half of the instructions.

use rustc_hash::FxHashMap;

use super::simplify::Rebuild;
use crate::middle::function::{Constant, Function, Instruction, Value};
use crate::middle::op::{Addressing, Binary, Convert, Op, Space};
use crate::middle::types::{Scalar, Type};

/// How many sums behind each other are looked through.
const MOST_SUMS: usize = 16;

/// The same function with such addresses.
pub fn find(function: &Function) -> Function {
    let mut rebuild = Rebuild::new(function);
    for block in rebuild.order.clone() {
        rebuild.begin(block);
        for parameter in &function.block(block).parameters {
            rebuild.add_parameter(block, *parameter);
        }
        for instruction in &function.block(block).instructions {
            match sum_of(function, *instruction) {
                Some(sum) => access(function, &mut rebuild, *instruction, &sum),
                None => rebuild.copy(*instruction, &FxHashMap::default()),
            }
        }
        rebuild.end(block, &FxHashMap::default());
    }
    rebuild.finish(&FxHashMap::default())
}

/// The terms of an address.
#[derive(Default)]
struct Sum {
    /// Those that are the same for all lanes.
    scalars: Vec<Value>,
    /// Scalars that are extended with zeros.
    extended: Vec<Value>,
    /// Constants.
    constant: u64,
    /// By how much lanes are apart.
    step: u16,
    /// Offsets that are extended, and how.
    offsets: Option<(Value, Convert)>,
}

/// The terms of the addresses of an access of which nothing is known, if it is so.
fn sum_of(function: &Function, instruction: Instruction) -> Option<Sum> {
    let data = function.instruction(instruction);
    let (Op::Load(access) | Op::Store(access)) = &data.op else { return None };
    let is_varying = access.addressing == Addressing::Varying && access.space == Space::Global;
    if !is_varying || function.ty(data.operands[1]).lanes == 1 {
        return None;
    }
    let mut sum = Sum::default();
    add_terms(function, data.operands[1], 0, &mut sum)?;
    let (_, convert) = sum.offsets?;
    (convert == Convert::ZExt || sum.step == 0).then_some(sum)
}

fn add_terms(function: &Function, value: Value, depth: usize, sum: &mut Sum) -> Option<()> {
    if depth > MOST_SUMS {
        return None;
    }
    if let Some(Constant::All(bits)) = function.as_constant(value) {
        sum.constant = sum.constant.wrapping_add(*bits as u64);
        return Some(());
    }
    match function.source(value)? {
        (Op::Binary(Binary::Add), operands) => {
            add_terms(function, operands[0], depth + 1, sum)?;
            add_terms(function, operands[1], depth + 1, sum)
        }
        (Op::Splat, operands) => {
            sum.scalars.push(operands[0]);
            Some(())
        }
        (Op::Convert(convert @ (Convert::SExt | Convert::ZExt)), operands) => {
            if function.ty(operands[0]).scalar != Scalar::Int(32) {
                return None;
            }
            match row(function, operands[0]).filter(|_| *convert == Convert::ZExt && sum.step == 0) {
                Some((scalar, step)) => {
                    sum.extended.push(scalar);
                    sum.step = step;
                }
                None if sum.offsets.is_none() => sum.offsets = Some((operands[0], *convert)),
                None => return None,
            }
            Some(())
        }
        _ => None,
    }
}

/// A scalar and by how much lanes are apart, of a sum that fits.
fn row(function: &Function, value: Value) -> Option<(Value, u16)> {
    let (Op::Binary(Binary::AddNuw), operands) = function.source(value)? else { return None };
    let (Op::Splat, scalar) = function.source(operands[0])? else { return None };
    let Constant::Each(lanes) = function.as_constant(operands[1])? else { return None };
    let step = *lanes.get(1)?;
    let is_row = lanes.iter().enumerate().all(|(n, lane)| *lane == n as u128 * step);
    Some((scalar[0], u16::try_from(step).ok().filter(|_| is_row)?))
}

fn access(function: &Function, rebuild: &mut Rebuild<'_>, instruction: Instruction, sum: &Sum) {
    let data = function.instruction(instruction);
    rebuild.builder.origin = data.origin;
    let mut base = rebuild.builder.int(Type::int(64, 1), sum.constant);
    for scalar in &sum.scalars {
        let own = rebuild.value(*scalar);
        base = rebuild.builder.binary(Binary::Add, base, own);
    }
    for scalar in &sum.extended {
        let own = rebuild.value(*scalar);
        let own = rebuild.builder.resize(own, 64, false);
        base = rebuild.builder.binary(Binary::Add, base, own);
    }
    let Some((offsets, convert)) = sum.offsets else { return };
    let offsets = rebuild.value(offsets);
    let addressing = match convert {
        Convert::ZExt => Addressing::Interleaved(sum.step),
        _ => Addressing::Offsets,
    };
    rebuild.copy_access(instruction, &[base, offsets], |access| access.addressing = addressing);
}
