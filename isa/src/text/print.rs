//! Printing of instructions.

use std::fmt;

use crate::codes;
use crate::message::Message;
use crate::opcode::{Allows, Format, OpcodeInfo};
use crate::text::number;
use crate::{
    AccessMode, Branch, Descriptor, Destination, Extra, Flag, Generation, Indirect, Instruction, Operand,
    PredicateControl, Region, Send, Source, ThreadControl, Type,
};

/// The columns at which operands and options start.
const COLUMNS: [usize; 5] = [16, 32, 48, 64, 80];
const OPTIONS_COLUMN: usize = 64;

/// An instruction whose `Display` is its text.
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    generation: Generation,
    instruction: &'a Instruction,
}

impl Instruction {
    /// A `Display` of the instruction for a generation.
    pub fn display(&self, generation: Generation) -> Printed<'_> {
        Printed { generation, instruction: self }
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self.generation, self.instruction))
    }
}

/// The instruction as one line, branch offsets as numbers of bytes.
pub fn print(generation: Generation, instruction: &Instruction) -> String {
    print_with(generation, instruction, &|bytes| bytes.to_string())
}

/// The instruction as one line; `target` names the target of a branch by its offset.
pub(super) fn print_with(generation: Generation, i: &Instruction, target: &dyn Fn(i32) -> String) -> String {
    let info = i.opcode.info();
    if info.format == Format::Bare {
        return format!("{};", info.mnemonic);
    }
    let mut line = Line(head(info, i));
    let source = |operand: &Operand| operand_text(generation, info, i.access_mode, operand);
    match (info.format, &i.extra) {
        (Format::Basic | Format::Ternary | Format::Math, _) => {
            line.operand(0, &destination(i.access_mode, &i.destination));
            for (n, operand) in i.sources.iter().enumerate().filter(|(_, s)| **s != Operand::None) {
                line.operand(n + 1, &source(operand));
            }
        }
        (Format::Send, Extra::Send(send)) => {
            line.operand(0, &destination(i.access_mode, &i.destination));
            line.operand(1, &source(&i.sources[0]));
            line.operand(2, &message(generation, send));
        }
        (Format::SplitSend, Extra::Send(send)) => {
            line.operand(
                0,
                &bare(i.destination.register.text(), i.destination.subregister, i.destination.ty),
            );
            for (n, operand) in i.sources.iter().enumerate() {
                if let Operand::Register(s) = operand {
                    line.operand(n + 1, &bare(s.register.text(), s.subregister, Type::UD));
                }
            }
            line.operand(3, &message(generation, send));
        }
        (Format::Wait, _) => line.operand(0, &destination(i.access_mode, &i.destination)),
        (Format::Call, extra) => {
            line.operand(0, &destination(i.access_mode, &i.destination));
            match extra {
                Extra::Branch(branch) => line.operand(1, &format!("JIP: {}", target(branch.jip))),
                _ => line.operand(1, &source(&i.sources[0])),
            }
        }
        (Format::Branch(shape) | Format::RegisterBranch(shape), Extra::Branch(branch)) => {
            line.operand(0, &format!("JIP: {}", target(branch.jip)));
            if shape.has_uip(generation) {
                line.operand(1, &format!("UIP: {}", target(branch.uip)));
            }
        }
        // Relative to the next instruction, where labels count from the branch.
        (Format::Jump, Extra::Branch(branch)) => {
            line.operand(0, &format!("JIP: {}", target(branch.jip)));
        }
        _ => line.operand(0, &source(&i.sources[0])),
    }
    line.pad(OPTIONS_COLUMN);
    line.0.push_str(&options(info, i));
    line.0.push(';');
    line.0
}

/// A line under construction.
struct Line(String);

impl Line {
    /// Pads with spaces up to a column, at least one.
    fn pad(&mut self, column: usize) {
        self.0.push(' ');
        while self.0.len() < column {
            self.0.push(' ');
        }
    }

    fn operand(&mut self, position: usize, text: &str) {
        self.pad(COLUMNS[position]);
        self.0.push_str(text);
    }
}

/// The flag register as text.
fn flag(flag: Flag) -> String {
    format!("f{}.{}", flag.register, flag.subregister)
}

/// Whether the flag register is printed before the operands.
pub(super) fn shows_flag(info: &OpcodeInfo, i: &Instruction) -> bool {
    i.predicate.is_some() || i.condition.is_some() && !info.allows.contains(Allows::CONDITION_WITHOUT_FLAG)
}

/// Everything before the operands.
fn head(info: &OpcodeInfo, i: &Instruction) -> String {
    let mut head = String::new();
    if let Some(predicate) = i.predicate {
        let sign = if predicate.inverse { '-' } else { '+' };
        head.push_str(&format!("({sign}{}", flag(i.flag)));
        if predicate.control != PredicateControl::Normal {
            head.push('.');
            head.push_str(codes::text(codes::predicates(i.access_mode), Some(predicate.control)));
        }
        head.push_str(") ");
    }
    head.push_str(info.mnemonic);
    if i.saturate {
        head.push_str(".sat");
    }
    if let Extra::Math(function) = i.extra {
        head.push(' ');
        head.push_str(codes::text(codes::MATH_FUNCTIONS, function));
    }
    if i.condition.is_some() {
        head.push('.');
        head.push_str(codes::text(codes::CONDITIONS, i.condition));
        if !info.allows.contains(Allows::CONDITION_WITHOUT_FLAG) {
            head.push('.');
            head.push_str(&flag(i.flag));
        }
    }
    head.push_str(&format!("({})", i.exec_size));
    head
}

/// A register's subregister: counted in elements, or in bytes where that is no whole number.
fn subregister(bytes: u8, ty: Type) -> String {
    let size = ty.size() as u8;
    match bytes {
        0 => String::new(),
        _ if bytes.is_multiple_of(size) => format!(".{}", bytes / size),
        _ => format!(".{bytes}b"),
    }
}

fn bare(register: String, subregister_bytes: u8, ty: Type) -> String {
    format!("{register}{}{ty:?}", subregister(subregister_bytes, ty))
}

fn indirect(i: Indirect) -> String {
    let mut text = "g[a0".to_owned();
    if i.subregister != 0 {
        text.push_str(&format!(".{}", i.subregister));
    }
    if i.offset != 0 {
        text.push_str(&format!(" {}", i.offset));
    }
    text.push(']');
    text
}

const CHANNELS: [char; 4] = ['x', 'y', 'z', 'w'];

fn destination(mode: AccessMode, d: &Destination) -> String {
    let register = match d.indirect {
        Some(i) => indirect(i),
        None => d.register.text() + &subregister(d.subregister, d.ty),
    };
    let stride = match mode {
        AccessMode::Align1 => d.hstride,
        AccessMode::Align16 => 1,
    };
    let mask = match (mode, d.writemask) {
        (AccessMode::Align1, _) | (_, 0xf) => String::new(),
        (AccessMode::Align16, 0) => ".none".to_owned(),
        (AccessMode::Align16, mask) => {
            let letters = CHANNELS.iter().enumerate().filter(|(n, _)| mask >> n & 1 != 0).map(|(_, c)| c);
            format!(".{}", letters.collect::<String>())
        }
    };
    format!("{register}<{stride}>{mask}{:?}", d.ty)
}

fn operand_text(generation: Generation, info: &OpcodeInfo, mode: AccessMode, operand: &Operand) -> String {
    match operand {
        Operand::None => String::new(),
        Operand::Immediate { bits, ty } => number::print(*bits, *ty),
        Operand::Register(s) => {
            let complement =
                info.allows.contains(Allows::LOGIC) && generation.capabilities().logic_negate_is_complement;
            let negate = match (s.negate, complement) {
                (false, _) => "",
                (true, false) => "-",
                (true, true) => "~",
            };
            let abs = if s.abs { "(abs)" } else { "" };
            let register = match s.indirect {
                Some(i) => indirect(i),
                None => s.register.text() + &subregister(s.subregister, s.ty),
            };
            let region = region(info, mode, s);
            format!("{negate}{abs}{register}{region}{:?}", s.ty)
        }
    }
}

fn region(info: &OpcodeInfo, mode: AccessMode, s: &Source) -> String {
    let vstride = codes::text(codes::VSTRIDES, s.region.vstride);
    let Region { width, hstride, .. } = s.region;
    match (mode, info.format) {
        (AccessMode::Align1, _) => format!("<{vstride},{width},{hstride}>"),
        (AccessMode::Align16, Format::Ternary) => {
            // Replication reads one channel: without a swizzle the addressed one.
            let absent = if s.replicate { 0 } else { Source::XYZW };
            format!("<{vstride},{width},{hstride}>{}", swizzle(s.swizzle, absent))
        }
        (AccessMode::Align16, _) => format!("<{vstride}>{}", swizzle(s.swizzle, Source::XYZW)),
    }
}

/// `absent` is the default swizzle, which is not printed.
fn swizzle(swizzle: u8, absent: u8) -> String {
    let lanes = [0, 2, 4, 6].map(|shift| CHANNELS[usize::from(swizzle >> shift & 3)]);
    if swizzle == absent {
        String::new()
    } else if lanes.iter().all(|&lane| lane == lanes[0]) {
        format!(".{}", lanes[0])
    } else {
        format!(".{}", lanes.iter().collect::<String>())
    }
}

/// Descriptor, extended descriptor, shared function and what they mean.
fn message(generation: Generation, send: &Send) -> String {
    let end = u32::from(send.end_of_thread) << 31;
    let descriptor = |d: Descriptor, end: u32| match d {
        Descriptor::Immediate(bits) => format!("{:#010x}", bits | end),
        Descriptor::Register(0) => "a0<0>UD".to_owned(),
        Descriptor::Register(n) => format!("a0.{n}<0>UD"),
    };
    let mut text = descriptor(send.descriptor, end);
    if send.extended != Descriptor::Immediate(0) {
        text.push(' ');
        text.push_str(&descriptor(send.extended, 0));
    }
    text.push(' ');
    text.push_str(codes::text(codes::SHARED_FUNCTIONS, send.target));
    text.push_str(" MsgDesc: ");
    text.push_str(&match send.descriptor {
        Descriptor::Register(_) => "indirect".to_owned(),
        Descriptor::Immediate(bits) => match Message::decode(generation, send.target, bits) {
            Ok(message) => message.to_string(),
            Err(_) => "unknown".to_owned(),
        },
    });
    text
}

/// The options, including the braces.
fn options(info: &OpcodeInfo, i: &Instruction) -> String {
    let mut words: Vec<String> = Vec::new();
    words.push(codes::text(codes::ACCESS_MODES, i.access_mode).to_owned());
    if i.no_mask {
        words.push("WE_all".to_owned());
    }
    match (i.no_dd_clear, i.no_dd_check) {
        (true, true) => words.push("NoDDClr,NoDDChk".to_owned()),
        (true, false) => words.push("NoDDClr".to_owned()),
        (false, true) => words.push("NoDDChk".to_owned()),
        (false, false) => {}
    }
    words.extend(channels(i));
    if i.thread_control != ThreadControl::Normal {
        words.push(codes::text(codes::THREAD_CONTROLS, i.thread_control).to_owned());
    }
    if let Extra::Branch(Branch { control: true, .. }) = i.extra {
        words.push("BranchCtrl".to_owned());
    }
    if i.accumulator_write {
        words.push("AccWrEnable".to_owned());
    }
    if i.debug {
        words.push("breakpoint".to_owned());
    }
    if i.flag != Flag::default() && !shows_flag(info, i) {
        words.push(flag(i.flag));
    }
    if matches!(i.extra, Extra::Send(Send { end_of_thread: true, .. })) {
        words.push("EOT".to_owned());
    }
    format!("{{ {} }}", words.join(" "))
}

/// The first channel, in the unit of the execution size.
fn channels(i: &Instruction) -> Option<String> {
    let offset = i.channel_offset;
    if i.exec_size < 8 || !offset.is_multiple_of(8) {
        Some(format!("{}N", offset / 4 + 1))
    } else if i.exec_size == 16 && offset.is_multiple_of(16) {
        Some(format!("{}H", offset / 16 + 1))
    } else if i.exec_size == 32 && offset == 0 {
        None
    } else {
        Some(format!("{}Q", offset / 8 + 1))
    }
}
