//! Lowers a decoded instruction to an [`Op`], the form in which it is executed.

use gencl_isa::{
    AccessMode, Allows, Descriptor, Extra, Format, Generation, Instruction, Opcode, Operand, Register, Type,
};
use rustc_hash::FxHashMap;

use super::double_pairs::as_channels;
use super::explore::{FetchResult, Found, targets};
use crate::arithmetic::{compute, fast, ieee_macro};
use crate::fault::{Fault, Reason};
use crate::message::{self, Message, MessageLengths};
use crate::op::{Action, Branch, Op, Pred, condition_is_operation};
use crate::operand::{Dst, SourceLocation, Src, Target};
use crate::{cycles, file};

/// Number of bits of `f0` and `f1`.
const FLAG_BITS: usize = 64;

/// Whether strict mode tolerates a violation of a rule, because compilers that are used on hardware emit it
/// without harm.
fn is_tolerated(rule: &str, instruction: &Instruction) -> bool {
    match rule {
        // Mesa leaves `<8,8,1>` in payload operands, and shared functions ignore those bits of the extended
        // descriptor.
        "send.region" => true,
        // IGC uses a larger stride than the execution type for narrow results; only a smaller one would
        // conflict in the data path.
        "region.ratio" => {
            let sizes = instruction.sources.iter().filter_map(Operand::ty).map(Type::size);
            let destination = &instruction.destination;
            destination.ty.size() * u32::from(destination.hstride) > sizes.max().unwrap_or(0).max(2)
        }
        // IGC interleaves bytes with a stride of a dword in the same registers, from any byte on.
        "region.half-integer" => {
            let destination = &instruction.destination;
            destination.ty.size() * u32::from(destination.hstride) == 4
        }
        _ => false,
    }
}

/// The state of lowering a kernel.
pub struct Lowering<'a> {
    /// The instruction set.
    pub generation: Generation,
    /// The device is of the Atom line, which has additional rules.
    pub atom: bool,
    /// Strict mode: refuse what the hardware leaves undefined.
    pub strict: bool,
    /// All instructions by their offsets.
    pub found: &'a Found,
    /// Their indices.
    pub indices: &'a FxHashMap<u32, usize>,
}

impl Lowering<'_> {
    /// Lowers one instruction.
    ///
    /// # Errors
    /// In strict mode, what the hardware does not define. Everything else that cannot be executed becomes an
    /// [`Action::Refused`].
    pub fn op(&self, offset: u32, found: &FetchResult) -> Result<Op, Fault> {
        let (size, instruction) = match found {
            Ok((size, instruction)) => (*size, instruction),
            Err(text) => return Ok(refused(offset, 0, Fault::illegal(text.clone()))),
        };
        let inside = self.found.range(offset + 1..offset + u32::from(size)).next().is_some();
        if inside {
            return Err(Fault::illegal("a branch into the middle of an instruction"));
        }
        if self.strict {
            let mut violations = gencl_isa::validate(self.generation, instruction);
            if self.atom {
                violations.extend(gencl_isa::validate_atom(self.generation, instruction));
            }
            let refused = violations.iter().filter(|v| !is_tolerated(v.rule.id, instruction));
            let texts: Vec<String> = refused.map(ToString::to_string).collect();
            if !texts.is_empty() {
                return Err(Fault::illegal(texts.join("; ")));
            }
        }
        let halved = self.generation.capabilities().doubles_in_halves;
        let channels = if halved { as_channels(instruction) } else { Ok(*instruction) };
        match channels.and_then(|instruction| self.instruction(offset, size, &instruction)) {
            Ok(mut op) => {
                op.cycles = cycles::cost(self.generation, &op).issue;
                Ok(op)
            }
            Err(fault) if self.strict && !matches!(fault.reason, Reason::Unsupported(_)) => Err(fault),
            Err(fault) => Ok(refused(offset, size, fault)),
        }
    }

    fn instruction(&self, offset: u32, size: u8, instruction: &Instruction) -> Result<Op, Fault> {
        let lanes = usize::from(instruction.exec_size);
        if !lanes.is_power_of_two() || lanes > 32 {
            return Err(Fault::illegal(format!("execution size {lanes}")));
        }
        let format = instruction.opcode.info().format;
        let ternary = format == Format::Ternary;
        let mut op = template(offset, size);
        op.opcode = instruction.opcode;
        op.lanes = instruction.exec_size;
        op.channel = instruction.channel_offset;
        op.no_mask = instruction.no_mask;
        op.predicate = instruction.predicate.map(|p| Pred { control: p.control, inverse: p.inverse });
        op.flag_base = instruction.flag.register * 32 + instruction.flag.subregister * 16;
        op.flag_bit = op.flag_base + op.channel;
        op.condition = instruction.condition;
        let writes_flags = op.condition.is_some() && !condition_is_operation(op.opcode);
        let uses_flags = op.predicate.is_some() || writes_flags || ieee_macro::is_macro(instruction);
        if uses_flags && usize::from(op.flag_bit) + lanes > FLAG_BITS {
            return Err(Fault::illegal("the flag registers end before the instruction's channels"));
        }
        op.saturate = instruction.saturate;
        op.accumulator_write = instruction.accumulator_write;
        op.function = match instruction.extra {
            Extra::Math(function) => Some(function),
            Extra::None | Extra::Send(_) | Extra::Branch(_) => None,
        };
        op.write_lanes = write_lanes(instruction);
        op.action = match format {
            Format::Send | Format::SplitSend => self.message(&mut op, instruction)?,
            Format::Wait => wait(instruction)?,
            Format::Bare if instruction.opcode == Opcode::Nop => Action::Nop,
            Format::Branch(_) | Format::Jump | Format::Call | Format::Return | Format::RegisterBranch(_) => {
                self.branch(&mut op, instruction, offset, size)?
            }
            Format::Basic | Format::Ternary | Format::Math | Format::Bare => {
                return self.arithmetic(op, instruction, ternary);
            }
        };
        Ok(op)
    }

    fn arithmetic(&self, mut op: Op, instruction: &Instruction, ternary: bool) -> Result<Op, Fault> {
        if instruction.opcode == Opcode::Smov {
            let (plain, lanes) = scattered_move(instruction)?;
            (op.opcode, op.write_lanes) = (plain.opcode, lanes);
            return self.arithmetic(op, &plain, ternary);
        }
        if ieee_macro::is_macro(instruction) {
            return self.ieee_macro(op, instruction, ternary);
        }
        if compute::of(instruction.opcode).is_none() {
            return Err(Fault::unsupported(format!("instruction {:?}", instruction.opcode)));
        }
        self.operands(&mut op, instruction, ternary)?;
        if is_tautology(instruction) {
            op.reads = 0;
        }
        op.execution_type = execution_type(&op);
        let capabilities = self.generation.capabilities();
        op.low_multiplier = capabilities.multiplier_is_word
            && matches!(op.opcode, Opcode::Mul | Opcode::Mac)
            && !op.execution_type.is_float()
            && op.src[1].ty.size() == 4;
        let accumulates = op.accumulator_write || matches!(op.opcode, Opcode::Mac | Opcode::Mach);
        if capabilities.upper_channels_take_acc1
            && accumulates
            && !op.execution_type.is_float()
            && op.channel & 8 != 0
        {
            return Err(Fault::illegal(
                "the implicit accumulator of these channels is acc1, which integers do not have",
            ));
        }
        op.predicate_is_operand = op.opcode == Opcode::Sel;
        let special = |at: usize| (file::CHANNEL_ENABLE..).contains(&at);
        op.special = op.src.iter().filter_map(Src::offset).any(special)
            || matches!(op.dst.target, Target::Direct { offset, .. } if special(offset));
        if matches!(op.dst.target, Target::Direct { offset, .. } if (file::IP..file::IP + 32).contains(&offset))
        {
            return Err(Fault::unsupported("a write to ip"));
        }
        op.action = Action::Execute(fast::select(&op));
        Ok(op)
    }

    fn ieee_macro(&self, mut op: Op, instruction: &Instruction, ternary: bool) -> Result<Op, Fault> {
        let (plain, exponents) = ieee_macro::plain(instruction);
        self.operands(&mut op, &plain, ternary)?;
        op.exponents = exponents;
        op.write_lanes = u32::MAX;
        op.execution_type = execution_type(&op);
        op.action = Action::Execute(ieee_macro::execute);
        Ok(op)
    }

    fn operands(&self, op: &mut Op, instruction: &Instruction, ternary: bool) -> Result<(), Fault> {
        let lanes = usize::from(op.lanes);
        let complement = op.opcode.info().allows.contains(Allows::LOGIC)
            && self.generation.capabilities().logic_negate_is_complement;
        for (src, operand) in op.src.iter_mut().zip(&instruction.sources) {
            *src = Src::resolve(operand, lanes, instruction.access_mode, ternary).map_err(Fault::illegal)?;
            src.complement = complement && src.negate;
            op.reads |= src.reads;
        }
        op.indirect_source = op.src.iter().any(|s| matches!(s.location, SourceLocation::Indirect { .. }));
        op.dst = Dst::resolve(&instruction.destination, lanes).map_err(Fault::illegal)?;
        op.writes = op.dst.writes;
        op.copies_by = copies_by(instruction);
        let destination = &instruction.destination;
        let step = destination.ty.size() as usize * usize::from(destination.hstride.max(1));
        op.src.iter_mut().for_each(|src| src.spread(step));
        Ok(())
    }

    fn branch(&self, op: &mut Op, instruction: &Instruction, offset: u32, size: u8) -> Result<Action, Fault> {
        use Opcode as O;
        op.predicate_is_operand = true;
        let (jip, uip) = targets(instruction, offset, size);
        let index = |offset: Option<u32>| {
            offset
                .and_then(|o| self.indices.get(&o).copied())
                .ok_or_else(|| Fault::illegal("a branch without a target"))
        };
        let control = matches!(instruction.extra, Extra::Branch(b) if b.control);
        if control && op.opcode == O::If {
            return Err(Fault::unsupported("branch control on if"));
        }
        if !matches!(instruction.extra, Extra::Branch(_)) {
            self.operands(op, instruction, false)?;
        }
        Ok(Action::Branch(match op.opcode {
            O::Jmpi if jip.is_some() => Branch::Jump(index(jip)?),
            O::Jmpi => Branch::JumpIndirect,
            O::If => Branch::If { jip: index(jip)? },
            // With branch control, too: Mesa (brw_eu_emit.c, brw_ENDIF, since 24.1) lets JIP be a `nop` before the endif
            // at UIP. Channels wait at the endif, as a `break` of the else side jumps there.
            O::Else => Branch::Else { jip: index(jip)?, uip: index(uip.or(jip))? },
            O::Endif | O::Join => Branch::Join { jip: index(jip)? },
            O::While => Branch::While { jip: index(jip)? },
            O::Break => {
                Branch::Leave { jip: index(jip)?, uip: index(uip.map(|u| self.break_target(u, offset)))? }
            }
            O::Goto if control => Branch::GotoBackward { jip: index(jip)?, uip: index(uip)? },
            O::Goto if self.generation.capabilities().forward_goto_takes_false => {
                Branch::GotoForward { jip: index(jip)?, uip: index(uip.or(jip))? }
            }
            O::Cont | O::Halt | O::Goto | O::Brc if jip.is_some() => {
                Branch::Leave { jip: index(jip)?, uip: index(uip.or(jip))? }
            }
            O::Brd if jip.is_some() => Branch::Diverge { jip: index(jip)? },
            O::Call if jip.is_some() => {
                op.dst = Dst::resolve(&instruction.destination, 2).map_err(Fault::illegal)?;
                op.writes = op.dst.writes;
                Branch::Call { target: index(jip)? }
            }
            O::Ret => Branch::Return,
            other => return Err(Fault::unsupported(format!("{other:?} with this target"))),
        }))
    }

    /// Where channels that leave a loop continue: after the `while`. `UIP` may be that instruction (IGC) or
    /// the `while` itself (Mesa), which channels that have left do not execute.
    fn break_target(&self, uip: u32, offset: u32) -> u32 {
        let loops_around = |at: u32| match self.found.get(&at) {
            Some(Ok((size, i))) if i.opcode == Opcode::While => {
                targets(i, at, *size).0.filter(|jip| *jip <= offset).map(|_| u32::from(*size))
            }
            _ => None,
        };
        let before = self.found.range(..uip).next_back().map(|(at, _)| *at);
        match loops_around(uip) {
            Some(size) if before.is_none_or(|at| at <= offset || loops_around(at).is_none()) => uip + size,
            _ => uip,
        }
    }

    fn message(&self, op: &mut Op, instruction: &Instruction) -> Result<Action, Fault> {
        let Extra::Send(send) = instruction.extra else {
            return Err(Fault::illegal("a send without descriptor"));
        };
        let split = matches!(instruction.opcode, Opcode::Sends | Opcode::Sendsc);
        let register = |operand: &Operand| match operand {
            Operand::Register(s) if s.indirect.is_some() => {
                Err(Fault::unsupported("an indirect message payload"))
            }
            Operand::Register(s) => match s.register {
                Register::Grf(n) => Ok(usize::from(n) * 32),
                Register::Arf(_) => Ok(file::NULL),
            },
            Operand::None | Operand::Immediate { .. } => Ok(file::NULL),
        };
        let response = match instruction.destination.register {
            Register::Grf(n) if instruction.destination.indirect.is_none() => Some(usize::from(n) * 32),
            _ => None,
        };
        let (kind, lengths) = match (send.descriptor, send.extended) {
            (Descriptor::Immediate(descriptor), Descriptor::Immediate(extended)) => {
                let kind = message::decode(self.generation, send.target, descriptor, send.end_of_thread)?;
                (Some(kind), MessageLengths::of(descriptor, extended, split))
            }
            (Descriptor::Register(_), _) | (_, Descriptor::Register(_)) => (None, MessageLengths::default()),
        };
        let message = Message {
            target: send.target,
            descriptor: send.descriptor,
            extended: send.extended,
            split,
            payload: register(&instruction.sources[0])?,
            second: if split { register(&instruction.sources[1])? } else { file::NULL },
            response,
            end_of_thread: send.end_of_thread,
            lengths,
            kind,
        };
        if message.kind.is_some() {
            message.check(lengths)?;
            // A message for one to four channels uses as many elements of each operand. Only its first
            // register is certain to be used; compilers leave others unwritten (uniform loads at 64-bit
            // addresses; IGC has up to four).
            let read = if instruction.exec_size <= 4 {
                MessageLengths {
                    length: lengths.length.min(1),
                    second_length: lengths.second_length.min(1),
                    ..lengths
                }
            } else {
                lengths
            };
            op.reads = message.reads(read);
            op.writes = message.writes(lengths);
        }
        Ok(Action::Message(Box::new(message)))
    }
}

fn wait(instruction: &Instruction) -> Result<Action, Fault> {
    let (register, subregister) = match &instruction.sources[0] {
        Operand::Register(source) => (source.register, source.subregister),
        Operand::None | Operand::Immediate { .. } => {
            (instruction.destination.register, instruction.destination.subregister)
        }
    };
    let number = match register {
        Register::Arf(gencl_isa::Arf::Notification(number)) => number + subregister / 4,
        _ => return Err(Fault::illegal("wait needs a notification register")),
    };
    if number > 2 {
        return Err(Fault::illegal("there are three notification registers"));
    }
    Ok(Action::Wait(number))
}

/// Whether an instruction compares integers with themselves. The result does not depend on their value: IGC
/// computes the mask of enabled channels this way, with a register that it never writes.
fn is_tautology(instruction: &Instruction) -> bool {
    let [a, b, _] = instruction.sources;
    instruction.opcode == Opcode::Cmp && a == b && a.ty().is_some_and(|ty| !ty.is_float())
}

/// The register distance of a `mov` that copies packed elements from the start of a general register to that
/// of another; `None` for other instructions. IGC copies undefined operands of phis this way.
fn copies_by(instruction: &Instruction) -> Option<i32> {
    let Operand::Register(source) = &instruction.sources[0] else { return None };
    let destination = &instruction.destination;
    let (Register::Grf(from), Register::Grf(to)) = (source.register, destination.register) else {
        return None;
    };
    let packed = source.region.hstride == 1
        && source.region.vstride == source.region.width
        && destination.hstride == 1;
    let plain = instruction.opcode == Opcode::Mov
        && (instruction.condition, instruction.saturate, source.negate, source.abs)
            == (None, false, false, false)
        && (source.indirect, destination.indirect) == (None, None)
        && (source.subregister, destination.subregister, source.ty) == (0, 0, destination.ty);
    (plain && packed).then(|| i32::from(to) - i32::from(from))
}

/// Lowers `smov` to a `mov` and the mask of channels for which it is executed: source 1, an immediate (IGC
/// combines loading a flag register and a predicated `mov` into an `smov`, `Optimizer::createSmov`). Bit 0 is the
/// instruction's first channel: IGC writes an element of lane 16 by `smov(16) ... 0x0001UW { 2H }`.
fn scattered_move(instruction: &Instruction) -> Result<(Instruction, u32), Fault> {
    let [source, Operand::Immediate { bits, .. }, _] = instruction.sources else {
        return Err(Fault::illegal("smov needs an immediate as source 1"));
    };
    if instruction.exec_size > 16 {
        return Err(Fault::illegal("smov of more channels than the immediate has bits"));
    }
    let sources = [source, Operand::None, Operand::None];
    Ok((Instruction { opcode: Opcode::Mov, sources, ..*instruction }, bits as u32))
}

/// Mask of the channels whose components the write mask of an align16 destination enables.
fn write_lanes(instruction: &Instruction) -> u32 {
    if instruction.access_mode == AccessMode::Align1 {
        return u32::MAX;
    }
    let components = u32::from(instruction.destination.writemask & 0xf);
    if instruction.opcode.info().format == Format::Ternary && instruction.destination.ty.size() == 8 {
        // Components have 32 bits: a double is two of them.
        return (components & 1 | (components >> 2 & 1) << 1) * 0x5555_5555;
    }
    components * 0x1111_1111
}

/// The execution type ("Execution Data Type"): the widest float, else the widest integer, signed if one
/// source is; bytes are computed as words.
fn execution_type(op: &Op) -> Type {
    let types = || op.src.iter().filter(|s| s.is_some()).map(|s| s.ty);
    for float in [Type::DF, Type::F, Type::HF] {
        if types().any(|ty| ty == float) {
            return float;
        }
    }
    let signed = types().any(Type::is_signed);
    match (types().map(Type::size).max().unwrap_or(op.dst.ty.size()), signed) {
        (8, true) => Type::Q,
        (8, false) => Type::UQ,
        (4, true) => Type::D,
        (4, false) => Type::UD,
        (_, true) => Type::W,
        (_, false) => Type::UW,
    }
}

fn refused(offset: u32, size: u8, fault: Fault) -> Op {
    Op { action: Action::Refused(Box::new(fault)), ..template(offset, size) }
}

fn template(offset: u32, size: u8) -> Op {
    Op {
        action: Action::Nop,
        opcode: Opcode::Nop,
        function: None,
        lanes: 1,
        channel: 0,
        no_mask: true,
        predicate_is_operand: false,
        is_target: false,
        special: false,
        indirect_source: false,
        write_lanes: u32::MAX,
        predicate: None,
        flag_bit: 0,
        flag_base: 0,
        condition: None,
        saturate: false,
        accumulator_write: false,
        low_multiplier: false,
        execution_type: Type::UD,
        exponents: [None; 4],
        dst: Dst { target: Target::Null, ty: Type::UD, writes: 0 },
        src: [Src::NONE; 3],
        reads: 0,
        writes: 0,
        copies_by: None,
        cycles: 1,
        offset,
        size,
    }
}
