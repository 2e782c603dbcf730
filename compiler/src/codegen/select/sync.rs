//! Barriers, fences, the end.

use super::Selector;
use crate::codegen::build::{Operation, Val};
use crate::codegen::lir::Inst;
use crate::codegen::messages::Message;
use gencl_isa::{
    Arf, Destination, Extra, Instruction as Isa, Opcode, Operand, Region, Register, Source, Type,
};

/// The register that the end-of-thread message is sent from: it must be one of the last 16.
const LAST: u8 = 127;

impl Selector<'_> {
    /// Waits until all threads of the work-group are here.
    pub fn barrier(&mut self, global: bool) {
        self.barrier = true;
        if global {
            self.fence();
        }
        let Ok(header) = self.header() else { return };
        let payload = self.b.registers(1);
        let simd = std::mem::replace(&mut self.b.simd, 8);
        let dst = crate::codegen::build::Dest { at: payload, stride: 4, ty: Type::UD, fresh: true };
        let and = Operation { all_lanes: true, ..Operation::new(Opcode::And) };
        let id = Val::reg(header.plus(2 * 4), 0, Type::UD);
        self.b.op(and, dst, &[id, Val::imm(u64::from(self.target.barrier_mask), Type::UD)]);
        self.b.simd = simd;
        let zero = Val::imm(0, Type::UD);
        self.b.scalar_arf(Opcode::Mov, Arf::Notification(0), 0, Type::UD, &[zero]);
        self.b.send(Message::barrier().send(1, 0, 0, false), 1, 0, [Some(payload), None], None);
        let mut wait = Isa::new(Opcode::Wait, 1);
        wait.no_mask = true;
        let register = Register::Arf(Arf::Notification(0));
        wait.destination = Destination::new(register, 0, Type::UD);
        wait.sources[0] = Operand::Register(Source::new(register, 0, Region::SCALAR, Type::UD));
        self.b.push(Inst::new(wait));
    }

    /// Goes on when all earlier accesses to global memory are done.
    pub fn fence(&mut self) {
        let Ok(header) = self.header() else { return };
        let done = self.b.registers(1);
        let mut isa = Isa::new(Opcode::Send, 8);
        isa.no_mask = true;
        isa.extra = Extra::Send(Message::fence().send(1, 0, 1, false));
        isa.destination = Destination::new(Register::Grf(0), 0, Type::UD);
        isa.sources[0] = Operand::Register(Source::new(Register::Grf(0), 0, Region::SCALAR, Type::UD));
        let mut inst = Inst::new(isa);
        inst.srcs[0] = Some(header);
        inst.dst = Some(done);
        inst.fresh = true;
        self.b.push(inst);
        // Reading the answer is what waits for it.
        let mut isa = Isa::new(Opcode::Mov, 8);
        isa.no_mask = true;
        isa.destination = Destination::null(Type::UD);
        isa.sources[0] = Operand::Register(Source::new(Register::Grf(0), 0, Region::new(8, 8, 1), Type::UD));
        let mut inst = Inst::new(isa);
        inst.srcs[0] = Some(done);
        self.b.push(inst);
    }

    /// Ends the thread.
    pub fn end_of_thread(&mut self) {
        let Ok(header) = self.header() else { return };
        let whole =
            |register: Register| Operand::Register(Source::new(register, 0, Region::new(8, 8, 1), Type::UD));
        let mut isa = Isa::new(Opcode::Mov, 8);
        isa.no_mask = true;
        isa.destination = Destination::new(Register::Grf(LAST), 0, Type::UD);
        isa.sources[0] = whole(Register::Grf(0));
        let mut inst = Inst::new(isa);
        inst.srcs[0] = Some(header);
        self.b.push(inst);
        let mut isa = Isa::new(Opcode::Send, 8);
        isa.no_mask = true;
        isa.extra = Extra::Send(Message::end_of_thread().send(1, 0, 0, true));
        isa.destination = Destination::null(Type::UD);
        isa.sources[0] = Operand::Register(Source::new(Register::Grf(LAST), 0, Region::SCALAR, Type::UD));
        self.b.push(Inst::new(isa));
    }
}
