//! Appends instructions to a block, simplified: constants are folded, what is the same for all lanes is computed once and then splat, and what a block has
//! computed already is not computed again.

mod exact;
mod simplified;

use rustc_hash::FxHashMap;

use super::function::{Block, Constant, Definition, End, Function, Target, Value};
use super::op::{Binary, Convert, FloatRelation, Op, Relation, Unary};
use super::types::{Scalar, Type};

/// The longest chain of operations that are merged of halves.
const MAX_MERGED: usize = 16;

/// Appends instructions to a function.
#[derive(Default)]
pub struct Builder {
    /// The function.
    pub function: Function,
    /// The Gen instruction for which instructions are appended.
    pub origin: u32,
    /// Whether the host has no fused multiply-add, and LLVM would call a function for each lane.
    pub emulates_fma: bool,
    current: Option<Block>,
    /// What the current block has computed.
    known: FxHashMap<(Op, Vec<Value>, Type), Value>,
    /// The halves that have been looked at in the current block, and the value of both.
    halves: FxHashMap<(Value, Value), Option<Value>>,
}

impl Builder {
    /// What follows is appended to a block.
    pub fn begin(&mut self, block: Block) {
        self.current = Some(block);
        self.known.clear();
        self.halves.clear();
    }

    /// The block to which is appended.
    pub fn current(&self) -> Block {
        self.current.unwrap_or(Block(0))
    }

    /// Ends the current block. What is appended then goes nowhere until another one begins.
    pub fn end(&mut self, end: End) {
        let block = self.current();
        self.function.block_mut(block).end = end;
    }

    /// Ends the current block with a jump to one without parameters so far.
    pub fn jump(&mut self, block: Block) {
        self.end(End::Jump(Target { block, arguments: Vec::new() }));
    }

    /// Ends the current block with a branch.
    pub fn branch(&mut self, condition: Value, yes: Block, no: Block) {
        if let Some(constant) = self.function.as_constant(condition) {
            let taken = if constant.lane(0) != 0 { yes } else { no };
            return self.jump(taken);
        }
        if yes == no {
            return self.jump(yes);
        }
        let [yes, no] = [yes, no].map(|block| Target { block, arguments: Vec::new() });
        self.end(End::Branch { condition, yes, no });
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// An instruction that is not pure, or has not one result.
    pub fn effect(&mut self, op: Op, operands: &[Value], results: &[Type]) -> Vec<Value> {
        self.function.add_instruction(self.current(), op, operands, results, self.origin)
    }

    /// A pure operation.
    pub fn pure(&mut self, op: Op, operands: &[Value], ty: Type) -> Value {
        debug_assert!(op.is_pure());
        if let Some(value) = self.simplified(&op, operands, ty) {
            return value;
        }
        let key = (op, operands.to_vec(), ty);
        if let Some(value) = self.known.get(&key) {
            return *value;
        }
        let value =
            self.function.add_instruction(self.current(), key.0.clone(), operands, &[ty], self.origin)[0];
        self.known.insert(key, value);
        value
    }

    /// The same integer in all lanes.
    pub fn int(&mut self, ty: Type, value: u64) -> Value {
        self.function.constant(ty, Constant::All(value.into()))
    }

    /// The same signed integer in all lanes.
    pub fn signed(&mut self, ty: Type, value: i128) -> Value {
        self.function.constant(ty, Constant::All(value as u128))
    }

    /// An integer for each lane.
    pub fn ints(&mut self, ty: Type, value: impl Fn(usize) -> u64) -> Value {
        let lanes = (0..ty.lanes.into()).map(|lane| u128::from(value(lane))).collect();
        self.function.constant(ty, Constant::Each(lanes))
    }

    /// The same float in all lanes.
    pub fn float(&mut self, ty: Type, value: f64) -> Value {
        let double = ty.of(Scalar::Double).with_lanes(1);
        let wide = self.function.constant(double, Constant::All(value.to_bits().into()));
        let narrow = match ty.scalar {
            Scalar::Double => wide,
            _ => self.pure(Op::Convert(Convert::FPTrunc), &[wide], ty.with_lanes(1)),
        };
        self.splat(narrow, ty.lanes.into())
    }

    /// A mask of all lanes, or of none.
    pub fn mask(&mut self, lanes: usize, all: bool) -> Value {
        self.int(Type::mask(lanes), if all { 1 } else { 0 })
    }

    /// An operation on two operands.
    pub fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
        self.pure(Op::Binary(binary), &[a, b], self.ty(a))
    }

    /// An operation on one operand.
    pub fn unary(&mut self, unary: Unary, a: Value) -> Value {
        self.pure(Op::Unary(unary), &[a], self.ty(a))
    }

    /// `a * b + c`
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        if self.emulates_fma && self.ty(a).scalar == Scalar::Float {
            return self.emulated_fma([a, b, c]);
        }
        self.pure(Op::Fma, &[a, b, c], self.ty(a))
    }

    /// Compares integers.
    pub fn compare(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        self.pure(Op::ICmp(relation), &[a, b], self.ty(a).as_mask())
    }

    /// Compares floats.
    pub fn compare_floats(&mut self, relation: FloatRelation, a: Value, b: Value) -> Value {
        self.pure(Op::FCmp(relation), &[a, b], self.ty(a).as_mask())
    }

    /// One value or the other.
    pub fn select(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        self.pure(Op::Select, &[mask, yes, no], self.ty(yes))
    }

    /// The other lanes of a mask.
    pub fn not(&mut self, mask: Value) -> Value {
        let all = self.int(self.ty(mask), 1);
        self.binary(Binary::Xor, mask, all)
    }

    /// A conversion; none if the type is the same.
    pub fn convert(&mut self, convert: Convert, a: Value, scalar: Scalar) -> Value {
        let ty = self.ty(a).of(scalar);
        if ty == self.ty(a) { a } else { self.pure(Op::Convert(convert), &[a], ty) }
    }

    /// Integers of another size.
    pub fn resize(&mut self, a: Value, bits: u32, signed: bool) -> Value {
        let convert = match bits.cmp(&self.ty(a).scalar.bits()) {
            std::cmp::Ordering::Less => Convert::Trunc,
            _ if signed => Convert::SExt,
            _ => Convert::ZExt,
        };
        self.convert(convert, a, Scalar::Int(bits as u8))
    }

    /// The same bits as lanes of another type.
    pub fn bitcast(&mut self, a: Value, ty: Type) -> Value {
        debug_assert_eq!(self.ty(a).bits(), ty.bits());
        if ty == self.ty(a) { a } else { self.pure(Op::Convert(Convert::Bitcast), &[a], ty) }
    }

    /// The same bits of each lane as another scalar.
    pub fn cast(&mut self, a: Value, scalar: Scalar) -> Value {
        self.bitcast(a, self.ty(a).of(scalar))
    }

    /// A scalar in all lanes.
    pub fn splat(&mut self, a: Value, lanes: usize) -> Value {
        self.pure(Op::Splat, &[a], self.ty(a).with_lanes(lanes))
    }

    /// Lanes of one value, or of two.
    pub fn shuffle(&mut self, a: Value, b: Option<Value>, order: impl IntoIterator<Item = usize>) -> Value {
        let order: Box<[u16]> = order.into_iter().map(|n| n as u16).collect();
        let ty = self.ty(a).with_lanes(order.len());
        let operands = [Some(a), b].into_iter().flatten().collect::<Vec<_>>();
        self.pure(Op::Shuffle(order), &operands, ty)
    }

    /// Lanes that follow each other.
    pub fn slice(&mut self, a: Value, first: usize, count: usize) -> Value {
        self.shuffle(a, None, first..first + count)
    }

    /// All lanes, combined by an operation. Their number is a power of two.
    pub fn reduced(&mut self, binary: Binary, mut value: Value) -> Value {
        while let half @ 1.. = usize::from(self.ty(value).lanes) / 2 {
            let [low, high] = [0, half].map(|first| self.slice(value, first, half));
            value = self.binary(binary, low, high);
        }
        value
    }

    /// A mask as an integer.
    pub fn bits(&mut self, mask: Value) -> Value {
        self.pure(Op::Bits, &[mask], Type::int(self.ty(mask).lanes.into(), 1))
    }

    /// Whether an integer is one of fewer bits that is extended so.
    pub fn fits(&mut self, a: Value, extend: Convert, narrow: Scalar) -> Value {
        let cut = self.convert(Convert::Trunc, a, narrow);
        let again = self.convert(extend, cut, self.ty(a).scalar);
        self.compare(Relation::Eq, a, again)
    }

    /// Whether a mask has all lanes.
    pub fn in_all_lanes(&mut self, mask: Value) -> Value {
        if self.ty(mask).lanes == 1 {
            return mask;
        }
        let bits = self.bits(mask);
        let all = self.int(self.ty(bits), u64::MAX);
        self.compare(Relation::Eq, bits, all)
    }

    /// An integer as a mask.
    pub fn as_mask(&mut self, bits: Value) -> Value {
        self.pure(Op::Mask, &[bits], Type::mask(self.ty(bits).scalar.bits() as usize))
    }

    /// Whether a mask has a lane.
    pub fn any(&mut self, mask: Value) -> Value {
        let bits = self.bits(mask);
        let none = self.int(self.ty(bits), 0);
        self.compare(Relation::Ne, bits, none)
    }

    fn source(&self, value: Value) -> Option<(Op, Vec<Value>)> {
        self.function.source(value).map(|(op, operands)| (op.clone(), operands.to_vec()))
    }

    /// The scalar that all lanes have: of a constant or a splat.
    pub fn uniform(&mut self, value: Value) -> Option<Value> {
        let ty = self.ty(value).with_lanes(1);
        match &self.function.values[value].definition {
            Definition::Constant(Constant::All(bits)) => {
                let bits = *bits;
                Some(self.function.constant(ty, Constant::All(bits)))
            }
            Definition::Result(..) => match self.function.source(value)? {
                (Op::Splat, operands) => Some(operands[0]),
                _ => None,
            },
            _ => None,
        }
    }
}
