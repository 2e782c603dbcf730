//! What the machine code of a kernel says about its instructions: pipes, messages and control flow.

use gencl_eu as eu;
use gencl_eu::cycles::{self, MessageClass, Pipe};
use gencl_eu::device::Device;
use gencl_eu::message::{BlockAddress, MessageOperation, Space};
use gencl_eu::op::{Action, Branch, Op};
use gencl_isa::{MathFunction, Opcode, Type};
use gencl_simulator::statistics::report::Kernel;

/// The memory that a message accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Shared local memory.
    Local,
    /// Buffers and images, or what may be one of them.
    Global,
    /// Private memory: arrays with an address for each lane.
    Private,
    /// Scratch memory of a thread: spilled registers.
    Scratch,
}

/// How a message accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which memory.
    pub memory: Memory,
    /// Whether it writes; atomic operations do.
    pub write: bool,
    /// Whether each lane has an address.
    pub per_lane: bool,
}

/// Arithmetic that takes longer than that of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    /// Floats of 64 bits.
    Double,
    /// Integers of 64 bits.
    Wide,
    /// Integer division.
    Division,
    /// Other extended math.
    Math,
}

/// Facts about an instruction.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The pipe that it occupies.
    pub pipe: Option<Pipe>,
    /// Registers of its message's payload.
    pub payload: u32,
    /// How its message accesses memory.
    pub access: Option<Access>,
    /// Whether its message is the barrier's.
    pub barrier: bool,
    /// What makes its arithmetic slow.
    pub slow: Option<Slow>,
    /// Whether it is executed for all lanes, or once for the thread.
    pub unmasked: bool,
    /// Indices of the instructions that may be executed next; more than those that are.
    pub next: Vec<usize>,
    /// Whether it is a branch.
    pub branch: bool,
    /// Whether it copies a register or a constant.
    pub copies: bool,
}

/// Facts about the instructions of a kernel, by index; `None` where the report has no code, or code that calls functions,
/// whose control flow is not known.
pub fn facts(device: Option<&Device>, kernel: &Kernel) -> Option<Vec<Facts>> {
    let digits = |at: usize| u8::from_str_radix(kernel.code.get(at..at + 2)?, 16).ok();
    let code: Vec<u8> = (0..kernel.code.len() / 2).map(|byte| digits(2 * byte)).collect::<Option<_>>()?;
    let decoded = eu::Kernel::decode(device?, &code, 0, false).ok()?;
    let same = decoded.ops().len() == kernel.instructions.len();
    let ops = decoded.ops().iter().enumerate();
    same.then(|| ops.map(|(index, op)| Facts::of(&decoded, index, op, kernel.private_bytes > 0)).collect())?
}

impl Facts {
    fn of(kernel: &eu::Kernel, index: usize, op: &Op, has_private: bool) -> Option<Facts> {
        let (mut payload, mut access, mut barrier) = (0, None, false);
        if let Action::Message(message) = &op.action {
            payload = (message.lengths.length + message.lengths.second_length) as u32;
            access = match &message.kind {
                Some(kind) => access_of(kind, has_private),
                // Its descriptor is computed: it may be anything.
                None => Some(Access { memory: Memory::Global, write: true, per_lane: true }),
            };
            barrier = message.kind == Some(MessageOperation::Barrier);
        }
        Some(Facts {
            pipe: cycles::cost(kernel.generation(), op).pipe,
            payload,
            access,
            barrier,
            slow: slow(op),
            unmasked: op.no_mask || op.lanes == 1,
            next: successors(index, op, kernel.ops().len())?,
            branch: matches!(op.action, Action::Branch(_)),
            copies: op.opcode == Opcode::Mov,
        })
    }
}

fn access_of(kind: &MessageOperation, has_private: bool) -> Option<Access> {
    let memory = |space: Space| match space {
        Space::Local => Memory::Local,
        Space::Stateless if has_private => Memory::Private,
        Space::Stateless | Space::Surface(_) | Space::Global => Memory::Global,
    };
    let access = |memory, write, per_lane| Some(Access { memory, write, per_lane });
    match kind {
        MessageOperation::Scattered(m) => access(memory(m.space), m.write, true),
        MessageOperation::Atomic(m) => access(memory(m.space), true, true),
        MessageOperation::Block(m) => {
            let space = match m.address {
                BlockAddress::OWords(space) | BlockAddress::Bytes(space) => space,
                BlockAddress::Wide { .. } => Space::Global,
            };
            access(memory(space), m.write, false)
        }
        MessageOperation::Scratch(m) => access(Memory::Scratch, m.write, false),
        MessageOperation::Typed(m) => access(Memory::Global, m.write, true),
        MessageOperation::TypedAtomic(_) | MessageOperation::MediaBlock(_) => {
            access(Memory::Global, true, true)
        }
        MessageOperation::Sample(_) => access(Memory::Global, false, true),
        MessageOperation::Fence
        | MessageOperation::Barrier
        | MessageOperation::Race(_)
        | MessageOperation::End => None,
    }
}

fn slow(op: &Op) -> Option<Slow> {
    use MathFunction as M;
    if op.opcode == Opcode::Math {
        return Some(match op.function {
            Some(M::IntDivQuotient | M::IntDivRemainder | M::IntDivQuotientRemainder) => Slow::Division,
            _ => Slow::Math,
        });
    }
    if matches!(op.action, Action::Message(_)) {
        return None;
    }
    let types = [op.execution_type, op.dst.ty];
    if types.contains(&Type::DF) {
        return Some(Slow::Double);
    }
    // Additions of 64 bits are those of addresses.
    let computes = !matches!(op.opcode, Opcode::Mov | Opcode::Add | Opcode::Sel);
    (computes && types.iter().any(|ty| ty.size() == 8)).then_some(Slow::Wide)
}

/// The instructions that may be executed after one; `None` where they are not known.
fn successors(index: usize, op: &Op, count: usize) -> Option<Vec<usize>> {
    let next = index + 1;
    let mut next = match &op.action {
        Action::Message(message) if message.end_of_thread => vec![],
        Action::Branch(branch) => match *branch {
            Branch::Jump(target) if op.predicate.is_none() => vec![target],
            Branch::Jump(target) => vec![next, target],
            Branch::If { jip } | Branch::Join { jip } | Branch::While { jip } | Branch::Diverge { jip } => {
                vec![next, jip]
            }
            Branch::Else { jip, uip }
            | Branch::Leave { jip, uip }
            | Branch::GotoForward { jip, uip }
            | Branch::GotoBackward { jip, uip } => vec![next, jip, uip],
            Branch::JumpIndirect | Branch::Call { .. } | Branch::Return => return None,
        },
        _ => vec![next],
    };
    next.retain(|target| *target < count);
    Some(next)
}

/// Whether messages of a class are sent through the sampler.
pub fn is_sampler(class: Option<&str>) -> bool {
    class == Some(MessageClass::Sampler.name())
}
