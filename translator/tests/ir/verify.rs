//! What every function must be, asked after each pass.

use gencl_ir_support::{Dominators, EntitySet, SecondaryMap};

use gencl_translator::middle::function::{Block, Definition, End, Function, Instruction, Target, Value};
use gencl_translator::middle::op::{Binary, Convert, Op, Unary};
use gencl_translator::middle::types::{Scalar, Type};

/// Looks whether a function is well-formed: types fit, and what is used has been computed on all ways there.
///
/// # Errors
/// What is wrong, and where.
pub fn verify(function: &Function) -> Result<(), String> {
    let (dominators, homes) = (function.dominators(), homes(function));
    for block in function.block_numbers().filter(|block| dominators.is_reached(*block)) {
        let data = function.block(block);
        let mut seen = EntitySet::new();
        data.parameters.iter().for_each(|value| _ = seen.insert(*value));
        let here = |value: &Value, seen: &EntitySet<Value>| {
            let is_there =
                seen.contains(*value) || is_available(function, &dominators, &homes, *value, block);
            if is_there {
                Ok(())
            } else {
                Err(format!("b{}: %{} is not computed on all ways", block.0, value.0))
            }
        };
        for instruction in &data.instructions {
            let own = function.instruction(*instruction);
            own.operands.iter().try_for_each(|value| here(value, &seen))?;
            check(function, &own.op, &own.operands, &own.results)
                .map_err(|why| format!("b{}: {}: {why}", block.0, function.line(*instruction)))?;
            own.results.iter().for_each(|value| _ = seen.insert(*value));
        }
        if let End::Branch { condition, .. } = &data.end {
            here(condition, &seen)?;
            if function.ty(*condition) != Type::mask(1) {
                return Err(format!("b{}: a branch by {}", block.0, function.ty(*condition)));
            }
        }
        for target in data.end.targets() {
            target.arguments.iter().try_for_each(|value| here(value, &seen))?;
            check_target(function, target).map_err(|why| format!("b{}: {why}", block.0))?;
        }
    }
    Ok(())
}

/// Whether a value of another block has been computed wherever a block begins.
fn is_available(
    function: &Function,
    dominators: &Dominators<Block>,
    homes: &SecondaryMap<Instruction, Option<Block>>,
    value: Value,
    block: Block,
) -> bool {
    let own = match function.values[value].definition {
        Definition::Constant(_) => return true,
        Definition::Parameter(own) => Some(own),
        Definition::Result(instruction, _) => homes[instruction],
    };
    own.is_some_and(|own| own != block && dominators.dominates(own, block))
}

fn check_target(function: &Function, target: &Target) -> Result<(), String> {
    let types = |values: &[Value]| values.iter().map(|value| function.ty(*value)).collect::<Vec<_>>();
    let (parameters, arguments) = (types(&function.block(target.block).parameters), types(&target.arguments));
    if parameters == arguments {
        return Ok(());
    }
    Err(format!(
        "b{} takes {} parameters of other types than these {}",
        target.block.0,
        parameters.len(),
        arguments.len()
    ))
}

/// Whether types fit an operation.
fn check(function: &Function, op: &Op, operands: &[Value], results: &[Value]) -> Result<(), String> {
    let from: Vec<Type> = operands.iter().map(|value| function.ty(*value)).collect();
    let to: Vec<Type> = results.iter().map(|value| function.ty(*value)).collect();
    let holds = match (op, &from[..], &to[..]) {
        (Op::Binary(binary), [a, b], [r]) => a == b && a == r && fits_binary(*binary, a.scalar),
        (Op::Unary(unary), [a], [r]) => a == r && fits_unary(*unary, a.scalar),
        (Op::Convert(convert), [a], [r]) => fits_convert(*convert, *a, *r),
        (Op::Fma, [a, b, c], [r]) => [a, b, c] == [r; 3] && r.scalar.is_float(),
        (Op::ICmp(_), [a, b], [r]) => a == b && matches!(a.scalar, Scalar::Int(_)) && *r == a.as_mask(),
        (Op::FCmp(_), [a, b], [r]) => a == b && a.scalar.is_float() && *r == a.as_mask(),
        (Op::Select, [mask, a, b], [r]) => {
            a == b && a == r && mask.scalar == Scalar::Mask && (mask.lanes == 1 || mask.lanes == a.lanes)
        }
        (Op::Fence, [a], [r]) => a == r,
        (Op::Splat, [a], [r]) => a.lanes == 1 && a.scalar == r.scalar,
        (Op::Shuffle(order), [a, rest @ ..], [r]) => {
            let all: usize = from.iter().map(|ty| usize::from(ty.lanes)).sum();
            rest.len() <= 1
                && from.iter().all(|ty| ty.scalar == r.scalar)
                && a.scalar == r.scalar
                && order.len() == usize::from(r.lanes)
                && order.iter().all(|at| usize::from(*at) < all)
        }
        (Op::Bits, [a], [r]) => a.scalar == Scalar::Mask && *r == Type::int(a.lanes.into(), 1),
        (Op::Mask, [a], [r]) => *a == Type::int(r.lanes.into(), 1) && r.scalar == Scalar::Mask,
        (Op::Input(_), [], [_]) | (Op::Get(_), [], [_]) | (Op::Put(_), [_], []) | (Op::Gather, [_], [_]) => {
            true
        }
        (Op::Load(access), [mask, address, rest @ ..], results) => {
            results.len() == access.elements.count()
                && rest.len() + 2 == access.first_datum()
                && fits_lanes(*mask, *address)
        }
        (Op::Store(access), [mask, address, rest @ ..], []) => {
            rest.len() + 2 == access.first_datum() + access.elements.count() && fits_lanes(*mask, *address)
        }
        (Op::Atomic(operation, ..), [mask, address, data @ ..], [] | [_]) => {
            data.len() == operation.sources() && fits_lanes(*mask, *address)
        }
        (Op::Inside(_), [address], [r]) => address.lanes == 1 && *r == Type::mask(1),
        (Op::LoadBlock(..), [_, address], [_]) | (Op::StoreBlock(..), [_, address, _], []) => {
            address.lanes == 1
        }
        (Op::Image(registers) | Op::Interpret(registers), [_, rest @ ..], results) => {
            registers.operands.len() == rest.len() && registers.results.len() == results.len()
        }
        (Op::Unwritten(registers), [_, _, rest @ ..], []) => registers.operands.len() == rest.len(),
        (Op::Scatter, [mask, at, data], []) => mask.lanes == at.lanes && at.lanes == data.lanes,
        (Op::MemoryFence | Op::Arrive, [], []) | (Op::SetArray(_), [_], []) | (Op::GetArray(_), [], [_]) => {
            true
        }
        (Op::SetElement(_), [number, element], []) => *number == Type::int(32, 1) && element.lanes == 1,
        (Op::GetElement(_), [number], [element]) => *number == Type::int(32, 1) && element.lanes == 1,
        (Op::Executed, [mask], []) => mask.scalar == Scalar::Mask,
        (Op::Count(_), [number], []) => *number == Type::int(64, 1),
        (Op::Cancelled, [], [r]) => *r == Type::mask(1),
        _ => false,
    };
    if holds { Ok(()) } else { Err("operands and results do not fit".into()) }
}

fn fits_lanes(mask: Type, addresses: Type) -> bool {
    mask == addresses.as_mask()
}

fn fits_binary(binary: Binary, scalar: Scalar) -> bool {
    let is_int = matches!(scalar, Scalar::Int(_));
    match binary {
        Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv => scalar.is_float(),
        Binary::And | Binary::Or | Binary::Xor => !scalar.is_float(),
        Binary::Add | Binary::AddNuw | Binary::Sub | Binary::Mul | Binary::SDiv | Binary::SRem => is_int,
        Binary::Shl | Binary::LShr | Binary::AShr => is_int,
        Binary::SMin | Binary::SMax | Binary::UMin | Binary::UMax => is_int,
    }
}

fn fits_unary(unary: Unary, scalar: Scalar) -> bool {
    match unary {
        Unary::Ctlz | Unary::Cttz | Unary::Ctpop | Unary::BitReverse => matches!(scalar, Scalar::Int(_)),
        Unary::FNeg | Unary::FAbs | Unary::Sqrt => scalar.is_float(),
        Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::RoundEven => scalar.is_float(),
    }
}

fn fits_convert(convert: Convert, from: Type, to: Type) -> bool {
    let int = |scalar: Scalar| matches!(scalar, Scalar::Int(_));
    let (a, b) = (from.scalar, to.scalar);
    if convert == Convert::Bitcast {
        return from.bits() == to.bits() && a != Scalar::Mask && b != Scalar::Mask;
    }
    from.lanes == to.lanes
        && match convert {
            Convert::Trunc => int(a) && int(b) && a.bits() > b.bits(),
            Convert::ZExt | Convert::SExt => (int(a) || a == Scalar::Mask) && int(b) && a.bits() < b.bits(),
            Convert::FPExt => a.is_float() && b.is_float() && a.bits() < b.bits(),
            Convert::FPTrunc => a.is_float() && b.is_float() && a.bits() > b.bits(),
            Convert::SIToFP | Convert::UIToFP => int(a) && b.is_float(),
            Convert::FPToSI | Convert::FPToUI => a.is_float() && int(b),
            Convert::Bitcast => false,
        }
}

/// The block that each instruction is in.
fn homes(function: &Function) -> SecondaryMap<Instruction, Option<Block>> {
    let mut homes = SecondaryMap::new();
    for block in function.block_numbers() {
        function.block(block).instructions.iter().for_each(|own| homes[*own] = Some(block));
    }
    homes
}
