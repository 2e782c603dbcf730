//! Counters of executions and enabled lanes: a block has one for how often it is executed, and one for the lanes of each mask.

use gencl_eu::abi::Counted;
use rustc_hash::FxHashMap;

use super::dead;
use super::simplify::{Rebuild, simplify};
use crate::lift::Lifted;
use crate::middle::builder::Builder;
use crate::middle::function::Value;
use crate::middle::op::{Convert, Op, Unary};
use crate::middle::types::{Scalar, Type};

/// Puts counters where instructions are executed, and notes which counts what.
pub fn place(lifted: &mut Lifted) {
    // Masks that are the same are one value then, or a constant.
    let function = dead::remove(&simplify(&lifted.function));
    let mut rebuild = Rebuild::new(&function);
    for block in rebuild.order.clone() {
        rebuild.begin(block);
        for parameter in &function.block(block).parameters {
            rebuild.add_parameter(block, *parameter);
        }
        let (mut is_counted, mut lanes) = (false, FxHashMap::default());
        let executions = lifted.counters;
        for instruction in &function.block(block).instructions {
            let data = function.instruction(*instruction);
            if data.op != Op::Executed {
                rebuild.copy(*instruction);
                continue;
            }
            if !is_counted {
                (is_counted, lifted.counters) = (true, executions + 1);
            }
            let mask = rebuild.value(data.operands[0]);
            let (lanes, factor) = match constant_lanes(&rebuild.builder, mask) {
                Some(constant) => (executions, constant),
                None => {
                    let counters = &mut lifted.counters;
                    let own = lanes.entry(mask).or_insert_with(|| {
                        *counters += 1;
                        *counters - 1
                    });
                    (*own, 1)
                }
            };
            lifted.counted.push(Counted { instruction: data.origin, executions, lanes, factor });
        }
        // At the end, as counters between accesses would keep passes from looking at these together.
        let builder = &mut rebuild.builder;
        if is_counted {
            let one = builder.int(Type::int(64, 1), 1);
            builder.effect(Op::Count(executions), &[one], &[]);
        }
        let mut lanes: Vec<(Value, u32)> = lanes.into_iter().collect();
        lanes.sort_unstable_by_key(|(_, counter)| *counter);
        for (mask, counter) in lanes {
            let enabled = enabled(builder, mask);
            builder.effect(Op::Count(counter), &[enabled], &[]);
        }
        rebuild.end(block);
    }
    lifted.function = rebuild.finish();
}

/// The lanes of a mask, if they are always the same.
fn constant_lanes(builder: &Builder, mask: Value) -> Option<u32> {
    let constant = builder.function.as_constant(mask)?;
    Some(constant.lanes(builder.ty(mask).lanes.into()).into_iter().map(|lane| lane as u32).sum())
}

/// How many lanes of a mask are enabled.
fn enabled(builder: &mut Builder, mask: Value) -> Value {
    let bits = builder.bits(mask);
    let wide = builder.convert(Convert::ZExt, bits, Scalar::Int(64));
    builder.unary(Unary::Ctpop, wide)
}
