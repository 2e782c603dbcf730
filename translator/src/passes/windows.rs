//! Gives accesses whose addresses are sums with the same scalar one window: most likely they are in the same buffer. A scalar
//! that all threads have is its pointer.

use rustc_hash::FxHashMap;

use crate::middle::function::{Function, Value};
use crate::middle::op::{Addressing, Binary, Convert, Input, Op, Space, Window};

/// How many sums behind each other are looked through.
const MOST_SUMS: usize = 16;

/// The same function with such windows.
pub fn share(function: &Function) -> Function {
    let mut function = function.clone();
    let mut windows: FxHashMap<Value, Window> = FxHashMap::default();
    for number in 0..function.instructions.len() {
        let data = &function.instructions[number];
        let (Op::Load(access) | Op::Store(access)) = &data.op else { continue };
        if access.space != Space::Global {
            continue;
        }
        let address = data.operands[if access.addressing == Addressing::Varying { 1 } else { 2 }];
        let Some(base) = base(&function, address, 0) else { continue };
        let next = windows.len() as u16;
        let window = *windows.entry(base).or_insert_with(|| match function.source(base) {
            Some((Op::Input(Input::CrossThread(at)), _)) => Window::Pointer(*at),
            _ => Window::Shared(next),
        });
        if let Op::Load(access) | Op::Store(access) = &mut function.instructions[number].op {
            access.window = Some(window);
        }
    }
    function
}

/// The only scalar of 64 bits in a sum.
fn base(function: &Function, value: Value, depth: usize) -> Option<Value> {
    if depth > MOST_SUMS || function.as_constant(value).is_some() {
        return None;
    }
    match function.source(value) {
        Some((Op::Binary(Binary::Add), operands)) => {
            let found = [0, 1].map(|n| base(function, operands[n], depth + 1));
            match found {
                [Some(base), None] | [None, Some(base)] => Some(base),
                [Some(a), Some(b)] if a == b => Some(a),
                _ => None,
            }
        }
        Some((Op::Splat, operands)) => base(function, operands[0], depth + 1),
        Some((Op::Convert(Convert::SExt | Convert::ZExt), _)) => None,
        _ => (function.ty(value).lanes == 1).then_some(value),
    }
}
