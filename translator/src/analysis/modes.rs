//! How floats are computed at each instruction, where that can be known: what `cr0` holds.

use gencl_eu::dispatch::Rounding;
use gencl_eu::file::CONTROL;
use gencl_eu::op::{Action, Op};
use gencl_eu::operand::{SourceLocation, Target};
use gencl_eu::thread_successors;
use gencl_ir_support::dataflow;
use gencl_isa::{Opcode, Type};

pub use gencl_eu::thread::FloatMode as Mode;

/// As the host computes by default.
pub const HOST: Mode =
    Mode { rounding: Rounding::NearestEven, flush_16: false, flush_32: false, flush_64: false };

/// Whether denormals of a type are flushed to zero.
pub fn flushes(mode: Mode, ty: Type) -> bool {
    match ty {
        Type::HF => mode.flush_16,
        Type::F => mode.flush_32,
        Type::DF => mode.flush_64,
        _ => false,
    }
}

/// What is known of `cr0.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing has come here yet.
    Unreached,
    /// Its bits.
    Bits(u32),
    /// Not the same on all ways.
    Different,
}

impl Known {
    fn bits(self) -> Option<u32> {
        match self {
            Known::Bits(bits) => Some(bits),
            Known::Unreached | Known::Different => None,
        }
    }

    fn join(self, other: Known) -> Known {
        match (self, other) {
            (Known::Unreached, known) | (known, Known::Unreached) => known,
            (a, b) if a == b => a,
            _ => Known::Different,
        }
    }
}

/// What is known of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// How it computes; `None` where that depends on the way there.
    pub mode: Option<Mode>,
    /// It sets `cr0.0` to these bits.
    pub set: Option<u32>,
}

/// What is known of each instruction.
pub fn of_kernel(ops: &[Op], initial: u32) -> Vec<Control> {
    let mut before = vec![Known::Unreached; ops.len()];
    if let Some(first) = before.first_mut() {
        *first = Known::Bits(initial);
    }
    let join = |known: &mut Known, arriving: &Known| {
        let joined = known.join(*arriving);
        std::mem::replace(known, joined) != joined
    };
    let successors = |index| thread_successors(ops, index).into_iter().filter(|next| *next < ops.len());
    let transfer = |index: usize, known: &mut Known| {
        if *known != Known::Unreached {
            *known = apply(&ops[index], *known);
        }
    };
    dataflow::solve(0..ops.len(), successors, &mut before, transfer, join);
    let control = |(op, known): (&Op, &Known)| Control {
        mode: known.bits().map(Mode::of_control),
        set: apply(op, *known).bits().filter(|_| writes(op)),
    };
    ops.iter().zip(&before).map(control).collect()
}

/// Does an instruction write `cr0.0`?
fn writes(op: &Op) -> bool {
    matches!(op.dst.target, Target::Direct { offset, .. } if (CONTROL..CONTROL + 4).contains(&offset))
        && matches!(op.action, Action::Execute(_))
}

fn apply(op: &Op, before: Known) -> Known {
    if !writes(op) {
        return before;
    }
    let own = matches!(op.src[0].location, SourceLocation::Scalar(CONTROL) | SourceLocation::Packed(CONTROL));
    let plain = op.no_mask && op.lanes == 1 && op.predicate.is_none() && op.dst.ty.size() == 4;
    match (op.opcode, &op.src[0].location, &op.src[1].location, before) {
        (Opcode::Or, _, SourceLocation::Constant(bits), Known::Bits(old)) if plain && own => {
            Known::Bits(old | *bits as u32)
        }
        (Opcode::And, _, SourceLocation::Constant(bits), Known::Bits(old)) if plain && own => {
            Known::Bits(old & *bits as u32)
        }
        (Opcode::Xor, _, SourceLocation::Constant(bits), Known::Bits(old)) if plain && own => {
            Known::Bits(old ^ *bits as u32)
        }
        (Opcode::Mov, SourceLocation::Constant(bits), ..) if plain => Known::Bits(*bits as u32),
        _ => Known::Different,
    }
}
