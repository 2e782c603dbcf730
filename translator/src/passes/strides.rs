//! Strides of values across lanes: affine, uniform where the stride is 0, or varying. A lattice as that of scalar evolution, over lanes.

use fixedbitset::FixedBitSet;
use gencl_ir_support::SecondaryMap;

use crate::middle::function::{Block, Constant, Definition, Function, Instruction, Value};
use crate::middle::op::{Binary, Convert, Op};
use crate::middle::types::{Scalar, Type};

/// The stride of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// Not known yet.
    Unset,
    /// A stride from each lane to the next, modulo 2^bits.
    Affine {
        /// How much.
        stride: i64,
        /// Whether that is proved. Otherwise it holds if no extension of its operands to more bits wraps around.
        proved: bool,
    },
    /// Guessed, as where numbers are clamped to an image: all lanes have to be compared.
    Guessed(i64),
    /// No stride.
    Varying,
}

impl Stride {
    /// The same in all lanes.
    const UNIFORM: Stride = Stride::Affine { stride: 0, proved: true };

    /// The stride that it most likely is.
    fn likely(self) -> Option<i64> {
        match self {
            Stride::Affine { stride, .. } | Stride::Guessed(stride) => Some(stride),
            Stride::Unset | Stride::Varying => None,
        }
    }

    fn join(self, other: Stride) -> Stride {
        match (self, other) {
            (Stride::Unset, known) | (known, Stride::Unset) => known,
            (Stride::Affine { stride: a, proved: p }, Stride::Affine { stride: b, proved: q }) if a == b => {
                Stride::Affine { stride: a, proved: p && q }
            }
            _ if self.likely().is_some() && self.likely() == other.likely() => {
                self.likely().map_or(Stride::Varying, Stride::Guessed)
            }
            _ => Stride::Varying,
        }
    }
}

/// The changes of all values of a function.
pub struct Strides {
    all: SecondaryMap<Value, Stride>,
}

impl Strides {
    /// Follows all values to the fixed point.
    pub fn new(function: &Function) -> Strides {
        let mut strides = Strides { all: SecondaryMap::with_default(Stride::Unset) };
        for (number, value) in function.values.iter() {
            if value.ty.lanes == 1 {
                strides.all[number] = Stride::UNIFORM;
            } else if let Definition::Constant(constant) = &value.definition {
                strides.all[number] = of_constant(value.ty, constant);
            }
        }
        // By position in reverse post-order.
        let order: Vec<Block> = function.dominators().order().collect();
        let mut position = SecondaryMap::new();
        order.iter().enumerate().for_each(|(n, block)| position[*block] = n);
        let mut open = FixedBitSet::with_capacity(order.len());
        open.insert_range(..);
        while let Some(next) = open.minimum() {
            open.set(next, false);
            let data = function.block(order[next]);
            for instruction in &data.instructions {
                strides.follow(function, *instruction);
            }
            for target in data.end.targets() {
                for (parameter, argument) in
                    function.block(target.block).parameters.iter().zip(&target.arguments)
                {
                    let own = &strides.all[*parameter];
                    let joined = own.join(strides.of(*argument));
                    if joined != *own {
                        strides.all[*parameter] = joined;
                        // All blocks that its block dominates know it.
                        open.insert_range(position[target.block]..);
                    }
                }
            }
        }
        strides
    }

    /// How a value changes.
    pub fn of(&self, value: Value) -> Stride {
        self.all[value]
    }

    /// The stride of a value, if it has one, and whether that is proved.
    pub fn stride(&self, value: Value) -> Option<(i64, bool)> {
        match self.of(value) {
            Stride::Affine { stride, proved } => Some((stride, proved)),
            Stride::Unset | Stride::Guessed(_) | Stride::Varying => None,
        }
    }

    /// The stride that a value most likely has, if only all lanes can tell.
    pub fn guess(&self, value: Value) -> Option<i64> {
        match self.of(value) {
            Stride::Guessed(stride) => Some(stride),
            _ => None,
        }
    }

    fn follow(&mut self, function: &Function, instruction: Instruction) {
        let data = function.instruction(instruction);
        for result in &data.results {
            if function.ty(*result).lanes > 1 {
                let own = self.transfer(function, &data.op, &data.operands, function.ty(*result));
                self.all[*result] = self.all[*result].join(own);
            }
        }
    }

    fn transfer(&self, function: &Function, op: &Op, operands: &[Value], ty: Type) -> Stride {
        let changes: Vec<Stride> = operands.iter().map(|value| self.of(*value)).collect();
        if let Op::Select = op {
            return of_choice(changes[0], changes[1], changes[2]);
        }
        if !op.is_pure() || changes.contains(&Stride::Varying) && !matches!(op, Op::Shuffle(_)) {
            return self.of_read(op, operands);
        }
        if changes.contains(&Stride::Unset) {
            return Stride::Unset;
        }
        let is_uniform = changes.iter().all(|change| change.likely() == Some(0));
        let proved = changes.iter().all(|change| matches!(change, Stride::Affine { proved: true, .. }));
        let stride = |n: usize| changes.get(n).and_then(|change| change.likely()).unwrap_or(0);
        let constant = |n: usize| match function.as_constant(operands[n]) {
            Some(Constant::All(bits)) => Some(*bits as i64),
            _ => None,
        };
        let of = |stride: i64| Stride::Affine { stride: wrapped(stride, ty), proved };
        let found = match op {
            Op::Splat => Stride::UNIFORM,
            Op::Input(_) => Stride::Varying,
            Op::Binary(Binary::Add | Binary::AddNuw) => of(stride(0).wrapping_add(stride(1))),
            // -1 - x
            Op::Binary(Binary::Xor) if constant(1) == Some(((1_u128 << ty.scalar.bits()) - 1) as i64) => {
                of(stride(0).wrapping_neg())
            }
            Op::Binary(Binary::Sub) => of(stride(0).wrapping_sub(stride(1))),
            Op::Binary(Binary::Mul) if constant(1).is_some() => {
                of(stride(0).wrapping_mul(constant(1).unwrap_or(0)))
            }
            Op::Binary(Binary::Shl) if constant(1).is_some() => {
                of(stride(0).wrapping_shl(constant(1).unwrap_or(0) as u32))
            }
            Op::Convert(Convert::Trunc) => of(stride(0)),
            Op::Convert(Convert::ZExt | Convert::SExt) if function.ty(operands[0]).scalar != Scalar::Mask => {
                let is_row = matches!(
                    (op, function.source(operands[0])),
                    (Op::Convert(Convert::ZExt), Some((Op::Binary(Binary::AddNuw), _)))
                );
                Stride::Affine { stride: stride(0), proved: proved && (stride(0) == 0 || is_row) }
            }
            Op::Shuffle(order) => self.of_shuffle(order, operands, ty),
            Op::Convert(Convert::Bitcast) if function.ty(operands[0]).lanes != ty.lanes => Stride::Varying,
            Op::Bits | Op::Mask => Stride::Varying,
            Op::Binary(binary @ (Binary::And | Binary::LShr | Binary::AShr))
                if !is_uniform && stride(1) == 0 =>
            {
                of_part(*binary, stride(0), constant(1), ty)
            }
            _ if is_uniform => Stride::Affine { stride: 0, proved },
            Op::Binary(Binary::SMin | Binary::SMax | Binary::UMin | Binary::UMax) => {
                of_choice(Stride::Varying, changes[0], changes[1])
            }
            _ => Stride::Varying,
        };
        let is_guessed = changes.iter().any(|change| matches!(change, Stride::Guessed(_)));
        match found {
            Stride::Affine { stride, .. } if is_guessed => Stride::Guessed(stride),
            found => found,
        }
    }

    /// What all lanes read at one address is the same.
    fn of_read(&self, op: &Op, operands: &[Value]) -> Stride {
        match (op, operands.get(1).map(|address| self.of(*address))) {
            (Op::Load(_), Some(Stride::Affine { stride: 0, proved: true })) => Stride::UNIFORM,
            (Op::Load(_), Some(Stride::Unset)) => Stride::Unset,
            _ => Stride::Varying,
        }
    }

    fn of_shuffle(&self, order: &[u16], operands: &[Value], ty: Type) -> Stride {
        let distance = i64::from(order[1]) - i64::from(order[0]);
        let is_even = order.windows(2).all(|pair| i64::from(pair[1]) - i64::from(pair[0]) == distance);
        if distance == 0 && is_even {
            return Stride::UNIFORM;
        }
        match (self.of(operands[0]), operands.len()) {
            (Stride::Unset, _) => Stride::Unset,
            (Stride::Affine { stride, proved }, 1) if is_even => {
                Stride::Affine { stride: wrapped(stride.wrapping_mul(distance), ty), proved }
            }
            (Stride::Affine { stride: 0, proved: true }, 1) => Stride::UNIFORM,
            (Stride::Guessed(stride), 1) if is_even => {
                Stride::Guessed(wrapped(stride.wrapping_mul(distance), ty))
            }
            _ => Stride::Varying,
        }
    }
}

/// Of the low or the high bits of numbers, which most likely carry nothing into each other where lanes begin at a multiple of their number.
fn of_part(binary: Binary, stride: i64, second: Option<i64>, ty: Type) -> Stride {
    let lanes = i64::from(ty.lanes);
    let is_high = match (binary, second) {
        (Binary::And, Some(bits)) => bits & (lanes * stride - 1) == 0,
        (Binary::And, None) => false,
        (_, Some(count)) => count < 32 && lanes * stride <= 1 << count,
        _ => return Stride::Varying,
    };
    match binary {
        _ if is_high => Stride::Guessed(0),
        Binary::And => Stride::Guessed(stride),
        _ => Stride::Varying,
    }
}

/// Of one value or the other. Where lanes choose, they most likely choose alike, and of a row and its bounds the row.
fn of_choice(condition: Stride, a: Stride, b: Stride) -> Stride {
    if [condition, a, b].contains(&Stride::Unset) {
        return Stride::Unset;
    }
    match (a.likely(), b.likely()) {
        (Some(stride), Some(other)) if stride == other => match [condition, a, b] {
            [
                Stride::Affine { stride: 0, proved: p },
                Stride::Affine { proved: q, .. },
                Stride::Affine { proved: r, .. },
            ] => Stride::Affine { stride, proved: p && q && r },
            _ => Stride::Guessed(stride),
        },
        (Some(a), Some(0)) => Stride::Guessed(a),
        (Some(0), Some(b)) => Stride::Guessed(b),
        _ => Stride::Varying,
    }
}

/// A stride of numbers of a type, as the smallest of its kind.
fn wrapped(stride: i64, ty: Type) -> i64 {
    let unused = 64 - ty.scalar.bits().min(64);
    stride << unused >> unused
}

/// How the lanes of a constant change.
pub fn of_constant(ty: Type, constant: &Constant) -> Stride {
    match constant {
        Constant::All(_) => Stride::UNIFORM,
        Constant::Each(lanes) if matches!(ty.scalar, Scalar::Int(_)) => {
            let stride = |pair: &[u128]| wrapped(pair[1].wrapping_sub(pair[0]) as i64, ty);
            let first = stride(&lanes[..2]);
            match lanes.windows(2).all(|pair| stride(pair) == first) {
                true => Stride::Affine { stride: first, proved: true },
                false => Stride::Varying,
            }
        }
        Constant::Each(_) => Stride::Varying,
    }
}
