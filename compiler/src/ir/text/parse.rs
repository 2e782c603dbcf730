//! The parser.

use super::operation::{Parsed, integer, operation};
use super::{default_metadata, section_name};
use crate::ir::{Block, BlockId, Family, Form, Function, Instruction, Predicate, Reg, RegisterInfo, Unit};
use fixedbitset::FixedBitSet;
use gencl_program::{DataSection, Relocation};
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
    let (mut registers, mut numbers, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    for word in rest.split(',').map(str::trim).filter(|_| !rest.trim().is_empty()) {
        if word.starts_with('%') {
            registers.push(register(word)?);
        } else if let Some(block) = word.strip_prefix('@') {
            blocks.push(BlockId(integer(block)?));
        } else {
            numbers.push(word);
        }
    }
    let mut instruction = Instruction::new(operation(mnemonic, numbers, blocks)?, dsts, registers);
    instruction.predicate = predicate;
    Ok(instruction)
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
