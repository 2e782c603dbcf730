//! Messages that become host code.

use gencl_eu::abi::Variant;
use gencl_eu::file::{self, GRF_BYTES};
use gencl_eu::message::{self as eu, AtomicOperation, Block as EuBlock, BlockAddress, MessageOperation};
use gencl_eu::op::Op;
use gencl_eu::shared_function::Call;

use crate::analysis::access::{Access, Definition, Effects};
use crate::middle::op::Space;

/// Bytes of a register.
const REGISTER: usize = 32;

/// Most components of an address in one access of consecutive lanes.
const MAX_COMPONENTS: usize = 8;

/// A message in host code.
#[derive(Clone, Debug)]
pub enum Message {
    /// An address for each channel.
    Lanes(Lanes),
    /// One address for all.
    Block(Block),
    /// A value in memory is replaced, for each channel.
    Atomic(Atomic),
    /// A message to an image, which the simulator performs.
    Image(Image),
    /// What was written before is seen by others before what is written later.
    Fence {
        /// First byte and bytes of the answer, which is 0.
        answer: Option<(usize, usize)>,
    },
    /// The thread has come to the barrier.
    Barrier,
    /// The thread ends.
    End,
}

/// A read or write with an address for each channel.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// Which memory.
    pub space: Space,
    /// Direction.
    pub write: bool,
    /// Bytes of a component in memory: 1, 2, 4 or 8.
    pub size: usize,
    /// Bytes of a component in the registers: 4 or 8.
    pub slot: usize,
    /// What addresses are multiples of.
    pub alignment: usize,
    /// Byte offset in memory from the address, and the first byte in the registers, of each component.
    pub components: Vec<(usize, usize)>,
    /// First byte of the addresses.
    pub addresses: usize,
}

/// A read or write of bytes that follow each other, for all channels.
#[derive(Clone, Debug)]
pub struct Block {
    /// Direction.
    pub write: bool,
    /// Bytes.
    pub bytes: usize,
    /// What the address is a multiple of.
    pub alignment: usize,
    /// Where they are.
    pub address: Address,
    /// First byte of the data.
    pub data: usize,
}

/// The address of a block, of which a number is in the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// 64 bits, from this byte on.
    Wide(usize),
    /// 32 bits, from the byte `at` on, in units of so many bytes.
    Flat {
        /// First byte.
        at: usize,
        /// Bytes.
        unit: u64,
    },
    /// In the thread's scratch memory, whose pointer is in the header.
    Scratch {
        /// First byte of the pointer, 32 bits.
        at: usize,
        /// Bytes from there.
        offset: u64,
    },
}

impl Address {
    /// The number's place in the registers.
    fn access(self) -> Access {
        match self {
            Address::Wide(at) => Access::run(at, 8),
            Address::Flat { at, .. } | Address::Scratch { at, .. } => Access::run(at, 4),
        }
    }
}

/// An atomic operation.
#[derive(Clone, Debug)]
pub struct Atomic {
    /// Where the values are. What is read of them are the answers, if there are any.
    pub lanes: Lanes,
    /// What becomes of them.
    pub operation: AtomicOperation,
    /// First byte of each operand in the registers.
    pub sources: Vec<usize>,
}

/// A message to an image: the registers that the simulator reads and writes.
#[derive(Clone, Debug)]
pub struct Image {
    /// The first byte of a header.
    pub header: Option<usize>,
    /// First byte of each parameter: coordinates and data, a dword of each channel.
    pub parameters: Vec<usize>,
    /// First byte of each channel of the response.
    pub results: Vec<usize>,
    /// Bytes of a value of the response.
    pub size: usize,
}

impl Message {
    /// What it reads and writes: the addresses, then the data.
    pub fn effects(&self, op: &Op) -> Effects {
        let whole = |access| Definition { access, partial: op.predicate.is_some() };
        match self {
            Message::Lanes(m) => {
                let mut uses = vec![Some(per_lane(op, m.addresses, m.space.address_size()))];
                let data = m.components.iter().map(|(_, at)| per_lane(op, *at, m.slot));
                if m.write {
                    uses.extend(data.map(Some));
                    return Effects { uses, ..Effects::default() };
                }
                Effects { uses, definitions: data.map(whole).collect() }
            }
            Message::Block(m) => {
                let mut uses = vec![Some(m.address.access())];
                let data = Access::run(m.data, m.bytes);
                if m.write {
                    uses.push(Some(data));
                    return Effects { uses, ..Effects::default() };
                }
                let access = data;
                Effects { uses, definitions: vec![Definition { access, partial: false }] }
            }
            Message::Atomic(m) => {
                let lanes = &m.lanes;
                let size = lanes.space.address_size();
                let operands = m.sources.iter().map(|at| per_lane(op, *at, lanes.size));
                let uses = [per_lane(op, lanes.addresses, size)].into_iter().chain(operands).map(Some);
                let answers = lanes.components.iter().map(|(_, at)| per_lane(op, *at, lanes.size));
                Effects { uses: uses.collect(), definitions: answers.map(whole).collect() }
            }
            Message::Image(m) => {
                let header = m.header.map(|at| Access::run(at, REGISTER));
                let parameters = m.parameters.iter().map(|at| per_lane(op, *at, 4));
                let results = m.results.iter().map(|at| whole(per_lane(op, *at, m.size)));
                Effects { uses: parameters.chain(header).map(Some).collect(), definitions: results.collect() }
            }
            Message::Fence { answer } => {
                let definition = |(at, bytes)| Definition { access: Access::run(at, bytes), partial: false };
                Effects { uses: Vec::new(), definitions: answer.map(definition).into_iter().collect() }
            }
            Message::Barrier | Message::End => Effects::default(),
        }
    }
}

/// Elements of all channels of an instruction, one after the other.
fn per_lane(op: &Op, first: usize, size: usize) -> Access {
    let at = (0..usize::from(op.lanes)).map(|n| (first + n * size) as u16).collect();
    Access { at, size: size as u16, owner: (!op.no_mask).then_some(op.channel) }
}

/// The host code for a message, if there is any.
pub fn select(op: &Op, message: &eu::Message, variant: &Variant) -> Option<Message> {
    let kind = message.kind.as_ref()?;
    match kind {
        MessageOperation::End if op.predicate.is_none() => Some(Message::End),
        _ if message.end_of_thread => None,
        MessageOperation::Untyped(m) => {
            let per_component = Call::registers(m.simd, 4) * REGISTER;
            let (addresses, data) = places(op, message, m.space, m.simd, m.write)?;
            let present = (0..4).filter(|c| m.components >> c & 1 != 0);
            let components =
                present.enumerate().map(|(k, c)| (c * 4, data + k * per_component)).collect::<Vec<_>>();
            lanes(Lanes {
                space: space(m.space, variant)?,
                write: m.write,
                size: 4,
                slot: 4,
                alignment: 4,
                components,
                addresses,
            })
        }
        MessageOperation::Scattered(m) if m.address_unit == 1 => {
            let size = m.element.size();
            let slot = size.max(4);
            let per_element = Call::registers(m.simd, slot) * REGISTER;
            let (addresses, data) = places(op, message, m.space, m.simd, m.write)?;
            let components = (0..m.count).map(|k| (k * size, data + k * per_element)).collect();
            lanes(Lanes {
                space: space(m.space, variant)?,
                write: m.write,
                size,
                slot,
                alignment: m.alignment as usize,
                components,
                addresses,
            })
        }
        MessageOperation::Atomic(m) => atomic(op, message, m, variant),
        MessageOperation::Block(m) => block(op, message, m, variant),
        MessageOperation::Scratch(m) => scratch(op, message, m, variant),
        MessageOperation::Fence => {
            let bytes = message.lengths.response_length * REGISTER;
            Some(Message::Fence { answer: message.response.filter(|_| bytes > 0).map(|at| (at, bytes)) })
        }
        MessageOperation::Sample(m) => {
            let size = if m.half { 2 } else { 4 };
            image(op, message, &ImageShape { simd: m.simd, size, results: 4, most: true })
        }
        MessageOperation::Typed(m) => {
            let results = if m.write { 0 } else { m.components.count_ones() as usize };
            image(op, message, &ImageShape { simd: TYPED_LANES, size: 4, results, most: false })
        }
        MessageOperation::TypedAtomic(m) => {
            let results = usize::from(m.returns);
            image(op, message, &ImageShape { simd: TYPED_LANES, size: 4, results, most: false })
        }
        MessageOperation::Barrier if variant.barrier && op.predicate.is_none() => Some(Message::Barrier),
        _ => None,
    }
}

/// Channels of typed messages.
const TYPED_LANES: usize = 8;

/// The shape of a message to an image.
struct ImageShape {
    /// Channels.
    simd: usize,
    /// Bytes of a value of the response.
    size: usize,
    /// Values of a channel in the response.
    results: usize,
    /// There may be fewer of them: as many as the response has registers for.
    most: bool,
}

fn image(op: &Op, message: &eu::Message, shape: &ImageShape) -> Option<Message> {
    let lengths = message.lengths;
    let per_parameter = shape.simd * 4 / REGISTER;
    let per_result = (shape.simd * shape.size).div_ceil(REGISTER);
    let header = usize::from(lengths.header);
    let results = match shape.most {
        true => shape.results.min(lengths.response_length / per_result),
        false => shape.results,
    };
    // A header may disable channels of the response, or their lanes.
    if usize::from(op.lanes) > shape.simd || lengths.header && results > 0 {
        return None;
    }
    let registers = Registers { message };
    let parameters = (lengths.length + lengths.second_length - header) / per_parameter;
    let parameters = (0..parameters).map(|k| registers.run(header + k * per_parameter, per_parameter));
    let response = if results > 0 { registers.response(results * per_result)? } else { 0 };
    let results = (0..results).map(|k| response + k * per_result * REGISTER).collect();
    Some(Message::Image(Image {
        header: lengths.header.then_some(message.payload),
        parameters: parameters.collect::<Option<_>>()?,
        results,
        size: shape.size,
    }))
}

fn space(space: eu::Space, variant: &Variant) -> Option<Space> {
    match space {
        eu::Space::Global => Some(Space::Global),
        eu::Space::Local => Some(Space::Local),
        eu::Space::Surface(_) if variant.flat => Some(Space::Flat),
        eu::Space::Stateless | eu::Space::Surface(_) => None,
    }
}

fn lanes(lanes: Lanes) -> Option<Message> {
    (lanes.components.len() <= MAX_COMPONENTS).then_some(Message::Lanes(lanes))
}

/// The registers of a message.
struct Registers<'a> {
    message: &'a eu::Message,
}

impl Registers<'_> {
    /// First byte of the payload's register of a number.
    fn payload(&self, index: usize) -> Option<usize> {
        let shape = self.message.lengths;
        if index < shape.length {
            return Some(self.message.payload + index * REGISTER);
        }
        let index = index - shape.length;
        (index < shape.second_length).then_some(self.message.second + index * REGISTER)
    }

    /// The first byte of registers of the payload, if they follow each other.
    fn run(&self, first: usize, count: usize) -> Option<usize> {
        let (start, last) = (self.payload(first)?, self.payload(first + count - 1)?);
        (last == start + (count - 1) * REGISTER && last + REGISTER <= GRF_BYTES).then_some(start)
    }

    /// The first byte of a response of so many registers.
    fn response(&self, count: usize) -> Option<usize> {
        self.message.response.filter(|_| self.message.lengths.response_length >= count)
    }
}

/// Where addresses and data are; `None` for a message that the interpreter refuses, or that is divided unusually.
fn places(
    op: &Op,
    message: &eu::Message,
    space: eu::Space,
    simd: usize,
    write: bool,
) -> Option<(usize, usize)> {
    if usize::from(op.lanes) > simd {
        return None;
    }
    let header = usize::from(message.lengths.header);
    let registers = Registers { message };
    let count = Call::registers(simd, Call::address_size(space));
    let addresses = registers.run(header, count)?;
    let data = match message.kind.as_ref()? {
        MessageOperation::Untyped(m) => m.components.count_ones() as usize * Call::registers(simd, 4),
        MessageOperation::Scattered(m) => m.count * Call::registers(simd, m.element.size().max(4)),
        _ => return None,
    };
    if data == 0 {
        return None;
    }
    let data = if write { registers.run(header + count, data)? } else { registers.response(data)? };
    Some((addresses, data))
}

fn atomic(op: &Op, message: &eu::Message, m: &eu::Atomic, variant: &Variant) -> Option<Message> {
    if usize::from(op.lanes) > m.simd {
        return None;
    }
    let header = usize::from(message.lengths.header);
    let registers = Registers { message };
    let count = Call::registers(m.simd, Call::address_size(m.space));
    let addresses = registers.run(header, count)?;
    let per_source = Call::registers(m.simd, m.size);
    let sources = match m.operation.sources() {
        0 => Vec::new(),
        sources => {
            let first = registers.run(header + count, sources * per_source)?;
            (0..sources).map(|k| first + k * per_source * REGISTER).collect()
        }
    };
    let answer = if m.returns { Some((0, registers.response(per_source)?)) } else { None };
    let lanes = Lanes {
        space: space(m.space, variant)?,
        write: false,
        size: m.size,
        slot: m.size,
        alignment: m.size,
        components: answer.into_iter().collect(),
        addresses,
    };
    Some(Message::Atomic(Atomic { lanes, operation: m.operation, sources }))
}

fn block(op: &Op, message: &eu::Message, m: &EuBlock, variant: &Variant) -> Option<Message> {
    if !message.lengths.header || m.write && !op.no_mask || op.predicate.is_some() {
        return None;
    }
    // Global offset in dword 2, or an address in dwords 0 and 1.
    let flat = |surface, unit| match space(surface, variant) {
        Some(Space::Flat) => Some(Address::Flat { at: message.payload + 8, unit }),
        _ => None,
    };
    let (address, alignment) = match m.address {
        BlockAddress::Wide { aligned } => (Address::Wide(message.payload), if aligned { 16 } else { 4 }),
        BlockAddress::OWords(space) => (flat(space, 16)?, 1),
        BlockAddress::Bytes(space) => (flat(space, 1)?, 4),
    };
    let data = block_data(message, m.write, m.bytes)?;
    let inside = if m.high { REGISTER / 2 } else { 0 };
    Some(Message::Block(Block { write: m.write, bytes: m.bytes, alignment, address, data: data + inside }))
}

/// First byte of the data of a block.
fn block_data(message: &eu::Message, write: bool, bytes: usize) -> Option<usize> {
    let (registers, count) = (Registers { message }, bytes.div_ceil(REGISTER));
    let data = if write { registers.run(1, count)? } else { registers.response(count)? };
    (data < file::NULL).then_some(data)
}

/// All channels are enabled, as they are when registers are spilled.
fn scratch(op: &Op, message: &eu::Message, m: &eu::ScratchBlock, variant: &Variant) -> Option<Message> {
    let bytes = m.registers * REGISTER;
    let whole = op.no_mask && op.lanes >= 8 && op.predicate.is_none();
    if !whole || !message.lengths.header || m.offset as usize + bytes > variant.scratch as usize {
        return None;
    }
    let address = Address::Scratch { at: message.payload + 20, offset: u64::from(m.offset) };
    let data = block_data(message, m.write, bytes)?;
    Some(Message::Block(Block { write: m.write, bytes, alignment: 4, address, data }))
}
