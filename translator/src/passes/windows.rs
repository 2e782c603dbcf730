//! Gives accesses whose addresses are sums with the same scalar one window: most likely they are in the same buffer. A scalar
//! that all threads have is its pointer.

use rustc_hash::FxHashMap;

use crate::middle::function::{Constant, Function, Value};
use crate::middle::op::{Addressing, Binary, Convert, Input, Op, Relation, Space, Window};
use crate::middle::types::Type;

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
        let found = base(&function, address, false, 0).or_else(|| base(&function, address, true, 0));
        let Some(base) = found else { continue };
        let next = windows.len() as u16;
        let window = *windows.entry(base).or_insert_with(|| match function.source(base) {
            Some((Op::Input(Input::CrossThread(at)), _)) => Window::Pointer(*at),
            _ => Window::Shared(next),
        });
        if let (Window::Pointer(_), Some(_)) = (window, access.stride()) {
            let holds = needed(&function, address, base, data.operands[3]);
            let holds = holds.unwrap_or_else(|| function.constant(Type::mask(1), Constant::All(1)));
            function.instructions[number].operands[3] = holds;
        }
        if let Op::Load(access) | Op::Store(access) = &mut function.instructions[number].op {
            access.window = Some(window);
        }
    }
    function
}

/// What is left of the condition under which a stride holds. If the row is inside, so is the pointer, as far before or behind it as an offset of 32 bits says: then
/// that has not wrapped around in any lane.
fn needed(function: &Function, address: Value, pointer: Value, holds: Value) -> Option<Value> {
    let is_offset = |value: Value| {
        let sum = function.source(address);
        matches!(sum, Some((Op::Binary(Binary::Add), operands)) if *operands == [pointer, value] || *operands == [value, pointer])
    };
    let is_implied = |condition: Value| {
        let Some((Op::ICmp(Relation::Eq), [last, again])) = function.source(condition) else { return false };
        let Some((Op::Convert(_), [cut])) = function.source(*again) else { return false };
        let is_fit = function.source(*cut) == Some((&Op::Convert(Convert::Trunc), &[*last][..]));
        let Some((Op::Binary(Binary::Add), [wide, _])) = function.source(*last) else { return false };
        let is_extended =
            matches!(function.source(*wide), Some((Op::Convert(Convert::SExt | Convert::ZExt), _)));
        is_fit && is_extended && is_offset(*wide)
    };
    match function.source(holds) {
        _ if is_implied(holds) => None,
        Some((Op::Binary(Binary::And), [a, b])) if is_implied(*a) => Some(*b),
        Some((Op::Binary(Binary::And), [a, b])) if is_implied(*b) => Some(*a),
        _ => Some(holds),
    }
}

/// The only scalar of 64 bits in a sum, or of 32 bits that is extended.
fn base(function: &Function, value: Value, is_extended: bool, depth: usize) -> Option<Value> {
    if depth > MOST_SUMS || function.as_constant(value).is_some() {
        return None;
    }
    match function.source(value) {
        Some((Op::Binary(Binary::Add), operands)) => {
            let found = [0, 1].map(|n| base(function, operands[n], is_extended, depth + 1));
            match found {
                [Some(base), None] | [None, Some(base)] => Some(base),
                [Some(a), Some(b)] if a == b => Some(a),
                _ => None,
            }
        }
        Some((Op::Splat, operands)) => base(function, operands[0], is_extended, depth + 1),
        Some((Op::Convert(Convert::SExt | Convert::ZExt), operands)) => {
            let is_constant = function.as_constant(operands[0]).is_some();
            let one = Some(operands[0]).filter(|scalar| function.ty(*scalar).lanes == 1);
            one.filter(|_| is_extended && !is_constant)
        }
        _ => (function.ty(value).lanes == 1).then_some(value),
    }
}
