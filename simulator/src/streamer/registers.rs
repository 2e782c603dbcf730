//! MMIO registers that batches may read and write, and the commands for that.

use gencl_isa::Generation::{self, Gen7, Gen8, Gen9, Gen75};

use super::command::Flow;
use super::field::{COLUMNS, Packet};
use super::layouts::{
    mi_load_register_imm as load_imm_fields, mi_load_register_mem as load_mem_fields,
    mi_load_register_reg as load_reg_fields, mi_predicate as predicate_fields,
    mi_store_register_mem as store_mem_fields,
};
use super::{Streamer, not_global, traits};
use crate::clock;
use gencl_eu::device::Device;
use gencl_eu::fault::Fault;
use gencl_eu::memory::canonical;

/// How a register behaves when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Stores the value.
    Plain,
    /// Stores the value; may only be written when no thread is running.
    Stalled,
    /// Stores the low bits whose mask bits, 16 higher, are set.
    Masked,
    /// Cannot be written.
    ReadOnly,
    /// Writes of user batches are dropped (Volume 3 "GPU Overview", "User Mode Privileged Commands").
    Privileged,
}

/// One row of the register table: `count` registers of 4 bytes each.
struct Row {
    name: &'static str,
    offset: u32,
    count: u32,
    /// In each generation; `None` where it does not exist.
    kinds: [Option<Kind>; COLUMNS],
}

const fn row(name: &'static str, offset: u32, count: u32, kinds: [Option<Kind>; COLUMNS]) -> Row {
    Row { name, offset, count, kinds }
}

/// A register of all generations.
const fn all(kind: Kind) -> [Option<Kind>; COLUMNS] {
    [Some(kind); COLUMNS]
}

/// A register of a generation and those after it.
const fn from(generation: Generation, kind: Kind) -> [Option<Kind>; COLUMNS] {
    let mut kinds = [None; COLUMNS];
    let mut column = generation.column();
    while column < COLUMNS {
        kinds[column] = Some(kind);
        column += 1;
    }
    kinds
}

/// A register of Gen7 and Gen7.5.
const fn until75(kind: Kind) -> [Option<Kind>; COLUMNS] {
    let mut kinds = [None; COLUMNS];
    kinds[Gen7.column()] = Some(kind);
    kinds[Gen75.column()] = Some(kind);
    kinds
}

/// A register of one generation.
const fn only(generation: Generation, kind: Kind) -> [Option<Kind>; COLUMNS] {
    let mut kinds = [None; COLUMNS];
    kinds[generation.column()] = Some(kind);
    kinds
}

/// The registers of an engine, at their offsets on the render engine. On the blitter, those below 0x2800 are
/// at 0x20000 more.
///
/// Offsets: the manuals' Volume 2c "Command Reference: Registers", and Mesa's `gen7.xml` to `gen9.xml`.
/// Writable are those that unprivileged batches may write: the list in Volume 2a, MI_LOAD_REGISTER_IMM, and
/// i915's whitelist (`intel_workarounds.c`), which has registers for Gen9 only; for Gen7 and Gen7.5 those of
/// its command parser (`gen7_render_regs`, `hsw_render_regs` in `i915_cmd_parser.c`).
#[rustfmt::skip]
const REGISTERS: &[Row] = &[
    // What constant buffers of the 3D pipeline are relative to. Mesa writes it on Gen8 (`iris_init_render_context`)
    // and on Ivy Bridge (`crocus_init_render_context`), whose command parser does not have it.
    row("INSTPM",                     0x20c0, 1,  [Some(Kind::Privileged), None, Some(Kind::Masked), None]),
    row("CS_DEBUG_MODE2",             0x20d8, 1,  from(Gen9, Kind::Masked)),
    row("MI_PREDICATE_RESULT_2",      0x2214, 1,  from(Gen75, Kind::ReadOnly)),
    // Controls preemption; the name is ours. Intel's driver writes it (`preemption_gen8.cpp`); no source says
    // that a user batch may.
    row("GPGPU_PREEMPTION",           0x2248, 1,  only(Gen8, Kind::Privileged)),
    row("CS_INVOCATION_COUNT",        0x2290, 2,  all(Kind::Plain)),
    row("TIMESTAMP",                  0x2358, 2,  all(Kind::ReadOnly)),
    // Offset: Mesa's `gfx8_context.h`, Intel's driver (`register_offsets.h`).
    row("CTX_TIMESTAMP",              0x23a8, 1,  from(Gen8, Kind::ReadOnly)),
    row("MI_PREDICATE_SRC0",          0x2400, 2,  all(Kind::Plain)),
    row("MI_PREDICATE_SRC1",          0x2408, 2,  all(Kind::Plain)),
    row("MI_PREDICATE_DATA",          0x2410, 2,  all(Kind::Plain)),
    row("MI_PREDICATE_RESULT",        0x2418, 1,  all(Kind::Plain)),
    row("MI_PREDICATE_RESULT_1",      0x241c, 1,  from(Gen75, Kind::Plain)),
    // Parameters of draws, which are not simulated. Mesa loads one in order to wait for memory
    // (`crocus_emit_end_of_pipe_sync`).
    row("3DPRIM_START_VERTEX",        0x2430, 5,  all(Kind::Plain)),
    row("GPGPU_DISPATCHDIMX",         0x2500, 1,  all(Kind::Plain)),
    row("GPGPU_DISPATCHDIMY",         0x2504, 1,  all(Kind::Plain)),
    row("GPGPU_DISPATCHDIMZ",         0x2508, 1,  all(Kind::Plain)),
    row("CS_CHICKEN1",                0x2580, 1,  from(Gen9, Kind::Masked)),
    row("CS_GPR",                     0x2600, 32, from(Gen75, Kind::Plain)),
    row("CACHE_MODE_0",               0x7000, 1,  all(Kind::Masked)),
    row("CACHE_MODE_1",               0x7004, 1,  all(Kind::Masked)),
    row("GT_MODE",                    0x7008, 1,  all(Kind::Masked)),
    row("L3CNTLREG",                  0x7034, 1,  from(Gen8, Kind::Plain)),
    row("HDC_CHICKEN1",               0x7304, 1,  from(Gen9, Kind::Masked)),
    // Whitelisted by i915 on Gemini Lake, for its barrier mode (`glk_whitelist_build`).
    row("SLICE_COMMON_ECO_CHICKEN1",  0x731c, 1,  from(Gen9, Kind::Masked)),
    row("L3SQCREG1",                  0xb010, 1,  until75(Kind::Stalled)),
    row("L3CNTLREG2",                 0xb020, 1,  until75(Kind::Stalled)),
    row("L3CNTLREG3",                 0xb024, 1,  until75(Kind::Stalled)),
    row("SCRATCH1",                   0xb038, 1,  only(Gen75, Kind::Plain)),
    row("L3SQCREG4",                  0xb118, 1,  from(Gen8, Kind::Plain)),
    row("CHICKEN3",                   0xe49c, 1,  only(Gen75, Kind::Masked)),
    // Arbitration between the threads of an EU; the name is ours. Intel's driver writes it
    // (`DebugControlReg2`), though i915 does not allow it.
    row("EU_ARBITRATION",             0xe404, 1,  from(Gen8, Kind::Privileged)),
];

/// End of a command streamer's registers; later ones belong to the whole render engine.
const STREAMER_END: u32 = 0x2800;
/// Offset of the blitter's command streamer registers from those of the render engine.
const BLITTER: u32 = 0x2_0000;

const TIMESTAMP: u32 = 0x2358;
const CTX_TIMESTAMP: u32 = 0x23a8;
const CS_INVOCATION_COUNT: u32 = 0x2290;
const PREDICATE_SRC0: u32 = 0x2400;
const PREDICATE_SRC1: u32 = 0x2408;
const PREDICATE_DATA: u32 = 0x2410;
const PREDICATE_RESULT: u32 = 0x2418;
const DISPATCH_DIM: u32 = 0x2500;
const GPR: u32 = 0x2600;

/// The values of the table's registers.
#[derive(Clone, Debug)]
pub struct Registers {
    /// The values of all rows, one after the other.
    values: Vec<u32>,
    /// The timestamp at which the running batch began.
    resumed: u64,
}

impl Default for Registers {
    fn default() -> Registers {
        let count: u32 = REGISTERS.iter().map(|row| row.count).sum();
        let mut registers = Registers { values: vec![0; count as usize], resumed: 0 };
        // Volume 2c: bit 0 is the result of the last MI_PREDICATE; initially, predicated commands execute.
        registers.set(PREDICATE_RESULT, 1);
        registers
    }
}

/// The row of an offset, and the index of its value.
fn find(offset: u32) -> Option<(&'static Row, usize)> {
    let mut first = 0;
    for row in REGISTERS {
        let index = offset.wrapping_sub(row.offset) / 4;
        if offset >= row.offset && index < row.count {
            return Some((row, (first + index) as usize));
        }
        first += row.count;
    }
    None
}

/// As [`find`], if the device has the register.
fn find_on(device: &Device, offset: u32) -> Result<(&'static Row, Kind, usize), Fault> {
    let (row, index) = find(offset).ok_or_else(|| unknown(offset))?;
    let kind = row.kinds[device.generation.column()].ok_or_else(|| unknown(offset))?;
    Ok((row, kind, index))
}

impl Registers {
    /// The stored value of a register of the table.
    fn get(&self, offset: u32) -> u32 {
        find(offset).map_or(0, |(_, index)| self.values[index])
    }

    /// The stored values of two registers of a row, low dword first.
    fn get64(&self, offset: u32) -> u64 {
        find(offset).map_or(0, |(_, low)| u64::from(self.values[low]) | u64::from(self.values[low + 1]) << 32)
    }

    fn set(&mut self, offset: u32, value: u32) {
        if let Some((_, index)) = find(offset) {
            self.values[index] = value;
        }
    }

    fn set64(&mut self, offset: u32, value: u64) {
        if let Some((_, low)) = find(offset) {
            (self.values[low], self.values[low + 1]) = (value as u32, (value >> 32) as u32);
        }
    }

    /// The result of the last MI_PREDICATE: whether predicated commands are executed.
    pub fn predicate(&self) -> bool {
        self.get(PREDICATE_RESULT) & 1 != 0
    }

    /// Work-groups of each dimension for indirect launches: GPGPU_DISPATCHDIMX, Y, Z.
    pub fn dispatch_dimensions(&self) -> [u32; 3] {
        [0, 4, 8].map(|offset| self.get(DISPATCH_DIM + offset))
    }

    /// Whether a part of the L3 cache is configured as shared local memory.
    pub fn slm_enabled(&self, generation: Generation) -> bool {
        self.get(traits::of(generation).slm_enable) & 1 != 0
    }

    /// Adds executed work-items to CS_INVOCATION_COUNT.
    pub fn add_invocations(&mut self, count: u64) {
        self.set64(CS_INVOCATION_COUNT, self.get64(CS_INVOCATION_COUNT).wrapping_add(count));
    }

    /// A general purpose register, 0 to 15.
    pub fn gpr(&self, index: u32) -> u64 {
        self.get64(GPR + 8 * index)
    }

    /// Sets a general purpose register, 0 to 15.
    pub fn set_gpr(&mut self, index: u32, value: u64) {
        self.set64(GPR + 8 * index, value);
    }

    /// Starts the context's clock, when a batch begins.
    pub fn resume(&mut self, device: &Device) {
        self.resumed = clock::timestamp(device);
    }

    /// Stops the context's clock, when the batch has ended.
    pub fn suspend(&mut self, device: &Device) {
        self.set(CTX_TIMESTAMP, self.context_time(device));
    }

    /// Ticks for which batches of the context have run (Volume 2c, CTX_TIMESTAMP): 32 bits that wrap.
    fn context_time(&self, device: &Device) -> u32 {
        let now = clock::timestamp(device).wrapping_sub(self.resumed);
        self.get(CTX_TIMESTAMP).wrapping_add(now as u32)
    }

    /// Reads a register for a command, by its offset on the render engine.
    fn read(&self, device: &Device, offset: u32) -> Result<u32, Fault> {
        let (_, _, index) = find_on(device, offset)?;
        Ok(match offset {
            TIMESTAMP => clock::timestamp(device) as u32,
            CTX_TIMESTAMP => self.context_time(device),
            0x235c => (clock::timestamp(device) >> 32) as u32,
            _ => self.values[index],
        })
    }

    /// Writes a register for a command, by its offset on the render engine.
    fn write(&mut self, device: &Device, offset: u32, value: u32) -> Result<(), Fault> {
        let (row, kind, index) = find_on(device, offset)?;
        match kind {
            Kind::Plain | Kind::Stalled => self.values[index] = value,
            Kind::Masked => {
                let mask = value >> 16;
                self.values[index] = self.values[index] & !mask | value & mask;
            }
            Kind::Privileged => {}
            Kind::ReadOnly => {
                return Err(Fault::illegal(format!("register {} (0x{offset:x}) is read only", row.name)));
            }
        }
        Ok(())
    }
}

fn unknown(offset: u32) -> Fault {
    Fault::unsupported(format!("register 0x{offset:x}"))
}

impl Streamer<'_> {
    /// Converts a register offset of this engine to that of the render engine.
    fn register(&self, offset: u64) -> Result<u32, Fault> {
        let offset = offset as u32;
        if self.engine == gencl_i915::Engine::Render {
            return Ok(offset);
        }
        match offset.checked_sub(BLITTER) {
            Some(own) if own < STREAMER_END => Ok(own),
            _ => Err(unknown(offset)),
        }
    }

    fn read_register(&self, offset: u64) -> Result<u32, Fault> {
        self.state.registers.read(self.gpu.device, self.register(offset)?)
    }

    fn write_register(&mut self, offset: u64, value: u32) -> Result<(), Fault> {
        let offset = self.register(offset)?;
        // The L3 cache is partitioned again only after all its users have ended (Mesa, `setup_l3_config` of
        // crocus).
        let (row, kind, _) = find_on(self.gpu.device, offset)?;
        self.rule(kind != Kind::Stalled || !self.state.threads_active, || {
            format!("{} is written while threads of a GPGPU_WALKER may be running: PIPE_CONTROL with Command Streamer Stall Enable must come before", row.name)
        })?;
        self.state.registers.write(self.gpu.device, offset, value)
    }
}

pub fn load_imm(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    if packet.get(load_imm_fields::BYTE_DISABLES) != 0 {
        return Err(Fault::unsupported("MI_LOAD_REGISTER_IMM with Byte Write Disables"));
    }
    for pair in packet.dwords[1..].chunks_exact(2) {
        streamer.write_register(u64::from(pair[0]), pair[1])?;
    }
    Ok(Flow::Next)
}

pub fn load_mem(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    not_global(packet.is_set(load_mem_fields::GLOBAL))?;
    let address = canonical(packet.address(load_mem_fields::ADDRESS));
    let value = streamer.memory.read_u32(&mut streamer.cursor, address)?;
    streamer.write_register(packet.address(load_mem_fields::REGISTER), value)?;
    Ok(Flow::Next)
}

pub fn load_reg(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    let value = streamer.read_register(packet.address(load_reg_fields::SOURCE))?;
    streamer.write_register(packet.address(load_reg_fields::DESTINATION), value)?;
    Ok(Flow::Next)
}

pub fn store_mem(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    not_global(packet.is_set(store_mem_fields::GLOBAL))?;
    if packet.is_set(store_mem_fields::PREDICATE) && !streamer.state.registers.predicate() {
        return Ok(Flow::Next);
    }
    let address = canonical(packet.address(store_mem_fields::ADDRESS));
    let value = streamer.read_register(packet.address(store_mem_fields::REGISTER))?;
    streamer.memory.write_u32(&mut streamer.cursor, address, value)?;
    Ok(Flow::Next)
}

pub fn predicate(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    let registers = &mut streamer.state.registers;
    let (a, b) = (registers.get64(PREDICATE_SRC0), registers.get64(PREDICATE_SRC1));
    let compared = match packet.get(predicate_fields::COMPARE) {
        0 => true,
        1 => false,
        2 => a == b,
        _ => a.wrapping_sub(b) == registers.get64(PREDICATE_DATA),
    };
    // Volume 2a, MI_PREDICATE: the load operation selects the comparison's result or its inverse, the combine
    // operation combines it with the current result.
    let loaded = match packet.get(predicate_fields::LOAD) {
        0 => return Ok(Flow::Next),
        2 => compared,
        3 => !compared,
        _ => return Err(Fault::illegal("MI_PREDICATE: Load Operation 1 is reserved")),
    };
    let old = registers.predicate();
    let result = match packet.get(predicate_fields::COMBINE) {
        0 => loaded,
        1 => old & loaded,
        2 => old | loaded,
        _ => old ^ loaded,
    };
    registers.set(PREDICATE_RESULT, u32::from(result));
    Ok(Flow::Next)
}
