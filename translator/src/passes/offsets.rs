//! Finds varying addresses that are the sum of a scalar of 64 bits and an offset of each lane of 32, as pointers that are indexed are: hosts compare and gather with
//! offsets of 32 bits in half of the instructions.

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
    /// Constants.
    constant: u64,
    /// Offsets that are extended.
    offsets: Option<Value>,
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
    sum.offsets.is_some().then_some(sum)
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
        (Op::Convert(Convert::SExt), operands) if sum.offsets.is_none() => {
            sum.offsets = Some(operands[0]).filter(|value| function.ty(*value).scalar == Scalar::Int(32));
            sum.offsets.map(|_| ())
        }
        _ => None,
    }
}

fn access(function: &Function, rebuild: &mut Rebuild<'_>, instruction: Instruction, sum: &Sum) {
    let data = function.instruction(instruction);
    rebuild.builder.origin = data.origin;
    let mut base = rebuild.builder.int(Type::int(64, 1), sum.constant);
    for scalar in &sum.scalars {
        let own = rebuild.value(*scalar);
        base = rebuild.builder.binary(Binary::Add, base, own);
    }
    let Some(offsets) = sum.offsets else { return };
    let offsets = rebuild.value(offsets);
    rebuild.copy_access(instruction, 0, &[base, offsets], |access| access.addressing = Addressing::Offsets);
}
