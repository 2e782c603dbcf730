//! Random functions of the middle IR: well-typed, and defined in all that they leave behind.

use std::collections::HashSet;

use gencl_eu::message::Elements;
use gencl_testing::Random;
use gencl_translator::analysis::message::{Lanes, Message};
use gencl_translator::middle::function::{Block, Constant, End, Function, Target, Value};
use gencl_translator::middle::op::{Binary, Convert, FloatRelation, Input, Op, Relation, Space, Unary};
use gencl_translator::middle::types::{Scalar, Type};

use crate::interpret::makes_nans;

/// Bytes of a thread's register file that the program does not write: where messages have their payload.
pub const PAYLOAD: usize = 2048;
/// Bytes behind them that the program scatters to and gathers from.
pub const SCATTERED: usize = 512;
/// Bytes of the register file. What is behind the scattered bytes are results.
pub const FILE: usize = 16384;
/// Bytes of inputs of each kind.
pub const INPUTS: usize = 512;

/// The types of results in the register file, by where they are.
pub type Results = Vec<(u16, Type)>;

/// A function, and what else belongs to it.
#[derive(Clone)]
pub struct Program {
    pub function: Function,
    /// The message of each access, by its origin.
    pub messages: Vec<Message>,
    pub results: Results,
    /// It has half floats, for which hosts that do not convert them have no code.
    pub converts_halves: bool,
}

/// Makes a program. What it is made of is in `statements`.
pub struct Generator {
    pub random: Random,
    pub function: Function,
    pub block: Block,
    /// Values that are computed where the program is.
    pub values: Vec<Value>,
    /// Floats that may be NaNs of which nothing defines the bits.
    pub inexact: HashSet<Value>,
    /// Lanes of most vectors.
    pub lanes: usize,
    pub messages: Vec<Message>,
    pub converts_halves: bool,
    /// Arrays that have been written, each with its number and type, and how many there are.
    pub arrays: Vec<(u16, Type)>,
    pub array_count: u16,
    /// Statements that may still be made.
    pub left: u32,
}

/// The program of a seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let lanes = random.pick(&[4, 8, 8, 16, 16, 16, 32]);
    let left = 8 + random.below(40_u32);
    let mut generator = Generator {
        function: Function::default(),
        block: Block(0),
        values: Vec::new(),
        inexact: HashSet::new(),
        lanes,
        messages: Vec::new(),
        converts_halves: random.one_in(4),
        arrays: Vec::new(),
        array_count: 0,
        left,
        random,
    };
    generator.block = generator.function.add_block();
    generator.begin();
    while generator.left > 0 {
        generator.statement(0);
    }
    let results = generator.leave();
    let Generator { function, messages, converts_halves, .. } = generator;
    Program { function, messages, results, converts_halves }
}

impl Generator {
    /// Values that a part of a thread begins with.
    pub fn begin(&mut self) {
        let lanes = self.lanes;
        let inputs = [
            (Type::int(32, 1), Input::CrossThread as fn(u16) -> Input),
            (Type::int(32, lanes), Input::CrossThread),
            (Type::int(64, 1), Input::CrossThread),
            (Type::int(32, lanes), Input::PerThread),
            (Type::int(16, lanes), Input::PerThread),
            (Type::int(64, lanes), Input::PerThread),
            (Type::int(32, lanes).of(Scalar::Float), Input::PerThread),
            (Type::int(64, lanes).of(Scalar::Double), Input::CrossThread),
        ];
        for (ty, kind) in inputs {
            let from = 4 * self.random.below((INPUTS as u16 - ty.bits() as u16 / 8) / 4);
            let value = self.pure(Op::Input(kind(from)), &[], ty);
            self.values.push(value);
        }
        let dispatched = self.pure(Op::Input(Input::Mask), &[], Type::int(32, 1));
        let mask = self.pure(Op::Mask, &[dispatched], Type::mask(32));
        let mask = self.shuffle(mask, None, (0..lanes).collect());
        self.values.extend([dispatched, mask]);
        for _ in 0..self.random.below(3_u32) {
            let ty = self.vector();
            let value = self.some(ty);
            self.arrays.push((self.array_count, ty));
            self.effect(Op::SetArray(self.array_count), &[value], &[]);
            self.array_count += 1;
        }
    }

    /// Ends the thread: values go to the register file.
    fn leave(&mut self) -> Results {
        let mut place = PAYLOAD + SCATTERED;
        let mut results = Vec::new();
        for value in std::mem::take(&mut self.values).into_iter().rev() {
            let (value, ty) = match self.ty(value) {
                ty if ty.scalar == Scalar::Mask => {
                    let bits = self.pure(Op::Bits, &[value], Type::int(ty.lanes.into(), 1));
                    match ty.lanes {
                        8 | 16 | 32 => (bits, self.ty(bits)),
                        _ => (self.convert("zext", bits, Scalar::Int(64)), Type::int(64, 1)),
                    }
                }
                ty => (value, ty),
            };
            let end = place + ty.bits() as usize / 8;
            if end > FILE {
                break;
            }
            results.push((place as u16, ty));
            self.effect(Op::Put(place as u16), &[value], &[]);
            place = end.next_multiple_of(8);
        }
        self.end(End::Return);
        results
    }

    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// A pure instruction.
    pub fn pure(&mut self, op: Op, operands: &[Value], ty: Type) -> Value {
        let keeps = !makes_nans(&op) && operands.iter().all(|value| !self.inexact.contains(value));
        let value = self.effect(op, operands, &[ty])[0];
        if ty.scalar.is_float() && !keeps {
            self.inexact.insert(value);
        }
        value
    }

    /// An instruction.
    pub fn effect(&mut self, op: Op, operands: &[Value], results: &[Type]) -> Vec<Value> {
        let origin = self.messages.len().saturating_sub(1) as u32;
        self.function.add_instruction(self.block, op, operands, results, origin)
    }

    pub fn end(&mut self, end: End) {
        self.function.block_mut(self.block).end = end;
    }

    pub fn binary(&mut self, name: &str, a: Value, b: Value) -> Value {
        let binary = Binary::from_name(name).expect("an operation");
        self.pure(Op::Binary(binary), &[a, b], self.ty(a))
    }

    pub fn unary(&mut self, name: &str, a: Value) -> Value {
        let unary = Unary::from_name(name).expect("an operation");
        self.pure(Op::Unary(unary), &[a], self.ty(a))
    }

    /// A conversion; none if the type is the same.
    pub fn convert(&mut self, name: &str, a: Value, scalar: Scalar) -> Value {
        let convert = Convert::from_name(name).expect("an operation");
        let ty = self.ty(a).of(scalar);
        if ty == self.ty(a) { a } else { self.pure(Op::Convert(convert), &[a], ty) }
    }

    pub fn compare(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        self.pure(Op::ICmp(relation), &[a, b], self.ty(a).as_mask())
    }

    pub fn select(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        self.pure(Op::Select, &[mask, yes, no], self.ty(yes))
    }

    pub fn splat(&mut self, a: Value, lanes: usize) -> Value {
        if lanes == 1 { a } else { self.pure(Op::Splat, &[a], self.ty(a).with_lanes(lanes)) }
    }

    pub fn shuffle(&mut self, a: Value, b: Option<Value>, order: Vec<usize>) -> Value {
        let ty = self.ty(a).with_lanes(order.len());
        let operands: Vec<Value> = [Some(a), b].into_iter().flatten().collect();
        self.pure(Op::Shuffle(order.into_iter().map(|at| at as u16).collect()), &operands, ty)
    }

    /// Whether a mask has a lane.
    pub fn any(&mut self, mask: Value) -> Value {
        let bits = self.pure(Op::Bits, &[mask], Type::int(self.ty(mask).lanes.into(), 1));
        let none = self.int(self.ty(bits), 0);
        self.compare(Relation::Ne, bits, none)
    }

    /// The same bits in all lanes.
    pub fn int(&mut self, ty: Type, value: u64) -> Value {
        self.function.constant(ty, Constant::All(value.into()))
    }

    /// A value with bits that are defined: of a NaN they are always the same.
    pub fn exact(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        if !self.inexact.contains(&value) {
            return value;
        }
        let mask = match ty.scalar {
            Scalar::Half => self.is_half_nan(value),
            _ => self.pure(Op::FCmp(FloatRelation::Uno), &[value, value], ty.as_mask()),
        };
        let nan = match ty.scalar {
            Scalar::Half => 0x7e00,
            Scalar::Float => 0x7fc0_0000,
            _ => 0x7ff8 << 48,
        };
        let nan = self.int(ty, nan);
        let value = self.select(mask, nan, value);
        self.inexact.remove(&value);
        value
    }

    /// Whether half floats are NaNs, by their bits: not all hosts compare them.
    fn is_half_nan(&mut self, value: Value) -> Value {
        let ints = self.ty(value).as_int();
        let bits = self.pure(Op::Convert(Convert::Bitcast), &[value], ints);
        let [unsigned, infinite] = [0x7fff, 0x7c00].map(|bits| self.int(ints, bits));
        let unsigned = self.binary("and", bits, unsigned);
        self.compare(Relation::Ugt, unsigned, infinite)
    }

    /// Bits of another type.
    pub fn bitcast(&mut self, value: Value, ty: Type) -> Value {
        if self.ty(value) == ty {
            return value;
        }
        let value = self.exact(value);
        self.pure(Op::Convert(Convert::Bitcast), &[value], ty)
    }

    /// A mask, an integer or a float of so many lanes.
    fn scalar(&mut self) -> Scalar {
        match self.random.below(20) {
            0..8 => Scalar::Int(32),
            8..10 => Scalar::Int(64),
            10 => Scalar::Int(16),
            11 => Scalar::Int(8),
            12..16 => Scalar::Float,
            16 => Scalar::Double,
            // LLVM makes comparisons of half floats of those of their bits.
            17 if self.converts_halves => Scalar::Half,
            17 => Scalar::Int(32),
            _ => Scalar::Mask,
        }
    }

    /// Lanes of a type: mostly those of the program.
    pub fn some_lanes(&mut self) -> usize {
        match self.random.below(12) {
            0 => 1,
            1 => (self.lanes / 2).max(2),
            _ => self.lanes,
        }
    }

    pub fn vector(&mut self) -> Type {
        Type { scalar: self.scalar(), lanes: self.lanes as u16 }
    }

    pub fn any_type(&mut self) -> Type {
        Type { scalar: self.scalar(), lanes: self.some_lanes() as u16 }
    }

    pub fn int_type(&mut self) -> Type {
        let bits = self.random.pick(&[32, 32, 32, 64, 64, 16, 8]);
        Type::int(bits, self.some_lanes())
    }

    pub fn float_type(&mut self) -> Type {
        let scalar = self.random.pick(&[Scalar::Float, Scalar::Float, Scalar::Double]);
        Type { scalar, lanes: self.some_lanes() as u16 }
    }

    /// A constant of which all or no lanes are the same.
    pub fn constant(&mut self, ty: Type) -> Value {
        let bits = ty.scalar.bits();
        let one = |random: &mut Random| -> u128 {
            let sign = 1u128 << (bits - 1);
            match random.below(6) {
                0 => random.below(4_u64).into(),
                1 => sign,
                2 => sign - 1,
                3 => u128::from(random.dword()),
                4 => (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64()),
                _ => u128::MAX,
            }
        };
        let constant = match self.random.below(3) {
            0 if ty.lanes > 1 => Constant::Each((0..ty.lanes).map(|_| one(&mut self.random)).collect()),
            _ => Constant::All(one(&mut self.random)),
        };
        self.function.constant(ty, constant)
    }

    /// A value of a type.
    pub fn some(&mut self, ty: Type) -> Value {
        let found: Vec<Value> = self.values.iter().copied().filter(|value| self.ty(*value) == ty).collect();
        if !found.is_empty() && !self.random.one_in(8) {
            // Rather one of the last.
            let from = if self.random.one_in(2) { found.len().saturating_sub(3) } else { 0 };
            return self.random.pick(&found[from..]);
        }
        if self.random.one_in(3) {
            return self.constant(ty);
        }
        self.made(ty)
    }

    /// A value of a type, of others.
    fn made(&mut self, ty: Type) -> Value {
        let lanes = usize::from(ty.lanes);
        let others: Vec<Value> = self
            .values
            .iter()
            .copied()
            .filter(|value| self.ty(*value).bits() == ty.bits() && self.ty(*value).scalar != Scalar::Mask)
            .collect();
        let value = match ty.scalar {
            Scalar::Mask => {
                let of = Type::int(self.random.pick(&[32, 32, 64, 16, 8]), lanes);
                let [a, b] = [self.known(of), self.known(of)];
                let relation = self.random.pick(Relation::ALL);
                self.compare(relation, a, b)
            }
            _ if !others.is_empty() => {
                let other = self.random.pick(&others);
                self.bitcast(other, ty)
            }
            Scalar::Int(bits) => {
                let other = self.known(Type::int(32, lanes));
                match bits {
                    ..32 => self.convert("trunc", other, ty.scalar),
                    _ => self.convert("zext", other, ty.scalar),
                }
            }
            _ => {
                let other = self.known(ty.as_int());
                self.bitcast(other, ty)
            }
        };
        self.values.push(value);
        value
    }

    /// A value of a type that is there already, or a constant.
    fn known(&mut self, ty: Type) -> Value {
        let found: Vec<Value> = self.values.iter().copied().filter(|value| self.ty(*value) == ty).collect();
        if found.is_empty() { self.constant(ty) } else { self.random.pick(&found) }
    }

    /// A jump with a value for each parameter.
    pub fn target(&mut self, block: Block) -> Target {
        let parameters = self.function.block(block).parameters.clone();
        let arguments = parameters.iter().map(|parameter| self.some(self.function.ty(*parameter))).collect();
        Target { block, arguments }
    }

    /// A parameter. What comes to a float may be a NaN.
    pub fn parameter(&mut self, block: Block, ty: Type) -> Value {
        let value = self.function.add_parameter(block, ty);
        if ty.scalar.is_float() {
            self.inexact.insert(value);
        }
        self.values.push(value);
        value
    }

    /// The registers of lanes that access memory.
    pub fn registers(space: Space, write: bool, elements: Elements) -> Lanes {
        let data = 32 * space.address_size();
        Lanes { space, write, elements, addresses: 0, data, step: 32 * elements.register_size() }
    }
}
