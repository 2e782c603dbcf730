//! What an instruction is instead, where that is less.

use super::{Builder, MAX_MERGED};
use crate::middle::evaluate;
use crate::middle::function::{Constant, Value};
use crate::middle::op::{Binary, Convert, Op, Relation, Unary};
use crate::middle::types::Type;

impl Builder {
    /// What an operation gives without an instruction, or by simpler ones.
    pub(super) fn simplified(&mut self, op: &Op, operands: &[Value], ty: Type) -> Option<Value> {
        if let Some(value) = self.folded(op, operands, ty) {
            return Some(value);
        }
        match op {
            Op::Binary(binary @ (Binary::FAdd | Binary::FSub)) => {
                self.without_negation(*binary, operands[0], operands[1])
            }
            Op::Binary(binary) => self.simplified_binary(*binary, operands[0], operands[1]),
            Op::Unary(Unary::FNeg) => self.negated(operands[0]),
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

    /// A sum of which a term is negated is a difference, and the other way round. LLVM does not see that where the term is a splat.
    fn without_negation(&mut self, binary: Binary, a: Value, b: Value) -> Option<Value> {
        match (binary, self.negated(b)) {
            (Binary::FAdd, Some(b)) => Some(self.binary(Binary::FSub, a, b)),
            (_, Some(b)) => Some(self.binary(Binary::FAdd, a, b)),
            (Binary::FAdd, None) => {
                let a = self.negated(a)?;
                Some(self.binary(Binary::FSub, b, a))
            }
            (_, None) => None,
        }
    }

    /// What a float is the negation of.
    fn negated(&mut self, value: Value) -> Option<Value> {
        match self.source(value)? {
            (Op::Unary(Unary::FNeg), operands) => Some(operands[0]),
            (Op::Splat, operands) => {
                let one = self.negated(operands[0])?;
                Some(self.splat(one, self.ty(value).lanes.into()))
            }
            _ => None,
        }
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
            // One lane of a result is made of that lane of its operands; not of the smallest or largest, which lanes are reduced to.
            Op::Binary(Binary::SMin | Binary::SMax | Binary::UMin | Binary::UMax) => None,
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
        if ty != other || depth > MAX_MERGED {
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
        // Fences hide a value from passes; two that are one would hide it from fewer.
        if op != second || op == Op::Fence || !op.is_by_lane(self.ty(*own.first()?), ty) {
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
        if ty.lanes == 1 || !op.is_by_lane(self.ty(*operands.first()?), ty) {
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
