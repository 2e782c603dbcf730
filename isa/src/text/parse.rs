//! Parsing of instructions.

use super::cursor::Cursor;
use super::parse_operand::{Context, Result, descriptor_register, destination, source};
use super::print::shows_flag;
use super::statement::{statements, without_comments};
use crate::opcode::{Allows, Format, OpcodeInfo};
use crate::{
    AccessMode, Branch, Descriptor, Extra, Flag, Generation, Instruction, Opcode, Operand, Predicate,
    PredicateControl, Region, Send, SharedFunction, Source, ThreadControl, Type,
};
use crate::{codes, layout};

/// Why a text cannot be parsed, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    /// An error at a byte of a text.
    pub(super) fn at(text: &str, position: usize, message: impl Into<String>) -> ParseError {
        let before = &text.as_bytes()[..position.min(text.len())];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
        ParseError { line, column: before.len() - start + 1, message: message.into() }
    }
}

/// Parses one instruction; branch offsets are numbers of bytes.
///
/// # Errors
/// A text that is not exactly one instruction, or an instruction that the generation does not have.
pub fn parse(generation: Generation, text: &str) -> std::result::Result<Instruction, ParseError> {
    let text = &without_comments(text);
    let [statement] = &statements(text)[..] else {
        return Err(ParseError::at(text, 0, "one instruction is expected"));
    };
    let parsed = statement_of(generation, statement.text)
        .map_err(|(position, message)| ParseError::at(text, statement.start + position, message))?;
    if let Some(label) = parsed.jip.or(parsed.uip) {
        return Err(ParseError::at(text, statement.start, format!("label {label} outside of a program")));
    }
    Ok(parsed.instruction)
}

/// An instruction, with the labels of its branch targets.
pub(super) struct Parsed<'a> {
    pub(super) instruction: Instruction,
    pub(super) jip: Option<&'a str>,
    pub(super) uip: Option<&'a str>,
}

/// Parses a statement (without comments, label and semicolon).
pub(super) fn statement_of<'a>(
    generation: Generation,
    text: &'a str,
) -> std::result::Result<Parsed<'a>, (usize, &'static str)> {
    let (body, options) = match text.find('{') {
        Some(brace) => (&text[..brace], Some(&text[brace + 1..])),
        None => (text, None),
    };
    let mut c = Cursor::new(body);
    let mut parser = Parser { generation, options: Options::default(), jip: None, uip: None };
    if let Some(options) = options {
        parser.options = Options::parse(options).map_err(|message| (body.len(), message))?;
    }
    match parser.instruction(&mut c) {
        Ok(instruction) => Ok(Parsed { instruction, jip: parser.jip, uip: parser.uip }),
        Err(message) => Err((c.position(), message)),
    }
}

/// The options between the braces.
#[derive(Default)]
struct Options {
    mode: AccessMode,
    no_mask: bool,
    no_dd_clear: bool,
    no_dd_check: bool,
    channel_offset: u8,
    thread_control: ThreadControl,
    branch_control: bool,
    accumulator_write: bool,
    debug: bool,
    flag: Option<Flag>,
    end_of_thread: bool,
}

impl Options {
    fn parse(text: &str) -> Result<Options> {
        let end = text.find('}').ok_or("} is expected")?;
        if !text[end + 1..].trim().is_empty() {
            return Err("nothing can follow }");
        }
        let mut options = Options::default();
        for word in text[..end].split([' ', ',', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
            options.word(word)?;
        }
        Ok(options)
    }

    fn word(&mut self, word: &str) -> Result<()> {
        match word {
            "align1" => self.mode = AccessMode::Align1,
            "align16" => self.mode = AccessMode::Align16,
            "WE_all" | "nomask" => self.no_mask = true,
            "NoDDClr" => self.no_dd_clear = true,
            "NoDDChk" => self.no_dd_check = true,
            "atomic" => self.thread_control = ThreadControl::Atomic,
            "switch" => self.thread_control = ThreadControl::Switch,
            "BranchCtrl" => self.branch_control = true,
            "AccWrEnable" => self.accumulator_write = true,
            "breakpoint" => self.debug = true,
            "EOT" => self.end_of_thread = true,
            _ => {
                if let Some(flag) = parse_flag(&mut Cursor::new(word)) {
                    self.flag = Some(flag);
                } else {
                    self.channel_offset = channels(word).ok_or("unknown option")?;
                }
            }
        }
        Ok(())
    }
}

/// `3N`, `2Q`, `1H`: the first channel.
fn channels(word: &str) -> Option<u8> {
    let unit = match word.chars().last()? {
        'N' => 4,
        'Q' => 8,
        'H' => 16,
        _ => return None,
    };
    let number: u8 = word[..word.len() - 1].parse().ok()?;
    let offset = number.checked_sub(1)?.checked_mul(unit)?;
    (offset < 32).then_some(offset)
}

/// `f0.1`; the subregister may be missing.
fn parse_flag(c: &mut Cursor<'_>) -> Option<Flag> {
    let register = ["f0", "f1"].iter().position(|name| c.eat(name))? as u8;
    let subregister = [".0", ".1"].iter().position(|name| c.eat(name)).unwrap_or(0) as u8;
    Some(Flag { register, subregister })
}

struct Parser<'a> {
    generation: Generation,
    options: Options,
    jip: Option<&'a str>,
    uip: Option<&'a str>,
}

impl<'a> Parser<'a> {
    fn instruction(&mut self, c: &mut Cursor<'a>) -> Result<Instruction> {
        c.skip_spaces();
        let predicate = self.predicate(c)?;
        let mnemonic = c.word();
        let info = Opcode::from_mnemonic(mnemonic)
            .filter(|info| info.code(self.generation).is_some())
            .ok_or("the generation has no such instruction")?;
        let mut i = Instruction::new(info.opcode, 1);
        if info.format == Format::Bare {
            if c.eat("(") {
                size(c)?;
            }
            return if c.at_end() { Ok(i) } else { Err("no operand is expected") };
        }
        self.common(info, predicate, c, &mut i)?;
        self.operands(info, c, &mut i)?;
        // The text after the colon is a description of the descriptor.
        c.skip_spaces();
        if c.eat("MsgDesc:") {
            c.run(|_| true);
        }
        if !c.at_end() {
            return Err("the instruction should end here");
        }
        Ok(i)
    }

    /// A predicate and its flag register.
    fn predicate(&self, c: &mut Cursor<'a>) -> Result<Option<(Predicate, Flag)>> {
        if !c.eat("(") {
            return Ok(None);
        }
        let inverse = c.eat("-");
        if !inverse {
            c.eat("+");
        }
        let flag = parse_flag(c).ok_or("a flag register is expected")?;
        let control = if c.eat(".") {
            let name = c.word();
            let rows = codes::predicates(self.options.mode);
            codes::by_text(rows, self.generation, name)
                .flatten()
                .filter(|_| !name.is_empty())
                .ok_or("unknown predicate control")?
        } else {
            PredicateControl::Normal
        };
        if !c.eat(")") {
            return Err(") is expected");
        }
        c.skip_spaces();
        Ok(Some((Predicate { control, inverse }, flag)))
    }

    /// The parts between mnemonic and operands, and the options.
    fn common(
        &self,
        info: &OpcodeInfo,
        predicate: Option<(Predicate, Flag)>,
        c: &mut Cursor<'a>,
        i: &mut Instruction,
    ) -> Result<()> {
        i.saturate = c.eat(".sat");
        if info.format == Format::Math {
            c.skip_spaces();
            let function = codes::by_text(codes::MATH_FUNCTIONS, self.generation, c.word());
            i.extra = Extra::Math(function.ok_or("unknown math function")?);
        }
        let mut condition_flag = None;
        if c.eat(".") {
            (i.condition, condition_flag) = self.condition(c)?;
        }
        if !c.eat("(") {
            return Err("an execution size is expected");
        }
        i.exec_size = size(c)?;
        let o = &self.options;
        i.access_mode = o.mode;
        i.no_mask = o.no_mask;
        i.no_dd_clear = o.no_dd_clear;
        i.no_dd_check = o.no_dd_check;
        i.channel_offset = o.channel_offset;
        i.thread_control = o.thread_control;
        i.accumulator_write = o.accumulator_write;
        i.debug = o.debug;
        i.predicate = predicate.map(|(predicate, _)| predicate);
        i.flag = match (predicate, condition_flag) {
            (Some((_, a)), Some(b)) if a != b => {
                return Err("predicate and conditional modifier have the same flag register");
            }
            (Some((_, flag)), _) | (None, Some(flag)) => flag,
            (None, None) => o.flag.unwrap_or_default(),
        };
        if o.flag.is_some() && shows_flag(info, i) {
            return Err("the flag register is no option here");
        }
        if o.branch_control && !info.allows.contains(Allows::BRANCH_CONTROL) {
            return Err("the instruction has no BranchCtrl");
        }
        Ok(())
    }

    /// A conditional modifier after its dot, and its flag register.
    fn condition(&self, c: &mut Cursor<'a>) -> Result<(Option<crate::Condition>, Option<Flag>)> {
        let name = match c.word() {
            "e" => "z",
            "ne" => "nz",
            name => name,
        };
        let condition = codes::by_text(codes::CONDITIONS, self.generation, name).flatten();
        if condition.is_none() || name.is_empty() {
            return Err("unknown conditional modifier");
        }
        let flag = if c.eat(".") { Some(parse_flag(c).ok_or("a flag register is expected")?) } else { None };
        Ok((condition, flag))
    }

    fn context(&self, info: &OpcodeInfo) -> Context {
        Context {
            generation: self.generation,
            mode: self.options.mode,
            ternary: info.format == Format::Ternary,
        }
    }

    fn operands(&mut self, info: &OpcodeInfo, c: &mut Cursor<'a>, i: &mut Instruction) -> Result<()> {
        let context = self.context(info);
        match info.format {
            Format::Bare => Ok(()),
            Format::Basic | Format::Ternary | Format::Math => {
                i.destination = destination(c, context)?;
                let one_argument = matches!(i.extra, Extra::Math(function) if function.arguments() == 1);
                for slot in i.sources.iter_mut().take(usize::from(info.sources)) {
                    *slot = source(c, context)?;
                    // In the place of source 1.
                    if one_argument && matches!(slot, Operand::Immediate { .. }) {
                        break;
                    }
                }
                Ok(())
            }
            Format::Wait => {
                i.destination = destination(c, context)?;
                Ok(())
            }
            Format::Send => {
                i.destination = destination(c, context)?;
                i.sources[0] = source(c, context)?;
                i.extra = Extra::Send(self.message(c, context, false)?);
                Ok(())
            }
            Format::SplitSend => {
                i.destination = destination(c, context)?;
                for slot in i.sources.iter_mut().take(2) {
                    *slot = payload(source(c, context)?)?;
                }
                i.extra = Extra::Send(self.message(c, context, true)?);
                Ok(())
            }
            Format::Return => {
                i.sources[0] = source(c, context)?;
                Ok(())
            }
            Format::Call => {
                i.destination = destination(c, context)?;
                self.target(c, context, false, i)
            }
            Format::Jump => self.target(c, context, false, i),
            Format::Branch(shape) | Format::RegisterBranch(shape) => {
                self.target(c, context, shape.has_uip(self.generation), i)
            }
        }
    }

    /// Branch offsets, or a register that contains them.
    fn target(
        &mut self,
        c: &mut Cursor<'a>,
        context: Context,
        has_uip: bool,
        i: &mut Instruction,
    ) -> Result<()> {
        let mut branch = Branch { control: self.options.branch_control, ..Branch::default() };
        c.skip_spaces();
        if c.eat("JIP:") {
            (branch.jip, self.jip) = offset(c)?;
            c.skip_spaces();
            if has_uip {
                if !c.eat("UIP:") {
                    return Err("UIP is expected");
                }
                (branch.uip, self.uip) = offset(c)?;
            }
            i.extra = Extra::Branch(branch);
            return Ok(());
        }
        match (i.opcode, source(c, context)?) {
            (
                Opcode::Jmpi | Opcode::Call | Opcode::Calla | Opcode::Brd | Opcode::Brc,
                operand @ Operand::Register(_),
            ) => {
                i.sources[0] = operand;
                Ok(())
            }
            // The form of other assemblers: in the field's unit.
            (Opcode::Jmpi, Operand::Immediate { bits, ty: Type::D | Type::UD }) => {
                let unit = self.generation.capabilities().jump_unit;
                branch.jip = (bits as u32 as i32).checked_mul(unit).ok_or("the offset is too large")?;
                i.extra = Extra::Branch(branch);
                Ok(())
            }
            _ => Err("JIP is expected"),
        }
    }

    /// Descriptor, extended descriptor, shared function.
    fn message(&self, c: &mut Cursor<'a>, context: Context, split: bool) -> Result<Send> {
        let mut send = layout::NO_MESSAGE;
        let descriptor = |c: &mut Cursor<'a>| -> Result<Descriptor> {
            c.skip_spaces();
            match c.number() {
                Some(bits) => {
                    Ok(Descriptor::Immediate(u32::try_from(bits).map_err(|_| "a descriptor has 32 bits")?))
                }
                None => Ok(Descriptor::Register(descriptor_register(c, context)?)),
            }
        };
        send.descriptor = descriptor(c)?;
        if let Descriptor::Immediate(bits) = &mut send.descriptor {
            // End of thread is an option of the instruction.
            *bits &= 0x7fff_ffff;
        }
        c.skip_spaces();
        if c.peek().is_some_and(|ch| ch.is_ascii_digit() || ch == 'a') {
            // After `a0` in a send, Mesa's disassembler repeats the bits that encode the register.
            let extended = descriptor(c)?;
            if split || !matches!(send.descriptor, Descriptor::Register(_)) {
                send.extended = extended;
            }
            c.skip_spaces();
        }
        send.target = shared_function(self.generation, c).ok_or("a shared function is expected")?;
        send.end_of_thread = self.options.end_of_thread;
        Ok(send)
    }
}

/// A shared function, by the longest matching name.
fn shared_function(generation: Generation, c: &mut Cursor<'_>) -> Option<SharedFunction> {
    let mut names: Vec<_> =
        codes::SHARED_FUNCTIONS.iter().filter(|row| row.number(generation).is_some()).collect();
    names.sort_by_key(|row| std::cmp::Reverse(row.text.len()));
    names.into_iter().find(|row| c.eat(row.text)).map(|row| row.value)
}

/// Converts a payload of a split send to the form that the decoder returns.
fn payload(operand: Operand) -> Result<Operand> {
    match operand {
        Operand::Register(s) if s.indirect.is_none() && !s.negate && !s.abs => {
            Ok(Operand::Register(Source::new(s.register, s.subregister, Region::new(8, 8, 1), Type::UD)))
        }
        _ => Err("a payload is a register"),
    }
}

/// An execution size and the parenthesis after it.
fn size(c: &mut Cursor<'_>) -> Result<u8> {
    let size = c.number().filter(|n| matches!(n, 1 | 2 | 4 | 8 | 16 | 32));
    if !c.eat(")") {
        return Err(") is expected");
    }
    size.map(|n| n as u8).ok_or("an execution size is 1, 2, 4, 8, 16 or 32")
}

/// A branch offset: a number, or a label.
fn offset<'a>(c: &mut Cursor<'a>) -> Result<(i32, Option<&'a str>)> {
    c.skip_spaces();
    if let Some(number) = c.signed() {
        return Ok((i32::try_from(number).map_err(|_| "the offset is too large")?, None));
    }
    match c.word() {
        "" => Err("a label or a number of bytes is expected"),
        label => Ok((0, Some(label))),
    }
}
