//! What random programs are made of.

use gencl_translator::middle::function::{End, Target, Value};
use gencl_translator::middle::op::{Binary, Convert, FloatRelation, Op, Relation, Unary};
use gencl_translator::middle::types::{Scalar, Type};

use crate::generate::{Generator, PAYLOAD, SCATTERED};

/// Nested blocks, at most.
const DEEPEST: u32 = 3;

impl Generator {
    /// Appends something.
    pub fn statement(&mut self, depth: u32) {
        self.left = self.left.saturating_sub(1);
        let value = match self.random.below(30) {
            0..3 => self.integers(),
            3 => self.shift(),
            4..6 => self.floats(),
            6 => self.single(),
            7 => self.conversion(),
            8..10 => self.logic(),
            10..14 => self.bit_select(),
            14..16 => self.masks(),
            16..18 => self.chosen(),
            18 => self.shuffled(),
            19 => self.array(),
            20 => self.file(),
            21..25 => self.memory(),
            25 if depth < DEEPEST => return self.branch(depth),
            26 if depth < DEEPEST => return self.counted_loop(depth),
            27 if depth < DEEPEST => return self.walk(),
            28 if depth == 0 && self.random.one_in(6) => return self.suspend(),
            _ => self.sum(),
        };
        self.values.extend(value);
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(4_u32) {
            self.statement(depth + 1);
        }
    }

    fn integers(&mut self) -> Option<Value> {
        let ty = self.int_type();
        let name = self.random.pick(&["add", "sub", "mul", "smin", "smax", "umin", "umax", "add", "sub"]);
        let [a, b] = [self.some(ty), self.some(ty)];
        if self.random.one_in(30) && ty.scalar.bits() >= 32 {
            let positive = self.int(ty, 0x7f);
            let one = self.int(ty, 1);
            let b = self.binary("and", b, positive);
            let b = self.binary("or", b, one);
            let name = self.random.pick(&["sdiv", "srem"]);
            return Some(self.binary(name, a, b));
        }
        Some(self.binary(name, a, b))
    }

    /// A sum that fits.
    fn sum(&mut self) -> Option<Value> {
        let ty = Type::int(16, self.some_lanes());
        let [a, b] = [self.some(ty), self.some(ty)].map(|value| self.convert("zext", value, Scalar::Int(32)));
        let sum = self.binary("add-nuw", a, b);
        Some(if self.random.one_in(2) { self.convert("zext", sum, Scalar::Int(64)) } else { sum })
    }

    fn shift(&mut self) -> Option<Value> {
        let ty = self.int_type();
        let name = self.random.pick(&["shl", "lshr", "ashr"]);
        let (a, count) = (self.some(ty), self.some(ty));
        let bits = u64::from(ty.scalar.bits());
        let count = match self.random.one_in(2) {
            true => self.random.below(bits),
            false => {
                let most = self.int(ty, bits - 1);
                let count = self.binary("and", count, most);
                return Some(self.binary(name, a, count));
            }
        };
        let count = self.int(ty, count);
        Some(self.binary(name, a, count))
    }

    fn floats(&mut self) -> Option<Value> {
        let ty = self.float_type();
        let [a, b, c] = [self.some(ty), self.some(ty), self.some(ty)];
        if self.random.one_in(4) {
            return Some(self.pure(Op::Fma, &[a, b, c], ty));
        }
        let name = self.random.pick(&["fadd", "fsub", "fmul", "fadd", "fsub", "fmul", "fdiv"]);
        Some(self.binary(name, a, b))
    }

    /// One operand.
    fn single(&mut self) -> Option<Value> {
        if self.random.one_in(3) {
            let ty = self.int_type();
            let a = self.some(ty);
            let unary = self.random.pick(&[Unary::Ctlz, Unary::Cttz, Unary::Ctpop, Unary::BitReverse]);
            return Some(self.pure(Op::Unary(unary), &[a], ty));
        }
        let ty = self.float_type();
        let a = self.some(ty);
        if self.random.one_in(12) {
            return Some(self.pure(Op::Fence, &[a], ty));
        }
        use Unary::{Ceil, FAbs, FNeg, Floor, RoundEven, Sqrt, Trunc};
        let unary = self.random.pick(&[FNeg, FNeg, FAbs, FAbs, Sqrt, Floor, Ceil, Trunc, RoundEven]);
        Some(self.pure(Op::Unary(unary), &[a], ty))
    }

    fn conversion(&mut self) -> Option<Value> {
        let lanes = self.some_lanes();
        let (ints, floats) = ([8, 16, 32, 64], [Scalar::Float, Scalar::Double]);
        let int = self.random.pick(&ints);
        let other = self.random.pick(&ints);
        let float = self.random.pick(&floats);
        Some(match self.random.below(8) {
            0 if self.converts_halves => {
                let ty = Type { scalar: Scalar::Half, lanes: lanes as u16 };
                let half = self.some(ty);
                let wide = self.convert("fpext", half, Scalar::Float);
                let other = self.some(ty.of(Scalar::Float));
                let sum = self.binary("fadd", wide, other);
                self.convert("fptrunc", sum, Scalar::Half)
            }
            1 => {
                let a = self.some(Type { scalar: float, lanes: lanes as u16 });
                let to = if float == Scalar::Float { Scalar::Double } else { Scalar::Float };
                self.convert(if to == Scalar::Double { "fpext" } else { "fptrunc" }, a, to)
            }
            2 => {
                let a = self.some(Type::int(int, lanes));
                let name = self.random.pick(&["sitofp", "uitofp"]);
                self.convert(name, a, float)
            }
            3 => self.integer_of(float, int, lanes),
            4 => {
                let a = self.some(Type::mask(lanes));
                let name = self.random.pick(&["zext", "sext"]);
                self.convert(name, a, Scalar::Int(int as u8))
            }
            _ => {
                let a = self.some(Type::int(int, lanes));
                let name = match other < int {
                    true => "trunc",
                    false => self.random.pick(&["zext", "sext"]),
                };
                self.convert(name, a, Scalar::Int(other as u8))
            }
        })
    }

    /// A conversion of floats, of which what does not fit is 0.
    fn integer_of(&mut self, float: Scalar, bits: u32, lanes: usize) -> Value {
        let ty = Type { scalar: float, lanes: lanes as u16 };
        let a = self.some(ty);
        let is_signed = self.random.one_in(2);
        let convert = if is_signed { Convert::FPToSI } else { Convert::FPToUI };
        let to = ty.of(Scalar::Int(bits as u8));
        let value = self.pure(Op::Convert(convert), &[a], to);
        let limit = 2f64.powi(bits as i32 - i32::from(is_signed));
        let as_bits = |value: f64| match float {
            Scalar::Float => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        let (most, least) =
            (self.int(ty, as_bits(limit)), self.int(ty, as_bits(if is_signed { -limit } else { 0.0 })));
        let below = self.pure(Op::FCmp(FloatRelation::Olt), &[a, most], ty.as_mask());
        let above = self.pure(Op::FCmp(FloatRelation::Oge), &[a, least], ty.as_mask());
        let fits = self.binary("and", below, above);
        let none = self.int(to, 0);
        self.select(fits, value, none)
    }

    /// Bitwise operations behind each other, under a mask at the end.
    fn logic(&mut self) -> Option<Value> {
        let ty = self.int_type();
        let mut value = self.some(ty);
        let first = value;
        for _ in 0..1 + self.random.below(4_u32) {
            let other = self.some(ty);
            let name = self.random.pick(&["and", "or", "xor"]);
            value = match self.random.below(6) {
                0 => {
                    let ones = self.int(ty, u64::MAX);
                    self.binary("xor", value, ones)
                }
                1 => self.binary(name, other, value),
                2 => {
                    let mask = self.some(ty.as_mask());
                    self.select(mask, value, other)
                }
                _ => self.binary(name, value, other),
            };
        }
        let mask = self.some(ty.as_mask());
        let other = self.some(ty);
        Some(match self.random.below(3) {
            0 => self.select(mask, value, first),
            1 => self.select(mask, other, value),
            _ => value,
        })
    }

    /// Some bits of one value and the others of another, under a mask: what LLVM makes one instruction of.
    fn bit_select(&mut self) -> Option<Value> {
        let is_float = self.random.one_in(2);
        let ty = if is_float { self.float_type() } else { self.int_type() };
        let [x, y] = [self.some(ty), self.some(ty)].map(|value| self.bitcast(value, ty.as_int()));
        let ints = ty.as_int();
        let sign = 1u64 << (ty.scalar.bits() - 1);
        let set = match self.random.below(4) {
            0 => self.some(ints),
            1 => self.int(ints, sign - 1),
            2 => self.constant(ints),
            _ => self.int(ints, sign),
        };
        let ones = self.int(ints, u64::MAX);
        let others = self.binary("xor", set, ones);
        let a = self.binary("and", x, set);
        let b = match self.random.below(4) {
            0 if is_float => {
                let float = self.bitcast(y, ty);
                let float = self.unary("fabs", float);
                self.bitcast(float, ints)
            }
            _ => self.binary("and", y, others),
        };
        let name = self.random.pick(&["or", "or", "xor", "add"]);
        let (a, b) = if self.random.one_in(2) { (a, b) } else { (b, a) };
        let both = self.binary(name, a, b);
        let other = match self.random.below(4) {
            0 => x,
            1 => y,
            2 => self.int(ints, 0),
            _ => self.some(ints),
        };
        let mask = self.some(ty.as_mask());
        let value = match self.random.below(3) {
            0 => self.select(mask, other, both),
            _ => self.select(mask, both, other),
        };
        Some(if self.random.one_in(2) { self.bitcast(value, ty) } else { value })
    }

    fn masks(&mut self) -> Option<Value> {
        let lanes = self.some_lanes();
        let ty = Type::mask(lanes);
        Some(match self.random.below(7) {
            0 => {
                let of = self.float_type();
                let [a, b] = [self.some(of), self.some(of)];
                let relation = self.random.pick(FloatRelation::ALL);
                self.pure(Op::FCmp(relation), &[a, b], of.as_mask())
            }
            1 => {
                let of = self.int_type();
                let [a, b] = [self.some(of), self.some(of)];
                let relation = self.random.pick(Relation::ALL);
                self.compare(relation, a, b)
            }
            2 => {
                let [chosen, a, b] = [self.some(ty), self.some(ty), self.some(ty)];
                self.pure(Op::Select, &[chosen, a, b], ty)
            }
            3 if lanes >= 8 => {
                // Bits as a number, and back.
                let int = Type::int(lanes as u32, 1);
                let mask = self.some(ty);
                let bits = self.pure(Op::Bits, &[mask], int);
                let other = self.some(int);
                let name = self.random.pick(&["and", "or", "xor", "add", "mul"]);
                let bits = self.binary(name, bits, other);
                self.pure(Op::Mask, &[bits], ty)
            }
            4 => {
                let one = self.some(Type::mask(1));
                self.splat(one, lanes)
            }
            _ => {
                let [a, b] = [self.some(ty), self.some(ty)];
                let binary = self.random.pick(&[Binary::And, Binary::Or, Binary::Xor]);
                self.pure(Op::Binary(binary), &[a, b], ty)
            }
        })
    }

    /// One value or another.
    fn chosen(&mut self) -> Option<Value> {
        let ty = self.any_type();
        let mask = match self.random.one_in(5) {
            true => self.some(Type::mask(1)),
            false => self.some(ty.as_mask()),
        };
        let [a, b] = [self.some(ty), self.some(ty)];
        Some(self.select(mask, a, b))
    }

    fn shuffled(&mut self) -> Option<Value> {
        let ty = self.vector();
        let (a, lanes) = (self.some(ty), self.lanes);
        let order: Vec<usize> = match self.random.below(6) {
            0 => vec![self.random.below(lanes)],
            1 => (0..lanes / 2).map(|lane| lane * 2).collect(),
            2 => (0..lanes).rev().collect(),
            3 => (0..lanes).map(|_| self.random.below(lanes)).collect(),
            4 => (lanes / 2..lanes).collect(),
            _ => {
                let b = self.some(ty);
                let random = &mut self.random;
                let order: Vec<usize> = match random.below(4) {
                    0 => (0..lanes).map(|lane| lane / 2 + lane % 2 * lanes).collect(),
                    1 => (0..lanes).map(|lane| lane + random.below(2_usize) * lanes).collect(),
                    2 => (0..lanes).map(|lane| lane + lanes / 2).collect(),
                    _ => (0..lanes).map(|_| random.below(2 * lanes)).collect(),
                };
                return Some(self.shuffle(a, Some(b), order));
            }
        };
        Some(self.shuffle(a, None, order))
    }

    /// A read or a write of an array.
    fn array(&mut self) -> Option<Value> {
        if self.arrays.is_empty() {
            return None;
        }
        let (array, ty) = self.random.pick(&self.arrays);
        let index = self.some(Type::int(32, 1));
        let most = self.int(Type::int(32, 1), u64::from(ty.lanes) - 1);
        let index = self.binary("and", index, most);
        let one = ty.with_lanes(1);
        match self.random.below(4) {
            0 => {
                let value = self.some(ty);
                self.effect(Op::SetArray(array), &[value], &[]);
                None
            }
            1 => {
                let value = self.some(one);
                self.effect(Op::SetElement(array), &[index, value], &[]);
                None
            }
            2 => Some(self.read(Op::GetElement(array), &[index], one)),
            _ => Some(self.read(Op::GetArray(array), &[], ty)),
        }
    }

    /// What is read may be a NaN.
    fn read(&mut self, op: Op, operands: &[Value], ty: Type) -> Value {
        let value = self.effect(op, operands, &[ty])[0];
        if ty.scalar.is_float() {
            self.inexact.insert(value);
        }
        value
    }

    /// Elements of the register file.
    fn file(&mut self) -> Option<Value> {
        let ty = self.int_type();
        let size = u64::from(ty.scalar.bits() / 8);
        let offsets = ty.of(Scalar::Int(32));
        let any = self.some(offsets);
        let most = self.int(offsets, (SCATTERED as u64 - 1) & !(size - 1));
        let begin = self.int(offsets, PAYLOAD as u64);
        let inside = self.binary("and", any, most);
        let at = self.binary("add", inside, begin);
        if self.random.one_in(2) {
            let (mask, value) = (self.some(ty.as_mask()), self.some(ty));
            self.effect(Op::Scatter, &[mask, at, value], &[]);
            return None;
        }
        Some(self.read(Op::Gather, &[at], ty))
    }

    /// Two ways that meet again.
    fn branch(&mut self, depth: u32) {
        let condition = match self.random.one_in(3) {
            true => self.some(Type::mask(1)),
            false => {
                let mask = self.some(Type::mask(self.lanes));
                self.any(mask)
            }
        };
        let types: Vec<Type> = (0..self.random.below(4_u32)).map(|_| self.any_type()).collect();
        let [yes, no, join] = [(); 3].map(|()| self.function.add_block());
        let first = |block| Target { block, arguments: Vec::new() };
        let has_no = self.random.one_in(2);
        let kept = self.values.len();
        let parameters: Vec<Value> = types.iter().map(|ty| self.parameter(join, *ty)).collect();
        self.values.truncate(kept);
        let before = self.block;
        let other = if has_no { first(no) } else { self.target(join) };
        self.block = before;
        self.end(End::Branch { condition, yes: first(yes), no: other });
        let kept = self.values.len();
        for block in [yes, no].into_iter().take(if has_no { 2 } else { 1 }) {
            self.block = block;
            self.statements(depth);
            let target = self.target(join);
            self.end(End::Jump(target));
            self.values.truncate(kept);
        }
        self.values.extend(parameters);
        self.block = join;
    }

    /// A loop that ends after a few iterations, earlier when no lane is left.
    fn counted_loop(&mut self, depth: u32) {
        let count = Type::int(32, 1);
        let [header, behind] = [(); 2].map(|()| self.function.add_block());
        let types: Vec<Type> = (0..1 + self.random.below(3_u32)).map(|_| self.any_type()).collect();
        let [zero, one] = [0, 1].map(|n| self.int(count, n));
        let limit = match self.random.one_in(2) {
            true => self.random.below(4),
            false => 3,
        };
        let limit = self.int(count, limit);
        let limit = match self.random.one_in(3) {
            true => {
                let some = self.some(count);
                self.binary("and", some, limit)
            }
            false => limit,
        };
        let mask = self.some(Type::mask(self.lanes));
        let mut arguments = vec![zero, mask];
        arguments.extend(types.iter().map(|ty| self.some(*ty)).collect::<Vec<_>>());
        self.end(End::Jump(Target { block: header, arguments }));
        let kept = self.values.len();
        self.block = header;
        let counter = self.parameter(header, count);
        let mask = self.parameter(header, Type::mask(self.lanes));
        types.iter().for_each(|ty| {
            self.parameter(header, *ty);
        });
        self.statements(depth);
        let next = self.binary("add", counter, one);
        let more = self.compare(Relation::Ult, next, limit);
        let left = self.some(Type::mask(self.lanes));
        let left = self.binary("and", mask, left);
        let condition = match self.random.one_in(2) {
            true => more,
            false => {
                let any = self.any(left);
                self.binary("and", any, more)
            }
        };
        let mut again = vec![next, left];
        again.extend(types.iter().map(|ty| self.some(*ty)).collect::<Vec<_>>());
        let (yes, no) =
            (Target { block: header, arguments: again }, Target { block: behind, arguments: Vec::new() });
        self.end(End::Branch { condition, yes, no });
        if self.random.one_in(2) {
            self.values.truncate(kept);
        }
        self.block = behind;
    }

    /// The thread stops, and goes on with some values.
    fn suspend(&mut self) {
        let kept: Vec<Value> = (0..6).map(|_| self.random.pick(&self.values)).collect();
        let block = self.function.add_block();
        self.function.resumed.push(block);
        self.values.clear();
        for value in &kept {
            self.parameter(block, self.function.ty(*value));
        }
        let yields = self.random.one_in(2);
        self.end(End::Suspend { resume: Target { block, arguments: kept }, yields });
        self.block = block;
        self.arrays.clear();
        self.begin();
    }
}
