//! Local value numbering and constant folding.

use crate::ir::analysis::values::Values;
use crate::ir::fold::fold;
use crate::ir::{BinaryOp, Condition, Function, Instruction, Op, Reg, Type, UnaryOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Local value numbering with constant folding and the simplest identities. LLVM has done this for its IR;
/// this pass is for instructions that the translation to Gen IR adds: addresses, work-item functions,
/// conversions. Per-lane form.
pub fn opt_local_values(function: &mut Function) {
    let values = Values::new(function);
    let mut constants = values.constants(function);
    for block in function.layout.clone() {
        let mut numbering = Numbering::new(&mut constants);
        for instruction in &mut function.block_mut(block).instructions {
            numbering.visit(instruction, &values);
        }
    }
}

/// A register after so many writes in the block.
type Version = (Reg, u32);

/// The values of registers at a point of a block.
struct Numbering<'c> {
    /// Constants in registers that are written once.
    constants: &'c mut Vec<Option<u64>>,
    /// Constants in others, until they are written again.
    local_constants: FxHashMap<Reg, u64>,
    /// How often a register has been written in the block.
    versions: FxHashMap<Reg, u32>,
    /// Copies: what a register of a version holds is in another of another version.
    copies: FxHashMap<Version, Version>,
    /// Where the result of an operation on registers of these versions is.
    known: FxHashMap<(Op, SmallVec<[Version; 4]>), Version>,
}

impl<'c> Numbering<'c> {
    fn new(constants: &'c mut Vec<Option<u64>>) -> Self {
        Numbering {
            constants,
            local_constants: FxHashMap::default(),
            versions: FxHashMap::default(),
            copies: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    fn version(&self, reg: Reg) -> Version {
        (reg, self.versions.get(&reg).copied().unwrap_or(0))
    }

    /// The version that what the register holds was copied from, itself when it is no copy.
    fn original(&self, reg: Reg) -> Version {
        let version = self.version(reg);
        self.copies.get(&version).copied().unwrap_or(version)
    }

    fn constant(&self, reg: Reg) -> Option<u64> {
        self.constants[reg.0 as usize].or_else(|| self.local_constants.get(&reg).copied())
    }

    fn visit(&mut self, instruction: &mut Instruction, values: &Values) {
        let location = instruction.location;
        self.fold_branch(instruction);
        self.simplify(instruction);
        let is_copy = instruction.as_move().is_some();
        let key = (instruction.op.is_pure() && !is_copy).then(|| {
            (instruction.op, instruction.srcs.iter().map(|&src| self.original(src)).collect::<SmallVec<_>>())
        });
        if let Some(key) = &key
            && let Some(&(holder, version)) = self.known.get(key)
            && self.version(holder) == (holder, version)
            && let Some(ty) = instruction.op.signature().result
            // A constant is cheaper than a copy.
            && !matches!(instruction.op, Op::Immediate { .. })
        {
            *instruction = Instruction::new(Op::Unary(UnaryOp::Mov, ty), [instruction.result()], [holder]);
        }
        instruction.location = location;
        let copied = instruction.as_move().map(|(_, src)| self.original(src));
        for &dst in &instruction.dsts {
            *self.versions.entry(dst).or_default() += 1;
            self.local_constants.remove(&dst);
        }
        let [dst] = instruction.dsts.as_slice() else { return };
        if let Some(copied) = copied {
            self.copies.insert(self.version(*dst), copied);
        }
        if let Op::Immediate { bits, .. } = instruction.op {
            if values.single_write(*dst).is_some() {
                self.constants[dst.0 as usize] = Some(bits);
            } else {
                self.local_constants.insert(*dst, bits);
            }
        }
        if let Some(key) = key
            && !instruction.srcs.contains(dst)
        {
            let holder = self.version(*dst);
            self.known.entry(key).or_insert(holder);
        }
    }

    /// A branch on a constant is a jump.
    fn fold_branch(&self, instruction: &mut Instruction) {
        if let Op::Branch { then, otherwise } = instruction.op
            && let Some(bits) = self.constant(instruction.condition())
        {
            *instruction = Instruction::new(Op::Jump(if bits != 0 { then } else { otherwise }), [], []);
        }
    }

    /// Operations on constants become constants, operations that do nothing copies.
    fn simplify(&self, instruction: &mut Instruction) {
        let signature = instruction.op.signature();
        let Some(ty) = signature.result.filter(|_| !instruction.srcs.is_empty()) else { return };
        let dst = instruction.result();
        let constants: Option<SmallVec<[u64; 4]>> =
            instruction.srcs.iter().map(|&src| self.constant(src)).collect();
        if let Some(constants) = constants
            && signature.exact
            && let Some(bits) = fold(&instruction.op, &constants)
        {
            *instruction = Instruction::new(Op::Immediate { ty, bits }, [dst], []);
        } else if let Some(same) = self.identity(instruction) {
            *instruction = Instruction::new(Op::Unary(UnaryOp::Mov, ty), [dst], [same]);
        } else if let Some(simpler) = self.truth_select(instruction) {
            *instruction = simpler;
        } else if let Some(truth) = self.truth_of_comparison(instruction) {
            *instruction = Instruction::new(Op::Immediate { ty, bits: truth.into() }, [dst], []);
        }
    }

    /// The result of a comparison with the smallest unsigned number, if it is constant.
    fn truth_of_comparison(&self, instruction: &Instruction) -> Option<bool> {
        let Op::Compare(condition, ty) = instruction.op else { return None };
        if ty.is_float() || ty.is_signed() {
            return None;
        }
        let [a, b] = instruction.sources();
        let zero = |reg| self.constant(reg) == Some(0);
        match condition {
            Condition::Less if zero(b) => Some(false),
            Condition::GreaterEqual if zero(b) => Some(true),
            Condition::Greater if zero(a) => Some(false),
            Condition::LessEqual if zero(a) => Some(true),
            Condition::Less | Condition::LessEqual | Condition::Greater | Condition::GreaterEqual => None,
            Condition::Equal | Condition::NotEqual => None,
        }
    }

    /// A choice between truth values one of which is known, as a logical operation: what `&&` and `||` come
    /// as.
    fn truth_select(&self, instruction: &Instruction) -> Option<Instruction> {
        if instruction.op != Op::Select(Type::Bool) {
            return None;
        }
        let [condition, a, b] = instruction.sources();
        let binary = |op, other: Reg| (Op::Binary(op, Type::Bool), SmallVec::from_slice(&[condition, other]));
        let (op, srcs): (Op, SmallVec<[Reg; 4]>) = match (self.constant(a), self.constant(b)) {
            (Some(1), Some(0)) => (Op::Unary(UnaryOp::Mov, Type::Bool), SmallVec::from_slice(&[condition])),
            (Some(0), Some(1)) => (Op::Unary(UnaryOp::Not, Type::Bool), SmallVec::from_slice(&[condition])),
            (Some(1), _) => binary(BinaryOp::Or, b),
            (_, Some(0)) => binary(BinaryOp::And, a),
            _ => return None,
        };
        Some(Instruction::new(op, [instruction.result()], srcs))
    }

    /// The source that the result is equal to.
    fn identity(&self, instruction: &Instruction) -> Option<Reg> {
        match instruction.op {
            Op::Binary(op, ty) if !ty.is_float() => {
                let [a, b] = instruction.sources();
                let right = |bits| (self.constant(b) == Some(bits)).then_some(a);
                let left = |bits| (self.constant(a) == Some(bits)).then_some(b);
                let zero = |a, b| [a, b].into_iter().find(|&reg| self.constant(reg) == Some(0));
                match op {
                    BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor => right(0).or_else(|| left(0)),
                    BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Shr => right(0),
                    BinaryOp::Mul => right(1).or_else(|| left(1)).or_else(|| zero(a, b)),
                    BinaryOp::And => right(ty.mask()).or_else(|| left(ty.mask())).or_else(|| zero(a, b)),
                    BinaryOp::MulHigh => zero(a, b),
                    BinaryOp::Div => right(1),
                    BinaryOp::Rem
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::AddSat
                    | BinaryOp::SubSat
                    | BinaryOp::Pow
                    | BinaryOp::Avg
                    | BinaryOp::FastDiv => None,
                }
            }
            Op::Select(_) => {
                let [condition, a, b] = instruction.sources();
                let takes_a = a == b || self.constant(condition)? != 0;
                Some(if takes_a { a } else { b })
            }
            _ => None,
        }
    }
}
