//! Messages that become host code.

use gencl_eu::abi::Variant;
use gencl_eu::file;
use gencl_eu::message::{
    self as eu, AtomicOperation, Block as EuBlock, BlockAddress, Elements, MessageOperation,
};
use gencl_eu::op::Op;
use gencl_eu::shared_function::Call;

use crate::analysis::access::{Access, Definition, Effects};
use crate::middle::op::Space;

/// Bytes of a register.
const REGISTER: usize = 32;

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
    /// What is accessed at each address.
    pub elements: Elements,
    /// First byte of the addresses.
    pub addresses: usize,
    /// First byte of the data.
    pub data: usize,
    /// Bytes from one component of all lanes to the next.
    pub step: usize,
}

impl Lanes {
    /// First byte of each component in the registers.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        (0..self.elements.count()).map(|k| self.data + k * self.step)
    }
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
                let data = m.places().map(|at| per_lane(op, at, m.elements.register_size()));
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
                let value = |at| per_lane(op, at, lanes.elements.register_size());
                let addresses = per_lane(op, lanes.addresses, lanes.space.address_size());
                let uses = [addresses].into_iter().chain(m.sources.iter().copied().map(value)).map(Some);
                let answers = lanes.places().map(value);
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
        MessageOperation::Scattered(m) if m.address_unit == 1 => {
            let per_element = Call::registers(m.simd, m.elements.register_size());
            let count = m.elements.count() * per_element;
            let (registers, addresses, next) = addresses(op, message, m.space, m.simd)?;
            let data = if m.write { registers.run(next, count)? } else { registers.response(count)? };
            Some(Message::Lanes(Lanes {
                space: space(m.space, variant)?,
                write: m.write,
                elements: m.elements,
                addresses,
                data,
                step: per_element * REGISTER,
            }))
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

/// The registers of a message.
struct Registers<'a> {
    message: &'a eu::Message,
}

impl Registers<'_> {
    /// The first byte of registers of the payload, if they follow each other.
    fn run(&self, first: usize, count: usize) -> Option<usize> {
        let register = |index| self.message.payload_register(self.message.lengths, index);
        let (start, last) = (register(first)?, register(first + count - 1)?);
        (last == start + (count - 1) * REGISTER).then_some(start)
    }

    /// The first byte of a response of so many registers.
    fn response(&self, count: usize) -> Option<usize> {
        self.message.response.filter(|_| self.message.lengths.response_length >= count)
    }
}

/// The registers of a message with an address per channel, the first byte of its addresses, and the number of the register behind them; `None`
/// for a message that the interpreter refuses, or that is divided unusually.
fn addresses<'a>(
    op: &Op,
    message: &'a eu::Message,
    space: eu::Space,
    simd: usize,
) -> Option<(Registers<'a>, usize, usize)> {
    if usize::from(op.lanes) > simd {
        return None;
    }
    let (registers, header) = (Registers { message }, usize::from(message.lengths.header));
    let count = Call::registers(simd, space.address_size());
    let first = registers.run(header, count)?;
    Some((registers, first, header + count))
}

fn atomic(op: &Op, message: &eu::Message, m: &eu::Atomic, variant: &Variant) -> Option<Message> {
    let (registers, addresses, next) = addresses(op, message, m.space, m.simd)?;
    let per_source = Call::registers(m.simd, m.size);
    let sources = match m.operation.sources() {
        0 => Vec::new(),
        sources => {
            let first = registers.run(next, sources * per_source)?;
            (0..sources).map(|k| first + k * per_source * REGISTER).collect()
        }
    };
    let lanes = Lanes {
        space: space(m.space, variant)?,
        write: false,
        elements: Elements::first(m.returns.into(), m.size as u8, m.size as u8),
        addresses,
        data: if m.returns { registers.response(per_source)? } else { 0 },
        step: 0,
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
