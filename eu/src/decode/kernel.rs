//! Decoded kernels.

use std::sync::OnceLock;

use gencl_isa::{Extra, Generation, Instruction, Operand, Register};
use rustc_hash::FxHashMap;

use super::endless::{is_silent, reaches_end};
use super::explore::{END_OF_CODE, FetchResult, Found, explore, first_instruction};
use super::lower::Lowering;
use crate::device::Device;
use crate::dispatch::GRF_SIZE;
use crate::fault::Fault;
use crate::op::{Action, Branch, Op};

/// A decoded kernel, which can be executed by any number of threads.
#[derive(Debug)]
pub struct Kernel {
    /// The lowered instructions, by ascending offset.
    ops: Vec<Op>,
    /// Index of the instruction at a byte offset.
    indices: FxHashMap<u32, usize>,
    /// The instructions as decoded; the same indices.
    instructions: Vec<Option<Instruction>>,
    /// Refuse what the hardware leaves undefined.
    strict: bool,
    generation: Generation,
    /// See [`Kernel::reads_thread_number`].
    reads_thread_number: bool,
    /// See [`Kernel::buffer_surfaces`].
    buffer_surfaces: Vec<u8>,
    /// See [`Kernel::can_end`]: computed when it is first wanted.
    reaches_end: OnceLock<Vec<bool>>,
}

impl Kernel {
    /// Decodes the kernel that begins at byte `start` of `code`: all instructions that can be reached from
    /// there.
    ///
    /// # Errors
    /// A start outside of the code; in strict mode, an instruction that the hardware does not define. Other
    /// instructions that cannot be executed are faults when they are reached.
    pub fn decode(device: &Device, code: &[u8], start: usize, strict: bool) -> Result<Kernel, Fault> {
        if start >= code.len() {
            return Err(Fault::illegal(format!("the kernel's start {start:#x} is outside of the code")));
        }
        let code = &code[start..];
        Kernel::explore(device, strict, |offset| {
            Ok(first_instruction(device, code.get(offset as usize..).unwrap_or_default()))
        })
    }

    /// A kernel of uncompacted instructions.
    ///
    /// # Errors
    /// As [`Kernel::decode`].
    pub fn assemble(device: &Device, instructions: &[Instruction], strict: bool) -> Result<Kernel, Fault> {
        Kernel::explore(device, strict, |offset| {
            let instruction = instructions.get(offset as usize / 16).filter(|_| offset % 16 == 0);
            Ok(instruction.map(|i| (16, *i)).ok_or_else(|| END_OF_CODE.into()))
        })
    }

    /// Decodes a kernel by following the control flow from offset 0; `fetch` returns the instruction at an
    /// offset.
    ///
    /// # Errors
    /// Those of `fetch`; in strict mode, an instruction that the hardware does not define.
    pub fn explore(
        device: &Device,
        strict: bool,
        fetch: impl FnMut(u32) -> Result<FetchResult, Fault>,
    ) -> Result<Kernel, Fault> {
        Kernel::lower(device, strict, &explore(fetch)?)
    }

    fn lower(device: &Device, strict: bool, found: &Found) -> Result<Kernel, Fault> {
        let generation = device.generation;
        let indices: FxHashMap<u32, usize> = found.keys().enumerate().map(|(n, o)| (*o, n)).collect();
        let lowering = Lowering { generation, atom: device.atom, strict, found, indices: &indices };
        let mut ops = Vec::with_capacity(found.len());
        for (&offset, instruction) in found {
            ops.push(
                lowering
                    .op(offset, instruction)
                    .map_err(|fault| locate(fault, generation, offset, instruction))?,
            );
        }
        let targets: Vec<usize> = ops.iter().enumerate().flat_map(|(n, op)| parking_targets(n, op)).collect();
        for target in targets {
            if let Some(op) = ops.get_mut(target) {
                op.is_target = true;
            }
        }
        let instructions: Vec<_> = found.values().map(|f| f.as_ref().ok().map(|(_, i)| *i)).collect();
        let reads_thread_number = instructions.iter().flatten().any(reads_thread_number);
        let mut buffer_surfaces: Vec<u8> = ops.iter().filter_map(buffer_surface).collect();
        buffer_surfaces.sort_unstable();
        buffer_surfaces.dedup();
        Ok(Kernel {
            ops,
            indices,
            instructions,
            strict,
            generation,
            reads_thread_number,
            buffer_surfaces,
            reaches_end: OnceLock::new(),
        })
    }

    /// Its instructions.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Binding table indices of the surfaces that its messages use as buffers, ascending.
    pub fn buffer_surfaces(&self) -> &[u8] {
        &self.buffer_surfaces
    }

    /// Whether a thread that is at an instruction, given by its index, may ever end.
    pub fn can_end(&self, index: usize) -> bool {
        self.reaches_end.get_or_init(|| reaches_end(&self.ops)).get(index).copied().unwrap_or(true)
    }

    /// Whether an instruction, given by its index, is in a loop in which a thread does nothing that others notice or can
    /// change: if it comes back in the same state, it never ends. Takes time in proportion to the code.
    pub fn is_silent(&self, index: usize) -> bool {
        is_silent(&self.ops, index)
    }

    /// The index of the instruction at a byte offset.
    pub fn index_of(&self, offset: u32) -> Option<usize> {
        self.indices.get(&offset).copied()
    }

    /// Whether it was decoded in strict mode, which refuses what the hardware leaves undefined.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Whether an instruction, other than messages, may read the number of the hardware thread (FFTID,
    /// `g0.5`).
    pub fn reads_thread_number(&self) -> bool {
        self.reads_thread_number
    }

    /// The generation that it is for.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The assembly text of an instruction, by its index.
    pub fn text(&self, index: usize) -> String {
        match self.instructions.get(index) {
            Some(Some(instruction)) => gencl_isa::print(self.generation, instruction),
            _ => "not an instruction".into(),
        }
    }

    /// Adds the instruction to a fault.
    pub fn locate(&self, mut fault: Fault, index: usize) -> Fault {
        if let Some(op) = self.ops.get(index) {
            fault.kernel_offset.get_or_insert(op.offset);
        }
        if let (Some(Some(instruction)), None) = (self.instructions.get(index), &fault.instruction) {
            fault.instruction = Some(gencl_isa::print(self.generation, instruction));
            // Faults of messages count lanes from the instruction's first channel.
            fault.lane = fault.lane.map(|lane| lane + u32::from(instruction.channel_offset));
        }
        fault
    }
}

fn locate(mut fault: Fault, generation: Generation, offset: u32, found: &FetchResult) -> Fault {
    fault.kernel_offset = Some(offset);
    fault.instruction = found.as_ref().ok().map(|(_, i)| gencl_isa::print(generation, i));
    fault
}

/// The surface that an instruction's message uses as a buffer.
fn buffer_surface(op: &Op) -> Option<u8> {
    match &op.action {
        Action::Message(message) => message.kind.as_ref()?.buffer_surface(),
        Action::Execute(_) | Action::Branch(_) | Action::Wait(_) | Action::Nop | Action::Refused(_) => None,
    }
}

/// Whether an instruction other than a message may read dword 5 of `g0`.
fn reads_thread_number(instruction: &Instruction) -> bool {
    const NUMBER: std::ops::Range<u32> = 20..24;
    let reads = |source: &Operand| {
        let Operand::Register(source) = source else { return false };
        let begin = u32::from(source.subregister);
        let scalar = (source.region.vstride, source.region.width) == (0, 1);
        let end = if scalar { begin + source.ty.size() } else { GRF_SIZE as u32 };
        source.indirect.is_some()
            || source.register == Register::Grf(0) && begin < NUMBER.end && end > NUMBER.start
    };
    !matches!(instruction.extra, Extra::Send(_)) && instruction.sources.iter().any(reads)
}

/// The instructions at which a branch may park channels.
fn parking_targets(index: usize, op: &Op) -> Vec<usize> {
    let Action::Branch(branch) = &op.action else { return Vec::new() };
    match *branch {
        Branch::Jump(_) | Branch::JumpIndirect | Branch::Join { .. } => Vec::new(),
        Branch::If { jip } | Branch::Diverge { jip } => vec![jip],
        Branch::While { .. } | Branch::Call { .. } | Branch::Return => vec![index + 1],
        Branch::Else { uip, .. } | Branch::Leave { uip, .. } | Branch::GotoForward { uip, .. } => vec![uip],
        Branch::GotoBackward { jip, uip } => vec![jip, uip],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_beyond_the_last_register_are_refused() {
        let device = Device::named("skl").expect("it is there");
        let is_refused = |line: &str, strict| {
            let instruction = gencl_isa::parse(device.generation, line).expect("it is an instruction");
            match Kernel::assemble(device, &[instruction], strict) {
                Ok(kernel) => matches!(kernel.ops()[0].action, Action::Refused(_)),
                Err(fault) => fault.to_string().contains("flag"),
            }
        };
        for strict in [false, true] {
            assert!(is_refused("(+f1.1) mov(16) g2<1>UD g4<8,8,1>UD { align1 2H };", strict));
            assert!(is_refused("cmp.l.f1.1(16) null<1>UD g2<8,8,1>UD g4<8,8,1>UD { align1 2H };", strict));
            assert!(is_refused("(+f1.1) mov(32) g2<1>UW g4<16,16,1>UW { align1 };", strict));
        }
        assert!(!is_refused("(+f0.1) mov(16) g2<1>UD g4<8,8,1>UD { align1 2H };", false));
        assert!(!is_refused("sel.l.f1.1(16) g2<1>UD g4<8,8,1>UD g6<8,8,1>UD { align1 2H };", false));
    }

    #[test]
    fn reads_of_the_thread_number_are_found() {
        let device = Device::named("ivb").expect("it is there");
        let reads = |line: &str| {
            let instruction = gencl_isa::parse(device.generation, line).expect("it is an instruction");
            reads_thread_number(&instruction)
        };
        assert!(reads("and(1) g2<1>UD g0.5<0,1,0>UD 0x000001ffUD { align1 WE_all 1N };"));
        assert!(reads("mov(1) g2<1>UW g0.11<0,1,0>UW { align1 WE_all 1N };"));
        assert!(reads("mov(8) g2<1>UD g0<8,8,1>UD { align1 WE_all 1Q };"));
        assert!(reads("mov(1) g2<1>UD g[a0]<0,1,0>UD { align1 WE_all 1N };"));
        assert!(!reads("mov(1) g2<1>UD g0.6<0,1,0>UD { align1 WE_all 1N };"));
        assert!(!reads("mov(1) g2<1>UD g0.1<0,1,0>UD { align1 WE_all 1N };"));
        assert!(!reads("mov(8) g2<1>UD g1<8,8,1>UD { align1 1Q };"));
    }
}
