//! Barriers, fences, end of thread.

use super::{Failure, Selector};
use crate::codegen::lir::Inst;
use crate::codegen::operand::{Operation, Val};
use crate::ir::Instruction;
use gencl_isa::message::{GatewayFunction, Operation as Access};
use gencl_isa::{
    Arf, Destination, Extra, Instruction as Isa, Opcode, Operand, Region, Register, SharedFunction, Source,
    Type,
};

/// The register that the end-of-thread message is sent from: it must be one of the last 16.
const EOT_REGISTER: u8 = 127;

impl Selector<'_> {
    /// A barrier of the work-group.
    pub fn barrier(&mut self, global: bool) -> Result<(), Failure> {
        self.barrier_arrive(global)?;
        self.barrier_wait();
        Ok(())
    }

    /// Tells the gateway that the thread has come to a barrier.
    pub fn barrier_arrive(&mut self, global: bool) -> Result<(), Failure> {
        self.barrier = true;
        if global {
            self.fence()?;
        }
        let header = self.header()?;
        let payload = self.b.registers(1);
        let simd = std::mem::replace(&mut self.b.simd, 8);
        let dst = crate::codegen::operand::Dest { at: payload, stride: 4, ty: Type::UD, kills: true };
        let and = Operation { all_lanes: true, ..Operation::new(Opcode::And) };
        let id = Val::reg(header.plus(2 * 4), 0, Type::UD);
        self.b.op(and, dst, &[id, Val::imm(u64::from(self.target.messages.barrier_mask), Type::UD)]);
        self.b.simd = simd;
        let zero = Val::imm(0, Type::UD);
        self.b.scalar_arf(Opcode::Mov, Arf::Notification(0), 0, Type::UD, &[zero]);
        let barrier = Access::Gateway { function: GatewayFunction::Barrier, notify: 0 };
        let message = self.message(barrier, 0)?;
        self.b.send(message, 1, 0, [Some(payload), None], None);
        Ok(())
    }

    /// Waits for the gateway's notification that all threads have come to the barrier.
    pub fn barrier_wait(&mut self) {
        let mut wait = Isa::new(Opcode::Wait, 1);
        wait.no_mask = true;
        let register = Register::Arf(Arf::Notification(0));
        wait.destination = Destination::new(register, 0, Type::UD);
        wait.sources[0] = Operand::Register(Source::new(register, 0, Region::SCALAR, Type::UD));
        self.b.push(Inst::new(wait));
    }

    /// Reads the time stamp, which counts cycles, both dwords at once (Skylake manual, Volume 7, "Timestamp Register";
    /// Mesa, `get_timestamp`).
    pub fn clock(&mut self, i: &Instruction) -> Result<(), Failure> {
        let read = self.b.registers(1);
        let mut isa = Isa::new(Opcode::Mov, 4);
        isa.no_mask = true;
        isa.destination = Destination::new(Register::Grf(0), 0, Type::UD);
        let register = Register::Arf(Arf::Timestamp);
        isa.sources[0] = Operand::Register(Source::new(register, 0, Region::new(4, 4, 1), Type::UD));
        let mut inst = Inst::new(isa);
        inst.dst = Some(read);
        inst.kills = true;
        self.b.push(inst);
        for (number, dst) in (0..).zip(&i.dsts) {
            let dst = self.dest(*dst, Type::UD)?;
            self.b.mov(dst, Val::reg(read.plus(4 * number), 0, Type::UD));
        }
        Ok(())
    }

    /// Waits until all earlier accesses to global memory have completed.
    pub fn fence(&mut self) -> Result<(), Failure> {
        let header = self.header()?;
        let done = self.b.registers(1);
        let mut isa = Isa::new(Opcode::Send, 8);
        isa.no_mask = true;
        let fence = Access::Fence { port: SharedFunction::DataCache, commit: true, flush: 0, surface: 0 };
        isa.extra = Extra::Send(self.message(fence, 0)?);
        isa.destination = Destination::new(Register::Grf(0), 0, Type::UD);
        isa.sources[0] = Operand::Register(Source::new(Register::Grf(0), 0, Region::SCALAR, Type::UD));
        let mut inst = Inst::new(isa);
        inst.srcs[0] = Some(header);
        inst.dst = Some(done);
        inst.kills = true;
        self.b.push(inst);
        // Reading the response waits for it.
        let mut isa = Isa::new(Opcode::Mov, 8);
        isa.no_mask = true;
        isa.destination = Destination::null(Type::UD);
        isa.sources[0] = Operand::Register(Source::new(Register::Grf(0), 0, Region::new(8, 8, 1), Type::UD));
        let mut inst = Inst::new(isa);
        inst.srcs[0] = Some(done);
        self.b.push(inst);
        Ok(())
    }

    /// Ends the thread.
    pub fn end_of_thread(&mut self) -> Result<(), Failure> {
        let header = self.header()?;
        let whole =
            |register: Register| Operand::Register(Source::new(register, 0, Region::new(8, 8, 1), Type::UD));
        let mut isa = Isa::new(Opcode::Mov, 8);
        isa.no_mask = true;
        isa.destination = Destination::new(Register::Grf(EOT_REGISTER), 0, Type::UD);
        isa.sources[0] = whole(Register::Grf(0));
        let mut inst = Inst::new(isa);
        inst.srcs[0] = Some(header);
        self.b.push(inst);
        let end = Isa::end_of_thread(self.target.generation, EOT_REGISTER)
            .map_err(|e| Failure::unsupported(e.to_string()))?;
        self.b.push(Inst::new(end));
        Ok(())
    }
}
