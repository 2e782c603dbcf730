//! The command streamer: reads a batch and executes its commands one after the other.
//!
//! Written from the Broadwell and Skylake manuals (Volume 2a "Command Reference: Instructions", Volume 7
//! "3D-Media-GPGPU") and Mesa's `gen8.xml` and `gen9.xml`, independently of what the runtime emits.
//! Generations differ in tables only: positions of fields (`layouts.rs`), lengths of commands
//! (`commands.rs`), meanings of codes (`traits.rs`). An unknown command or register, a reserved bit that is
//! set, or missing state stops the batch with a fault.

mod command;
mod commands;
mod field;
mod layouts;
mod math;
mod media;
mod mi;
mod names;
mod pipe_control;
mod pipeline_3d;
mod registers;
mod state;
#[cfg(test)]
mod tests;
mod traits;

pub use state::ContextState;

use std::sync::{Arc, LazyLock};

use command::{Command, Engines, Flow};
use commands::{COMMANDS, row_of};
use field::{COLUMNS, Packet};
use gencl_i915::Engine;
use gencl_isa::Generation;

use crate::gpu::Gpu;
use crate::running::Running;
use gencl_eu::dispatch::LaunchMark;
use gencl_eu::fault::{Fault, Reason};
use gencl_eu::memory::{Access, AddressSpace, Cursor, PageFault, canonical};

/// The command streamer during one batch.
pub struct Streamer<'a> {
    gpu: &'a Gpu,
    memory: &'a Arc<AddressSpace>,
    running: &'a Arc<Running>,
    /// State of the context, which persists from batch to batch.
    state: &'a mut ContextState,
    engine: Engine,
    cursor: Cursor,
    /// Buffer for state that is read, reused.
    read: Vec<u8>,
    /// Where a second-level batch returns to: the address, and the start of that batch.
    caller: Option<(u64, u64)>,
    /// The last walker, if no command has changed the state since.
    last_walker: Option<media::LastWalker<'a>>,
    /// How the driver has marked the next launch.
    mark: LaunchMark,
    /// Number of PIPE_CONTROLs since the last one that stalled; the kernel emits one between batches.
    unstalled: u32,
}

/// Number of commands after which the cancel flag is checked.
const CANCEL_INTERVAL: u32 = 64;

impl<'a> Streamer<'a> {
    /// A streamer for one batch of a context.
    pub fn new(
        gpu: &'a Gpu,
        memory: &'a Arc<AddressSpace>,
        running: &'a Arc<Running>,
        state: &'a mut ContextState,
        engine: Engine,
    ) -> Streamer<'a> {
        let (cursor, read, caller) = (Cursor::default(), Vec::new(), None);
        Streamer {
            gpu,
            memory,
            running,
            state,
            engine,
            cursor,
            read,
            caller,
            last_walker: None,
            mark: LaunchMark::default(),
            unstalled: 0,
        }
    }

    /// Executes the batch at a GPU address up to its end.
    pub fn run(&mut self, batch: u64) -> Result<(), Fault> {
        self.state.registers.resume(self.gpu.device);
        let result = self.commands(batch);
        self.state.registers.suspend(self.gpu.device);
        result
    }

    fn commands(&mut self, batch: u64) -> Result<(), Fault> {
        let (mut begin, mut at) = (canonical(batch), canonical(batch));
        let mut dwords = Vec::with_capacity(32);
        let mut commands = 0u32;
        loop {
            commands = commands.wrapping_add(1);
            if commands.is_multiple_of(CANCEL_INTERVAL) && self.running.cancel.is_set() {
                return Err(placed(Fault::new(Reason::Cancelled), None, begin, at));
            }
            let row = self.fetch(at, &mut dwords).map_err(|f| placed(f, None, begin, at))?;
            let packet = Packet { dwords: &dwords, generation: self.gpu.device.generation };
            let flow = self.execute(row, packet).map_err(|f| placed(f, Some(&COMMANDS[row]), begin, at))?;
            let next = at.wrapping_add(4 * dwords.len() as u64);
            match flow {
                Flow::Next => at = next,
                Flow::Jump(address) => (begin, at) = (address, address),
                Flow::Call(address) => {
                    self.caller = Some((next, begin));
                    (begin, at) = (address, address);
                }
                Flow::End => match self.caller.take() {
                    Some((address, first)) => (at, begin) = (address, first),
                    None => return Ok(()),
                },
            }
        }
    }

    /// Reads the command at an address into `dwords`, and returns the index of its row.
    fn fetch(&mut self, at: u64, dwords: &mut Vec<u32>) -> Result<usize, Fault> {
        let header = self.fetch_dword(at)?;
        let generation = self.gpu.device.generation;
        let Some(row) = row_of(generation, header) else {
            return Err(match names::not_simulated(header) {
                Some(command) => Fault::unsupported(command),
                None => Fault::illegal(format!("unknown command 0x{header:08x}")),
            });
        };
        let length = COMMANDS[row].dwords(generation, header)?;
        dwords.clear();
        dwords.resize(length as usize, header);
        match self.memory.range(&mut self.cursor, at, 4 * u64::from(length)) {
            Some(range) => range.read_dwords(dwords),
            None => {
                for (index, dword) in (0..).zip(dwords).skip(1) {
                    *dword = self.fetch_dword(at.wrapping_add(4 * index))?;
                }
            }
        }
        Ok(row)
    }

    #[inline]
    fn fetch_dword(&mut self, address: u64) -> Result<u32, Fault> {
        match self.memory.read_u32(&mut self.cursor, address) {
            Ok(dword) => Ok(dword),
            Err(fault) => Err(PageFault { access: Access::Fetch, ..fault }.into()),
        }
    }

    fn execute(&mut self, row: usize, packet: Packet<'_>) -> Result<Flow, Fault> {
        let command = &COMMANDS[row];
        let exists = match command.engines {
            Engines::All => true,
            Engines::Render => self.engine == Engine::Render,
            Engines::NotRender => self.engine != Engine::Render,
        };
        if !exists {
            return Err(Fault::illegal(format!("{} does not exist on this engine", command.name)));
        }
        command.check_reserved(packet, &DEFINED_BITS[row][packet.generation.column()])?;
        tracing::trace!("{} {:x?}", command.name, packet.dwords);
        if !command.keeps_state {
            self.last_walker = None;
        }
        (command.run)(self, packet)
    }

    /// A rule of strict mode, whose violation is undefined on hardware: a fault with `text` unless it
    /// `holds`.
    fn rule(&self, holds: bool, text: impl FnOnce() -> String) -> Result<(), Fault> {
        if holds || !self.gpu.settings.strict {
            return Ok(());
        }
        Err(Fault::illegal(text()))
    }
}

/// [`Command::defined_bits`] of each row, in each generation.
static DEFINED_BITS: LazyLock<Vec<[Vec<u32>; COLUMNS]>> = LazyLock::new(|| {
    COMMANDS.iter().map(|row| Generation::ALL.map(|generation| row.defined_bits(generation))).collect()
});

/// Adds the position of a command to a fault.
fn placed(mut fault: Fault, command: Option<&Command>, begin: u64, at: u64) -> Fault {
    fault.command = command.map(|c| c.name);
    fault.batch_address = Some(at);
    fault.batch_offset = Some(at.wrapping_sub(begin));
    fault
}

/// Refuses addresses in the global GTT, which only the kernel may use.
fn not_global(global: bool) -> Result<(), Fault> {
    if global {
        return Err(Fault::illegal("the global GTT is not accessible to user batches"));
    }
    Ok(())
}
