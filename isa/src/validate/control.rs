//! Rules on opcodes, execution sizes and branches.

use super::subject::Subject;
use super::{Rule, ViolationSite, gen7_to_9, whole};
use crate::opcode::{Allows, Format};
use crate::{AccessMode, Arf, Extra, Opcode, Register};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    gen7_to_9("control.opcode", "Opcode Encoding", "the generation has no such instruction", opcode),
    gen7_to_9("control.exec-size", "Execution Size", "an execution size is 1, 2, 4, 8, 16 or 32", exec_size),
    gen7_to_9("control.channels", "Quarter Control, Nibble Control", "the channels lie within the thread's 32", channels),
    gen7_to_9("control.access-mode", "Three-Source Instructions", "three-source instructions are align16", access_mode),
    gen7_to_9("control.predicate", "Instruction Set Reference, else", "the instruction has no predicate", predicate),
    gen7_to_9("control.branch-alignment", "Instruction Set Reference, JIP and UIP", "a branch's offset is a multiple of 8 bytes", branch_alignment),
    gen7_to_9("control.jmpi", "Instruction Set Reference, jmpi", "jmpi has one channel and no execution mask", jmpi),
    gen7_to_9("control.wait", "Instruction Set Reference, wait", "wait has one channel, a notification register and no execution mask", wait),
    gen7_to_9("control.illegal", "Instruction Set Reference, illegal", "illegal raises an exception", illegal),
];

fn opcode(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.info.code(s.generation).is_none())
}

fn exec_size(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(!matches!(s.i.exec_size, 1 | 2 | 4 | 8 | 16 | 32))
}

fn channels(s: &Subject<'_>) -> Vec<ViolationSite> {
    let end = u32::from(s.i.channel_offset) + s.lanes();
    whole(!s.i.channel_offset.is_multiple_of(4) || end > 32)
}

fn access_mode(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.info.format == Format::Ternary && s.i.access_mode != AccessMode::Align16)
}

fn predicate(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.predicate.is_some() && s.info.allows.contains(Allows::NO_PREDICATE))
}

fn branch_alignment(s: &Subject<'_>) -> Vec<ViolationSite> {
    match s.i.extra {
        Extra::Branch(branch) => whole(branch.jip % 8 != 0 || branch.uip % 8 != 0),
        _ => Vec::new(),
    }
}

fn jmpi(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.opcode == Opcode::Jmpi && (s.i.exec_size != 1 || !s.i.no_mask))
}

fn wait(s: &Subject<'_>) -> Vec<ViolationSite> {
    let notification = matches!(s.i.destination.register, Register::Arf(Arf::Notification(_)));
    whole(s.i.opcode == Opcode::Wait && (s.i.exec_size != 1 || !s.i.no_mask || !notification))
}

fn illegal(s: &Subject<'_>) -> Vec<ViolationSite> {
    whole(s.i.opcode == Opcode::Illegal)
}
