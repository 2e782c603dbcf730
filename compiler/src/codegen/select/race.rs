//! Checks for data races, which a simulator performs.

use super::memory::simd_mode;
use super::{Failure, Selector};
use crate::codegen::lir::GRF;
use crate::codegen::operand::{Dest, Val};
use crate::ir::Instruction;
use gencl_isa::Type;
use gencl_isa::message::Operation as Access;
use gencl_program::PushSource;

/// Maximum number of lanes of a message.
const MESSAGE_LANES: u32 = 16;

impl Selector<'_> {
    /// Messages that check an access of all lanes ([`gencl_eu::message::RaceCheck`]).
    pub fn race_check(
        &mut self,
        site: u32,
        granules: u32,
        control: u8,
        i: &Instruction,
    ) -> Result<(), Failure> {
        let sources = self.sources(i)?;
        let width = self.b.simd.min(MESSAGE_LANES);
        let (payload, each) = self.parameters(&sources, width, 1)?;
        let table = self.pushed(PushSource::RaceTable, 8)?;
        let header = [
            Val::imm(site.into(), Type::UD),
            Val::imm(granules.into(), Type::UD),
            table.part(0, Type::UD),
            table.part(4, Type::UD),
        ];
        let control = control | (self.b.simd.trailing_zeros() as u8 - 3) << 6;
        let message = self.message(Access::RaceCheck { control, simd: simd_mode(width) }, 0)?;
        for (first, begin) in (0..self.b.simd).step_by(width as usize).zip((0..).step_by(each as usize)) {
            for (place, value) in (0..GRF).step_by(4).zip(header) {
                let at = payload.plus(begin + place);
                self.b.mov(Dest { at, stride: 0, ty: Type::UD, kills: false }, value);
            }
            self.b.send(message, width, first, [Some(payload.plus(begin)), None], None);
        }
        Ok(())
    }
}
