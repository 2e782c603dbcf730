//! Appends instructions to a block, simplified: constants are folded, what is the same for all lanes is computed once and then splat, and what a block has
//! computed already is not computed again.

use rustc_hash::FxHashMap;

use super::evaluate;
use super::function::{Block, Constant, Definition, End, Function, Target, Value};
use super::op::{Binary, Convert, FloatRelation, Op, Relation, Unary};
use super::types::{Scalar, Type};

/// How many operations behind each other are merged of halves at most.
const MOST_MERGED: usize = 16;

/// Appends instructions to a function.
#[derive(Default)]
pub struct Builder {
    /// The function.
    pub function: Function,
    /// The Gen instruction for which instructions are appended.
    pub origin: u32,
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
        let instruction = self.function.add_instruction(self.current(), op, operands, results, self.origin);
        self.function.instruction(instruction).results.clone()
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
        let instruction =
            self.function.add_instruction(self.current(), key.0.clone(), operands, &[ty], self.origin);
        let value = self.function.instruction(instruction).results[0];
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
        match &self.function.values[value.0 as usize].definition {
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

    /// What an operation gives without an instruction, or by simpler ones.
    fn simplified(&mut self, op: &Op, operands: &[Value], ty: Type) -> Option<Value> {
        if let Some(value) = self.folded(op, operands, ty) {
            return Some(value);
        }
        match op {
            Op::Binary(binary) => self.simplified_binary(*binary, operands[0], operands[1]),
            Op::Select if operands[1] == operands[2] => Some(operands[1]),
            Op::Select => {
                let constant = self.function.as_constant(operands[0])?;
                match constant {
                    Constant::All(bit) => Some(if *bit != 0 { operands[1] } else { operands[2] }),
                    Constant::Each(_) => None,
                }
            }
            Op::Splat if ty.lanes == 1 => Some(operands[0]),
            Op::ICmp(relation) => self.simplified_comparison(*relation, operands),
            Op::Shuffle(order) => self.simplified_shuffle(order, operands, ty),
            Op::Bits | Op::Mask => {
                let (source, inner) = self.source(operands[0])?;
                (matches!((op, source), (Op::Bits, Op::Mask) | (Op::Mask, Op::Bits))).then(|| inner[0])
            }
            Op::Convert(convert) => self.simplified_convert(*convert, operands[0], ty),
            _ => None,
        }
        .or_else(|| self.once(op, operands, ty))
    }

    /// A constant, of constants.
    fn folded(&mut self, op: &Op, operands: &[Value], ty: Type) -> Option<Value> {
        let is_large = ty.lanes > 64 || operands.is_empty();
        if is_large || !operands.iter().all(|operand| self.function.as_constant(*operand).is_some()) {
            return None;
        }
        // What floats give is LLVM's affair: NaNs and the like are constants of none of its instructions then.
        let makes_floats = matches!(op, Op::Binary(_) | Op::Unary(_) | Op::Fma) && ty.scalar.is_float();
        if makes_floats {
            return None;
        }
        let constants: Vec<(Vec<u128>, Type)> = operands
            .iter()
            .filter_map(|operand| {
                let ty = self.ty(*operand);
                Some((self.function.as_constant(*operand)?.lanes(ty.lanes.into()), ty))
            })
            .collect();
        let slices: Vec<(&[u128], Type)> = constants.iter().map(|(lanes, ty)| (&lanes[..], *ty)).collect();
        let lanes = evaluate::lanes(op, &slices, ty)?;
        Some(self.function.constant(ty, Constant::Each(lanes.into())))
    }

    /// Whether a mask has a lane, where all have it or none.
    fn simplified_comparison(&mut self, relation: Relation, operands: &[Value]) -> Option<Value> {
        let is_zero = self.function.as_constant(operands[1]) == Some(&Constant::All(0));
        let (Op::Bits, mask) = self.source(operands[0])? else { return None };
        let (Op::Splat, one) = self.source(mask[0])? else { return None };
        match relation {
            Relation::Ne if is_zero => Some(one[0]),
            Relation::Eq if is_zero => Some(self.not(one[0])),
            _ => None,
        }
    }

    fn simplified_binary(&mut self, binary: Binary, a: Value, b: Value) -> Option<Value> {
        let ty = self.ty(a);
        let ones = if ty.scalar.bits() == 128 { u128::MAX } else { (1 << ty.scalar.bits()) - 1 };
        let all = |builder: &Builder, value: Value| match builder.function.as_constant(value) {
            Some(Constant::All(bits)) => Some(*bits),
            _ => None,
        };
        let (left, right) = (all(self, a), all(self, b));
        let is_commutative =
            matches!(binary, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor);
        if is_commutative && self.function.as_constant(a).is_some() && self.function.as_constant(b).is_none()
        {
            return Some(self.binary(binary, b, a));
        }
        match (binary, right) {
            (Binary::Add | Binary::AddNuw | Binary::Sub | Binary::Or | Binary::Xor, Some(0)) => {
                return Some(a);
            }
            (Binary::Shl | Binary::LShr | Binary::AShr, Some(0)) => return Some(a),
            (Binary::And | Binary::Mul, Some(0)) => return Some(b),
            (Binary::And, Some(bits)) if bits == ones => return Some(a),
            (Binary::Or, Some(bits)) if bits == ones => return Some(b),
            (Binary::Mul, Some(1)) => return Some(a),
            (Binary::Shl | Binary::LShr, _) if left == Some(0) => return Some(a),
            _ => {}
        }
        if a == b {
            match binary {
                Binary::And | Binary::Or => return Some(a),
                Binary::Sub | Binary::Xor => return Some(self.int(ty, 0)),
                _ => {}
            }
        }
        if binary == Binary::Add && right.is_none() && self.is_below(b, self.low_zeros(a)) {
            return Some(self.binary(Binary::AddNuw, a, b));
        }
        // A constant behind a constant.
        if matches!(binary, Binary::Add | Binary::Xor | Binary::And | Binary::Or)
            && self.function.as_constant(b).is_some()
        {
            let (source, inner) = self.source(a)?;
            if source == Op::Binary(binary) && self.function.as_constant(inner[1]).is_some() {
                let both = self.binary(binary, inner[1], b);
                return Some(self.binary(binary, inner[0], both));
            }
        }
        None
    }

    /// Bits of an integer, the lowest first, that are known to be 0.
    fn low_zeros(&self, value: Value) -> u32 {
        match self.function.source(value) {
            Some((Op::Splat, operands)) => self.low_zeros(operands[0]),
            Some((Op::Binary(Binary::And), operands)) => match self.function.as_constant(operands[1]) {
                Some(Constant::All(bits)) => bits.trailing_zeros(),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Whether it is a constant of which all lanes have no other bits.
    fn is_below(&self, value: Value, bits: u32) -> bool {
        match self.function.as_constant(value) {
            Some(Constant::Each(lanes)) => lanes.iter().all(|lane| *lane < 1 << bits.min(64)),
            _ => false,
        }
    }

    fn simplified_convert(&mut self, convert: Convert, a: Value, ty: Type) -> Option<Value> {
        let (source, inner) = self.source(a)?;
        let inner = *inner.first()?;
        let from = self.ty(inner);
        match (convert, source) {
            (Convert::Bitcast, Op::Convert(Convert::Bitcast)) => Some(self.bitcast(inner, ty)),
            (Convert::ZExt, Op::Convert(Convert::ZExt)) | (Convert::SExt, Op::Convert(Convert::SExt)) => {
                Some(self.convert(convert, inner, ty.scalar))
            }
            (Convert::SExt, Op::Convert(Convert::ZExt)) => {
                Some(self.convert(Convert::ZExt, inner, ty.scalar))
            }
            (Convert::Trunc, Op::Convert(Convert::Trunc)) => Some(self.convert(convert, inner, ty.scalar)),
            (Convert::Trunc, Op::Convert(wide @ (Convert::ZExt | Convert::SExt))) => {
                let again = if from.scalar.bits() < ty.scalar.bits() { wide } else { Convert::Trunc };
                Some(self.convert(again, inner, ty.scalar))
            }
            _ => None,
        }
    }

    fn simplified_shuffle(&mut self, order: &[u16], operands: &[Value], ty: Type) -> Option<Value> {
        let first = usize::from(self.ty(operands[0]).lanes);
        let is_whole = |from: usize, count: usize| {
            order.len() == count && order.iter().enumerate().all(|(n, at)| usize::from(*at) == from + n)
        };
        if is_whole(0, first) {
            return Some(operands[0]);
        }
        if let Some(second) = operands.get(1) {
            if is_whole(first, self.ty(*second).lanes.into()) {
                return Some(*second);
            }
            if order.iter().all(|at| usize::from(*at) < first) {
                return Some(self.shuffle(operands[0], None, order.iter().map(|at| usize::from(*at))));
            }
            if order.iter().all(|at| usize::from(*at) >= first) {
                return Some(self.shuffle(*second, None, order.iter().map(|at| usize::from(*at) - first)));
            }
            let is_joined =
                order.len() == 2 * first && order.iter().enumerate().all(|(n, at)| usize::from(*at) == n);
            if is_joined && let Some(merged) = self.merged(operands[0], operands[1], 0) {
                return Some(merged);
            }
            return self.simplified_insertion(order, operands, first);
        }
        if first == 1 {
            return Some(self.splat(operands[0], order.len()));
        }
        if let Some(scalar) = self.uniform(operands[0]) {
            return Some(self.splat(scalar, order.len()));
        }
        let (source, inner) = self.source(operands[0])?;
        match source {
            Op::Shuffle(before) => {
                let order = order.iter().map(|at| usize::from(before[usize::from(*at)]));
                Some(self.shuffle(inner[0], inner.get(1).copied(), order))
            }
            // One lane of a result is made of that lane of its operands.
            Op::Binary(_) | Op::Convert(Convert::ZExt | Convert::SExt | Convert::Trunc) if ty.lanes == 1 => {
                let lanes: Vec<Value> = inner
                    .iter()
                    .map(|operand| self.shuffle(*operand, None, [usize::from(order[0])]))
                    .collect();
                let is_cheap = lanes
                    .iter()
                    .all(|lane| !matches!(self.function.source(*lane), Some((Op::Shuffle(_), _))));
                is_cheap.then(|| self.pure(source, &lanes, ty))
            }
            _ => None,
        }
    }

    /// Two values of which one is made of others of the same lanes: what is taken of it is taken of those.
    fn simplified_insertion(&mut self, order: &[u16], operands: &[Value], first: usize) -> Option<Value> {
        let [a, b] = [operands[0], operands[1]];
        // Lanes of a shuffle of one operand are lanes of that.
        if let Some((Op::Shuffle(before), inner)) = self.source(b)
            && inner == [a]
        {
            let lane = |at: &u16| match usize::from(*at).checked_sub(first) {
                Some(at) => usize::from(before[at]),
                None => usize::from(*at),
            };
            return Some(self.shuffle(a, None, order.iter().map(lane)));
        }
        if let Some((Op::Shuffle(before), inner)) = self.source(a) {
            let used = |operand: usize| {
                let own = self.ty(inner[0]).lanes;
                order.iter().filter(|at| usize::from(**at) < first).all(|at| {
                    let at = before[usize::from(*at)];
                    (at >= own) == (operand == 1)
                })
            };
            let operand = if used(0) {
                0
            } else if inner.len() > 1 && used(1) {
                1
            } else {
                return None;
            };
            let skipped = if operand == 1 { usize::from(self.ty(inner[0]).lanes) } else { 0 };
            let lanes = usize::from(self.ty(inner[operand]).lanes);
            let lane = |at: &u16| match usize::from(*at).checked_sub(first) {
                Some(at) => lanes + at,
                None => usize::from(before[usize::from(*at)]) - skipped,
            };
            return Some(self.shuffle(inner[operand], Some(b), order.iter().map(lane)));
        }
        None
    }

    /// Two halves that are computed alike, as one value: what instructions are split for that hosts need not split.
    fn merged(&mut self, a: Value, b: Value, depth: usize) -> Option<Value> {
        if let Some(known) = self.halves.get(&(a, b)) {
            return *known;
        }
        let merged = self.merged_anew(a, b, depth);
        self.halves.insert((a, b), merged);
        merged
    }

    fn merged_anew(&mut self, a: Value, b: Value, depth: usize) -> Option<Value> {
        let (ty, other) = (self.ty(a), self.ty(b));
        if ty != other || depth > MOST_MERGED {
            return None;
        }
        let lanes = usize::from(ty.lanes);
        if let (Some(x), Some(y)) = (self.uniform(a), self.uniform(b))
            && x == y
        {
            return Some(self.splat(x, 2 * lanes));
        }
        if let (Some(x), Some(y)) = (self.function.as_constant(a), self.function.as_constant(b)) {
            let all: Vec<u128> = x.lanes(lanes).into_iter().chain(y.lanes(lanes)).collect();
            return Some(self.function.constant(ty.with_lanes(2 * lanes), Constant::Each(all.into())));
        }
        let ((op, own), (second, others)) = (self.source(a)?, self.source(b)?);
        if let (Op::Shuffle(first), Op::Shuffle(behind)) = (&op, &second) {
            let follows = first
                .iter()
                .chain(behind)
                .enumerate()
                .all(|(n, at)| usize::from(*at) == usize::from(first[0]) + n);
            let is_one = own.len() == 1 && own == others;
            return (is_one && follows).then(|| self.slice(own[0], first[0].into(), 2 * lanes));
        }
        let by_lane = match &op {
            Op::Binary(_) | Op::Unary(_) | Op::Fma | Op::ICmp(_) | Op::FCmp(_) => true,
            Op::Convert(convert) => *convert != Convert::Bitcast || self.ty(own[0]).lanes == ty.lanes,
            Op::Select => self.ty(own[0]).lanes == ty.lanes,
            _ => false,
        };
        if !by_lane || op != second {
            return None;
        }
        let mut operands = Vec::with_capacity(own.len());
        for (x, y) in own.iter().zip(&others) {
            operands.push(self.merged(*x, *y, depth + 1)?);
        }
        Some(self.pure(op, &operands, ty.with_lanes(2 * lanes)))
    }

    /// What is the same for all lanes, computed once.
    fn once(&mut self, op: &Op, operands: &[Value], ty: Type) -> Option<Value> {
        let by_lane = match op {
            Op::Binary(_) | Op::Unary(_) | Op::Fma | Op::ICmp(_) | Op::FCmp(_) | Op::Fence => true,
            Op::Convert(convert) => *convert != Convert::Bitcast || self.ty(operands[0]).lanes == ty.lanes,
            Op::Select => self.ty(operands[0]).lanes == ty.lanes,
            _ => false,
        };
        if !by_lane || ty.lanes == 1 {
            return None;
        }
        let scalars: Vec<Value> = operands.iter().map_while(|operand| self.uniform(*operand)).collect();
        if scalars.len() < operands.len() {
            return None;
        }
        let one = self.pure(op.clone(), &scalars, ty.with_lanes(1));
        Some(self.splat(one, ty.lanes.into()))
    }
}
