//! The parser.

use super::{default_metadata, section_name};
use crate::ir::{
    AtomicOp, BinaryOp, Block, BlockId, Condition, CrossLane, Family, Form, Function, GroupOp, Input,
    Instruction, Join, Leave, Op, Predicate, Reg, RegisterInfo, Rounding, Space, TernaryOp, Type, UnaryOp,
    Unit, Vote,
};
use fixedbitset::FixedBitSet;
use gencl_program::{DataSection, PushSource, Relocation};
use serde_json::{Map, Value};

/// Block ids from here on are rejected, so that a typo does not allocate all memory.
const MAX_BLOCKS: u32 = 1 << 20;

/// The text is not Gen IR.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line number from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

type Parsed<T> = Result<T, String>;

/// Parses a unit. Rules that the validator checks are not checked here.
///
/// # Errors
/// At the first line that cannot be read.
pub fn parse(text: &str) -> Result<Unit, ParseError> {
    let mut unit = Unit::default();
    let mut open: Option<OpenFunction> = None;
    let mut last = 0;
    for (index, line) in text.lines().enumerate() {
        last = index + 1;
        parse_line(line.trim(), &mut unit, &mut open)
            .map_err(|message| ParseError { line: last, message })?;
    }
    match open {
        Some(_) => Err(ParseError { line: last, message: "the kernel has no `end`".to_owned() }),
        None => Ok(unit),
    }
}

/// Parses a text with one function.
///
/// # Errors
/// As [`parse`], and when there is not exactly one.
pub fn parse_function(text: &str) -> Result<Function, ParseError> {
    let mut unit = parse(text)?;
    match (unit.functions.pop(), unit.functions.is_empty()) {
        (Some(function), true) => Ok(function),
        _ => Err(ParseError { line: 1, message: "not exactly one kernel".to_owned() }),
    }
}

struct OpenFunction {
    name: String,
    form: Form,
    private_size: u32,
    local_size: u32,
    metadata: Map<String, Value>,
    registers: Vec<(u32, RegisterInfo)>,
    blocks: Vec<Block>,
    layout: Vec<BlockId>,
    seen: FixedBitSet,
}

impl OpenFunction {
    fn finish(mut self) -> Parsed<Function> {
        self.registers.sort_by_key(|(index, _)| *index);
        if let Some(at) = (0..self.registers.len()).find(|&i| self.registers[i].0 as usize != i) {
            return Err(format!("register %{at} is declared twice or not at all"));
        }
        let kernel =
            serde_json::from_value(Value::Object(self.metadata)).map_err(|e| format!("metadata: {e}"))?;
        Ok(Function {
            name: self.name,
            form: self.form,
            registers: self.registers.into_iter().map(|(_, info)| info).collect(),
            blocks: self.blocks,
            layout: self.layout,
            private_size: self.private_size,
            local_size: self.local_size,
            kernel,
        })
    }
}

/// `section offset size target addend`
fn relocation(text: &str) -> Parsed<Relocation> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let &[section, offset, size, target, addend] = words.as_slice() else {
        return Err("a relocation has a section, an offset, a size, a target and an addend".to_owned());
    };
    let section_of = |name: &str| {
        let known = [DataSection::Constants, DataSection::Variables]
            .into_iter()
            .find(|section| section_name(*section) == name);
        known.ok_or_else(|| format!("there is no section `{name}`"))
    };
    let number = |word: &str| word.parse::<i64>().map_err(|e| format!("{word}: {e}"));
    Ok(Relocation {
        section: section_of(section)?,
        offset: number(offset)? as u64,
        size: size.parse().map_err(|e| format!("{size}: {e}"))?,
        target: section_of(target)?,
        addend: number(addend)?,
    })
}

fn parse_line(line: &str, unit: &mut Unit, open: &mut Option<OpenFunction>) -> Parsed<()> {
    if line.is_empty() || line.starts_with(';') {
        return Ok(());
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let Some(function) = open else {
        match word {
            "constants" => unit.data.constants.extend(hex_bytes(strip_comment(rest))?),
            "variables" => unit.data.variables.extend(hex_bytes(strip_comment(rest))?),
            "relocation" => unit.data.relocations.push(relocation(strip_comment(rest))?),
            "kernel" => *open = Some(kernel_line(rest)?),
            _ => return Err("neither `kernel` nor variables".to_owned()),
        }
        return Ok(());
    };
    match word {
        "meta" => {
            let (key, value) =
                rest.split_once(char::is_whitespace).ok_or("`meta` takes a name and a value")?;
            let value = serde_json::from_str(value).map_err(|e| format!("metadata: {e}"))?;
            match function.metadata.get_mut(key) {
                Some(old) => *old = value,
                None => return Err(format!("the metadata has no field `{key}`")),
            }
            return Ok(());
        }
        "end" | "end;" if strip_comment(line).trim() == "end" => {
            if let Some(function) = open.take() {
                unit.functions.push(function.finish()?);
            }
            return Ok(());
        }
        _ => {}
    }
    let rest = strip_comment(rest);
    match word {
        "private_size" => function.private_size = integer(rest)?,
        "local_size" => function.local_size = integer(rest)?,
        "register" => register_line(rest, &mut function.registers)?,
        _ => {
            let line = strip_comment(line).trim();
            if let Some((id, masked)) = block_head(line) {
                let id: u32 = integer(id)?;
                if id >= MAX_BLOCKS {
                    return Err(format!("block numbers end at {}", MAX_BLOCKS - 1));
                }
                if function.blocks.len() <= id as usize {
                    function.blocks.resize_with(id as usize + 1, Block::default);
                }
                function.seen.grow(id as usize + 1);
                if function.seen.put(id as usize) {
                    return Err(format!("block @{id} stands there twice"));
                }
                function.blocks[id as usize].masked = masked;
                function.layout.push(BlockId(id));
            } else {
                let instruction = parse_instruction(line)?;
                let block = function.layout.last().ok_or("an instruction before the first block")?;
                function.blocks[block.0 as usize].instructions.push(instruction);
            }
        }
    }
    Ok(())
}

fn strip_comment(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

fn kernel_line(rest: &str) -> Parsed<OpenFunction> {
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let name = match stream.next() {
        Some(Ok(name)) => name,
        _ => return Err("`kernel` takes a name in quotes".to_owned()),
    };
    let form = strip_comment(rest.get(stream.byte_offset()..).unwrap_or_default());
    let form = Form::from_name(form).ok_or("the form is `per_lane` or `linear`")?;
    Ok(OpenFunction {
        metadata: default_metadata(&name),
        name,
        form,
        private_size: 0,
        local_size: 0,
        registers: Vec::new(),
        blocks: Vec::new(),
        layout: Vec::new(),
        seen: FixedBitSet::new(),
    })
}

fn register_line(rest: &str, registers: &mut Vec<(u32, RegisterInfo)>) -> Parsed<()> {
    let mut words = rest.split_whitespace().peekable();
    let uniform = words.next_if_eq(&"uniform").is_some();
    let family = words.next().and_then(Family::from_name).ok_or("`register` takes a family")?;
    for word in words {
        registers.push((register(word)?.0, RegisterInfo { family, uniform }));
    }
    Ok(())
}

fn hex_bytes(text: &str) -> Parsed<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.bytes().map(|b| char::from(b).to_digit(16).map(|digit| digit as u8)).collect();
    match digits {
        Some(digits) if digits.len() % 2 == 0 => Ok(digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect()),
        _ => Err("not pairs of hexadecimal digits".to_owned()),
    }
}

fn integer<T: std::str::FromStr>(text: &str) -> Parsed<T> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits here"))
}

fn register(text: &str) -> Parsed<Reg> {
    match text.strip_prefix('%') {
        Some(index) => Ok(Reg(integer(index)?)),
        None => Err(format!("`{text}` is not a register")),
    }
}

fn registers(text: &str) -> Parsed<Vec<Reg>> {
    text.split(',').map(|word| register(word.trim())).collect()
}

fn parse_instruction(mut line: &str) -> Parsed<Instruction> {
    let mut predicate = None;
    if let Some(rest) = line.strip_prefix('(') {
        let (inside, rest) = rest.split_once(')').ok_or("the predicate has no `)`")?;
        let (inverse, name) = match inside.strip_prefix('!') {
            Some(name) => (true, name),
            None => (false, inside),
        };
        predicate = Some(Predicate { reg: register(name)?, inverse });
        line = rest.trim();
    }
    let mut dsts = Vec::new();
    if let Some((left, right)) = line.split_once('=') {
        dsts = registers(left)?;
        line = right.trim();
    }
    let (mnemonic, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut operands = OpenOperands::default();
    for word in rest.split(',').map(str::trim).filter(|_| !rest.trim().is_empty()) {
        if word.starts_with('%') {
            operands.registers.push(register(word)?);
        } else if let Some(block) = word.strip_prefix('@') {
            operands.blocks.push(BlockId(integer(block)?));
        } else {
            operands.numbers.push(word);
        }
    }
    let op = operation(mnemonic, &mut operands)?;
    if !operands.numbers.is_empty() || !operands.blocks.is_empty() {
        return Err("too many numbers or blocks".to_owned());
    }
    let mut instruction = Instruction::new(op, dsts, operands.registers);
    instruction.predicate = predicate;
    Ok(instruction)
}

/// Operands that are not yet part of the operation.
#[derive(Default)]
struct OpenOperands<'t> {
    registers: Vec<Reg>,
    blocks: Vec<BlockId>,
    numbers: Vec<&'t str>,
}

impl OpenOperands<'_> {
    fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        if self.numbers.is_empty() {
            return Err("a number is missing".to_owned());
        }
        integer(self.numbers.remove(0))
    }

    fn block(&mut self) -> Parsed<BlockId> {
        if self.blocks.is_empty() {
            return Err("a block is missing".to_owned());
        }
        Ok(self.blocks.remove(0))
    }

    /// The bits of a constant: see the printer's `number`.
    fn constant(&mut self, ty: Type) -> Parsed<u64> {
        let Some(word) = self.numbers.first().copied() else {
            return Err("a number is missing".to_owned());
        };
        self.numbers.remove(0);
        if let Some(digits) = word.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16)
                .map_err(|_| format!("`{word}` is not a number of 64 bits"));
        }
        let value: i128 = integer(word)?;
        let (low, high) = if ty.is_signed() {
            (-(1i128 << (ty.bits() - 1)), (1i128 << (ty.bits() - 1)) - 1)
        } else {
            (0, i128::from(ty.mask()))
        };
        if value < low || value > high {
            return Err(format!("{value} does not fit {}", ty.name()));
        }
        Ok(value as u64 & ty.mask())
    }
}

/// The parts of a mnemonic between its dots.
struct Parts<'t> {
    parts: std::iter::Peekable<std::str::Split<'t, char>>,
}

impl<'t> Parts<'t> {
    fn next(&mut self) -> &'t str {
        self.parts.next().unwrap_or_default()
    }

    fn named<T>(&mut self, from_name: fn(&str) -> Option<T>, what: &str) -> Parsed<T> {
        let part = self.next();
        from_name(part).ok_or_else(|| format!("`{part}` is not a {what}"))
    }

    fn ty(&mut self) -> Parsed<Type> {
        self.named(Type::from_name, "type")
    }

    /// Is it the upper half?
    fn upper(&mut self) -> Parsed<bool> {
        match self.next() {
            "upper" => Ok(true),
            "lower" => Ok(false),
            other => Err(format!("`{other}` is not a half")),
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        self.parts.next_if(|part| *part == name).is_some()
    }

    fn memory(&mut self) -> Parsed<(Space, Type, u32)> {
        let space = self.named(Space::from_name, "address space")?;
        let ty = self.ty()?;
        let align = self.next();
        let align = align.strip_prefix("align").ok_or("the alignment is missing")?;
        Ok((space, ty, integer(align)?))
    }
}

fn operation(mnemonic: &str, operands: &mut OpenOperands) -> Parsed<Op> {
    let mut parts = Parts { parts: mnemonic.split('.').peekable() };
    let word = parts.next();
    let op = match word {
        "immediate" => {
            let ty = parts.ty()?;
            Op::Immediate { ty, bits: operands.constant(ty)? }
        }
        "input" => Op::Input(input(&mut parts, operands)?),
        "undefined" => Op::Undefined,
        "compare" => Op::Compare(parts.named(Condition::from_name, "condition")?, parts.ty()?),
        "select" => Op::Select(parts.ty()?),
        "pair" => Op::Pair,
        "half" => Op::Half { upper: parts.upper()? },
        "convert" => {
            let (to, from) = (parts.ty()?, parts.ty()?);
            let rounding = parts.parts.peek().copied().and_then(Rounding::from_name);
            if rounding.is_some() {
                parts.next();
            }
            let rounding = rounding.unwrap_or(Rounding::Default);
            Op::Convert { to, from, rounding, saturate: parts.flag("sat") }
        }
        "load" => {
            let (space, ty, align) = parts.memory()?;
            Op::Load { space, ty, align }
        }
        "store" => {
            let (space, ty, align) = parts.memory()?;
            Op::Store { space, ty, align }
        }
        "atomic" => Op::Atomic {
            op: parts.named(AtomicOp::from_name, "atomic operation")?,
            space: parts.named(Space::from_name, "address space")?,
            ty: parts.ty()?,
        },
        "shuffle" => Op::CrossLane(CrossLane::Shuffle(parts.ty()?)),
        "ballot" => Op::CrossLane(CrossLane::Ballot),
        "reduce" => {
            Op::CrossLane(CrossLane::Reduce(parts.named(GroupOp::from_name, "group operation")?, parts.ty()?))
        }
        "scan" | "exclusive_scan" => {
            let op = parts.named(GroupOp::from_name, "group operation")?;
            Op::CrossLane(CrossLane::Scan { op, ty: parts.ty()?, exclusive: word == "exclusive_scan" })
        }
        "subgroup_barrier" => {
            Op::SubgroupBarrier { local: parts.flag("local"), global: parts.flag("global") }
        }
        "barrier" => Op::Barrier { local: parts.flag("local"), global: parts.flag("global") },
        "fence" => Op::Fence { local: parts.flag("local"), global: parts.flag("global") },
        "jump" => Op::Jump(operands.block()?),
        "branch" => Op::Branch { then: operands.block()?, otherwise: operands.block()? },
        "vote" => Op::Vote {
            vote: parts.named(Vote::from_name, "vote")?,
            target: operands.block()?,
            next: operands.block()?,
        },
        "leave" => Op::Leave {
            by: parts.named(Leave::from_name, "way to leave")?,
            target: operands.block()?,
            next: operands.block()?,
            empty: operands.block()?,
        },
        "join" => Op::Join {
            by: parts.named(Join::from_name, "way to join")?,
            next: operands.block()?,
            empty: operands.block()?,
        },
        "return" => Op::Return,
        _ => {
            if let Some(op) = UnaryOp::from_name(word) {
                Op::Unary(op, parts.ty()?)
            } else if let Some(op) = BinaryOp::from_name(word) {
                Op::Binary(op, parts.ty()?)
            } else if let Some(op) = TernaryOp::from_name(word) {
                Op::Ternary(op, parts.ty()?)
            } else {
                return Err(format!("`{word}` is not an operation"));
            }
        }
    };
    match parts.parts.next() {
        Some(part) => Err(format!("`.{part}` does not belong to `{word}`")),
        None => Ok(op),
    }
}

fn input(parts: &mut Parts, operands: &mut OpenOperands) -> Parsed<Input> {
    Ok(match parts.next() {
        "local_id" => Input::LocalId(operands.number()?),
        "group_id" => Input::GroupId(operands.number()?),
        "lane_id" => Input::LaneId,
        "subgroup_id" => Input::SubgroupId,
        "simd_width" => Input::SimdWidth,
        "push" => Input::Push(match parts.next() {
            "value" => PushSource::Value { argument: operands.number()?, offset: operands.number()? },
            "pointer" => PushSource::Pointer { argument: operands.number()? },
            "local_offset" => PushSource::LocalOffset { argument: operands.number()? },
            "global_offset" => PushSource::GlobalOffset(operands.number()?),
            "global_size" => PushSource::GlobalSize(operands.number()?),
            "local_size" => PushSource::LocalSize(operands.number()?),
            "enqueued_local_size" => PushSource::EnqueuedLocalSize(operands.number()?),
            "num_groups" => PushSource::NumGroups(operands.number()?),
            "work_dim" => PushSource::WorkDim,
            "argument_block" => PushSource::ArgumentBlock,
            "constant_base" => PushSource::ConstantBase,
            "variable_base" => PushSource::VariableBase,
            "printf_buffer" => PushSource::PrintfBuffer,
            "stack_base" => PushSource::StackBase,
            other => return Err(format!("`{other}` is not a push")),
        }),
        other => return Err(format!("`{other}` is not an input")),
    })
}

/// The number of a block that begins here, and whether it is masked.
fn block_head(line: &str) -> Option<(&str, bool)> {
    let (id, masked) = line.strip_prefix('@')?.split_once(':')?;
    match masked.trim() {
        "" => Some((id, false)),
        "masked" => Some((id, true)),
        _ => None,
    }
}
