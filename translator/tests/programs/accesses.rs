//! Accesses to memory that random programs are made of.

use gencl_eu::message::{AtomicOperation, Elements};
use gencl_translator::analysis::message::{Address, Atomic, Block as DataBlock, Message};
use gencl_translator::middle::function::{Constant, End, Target, Value};
use gencl_translator::middle::op::{Access, Op, Relation, Space};
use gencl_translator::middle::types::{Scalar, Type};

use crate::execute::{BUFFER_SIZE, BUFFERS, LOCAL_SIZE};
use crate::generate::Generator;

impl Generator {
    /// Reads or writes memory.
    pub fn memory(&mut self) -> Option<Value> {
        let space = self.random.pick(&[Space::Global, Space::Global, Space::Local, Space::Flat]);
        let size = self.random.pick(&[4, 4, 4, 1, 2, 8]);
        let count = self.random.pick(&[1, 1, 1, 2, 4]);
        let lanes = self.some_lanes();
        let mask = match self.random.below(3) {
            0 => self.int(Type::mask(lanes), 1),
            _ => self.some(Type::mask(lanes)),
        };
        match self.random.below(12) {
            0..2 => return self.atomic(space, lanes, mask),
            2 => return self.data_block(mask),
            _ => {}
        }
        let addresses = self.addresses(space, size * count, lanes, mask);
        self.access(space, size as usize, count as u16, mask, addresses)
    }

    /// Bytes at one address.
    fn data_block(&mut self, mask: Value) -> Option<Value> {
        let ty = Type::int(32, self.random.pick(&[4, 8, 16]));
        let bytes = ty.bits() as usize / 8;
        let (offset, wide) = (self.some(Type::int(32, 1)), Type::int(64, 1));
        let inside = self.int(Type::int(32, 1), (BUFFER_SIZE as u64 / 2 - 1) & !15);
        let offset = self.binary("and", offset, inside);
        let offset = self.convert("zext", offset, Scalar::Int(64));
        let begin = self.random.pick(&BUFFERS);
        let begin = self.int(wide, begin);
        let address = self.binary("add", begin, offset);
        let write = self.random.one_in(2);
        let alignment = self.random.pick(&[4, 16]);
        let (at, data) = (Address::Wide(0), 16);
        self.messages.push(Message::Block(DataBlock { write, bytes, alignment, address: at, data }));
        if write {
            let value = self.some(ty);
            self.effect(Op::StoreBlock(Space::Global, alignment as u8), &[mask, address, value], &[]);
            return None;
        }
        self.effect(Op::LoadBlock(Space::Global, alignment as u8), &[mask, address], &[ty]).pop()
    }

    /// An atomic operation, of which the answers may be asked for.
    fn atomic(&mut self, space: Space, lanes: usize, mask: Value) -> Option<Value> {
        let size = self.random.pick(&[4_usize, 4, 8]);
        let code = 1 + self.random.below(15_u32);
        let operation = AtomicOperation::integer(code).unwrap_or(AtomicOperation::Add);
        let addresses = self.addresses(space, size as u64, lanes, mask);
        let ty = Type::int(size as u32 * 8, lanes);
        let data: Vec<Value> = (0..operation.sources()).map(|_| self.some(ty)).collect();
        let answers = self.random.one_in(2);
        let elements = Elements::first(answers.into(), size as u8, size as u8);
        let lanes = Generator::registers(space, false, elements);
        let sources = (1..=data.len()).map(|k| lanes.data + k * lanes.step).collect();
        self.messages.push(Message::Atomic(Atomic { lanes, operation, sources }));
        let operands: Vec<Value> = [mask, addresses].into_iter().chain(data).collect();
        let results = &[ty][..usize::from(answers)];
        let found = self.effect(Op::Atomic(operation, space, size as u8), &operands, results);
        let answer = *found.first()?;
        let other = self.some(ty);
        Some(self.select(mask, answer, other))
    }

    /// An access at addresses.
    fn access(
        &mut self,
        space: Space,
        size: usize,
        count: u16,
        mask: Value,
        addresses: Value,
    ) -> Option<Value> {
        let write = self.random.one_in(2);
        self.access_of(space, size, count, mask, addresses, write)
    }

    fn access_of(
        &mut self,
        space: Space,
        size: usize,
        count: u16,
        mask: Value,
        addresses: Value,
        write: bool,
    ) -> Option<Value> {
        let alignment = self.random.pick(&[1, size]);
        let elements = Elements::first(count.into(), size as u8, alignment as u8);
        let ty = Type::int(size as u32 * 8, self.ty(mask).lanes.into());
        let data: Vec<Value> = if write { (0..count).map(|_| self.some(ty)).collect() } else { Vec::new() };
        self.messages.push(Message::Lanes(Generator::registers(space, write, elements)));
        let access = Box::new(Access::new(space, elements));
        if write {
            let operands: Vec<Value> = [mask, addresses].into_iter().chain(data).collect();
            self.effect(Op::Store(access), &operands, &[]);
            return None;
        }
        let found = self.effect(Op::Load(access), &[mask, addresses], &vec![ty; count.into()]);
        let mut found = found.into_iter().map(|value| {
            // Disabled lanes keep another value.
            let other = self.some(ty);
            self.select(mask, value, other)
        });
        let first = found.next();
        let others: Vec<Value> = found.collect();
        self.values.extend(others);
        first
    }

    /// Addresses where enabled lanes may access so many bytes. Those of disabled lanes may be anywhere.
    fn addresses(&mut self, space: Space, bytes: u64, lanes: usize, mask: Value) -> Value {
        let bits = if space == Space::Global { 64 } else { 32 };
        let (begin, size) = match space {
            Space::Local => (0, LOCAL_SIZE as u64),
            _ => (self.random.pick(&BUFFERS), BUFFER_SIZE as u64),
        };
        let (ty, dwords) = (Type::int(bits, lanes), Type::int(32, lanes));
        let begin = begin + if self.random.one_in(2) { 0 } else { 64 };
        // What all lanes have in common.
        let scalar = self.some(Type::int(32, 1));
        let quarter = self.int(Type::int(32, 1), (size / 4 - 1) & !(bytes.next_power_of_two() - 1));
        let scalar = self.binary("and", scalar, quarter);
        let scalar = self.convert("zext", scalar, Scalar::Int(bits as u8));
        let begin = self.int(Type::int(bits, 1), begin);
        let base = self.binary("add", begin, scalar);
        let base = self.splat(base, lanes);
        let offsets = match self.random.below(5) {
            0 => return base,
            1 | 2 => {
                // A row: packed, apart, or backwards.
                let stride = bytes * self.random.pick(&[1, 1, 1, 2, 3]);
                let backwards = self.random.one_in(6);
                let lane = |lane: u64| stride * if backwards { lanes as u64 - 1 - lane } else { lane };
                let each = (0..lanes as u64).map(|n| u128::from(lane(n))).collect();
                self.function.constant(dwords, Constant::Each(each))
            }
            _ => {
                let any = self.some(dwords);
                let inside = self.int(dwords, (size / 2 - 1) & !(bytes.next_power_of_two() - 1));
                self.binary("and", any, inside)
            }
        };
        let offsets = self.convert("zext", offsets, Scalar::Int(bits as u8));
        let all = self.binary("add", base, offsets);
        if self.random.one_in(4) {
            let wild = self.some(ty);
            return self.select(mask, all, wild);
        }
        all
    }

    /// A loop in which each lane reads what follows what it has read before.
    pub fn walk(&mut self) {
        let (lanes, size) = (self.lanes, self.random.pick(&[4_u64, 4, 8]));
        let element = Type::int(size as u32 * 8, lanes);
        let (count, wide) = (Type::int(32, lanes), Type::int(64, lanes));
        let mask = self.some(Type::mask(lanes));
        let any = self.some(count);
        let inside = self.int(count, (BUFFER_SIZE as u64 / 2 - 1) & !(size - 1));
        let offsets = self.binary("and", any, inside);
        let offsets = self.convert("zext", offsets, Scalar::Int(64));
        let begin = self.random.pick(&BUFFERS);
        let begin = self.int(wide, begin);
        let start = self.binary("add", begin, offsets);
        let any = self.some(count);
        let seven = self.int(count, 7);
        let limit = self.binary("and", any, seven);
        let (none, sum) = (self.int(count, 0), self.some(element));
        let [header, behind] = [(); 2].map(|()| self.function.add_block());
        self.end(End::Jump(Target { block: header, arguments: vec![start, none, mask, sum] }));
        self.block = header;
        let kept = self.values.len();
        let [address, number, mask, sum] =
            [wide, count, Type::mask(lanes), element].map(|ty| self.parameter(header, ty));
        let found = self.access_of(Space::Global, size as usize, 1, mask, address, false).unwrap_or(sum);
        let name = self.random.pick(&["add", "xor", "umax"]);
        let new = self.binary(name, sum, found);
        let sum = self.select(mask, new, sum);
        let step = self.int(wide, size);
        let address = self.binary("add", address, step);
        let one = self.int(count, 1);
        let number = self.binary("add", number, one);
        let more = self.compare(Relation::Ult, number, limit);
        let mask = self.binary("and", mask, more);
        let condition = self.any(mask);
        let yes = Target { block: header, arguments: vec![address, number, mask, sum] };
        self.end(End::Branch { condition, yes, no: Target { block: behind, arguments: Vec::new() } });
        self.values.truncate(kept);
        self.values.push(sum);
        self.block = behind;
    }
}
