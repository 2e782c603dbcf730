//! Random messages to memory.

use gencl_isa::{
    Descriptor, Destination, Extra, Flag, Instruction, Opcode, Operand, Predicate, PredicateControl, Region,
    Register, Send, SharedFunction, Source, Type,
};
use gencl_testing::Random;

use crate::harness::{DATA, DATA_SIZE};

/// The registers with addresses, and those with offsets in shared local memory: 16 of each, how many sets.
const ADDRESSES: [u8; 4] = [8, 12, 16, 20];
const OFFSETS: [u8; 4] = [24, 26, 28, 30];
/// Where data comes from, and where it goes: eight registers each.
const DATA_PLACES: [u8; 3] = [40, 56, 72];

/// Bytes of shared local memory that are accessed.
const LOCAL: u64 = 2048;

/// Where data may be.
pub fn data_place(random: &mut Random) -> u8 {
    random.pick(&DATA_PLACES)
}

/// Puts addresses into the constants (from g1 on): ascending, all the same, spread, and sometimes a wrong one.
pub fn addresses(random: &mut Random, constants: &mut [u8], simd: usize) {
    let mut put = |register: u8, bytes: &[u8]| {
        let at = (usize::from(register) - 1) * 32;
        constants[at..at + bytes.len()].copy_from_slice(bytes);
    };
    for register in ADDRESSES {
        let list = pattern(random, simd, DATA_SIZE - 4096);
        let mut bytes: Vec<u8> = list.iter().flat_map(|o| (DATA + o).to_le_bytes()).collect();
        if random.one_in(12) {
            let lane = random.below(simd) * 8;
            bytes[lane..lane + 8].copy_from_slice(&(DATA + 2 * DATA_SIZE).to_le_bytes());
        }
        put(register, &bytes);
    }
    for register in OFFSETS {
        let list = pattern(random, simd, LOCAL);
        let bytes: Vec<u8> = list.iter().flat_map(|o| (*o as u32).to_le_bytes()).collect();
        put(register, &bytes);
    }
}

fn pattern(random: &mut Random, simd: usize, limit: u64) -> Vec<u64> {
    let step = random.pick(&[4u64, 4, 8, 12, 16, 0, 1, 2, 32]);
    let first = (random.next_u64() % (limit - 1024)) & random.pick(&[!0u64, !3, !3, !15]);
    let wild = random.one_in(4);
    (0..simd as u64)
        .map(|lane| if wild { (random.next_u64() % (limit - 64)) & !3 } else { first + lane * step })
        .collect()
}

/// An atomic operation for a thread of `width` lanes.
fn atomic(random: &mut Random, width: u8) -> Instruction {
    let local = random.one_in(3);
    let float = random.one_in(4);
    let simd: u32 = if local && width >= 16 && random.one_in(2) { 16 } else { 8 };
    let wide = !local && !float && random.one_in(2);
    let lanes = if random.one_in(8) { 1 } else { simd as u8 };
    let operation = if float { 1 + random.below(3) as u32 } else { 1 + random.below(15) as u32 };
    let sources = match (float, operation) {
        (false, 5 | 6 | 15) => 0,
        (false, 14) | (true, 3) => 2,
        _ => 1,
    };
    let registers = |bytes: u32| (simd * bytes).div_ceil(32);
    let size = registers(if wide { 8 } else { 4 });
    let number = match (local, float) {
        (true, false) => 0x02,
        (true, true) => 0x1b,
        (false, false) => 0x12,
        (false, true) => 0x1d,
    };
    let shape = if local { simd == 8 } else { wide };
    let returns = random.one_in(2);
    let (address_register, length) =
        if local { (random.pick(&OFFSETS), registers(4)) } else { (random.pick(&ADDRESSES), registers(8)) };
    let response = if returns { size } else { 0 };
    let control = u32::from(returns) << 13 | u32::from(shape) << 12 | operation << 8;
    let index = if local { 254 } else { 255 };
    let descriptor = length << 25 | response << 20 | number << 14 | control | index;
    let mut i = Instruction::new(if sources > 0 { Opcode::Sends } else { Opcode::Send }, lanes);
    let payload =
        |register| Operand::Register(Source::new(Register::Grf(register), 0, Region::new(8, 8, 1), Type::UD));
    i.sources[0] = payload(address_register);
    if sources > 0 {
        i.sources[1] = payload(random.pick(&DATA_PLACES));
    }
    i.destination = match returns {
        true => Destination::new(Register::Grf(random.pick(&DATA_PLACES)), 0, Type::UW),
        false => Destination::null(Type::UD),
    };
    i.extra = Extra::Send(Send {
        target: SharedFunction::DataCache1,
        descriptor: Descriptor::Immediate(descriptor),
        extended: Descriptor::Immediate((sources * size) << 6),
        end_of_thread: false,
    });
    channels(random, &mut i, width);
    i
}

/// Registers to or from the thread's scratch memory, mostly as compilers spill them.
fn scratch(random: &mut Random, width: u8) -> Instruction {
    let write = random.one_in(2);
    let code = random.below(4) as u32;
    let registers = 1 << code;
    let mut i =
        Instruction::new(if write { Opcode::Sends } else { Opcode::Send }, random.pick(&[8, 16]).min(width));
    let payload =
        |register| Operand::Register(Source::new(Register::Grf(register), 0, Region::new(8, 8, 1), Type::UD));
    i.sources[0] = payload(0);
    let data = random.pick(&DATA_PLACES);
    i.destination =
        if write { Destination::null(Type::UD) } else { Destination::new(Register::Grf(data), 0, Type::UW) };
    if write {
        i.sources[1] = payload(data);
    }
    // Once in a while beyond what the thread has.
    let offset = if random.one_in(30) { 31 } else { random.below(24) as u32 };
    let response = if write { 0 } else { registers };
    let mode = u32::from(write) << 17 | u32::from(random.one_in(2)) << 16;
    i.extra = Extra::Send(Send {
        target: SharedFunction::DataCache,
        descriptor: Descriptor::Immediate(1 << 25 | response << 20 | 3 << 18 | mode | code << 12 | offset),
        extended: Descriptor::Immediate(if write { registers << 6 } else { 0 }),
        end_of_thread: false,
    });
    i.no_mask = !random.one_in(6);
    i
}

/// First channel, mask and predicate of a message.
fn channels(random: &mut Random, i: &mut Instruction, width: u8) {
    let lanes = i.exec_size;
    if width > lanes && lanes > 1 {
        i.channel_offset = random.below(usize::from(width / lanes)) as u8 * lanes;
    }
    i.no_mask = lanes == 1 || random.one_in(6);
    if random.one_in(4) {
        i.predicate = Some(Predicate { control: PredicateControl::Normal, inverse: random.one_in(2) });
        i.flag = Flag { register: random.below(2) as u8, subregister: 0 };
    }
}

/// A message for a thread of `width` lanes.
pub fn message(random: &mut Random, width: u8) -> Instruction {
    match random.below(6) {
        0 | 1 => atomic(random, width),
        2 => scratch(random, width),
        _ => access(random, width),
    }
}

/// A read or write for a thread of `width` lanes.
fn access(random: &mut Random, width: u8) -> Instruction {
    let place = if random.one_in(3) {
        Place::Local(random.pick(&OFFSETS))
    } else {
        Place::Global(random.pick(&ADDRESSES))
    };
    access_at(random, width, place)
}

/// Which memory a message accesses, and where its addresses are.
#[derive(Clone, Copy)]
pub enum Place {
    /// Shared local memory, by offsets from a register on.
    Local(u8),
    /// By addresses from a register on.
    Global(u8),
}

/// A read or write by addresses that are somewhere.
pub fn access_at(random: &mut Random, width: u8, place: Place) -> Instruction {
    let simd: u32 = if width >= 16 && random.one_in(2) { 16 } else { 8 };
    let lanes = if random.one_in(8) { 1 } else { simd as u8 };
    let write = random.one_in(2);
    let local = matches!(place, Place::Local(_));
    let registers = |bytes: u32| (simd * bytes).div_ceil(32);
    let (ty, control, data) = if local || random.one_in(2) {
        let components = random.pick(&[1u32, 1, 3, 7, 15, 2, 9]);
        let number = match (local, write) {
            (true, false) => 0x01,
            (true, true) => 0x09,
            (false, false) => 0x11,
            (false, true) => 0x19,
        };
        let mode = if simd == 16 { 1 } else { 2 };
        (number, mode << 12 | (!components & 15) << 8, components.count_ones() * registers(4))
    } else {
        let size = random.pick(&[0u32, 1, 2]);
        let count_code = random.below(3) as u32;
        let slot = if size == 2 { 8 } else { 4 };
        let control = size << 8 | count_code << 10 | if simd == 16 { 1 << 12 } else { 0 };
        (if write { 0x1a } else { 0x10 }, control, (1 << count_code) * registers(slot))
    };
    let (address_register, length) = match place {
        Place::Local(register) => (register, registers(4)),
        Place::Global(register) => (register, registers(8)),
    };
    let data_register = data_place(random);
    let index = if local { 254 } else { 255 };
    let response = if write { 0 } else { data };
    let descriptor = length << 25 | response << 20 | ty << 14 | control | index;
    let mut i = transfer(lanes, descriptor, address_register, data_register, write.then_some(data));
    channels(random, &mut i, width);
    i
}

/// A message with addresses to the data cache: a read to registers, or a write of as many as `written`.
pub fn transfer(lanes: u8, descriptor: u32, addresses: u8, data: u8, written: Option<u32>) -> Instruction {
    let opcode = if written.is_some() { Opcode::Sends } else { Opcode::Send };
    let mut i = Instruction::new(opcode, lanes);
    let payload =
        |register| Operand::Register(Source::new(Register::Grf(register), 0, Region::new(8, 8, 1), Type::UD));
    i.sources[0] = payload(addresses);
    if written.is_some() {
        i.sources[1] = payload(data);
        i.destination = Destination::null(Type::UD);
    } else {
        i.destination = Destination::new(Register::Grf(data), 0, Type::UW);
    }
    i.extra = Extra::Send(Send {
        target: SharedFunction::DataCache1,
        descriptor: Descriptor::Immediate(descriptor),
        extended: Descriptor::Immediate(written.map_or(0, |registers| registers << 6)),
        end_of_thread: false,
    });
    i
}

/// A read of a dword for each lane, by the addresses in a register and those behind it; for the lanes of a part of the thread.
pub fn read(lanes: u8, part: u8, from: u8, to: u8) -> Instruction {
    let registers = u32::from(lanes) / 8;
    let i = transfer(lanes, dwords(lanes, 0x11) | registers << 20, from, to, None);
    Instruction { channel_offset: part * lanes, ..i }
}

/// The same as a write of what is in a register and those behind it.
pub fn write(lanes: u8, part: u8, to: u8, from: u8) -> Instruction {
    let i = transfer(lanes, dwords(lanes, 0x19), to, from, Some(u32::from(lanes) / 8));
    Instruction { channel_offset: part * lanes, ..i }
}

/// The descriptor of an untyped message with one dword, without what it gives.
fn dwords(lanes: u8, number: u32) -> u32 {
    let mode = if lanes == 16 { 1 } else { 2 };
    (u32::from(lanes) / 8) << 26 | number << 14 | mode << 12 | 0xe << 8 | 0xff
}
