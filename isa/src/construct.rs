//! Constructors for code generation.

use crate::message::{Message, MessageError};
use crate::{
    AccessMode, Arf, Branch, Destination, Extra, Generation, Instruction, MathFunction, Opcode, Operand,
    Region, Register, Source, Type,
};

impl Operand {
    /// A region of general registers from byte `subregister` of `register` on.
    pub const fn grf(register: u8, subregister: u8, region: Region, ty: Type) -> Operand {
        Operand::Register(Source::new(Register::Grf(register), subregister, region, ty))
    }

    /// One element of a general register for all channels.
    pub const fn scalar(register: u8, subregister: u8, ty: Type) -> Operand {
        Operand::grf(register, subregister, Region::SCALAR, ty)
    }

    /// A 32-bit float.
    pub const fn float(value: f32) -> Operand {
        Operand::Immediate { bits: value.to_bits() as u64, ty: Type::F }
    }

    /// An unsigned dword.
    pub const fn dword(value: u32) -> Operand {
        Operand::Immediate { bits: value as u64, ty: Type::UD }
    }

    /// A signed dword.
    pub const fn int(value: i32) -> Operand {
        Operand::Immediate { bits: value as u32 as u64, ty: Type::D }
    }

    /// An unsigned word.
    pub const fn word(value: u16) -> Operand {
        Operand::Immediate { bits: value as u64, ty: Type::UW }
    }

    /// Toggles the negate modifier (complement, for logic instructions); immediates are unchanged.
    pub const fn negated(self) -> Operand {
        match self {
            Operand::Register(s) => Operand::Register(Source { negate: !s.negate, ..s }),
            other => other,
        }
    }
}

impl Instruction {
    /// An instruction with one source.
    pub const fn unary(
        opcode: Opcode,
        exec_size: u8,
        destination: Destination,
        source: Operand,
    ) -> Instruction {
        Instruction {
            destination,
            sources: [source, Operand::None, Operand::None],
            ..Instruction::new(opcode, exec_size)
        }
    }

    /// An instruction with two sources.
    pub const fn binary(
        opcode: Opcode,
        exec_size: u8,
        destination: Destination,
        a: Operand,
        b: Operand,
    ) -> Instruction {
        Instruction { destination, sources: [a, b, Operand::None], ..Instruction::new(opcode, exec_size) }
    }

    /// An instruction with three sources, align16. Sources are packed, or one element for all channels if
    /// their region is `<0,1,0>`; other regions are ignored.
    pub fn ternary(
        opcode: Opcode,
        exec_size: u8,
        destination: Destination,
        sources: [Source; 3],
    ) -> Instruction {
        let sources = sources.map(|s| {
            let replicate = s.region == Region::SCALAR;
            let region = if replicate { s.region } else { Region::new(4, 4, 1) };
            // Replicates the addressed channel.
            let swizzle = if replicate { 0 } else { Source::XYZW };
            Operand::Register(Source { region, replicate, swizzle, ..s })
        });
        Instruction {
            access_mode: AccessMode::Align16,
            destination,
            sources,
            ..Instruction::new(opcode, exec_size)
        }
    }

    /// A math function of one argument, or with `b` of two.
    pub fn math(
        function: MathFunction,
        exec_size: u8,
        destination: Destination,
        a: Operand,
        b: Option<Operand>,
    ) -> Instruction {
        let null = Source::new(Register::NULL, 0, Region::new(8, 8, 1), a.ty().unwrap_or(Type::F));
        let b = b.unwrap_or(Operand::Register(null));
        Instruction {
            extra: Extra::Math(function),
            ..Instruction::binary(Opcode::Math, exec_size, destination, a, b)
        }
    }

    /// A message with its payload from register `payload` on.
    ///
    /// # Errors
    /// A message that the generation does not have.
    pub fn send(
        generation: Generation,
        exec_size: u8,
        destination: Destination,
        payload: u8,
        message: &Message,
    ) -> Result<Instruction, MessageError> {
        let send = message.send(generation, 0, false)?;
        Ok(Instruction {
            extra: Extra::Send(send),
            ..Instruction::unary(Opcode::Send, exec_size, destination, Operand::scalar(payload, 0, Type::UD))
        })
    }

    /// A branch with offsets in bytes from itself.
    pub const fn branch(opcode: Opcode, exec_size: u8, jip: i32, uip: i32) -> Instruction {
        Instruction {
            extra: Extra::Branch(Branch { jip, uip, control: false }),
            ..Instruction::new(opcode, exec_size)
        }
    }

    /// `jmpi` by bytes from the next instruction, regardless of the execution mask.
    pub const fn jump(bytes: i32) -> Instruction {
        Instruction { no_mask: true, ..Instruction::branch(Opcode::Jmpi, 1, bytes, 0) }
    }

    /// `wait` for a notification: 0 is that of barriers.
    pub const fn wait(notification: u8) -> Instruction {
        let register = Register::Arf(Arf::Notification(0));
        Instruction {
            no_mask: true,
            destination: Destination::new(register, notification.wrapping_mul(4), Type::UD),
            ..Instruction::new(Opcode::Wait, 1)
        }
    }

    /// The thread's last message, to the thread spawner; its payload, a copy of `g0`, is in `payload`
    /// (112 to 127).
    ///
    /// # Errors
    /// Never for the existing generations, which all have the message.
    pub fn end_of_thread(generation: Generation, payload: u8) -> Result<Instruction, MessageError> {
        let operation =
            crate::message::Operation::ThreadSpawner { keep_handle: true, root: false, spawn: false };
        let message = Message::new(operation);
        let mut instruction =
            Instruction::send(generation, 8, Destination::null(Type::UW), payload, &message)?;
        instruction.no_mask = true;
        if let Extra::Send(send) = &mut instruction.extra {
            send.end_of_thread = true;
        }
        Ok(instruction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Operation, SimdMode, surface};
    use crate::{parse, validate};

    /// Compares constructed instructions with parsed ones.
    #[test]
    fn constructed_instructions_equal_parsed_ones() {
        let gen9 = Generation::Gen9;
        let d = |register, ty| Destination::new(Register::Grf(register), 0, ty);
        let packed = Region::new(8, 8, 1);
        let source = |register, region| Source::new(Register::Grf(register), 0, region, Type::F);
        let read = Message::new(Operation::Untyped {
            write: false,
            a64: true,
            surface: surface::STATELESS,
            simd: SimdMode::Simd16,
            channels: 1,
        });
        let cases = [
            (
                Instruction::unary(Opcode::Mov, 8, d(3, Type::F), Operand::float(1.5)),
                "mov(8) g3<1>F 0x3fc00000F { align1 1Q };",
            ),
            (
                Instruction::binary(
                    Opcode::Add,
                    16,
                    d(4, Type::D),
                    Operand::grf(6, 0, packed, Type::D).negated(),
                    Operand::int(-7),
                ),
                "add(16) g4<1>D -g6<8,8,1>D -7D { align1 1H };",
            ),
            (
                Instruction::binary(
                    Opcode::And,
                    8,
                    d(4, Type::UW),
                    Operand::scalar(6, 4, Type::UW),
                    Operand::word(15),
                ),
                "and(8) g4<1>UW g6.2<0,1,0>UW 0x000fUW { align1 1Q };",
            ),
            (
                Instruction::binary(
                    Opcode::Shl,
                    8,
                    d(4, Type::UD),
                    Operand::grf(6, 0, packed, Type::UD),
                    Operand::dword(2),
                ),
                "shl(8) g4<1>UD g6<8,8,1>UD 0x00000002UD { align1 1Q };",
            ),
            (
                Instruction::ternary(
                    Opcode::Mad,
                    8,
                    d(3, Type::F),
                    [source(4, packed), source(5, Region::SCALAR), source(6, packed)],
                ),
                "mad(8) g3<1>F g4<4,4,1>F g5<0,1,0>F g6<4,4,1>F { align16 1Q };",
            ),
            (
                Instruction::math(
                    MathFunction::Sqrt,
                    8,
                    d(3, Type::F),
                    Operand::grf(4, 0, packed, Type::F),
                    None,
                ),
                "math sqrt(8) g3<1>F g4<8,8,1>F null<8,8,1>F { align1 1Q };",
            ),
            (
                Instruction::send(gen9, 16, d(10, Type::UD), 20, &read).unwrap(),
                "send(16) g10<1>UD g20<0,1,0>UD 0x08245eff dp data 1 { align1 1H };",
            ),
            (Instruction::branch(Opcode::If, 16, 32, 64), "if(16) JIP: 32 UIP: 64 { align1 1H };"),
            (Instruction::jump(-48), "jmpi(1) JIP: -48 { align1 WE_all 1N };"),
            (Instruction::wait(1), "wait(1) n0.1<1>UD { align1 WE_all 1N };"),
            (
                Instruction::end_of_thread(gen9, 127).unwrap(),
                "send(8) null<1>UW g127<0,1,0>UD 0x82000010 thread_spawner { align1 WE_all 1Q EOT };",
            ),
        ];
        for (instruction, text) in cases {
            assert_eq!(parse(gen9, text), Ok(instruction), "{text}");
            assert!(validate(gen9, &instruction).is_empty(), "{text}");
        }
    }
}
