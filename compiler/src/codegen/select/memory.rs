//! Loads, stores and atomic operations.
//!
//! - `__global`, `__constant` and private memory: A64 messages with a quadword address for each lane, or on
//!   targets without them, messages to a surface that covers the address space, with a dword address for each
//!   lane. Private memory is in the thread's scratch memory, interleaved by granules (`interleave.rs`) or
//!   contiguous for each lane.
//! - `__local`: messages to shared local memory with a dword offset for each lane.
//!
//! Untyped surface messages access up to four dwords per lane, with one register set for each dword. Smaller
//! or unaligned elements are accessed one by one with byte scattered messages. Aligned quadwords are loaded
//! by scattered messages, which return them packed. A message has at most 16 lanes, so an access of 32 lanes
//! takes two.
//!
//! Uniform loads are block reads of 16 to 128 bytes, packed in one to four registers.

use super::{Failure, Selector, interleave, machine_type, unsigned};
use crate::codegen::build::Builder;
use crate::codegen::lir::{GRF, VRef};
use crate::codegen::operand::{Dest, LaneRegion, Operation, Val, ValueLocation};
use crate::ir::{AtomicOp, Instruction, Reg, Space, Type as IrType};
use gencl_device_info::AddressModel;
use gencl_isa::message::{
    AtomicOperation, BlockSize, ElementSize, Message, Operation as Access, SimdMode, surface,
};
use gencl_isa::{Opcode, Send, SharedFunction, Type};

/// The messages' atomic operations, signed and unsigned.
const ATOMICS: &[(AtomicOp, AtomicOperation, AtomicOperation)] = &[
    (AtomicOp::And, AtomicOperation::And, AtomicOperation::And),
    (AtomicOp::Or, AtomicOperation::Or, AtomicOperation::Or),
    (AtomicOp::Xor, AtomicOperation::Xor, AtomicOperation::Xor),
    (AtomicOp::Xchg, AtomicOperation::Mov, AtomicOperation::Mov),
    (AtomicOp::Inc, AtomicOperation::Inc, AtomicOperation::Inc),
    (AtomicOp::Dec, AtomicOperation::Dec, AtomicOperation::Dec),
    (AtomicOp::Add, AtomicOperation::Add, AtomicOperation::Add),
    (AtomicOp::Sub, AtomicOperation::Sub, AtomicOperation::Sub),
    (AtomicOp::Max, AtomicOperation::IMax, AtomicOperation::UMax),
    (AtomicOp::Min, AtomicOperation::IMin, AtomicOperation::UMin),
    (AtomicOp::CmpXchg, AtomicOperation::CmpWrite, AtomicOperation::CmpWrite),
];

/// Maximum number of lanes of a message to shared local memory.
const MESSAGE_LANES: u32 = 16;

/// One message of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// `count` dwords per lane.
    Dwords(u32),
    /// One element of this many bytes per lane, in a dword.
    Scattered(u32),
    /// `count` packed quadwords per lane.
    Quadwords(u32),
}

/// The messages of an access, each with its byte offset.
type Pieces = Vec<(u32, Piece)>;

/// Splits an access of `count` elements of `size` bytes into messages with at most `most` bytes per lane.
fn pieces(size: u32, count: u32, align: u32, quadwords: bool, most: u32) -> Pieces {
    let total = size * count;
    let mut list = Pieces::new();
    if size == 8 && align >= 8 && quadwords && most >= 8 {
        let most = most / 8;
        for first in (0..count).step_by(most as usize) {
            list.push((first * 8, Piece::Quadwords((count - first).min(most))));
        }
    } else if align >= 4 && total.is_multiple_of(4) {
        let most = most / 4;
        for first in (0..total / 4).step_by(most as usize) {
            list.push((first * 4, Piece::Dwords((total / 4 - first).min(most))));
        }
    } else {
        // Elements of byte scattered messages are aligned to their size.
        let step = size.min(4).min(align.max(1));
        for first in (0..total).step_by(step as usize) {
            list.push((first, Piece::Scattered(step)));
        }
    }
    list
}

pub fn simd_mode(lanes: u32) -> SimdMode {
    if lanes == 16 { SimdMode::Simd16 } else { SimdMode::Simd8 }
}

impl Piece {
    /// Bytes per lane in memory.
    fn bytes(self) -> u32 {
        match self {
            Piece::Dwords(n) => 4 * n,
            Piece::Scattered(n) => n,
            Piece::Quadwords(n) => 8 * n,
        }
    }

    /// Bytes per lane in registers.
    fn slots(self) -> u32 {
        match self {
            Piece::Dwords(n) => 4 * n,
            Piece::Scattered(_) => 4,
            Piece::Quadwords(n) => 8 * n,
        }
    }
}

/// Byte in the header of a block message of the offset in the surface.
const OFFSET: u32 = 8;

/// Blocks of consecutive bytes, largest first.
const BLOCKS: &[(u32, BlockSize)] =
    &[(128, BlockSize::Eight), (64, BlockSize::Four), (32, BlockSize::Two), (16, BlockSize::OneLow)];

/// The largest block that is no longer than `bytes` at an address of this alignment.
fn block(bytes: u32, align: u32) -> Option<(u32, BlockSize)> {
    BLOCKS.iter().find(|(size, _)| *size <= bytes && align >= 4).copied()
}

/// The address payload of an access.
struct Address {
    payload: VRef,
    /// Lanes in the messages' layout.
    lanes: u32,
    /// Lanes of one message.
    width: u32,
    /// Size of an address in bytes.
    size: u32,
    /// Whether it is one address for all lanes.
    scalar: bool,
}

impl Address {
    /// The first lane of each message.
    fn messages(&self) -> impl Iterator<Item = u32> + use<> {
        (0..self.lanes).step_by(self.width as usize)
    }

    /// The addresses of the message whose first lane is `first`.
    fn of(&self, first: u32) -> VRef {
        self.payload.plus(first * self.size)
    }
}

/// A part of the loaded data.
pub struct LoadedPart {
    /// First byte in memory, from the address of the access.
    pub offset: u32,
    /// Number of valid bytes.
    pub bytes: u32,
    pub value: Val,
}

/// The element of `size` bytes at `offset`, if one part holds all of it.
fn whole(parts: &[LoadedPart], offset: u32, size: u32) -> Option<Val> {
    let part = parts.iter().find(|p| p.offset <= offset && offset + size <= p.offset + p.bytes)?;
    Some(part.value.part(offset - part.offset, unsigned(size)))
}

impl Selector<'_> {
    /// The message for a piece of an access; `second` is the number of registers in the second part of a
    /// split payload.
    fn access(
        &self,
        space: Space,
        write: bool,
        lanes: u32,
        piece: Piece,
        second: u32,
    ) -> Result<Send, Failure> {
        let simd = simd_mode(lanes);
        let (a64, surface) = self.surface(space);
        let scattered = |element, elements: u32| Access::A64Scattered {
            write,
            surface,
            simd,
            element,
            elements: elements as u8,
        };
        let access = match piece {
            Piece::Dwords(n) => {
                let channels = !(0xf << n) & 0xf;
                Access::Untyped { write, a64, surface, simd, channels }
            }
            Piece::Scattered(n) if a64 => scattered(ElementSize::Byte, n),
            Piece::Scattered(n) => Access::ByteScattered { write, surface, simd, bytes: n as u8 },
            Piece::Quadwords(n) => scattered(ElementSize::Qword, n),
        };
        self.message(access, second)
    }

    /// Whether messages to a space have 64-bit addresses, and the surface that they name.
    fn surface(&self, space: Space) -> (bool, u8) {
        match (space, self.target.messages.global) {
            (Space::Local, _) => (false, surface::SLM),
            (_, AddressModel::A64) => (true, surface::STATELESS),
            (_, AddressModel::Surface(number)) => (false, number),
        }
    }

    /// The type of addresses of a space.
    fn address_type(&self, space: Space) -> Type {
        if self.surface(space).0 { Type::UQ } else { Type::UD }
    }

    /// Encodes a message for the target.
    pub fn message(&self, access: Access, second: u32) -> Result<Send, Failure> {
        Message::new(access)
            .send(self.target.generation, second as u8, false)
            .map_err(|e| Failure::unsupported(e.to_string()))
    }

    /// The addresses of an access, plus `offset` bytes.
    fn address(&mut self, space: Space, reg: Reg, offset: u32, scalar: bool) -> Result<Address, Failure> {
        let ty = self.address_type(space);
        let lanes = if scalar { 8 } else { self.b.simd };
        let most = if ty == Type::UQ { self.target.messages.a64_lanes } else { MESSAGE_LANES };
        let (width, size) = (lanes.min(most), ty.size());
        let step = Val::imm(u64::from(offset), ty);
        let place = |payload: VRef| Address { payload, lanes, width, size, scalar };
        if space == Space::Private {
            let base = self.private_base()?;
            let mut v = self.val(reg, Type::UD)?;
            let d = self.b.vector(ty);
            if let Some(bits) = v.constant() {
                let step = self.private_step((bits as u32).wrapping_add(offset));
                self.binary_op(Operation::new(Opcode::Add), true, d, base, Val::imm(step.into(), Type::UD));
                return Ok(place(d.at));
            }
            if self.payload.private_granule.is_some() {
                let between = self.b.temporary(v.scalar(), Type::UD);
                let shift = Val::imm(self.b.simd.trailing_zeros().into(), Type::UW);
                self.b.op(Operation::new(Opcode::Shl), between, &[v, shift]);
                v = between.val();
            }
            self.b.op(Operation::new(Opcode::Add), d, &[base, v]);
            match self.private_step(offset) {
                0 => {}
                step => {
                    self.binary_op(Operation::new(Opcode::Add), true, d, d.val(), Val::imm(step.into(), ty))
                }
            }
            return Ok(place(d.at));
        }
        let v = self.val(reg, ty)?;
        if scalar {
            let payload = self.b.registers(lanes * size / GRF);
            let d = Dest { at: payload, stride: 0, ty, kills: true };
            if offset == 0 {
                self.b.mov(d, v);
            } else {
                self.binary_op(Operation::new(Opcode::Add), true, d, v, step);
            }
            return Ok(place(payload));
        }
        if offset == 0 {
            let v = self.packed_vector(v);
            if let ValueLocation::Register(region) = v.location {
                return Ok(place(region.at));
            }
        }
        let d = self.b.vector(ty);
        self.binary_op(Operation::new(Opcode::Add), true, d, v, step);
        Ok(place(d.at))
    }

    /// The distance in bytes in memory from a lane's first private byte to one at `offset`.
    fn private_step(&self, offset: u32) -> u32 {
        self.payload.private_granule.map_or(offset, |granule| {
            let within = offset & (granule - 1);
            (offset - within).wrapping_mul(self.b.simd) + within
        })
    }

    /// Maximum number of contiguous bytes for each lane in a message.
    fn most(&self, space: Space) -> u32 {
        let granule = self.payload.private_granule.filter(|_| space == Space::Private);
        granule.unwrap_or(interleave::MAX_GRANULE)
    }

    /// Loads.
    pub fn load(&mut self, space: Space, ty: IrType, align: u32, i: &Instruction) -> Result<(), Failure> {
        let size = machine_type(ty)?.size();
        let count = i.dsts.len() as u32;
        let address = i.address();
        let known = self.constants[address.0 as usize].is_some() || self.scalars[address.0 as usize];
        let scalar = known && i.dsts.iter().all(|d| self.scalars[d.0 as usize]);
        let (in_place, kills) = self.message_results(i, scalar);
        let mut parts = Vec::new();
        let mut in_blocks = 0;
        if scalar && matches!(space, Space::Global | Space::Constant) {
            while let Some((bytes, block)) = block(size * count - in_blocks, align) {
                parts.push(self.load_block(address, in_blocks, bytes, block, kills)?);
                in_blocks += bytes;
            }
        }
        for (offset, piece) in
            pieces(size, count - in_blocks / size, align, self.surface(space).0, self.most(space))
        {
            let offset = in_blocks + offset;
            let a = self.address(space, address, offset, scalar)?;
            let message = self.access(space, false, a.width, piece, 0)?;
            let (unit, step) = match piece {
                Piece::Quadwords(_) => (Type::UQ, 8),
                Piece::Dwords(_) | Piece::Scattered(_) => (Type::UD, 4),
            };
            let response = self.b.registers(a.lanes * piece.slots() / GRF);
            for first in a.messages() {
                let at = response.plus(first * piece.slots());
                let width = if a.scalar { 1 } else { a.width };
                self.b.send(message, width, first, [Some(a.of(first)), None], Some(at));
                self.b.set_last_kills(kills);
            }
            for k in 0..piece.slots() / step {
                let stride = if a.scalar { 0 } else { step };
                let gap = a.width * (piece.slots() - step);
                let split = (gap > 0 && a.width < a.lanes).then_some((a.width, gap));
                let region = LaneRegion { at: response.plus(k * step * a.width), stride, split };
                let value = Val { location: ValueLocation::Register(region), ..Val::imm(0, unit) };
                parts.push(LoadedPart { offset: offset + k * step, bytes: step.min(piece.bytes()), value });
            }
        }
        for (k, dst) in i.dsts.iter().enumerate() {
            self.assign_loaded(*dst, size, k as u32 * size, &parts, in_place)?;
        }
        Ok(())
    }

    /// A uniform load of a block, `offset` bytes from an address. The header has only the address, as in IGC;
    /// the rest of it is ignored (Skylake manual, Volume 7, "A64 OWord Block Read"; for surfaces Ivy
    /// Bridge's, Volume 4 Part 1, "OWord Block Read/Write", and Mesa's `brw_eu_emit.c`: the offset in bytes
    /// is M0.2, M0.5 is used for stateless accesses only).
    fn load_block(
        &mut self,
        address: Reg,
        offset: u32,
        bytes: u32,
        size: BlockSize,
        kills: bool,
    ) -> Result<LoadedPart, Failure> {
        let header = self.b.registers(1);
        let ty = self.address_type(Space::Global);
        let (a64, surface) = self.surface(Space::Global);
        let place = if a64 { 0 } else { OFFSET };
        let to = Dest { at: header.plus(place), stride: 0, ty, kills: true };
        let from = self.val(address, ty)?;
        match offset {
            0 => self.b.mov(to, from),
            _ => {
                let step = Val::imm(u64::from(offset), ty);
                self.binary_op(Operation::new(Opcode::Add), true, to, from, step);
            }
        }
        let port = if a64 { SharedFunction::DataCache1 } else { SharedFunction::DataCache };
        let access =
            Access::OwordBlock { port, write: false, a64, unaligned: true, surface, size, invalidate: false };
        let message = self.message(access, 0)?;
        let response = self.b.registers(bytes.div_ceil(GRF));
        self.b.send_block(message, header, response);
        self.b.set_last_kills(kills);
        let region = LaneRegion { at: response, stride: 0, split: None };
        Ok(LoadedPart {
            offset,
            bytes,
            value: Val { location: ValueLocation::Register(region), ..Val::imm(0, Type::UD) },
        })
    }

    /// Whether a destination can use the message's response registers: no other instruction writes it.
    fn can_stay_in_place(&self, dst: Reg, scalar: bool) -> bool {
        let index = dst.0 as usize;
        self.single_definition[index] && self.regions[index].is_none() && self.scalars[index] == scalar
    }

    /// Whether the results of a message can use its response registers, and whether the message is a killing definition
    /// of these.
    pub fn message_results(&self, i: &Instruction, scalar: bool) -> (bool, bool) {
        let in_place = i.dsts.iter().all(|d| self.can_stay_in_place(*d, scalar));
        let kills = !in_place
            || !self.b.masked() && i.predicate.is_none()
            || i.dsts.iter().all(|d| self.local[d.0 as usize]);
        (in_place, kills)
    }

    /// Assigns the loaded element of `size` bytes at `offset` to a register.
    pub fn assign_loaded(
        &mut self,
        dst: Reg,
        size: u32,
        offset: u32,
        parts: &[LoadedPart],
        in_place: bool,
    ) -> Result<(), Failure> {
        let ty = unsigned(size);
        if let Some(v) = whole(parts, offset, size) {
            if let (true, ValueLocation::Register(region)) = (in_place, v.location) {
                self.regions[dst.0 as usize] = Some(region);
                return Ok(());
            }
            let d = self.dest(dst, ty)?;
            self.b.mov(d, v);
            return Ok(());
        }
        let d = self.dest(dst, ty)?;
        self.assemble(d, size, offset, parts)
    }

    /// Assembles an element from smaller parts.
    fn assemble(&mut self, d: Dest, size: u32, offset: u32, parts: &[LoadedPart]) -> Result<(), Failure> {
        if size == 8 {
            for half in [0, 4] {
                let v = match whole(parts, offset + half, 4) {
                    Some(v) => v,
                    None => {
                        let t = self.b.temporary(d.scalar(), Type::UD);
                        self.assemble(t, 4, offset + half, parts)?;
                        t.val()
                    }
                };
                self.b.mov(d.part(half, Type::UD), v);
            }
            return Ok(());
        }
        let mut byte = 0;
        while byte < size {
            let part = parts.iter().find(|p| p.offset == offset + byte);
            let part = part.ok_or_else(|| Failure::internal("a load with a gap"))?;
            let ty = unsigned(part.bytes);
            self.b.mov(d.part(byte, ty), part.value.cast(ty));
            byte += part.bytes;
        }
        Ok(())
    }

    /// Stores.
    pub fn store(&mut self, space: Space, ty: IrType, align: u32, i: &Instruction) -> Result<(), Failure> {
        let ty = unsigned(machine_type(ty)?.size());
        let size = ty.size();
        let count = i.values().len() as u32;
        for (offset, piece) in pieces(size, count, align, false, self.most(space)) {
            let a = self.address(space, i.address(), offset, false)?;
            let data = self.data(i.values(), ty, offset, piece, &a)?;
            let message = self.access(space, true, a.width, piece, a.width * piece.slots() / GRF)?;
            for first in a.messages() {
                let data = data.plus(first * piece.slots());
                self.b.send(message, a.width, first, [Some(a.of(first)), Some(data)], None);
            }
        }
        Ok(())
    }

    /// The data payload of a store's messages: the bytes from `offset` on of consecutive elements.
    fn data(
        &mut self,
        elements: &[Reg],
        ty: Type,
        offset: u32,
        piece: Piece,
        a: &Address,
    ) -> Result<VRef, Failure> {
        let size = ty.size();
        if let (Piece::Dwords(1), 4) = (piece, size) {
            let v = self.val(elements[(offset / 4) as usize], ty)?;
            let v = self.packed_vector(v);
            if let ValueLocation::Register(LaneRegion { at, .. }) = v.location {
                // The two payloads of a split send must not overlap.
                if at.vreg != a.payload.vreg {
                    return Ok(at);
                }
            }
            let d = self.b.vector(ty);
            self.b.mov(d, v);
            return Ok(d.at);
        }
        let payload = self.b.registers(a.lanes * piece.slots() / GRF);
        let step = match piece {
            Piece::Scattered(bytes) => bytes,
            Piece::Dwords(_) | Piece::Quadwords(_) => size.min(4),
        };
        for byte in (offset..offset + piece.bytes()).step_by(step as usize) {
            let v = self.val(elements[(byte / size) as usize], ty)?;
            let v = v.part(byte % size, unsigned(step));
            let within = byte - offset;
            // A scattered element is extended to a dword; packed ones are written to their part of it.
            let slot = if matches!(piece, Piece::Scattered(_)) { Type::UD } else { unsigned(step) };
            let v = if v.constant().is_some() && slot.size() == 1 { self.materialize(v) } else { v };
            let v = if v.constant().is_some() { v.cast_to_slot(slot) } else { v };
            for first in a.messages() {
                let at = payload.plus(first * piece.slots() + within / 4 * 4 * a.width + within % 4);
                self.b.mov_lanes(Dest { at, stride: 4, ty: slot, kills: true }, v, first, a.width);
            }
        }
        Ok(payload)
    }

    /// Atomic operations.
    pub fn atomic(&mut self, op: AtomicOp, space: Space, ty: IrType, i: &Instruction) -> Result<(), Failure> {
        let machine = machine_type(ty)?;
        let size = machine.size();
        let float = machine.is_float() && op != AtomicOp::Xchg;
        if size < 4
            || float
            || (!self.surface(space).0 && size == 8)
            || matches!(space, Space::Private | Space::Constant)
        {
            return Err(Failure::unsupported(format!("atomic {op:?} of {ty:?} in {space:?} memory")));
        }
        let Some((_, signed, unsigned_operation)) = ATOMICS.iter().find(|(o, ..)| *o == op) else {
            return Err(Failure::internal("no row in the table of atomics"));
        };
        let operation = if machine.is_signed() { *signed } else { *unsigned_operation };
        let ty = unsigned(size);
        let a = self.address(space, i.address(), 0, false)?;
        let width =
            if self.surface(space).0 { a.width.min(self.target.messages.a64_atomic_lanes) } else { a.width };
        let mut operands = Vec::new();
        for reg in i.values() {
            let v = self.val(*reg, ty)?;
            operands.push(self.packed_vector(v));
        }
        let returned = (!i.dsts.is_empty()).then(|| self.b.vector(ty));
        for first in (0..a.lanes).step_by(width as usize) {
            let registers = width * size / GRF;
            let second = self.operands(&operands, &a, first, width, size);
            let length = registers * operands.len() as u32;
            let returns = returned.is_some();
            let simd = simd_mode(width);
            let ((a64, surface), qword) = (self.surface(space), size == 8);
            let access = Access::UntypedAtomic { a64, surface, simd, operation, qword, returns };
            let message = self.message(access, length)?;
            let dst = returned.map(|r| r.at.plus(first * size));
            self.b.send(message, width, first, [Some(a.of(first)), second], dst);
        }
        if let (Some(r), Some(dst)) = (returned, i.dsts.first()) {
            let d = self.dest(*dst, ty)?;
            self.b.mov(d, r.val());
        }
        Ok(())
    }

    /// The data payload of an atomic message for some lanes: one register set for each operand.
    fn operands(&mut self, list: &[Val], a: &Address, first: u32, width: u32, size: u32) -> Option<VRef> {
        match list {
            [] => None,
            [one] => match one.location {
                ValueLocation::Register(LaneRegion { at, .. }) if at.vreg != a.payload.vreg => {
                    Some(at.plus(first * size))
                }
                _ => Some(self.gathered(list, first, width, size)),
            },
            _ => Some(self.gathered(list, first, width, size)),
        }
    }

    fn gathered(&mut self, list: &[Val], first: u32, width: u32, size: u32) -> VRef {
        let payload = self.b.registers(width * size * list.len() as u32 / GRF);
        let mut at = payload;
        for v in list {
            let d = Dest { at, stride: Builder::stride(size), ty: v.ty, kills: true };
            self.b.mov_lanes(d, *v, first, width);
            at = at.plus(width * size);
        }
        payload
    }
}

impl Val {
    /// A constant zero-extended to a slot's type.
    fn cast_to_slot(self, slot: Type) -> Val {
        match self.constant() {
            Some(bits) => Val::imm(bits, slot),
            None => self,
        }
    }
}
