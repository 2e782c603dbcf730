//! Indirect register access: each lane reads an element of a register by index.
//!
//! The address register `a0` holds 16 byte addresses (Skylake manual, Volume 7, "Indirect Addressing"); a
//! source of `VxH` mode takes one of them for each channel. As in IGC (`EmitPass::emitSimdShuffle`), the
//! index is shifted and added to the address of the register.

use super::build::Builder;
use super::lir::{Fixup, GRF, Inst, VRef};
use super::operand::{Dest, Val, ValueLocation};
use gencl_isa::{Arf, Destination, Indirect, Instruction, Opcode, Operand, Region, Register, Source, Type};

/// A register that is read indirectly.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The first lane's element.
    pub at: VRef,
    /// Size of all elements in bytes.
    pub bytes: u32,
    /// One address for all lanes instead of one for each.
    pub single: bool,
}

impl Builder {
    /// Sets `a0` to the address of `table` plus `offsets`, in bytes: a `UW` for each of `lanes` lanes from
    /// `first` on, at most 16, or a single one.
    pub fn set_addresses(&mut self, table: Table, offsets: Val, first: u32, lanes: u32) {
        let ValueLocation::Register(offsets) = offsets.location else { return };
        let lanes = if table.single { 1 } else { lanes };
        let mut isa = Instruction::new(Opcode::Add, lanes as u8);
        isa.no_mask = true;
        isa.destination = Destination::new(Register::Arf(Arf::Address), 0, Type::UW);
        let region = if table.single { Region::SCALAR } else { Region::new(lanes as u8, lanes as u8, 1) };
        isa.sources[0] = Operand::Register(Source::new(Register::Grf(0), 0, region, Type::UW));
        isa.sources[1] = Operand::Immediate { bits: 0, ty: Type::UW };
        let mut inst = Inst::new(isa);
        inst.srcs[0] = Some(offsets.lane(first));
        inst.fixup = Some(Fixup::AddressOf(table.at));
        self.push(inst);
    }

    /// Copies the elements at the addresses in `a0` plus `offset` bytes to `dst`, for `lanes` lanes from
    /// `begin` on; the first of them uses the first address.
    pub fn read_addressed(&mut self, dst: Dest, table: Table, offset: u32, begin: u32, lanes: u32) {
        let mut step = lanes;
        while step > 1 && dst.at.offset % GRF + (step - 1) * dst.stride + dst.ty.size() > 2 * GRF {
            step /= 2;
        }
        for first in (begin..begin + lanes).step_by(step as usize) {
            let mut isa = Instruction::new(Opcode::Mov, step as u8);
            isa.channel_offset = first as u8;
            isa.no_mask = dst.scalar();
            if !isa.no_mask {
                self.apply_predicate(&mut isa);
            }
            let hstride = if dst.scalar() { 1 } else { dst.stride / dst.ty.size() };
            isa.destination =
                Destination { hstride: hstride as u8, ..Destination::new(Register::Grf(0), 0, dst.ty) };
            let region = if table.single { Region::SCALAR } else { Region::new(Region::VXH, 1, 0) };
            let word = if table.single { 0 } else { (first - begin) as u8 };
            let mut source = Source::new(Register::Grf(0), 0, region, dst.ty);
            source.indirect = Some(Indirect { subregister: word, offset: offset as i16 });
            isa.sources[0] = Operand::Register(source);
            let mut inst = Inst::new(isa);
            inst.srcs[0] = Some(table.at);
            inst.indirect_span = table.bytes;
            inst.dst = Some(dst.at.plus(first * dst.stride));
            inst.kills = dst.kills;
            self.push(inst);
        }
    }
}
