//! Executes functions: what their text means. Passes and lowering are compared with it.

use gencl_eu::float::from_f16;
use gencl_eu::message::AtomicOperation;
use rustc_hash::FxHashMap;

use gencl_translator::middle::evaluate;
use gencl_translator::middle::function::{Block, End, Function, Instruction, Target, Value};
use gencl_translator::middle::op::{
    Access, Convert, Input, LOCAL_OFFSET, Op, Registers, Space, Unary, Window,
};
use gencl_translator::middle::types::{Scalar, Type};

/// The lanes of a value, as bits.
pub type Lanes = Vec<u128>;

/// What a thread is executed in.
pub trait Environment {
    /// Bytes of what the thread begins with.
    fn input(&mut self, input: Input, bytes: usize) -> Vec<u8>;
    /// Reads so many bytes, if all of them are memory.
    fn read(&mut self, space: Space, address: u64, bytes: usize) -> Option<Vec<u8>>;
    /// Writes bytes, if all of them are memory.
    fn write(&mut self, space: Space, address: u64, bytes: &[u8]) -> Option<()>;
    /// Performs an atomic operation on a value, if that is memory; what was there before, or for [`AtomicOperation::PreDecrement`] is afterwards.
    fn atomic(
        &mut self,
        operation: AtomicOperation,
        space: Space,
        address: u64,
        bytes: usize,
        sources: &[u128],
    ) -> Option<u128>;
    /// Performs what neither of them describes: an instruction with its operands; its results.
    fn perform(
        &mut self,
        op: &Op,
        operands: &[Lanes],
        registers: &Registers,
        origin: u32,
    ) -> Option<Vec<Vec<u8>>>;
    /// The register file.
    fn file(&mut self) -> &mut [u8];
    /// Whether the launch is cancelled.
    fn is_cancelled(&mut self) -> bool;
    /// The thread has sent its barrier message.
    fn arrive(&mut self);
    /// Bits that nothing defines: those of a NaN, of an integer that a float does not fit, of what disabled lanes read.
    fn any(&mut self) -> u128 {
        0
    }
}

/// Why a thread has come to its end, or stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has ended.
    Ended,
    /// It has a fault.
    Fault,
    /// It goes on in a block, with these parameters.
    Stopped {
        /// Which.
        block: Block,
        /// The values of its parameters.
        parameters: Vec<Lanes>,
        /// It waits for nothing.
        yields: bool,
    },
}

/// Executes a thread from a block on.
pub fn run(
    function: &Function,
    environment: &mut impl Environment,
    block: Block,
    parameters: &[Lanes],
) -> Outcome {
    let mut thread =
        Thread { function, environment, values: FxHashMap::default(), arrays: FxHashMap::default() };
    thread.enter(block, parameters.to_vec());
    let mut block = block;
    loop {
        for instruction in &function.block(block).instructions {
            if thread.step(*instruction).is_none() {
                return Outcome::Fault;
            }
        }
        let target = match &function.block(block).end {
            End::Return => return Outcome::Ended,
            End::Fault => return Outcome::Fault,
            End::Suspend { resume, yields } => {
                let parameters = thread.arguments(resume);
                return Outcome::Stopped { block: resume.block, parameters, yields: *yields };
            }
            End::Jump(target) => target,
            End::Branch { condition, yes, no } => {
                if thread.lanes(*condition)[0] != 0 {
                    yes
                } else {
                    no
                }
            }
        };
        let arguments = thread.arguments(target);
        block = target.block;
        thread.enter(block, arguments);
    }
}

struct Thread<'a, E> {
    function: &'a Function,
    environment: &'a mut E,
    values: FxHashMap<Value, Lanes>,
    arrays: FxHashMap<u16, Lanes>,
}

fn bytes_of(lanes: &[u128], ty: Type) -> Vec<u8> {
    let bytes = ty.scalar.bits() as usize / 8;
    lanes.iter().flat_map(|lane| lane.to_le_bytes()[..bytes].to_vec()).collect()
}

fn lanes_of(bytes: &[u8], ty: Type) -> Lanes {
    let lane = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
    bytes.chunks(ty.scalar.bits() as usize / 8).map(lane).collect()
}

impl<E: Environment> Thread<'_, E> {
    fn enter(&mut self, block: Block, parameters: Vec<Lanes>) {
        self.values.extend(self.function.block(block).parameters.iter().copied().zip(parameters));
    }

    fn arguments(&self, target: &Target) -> Vec<Lanes> {
        target.arguments.iter().map(|value| self.lanes(*value)).collect()
    }

    fn lanes(&self, value: Value) -> Lanes {
        match self.function.as_constant(value) {
            Some(constant) => constant.lanes(self.function.ty(value).lanes.into()),
            None => self.values.get(&value).cloned().unwrap_or_default(),
        }
    }

    /// Executes an instruction; `None`: a fault.
    fn step(&mut self, instruction: Instruction) -> Option<()> {
        let data = self.function.instruction(instruction);
        let operands: Vec<Lanes> = data.operands.iter().map(|value| self.lanes(*value)).collect();
        let types: Vec<Type> = data.operands.iter().map(|value| self.function.ty(*value)).collect();
        let results: Vec<Type> = data.results.iter().map(|value| self.function.ty(*value)).collect();
        let found = match &data.op {
            Op::Input(input) => {
                let bytes = self.environment.input(*input, results[0].bits() as usize / 8);
                vec![lanes_of(&bytes, results[0])]
            }
            op if op.is_pure() => {
                let own: Vec<(&[u128], Type)> = operands.iter().map(Vec::as_slice).zip(types).collect();
                vec![self.computed(op, &own, results[0])?]
            }
            Op::Load(access) => {
                let mut found = self.load(access, &operands)?;
                if results[0].lanes == 1 {
                    // All lanes have one address: what an enabled one reads.
                    let lane = operands[0].iter().position(|enabled| *enabled != 0).unwrap_or(0);
                    found.iter_mut().for_each(|lanes| *lanes = vec![lanes[lane]]);
                }
                found
            }
            Op::Store(access) => self.store(access, &operands)?,
            Op::Inside(inside) => {
                let address = counted(inside.space, operands[0][0]);
                let first = address.wrapping_add_signed(inside.first.into());
                let is_there = self.environment.read(inside.space, first, inside.bytes as usize).is_some();
                vec![vec![u128::from(is_there && address.is_multiple_of(inside.alignment.into()))]]
            }
            Op::LoadBlock(space, _) => {
                let bytes = results[0].bits() as usize / 8;
                vec![lanes_of(&self.environment.read(*space, operands[1][0] as u64, bytes)?, results[0])]
            }
            Op::StoreBlock(space, _) => {
                let bytes = bytes_of(&operands[2], types[2]);
                self.environment.write(*space, operands[1][0] as u64, &bytes)?;
                Vec::new()
            }
            Op::Atomic(operation, space, size) => {
                let bits = u32::from(*size) * 8;
                let mut answers = self.any_lanes(Type::int(bits, types[1].lanes.into()));
                for lane in (0..answers.len()).filter(|lane| operands[0][*lane] != 0) {
                    let sources: Vec<u128> = operands[2..].iter().map(|lanes| lanes[lane]).collect();
                    let address = counted(*space, operands[1][lane]);
                    answers[lane] =
                        self.environment.atomic(*operation, *space, address, (*size).into(), &sources)?;
                }
                vec![answers; results.len()]
            }
            Op::Image(registers) | Op::Interpret(registers) | Op::Unwritten(registers) => {
                let bytes = self.environment.perform(&data.op, &operands, registers, data.origin)?;
                bytes.iter().zip(&results).map(|(bytes, ty)| lanes_of(bytes, *ty)).collect()
            }
            Op::Get(place) => {
                let (first, bytes) = (usize::from(*place), results[0].bits() as usize / 8);
                vec![lanes_of(&self.environment.file()[first..first + bytes], results[0])]
            }
            Op::Put(place) => {
                let bytes = bytes_of(&operands[0], types[0]);
                let first = usize::from(*place);
                self.environment.file()[first..first + bytes.len()].copy_from_slice(&bytes);
                Vec::new()
            }
            Op::Gather => {
                let size = results[0].scalar.bits() as usize / 8;
                let one = |at: &u128| {
                    lanes_of(&self.environment.file()[*at as usize..*at as usize + size], results[0])[0]
                };
                vec![operands[0].iter().map(one).collect()]
            }
            Op::Scatter => {
                for lane in (0..operands[1].len()).filter(|lane| operands[0][*lane] != 0) {
                    let bytes = bytes_of(&operands[2][lane..=lane], types[2]);
                    let first = operands[1][lane] as usize;
                    self.environment.file()[first..first + bytes.len()].copy_from_slice(&bytes);
                }
                Vec::new()
            }
            Op::SetArray(number) => {
                self.arrays.insert(*number, operands[0].clone());
                Vec::new()
            }
            Op::GetArray(number) => vec![self.arrays.get(number)?.clone()],
            Op::SetElement(number) => {
                *self.arrays.get_mut(number)?.get_mut(operands[0][0] as usize)? = operands[1][0];
                Vec::new()
            }
            Op::GetElement(number) => vec![vec![*self.arrays.get(number)?.get(operands[0][0] as usize)?]],
            Op::Cancelled => vec![vec![u128::from(self.environment.is_cancelled())]],
            Op::Arrive => {
                self.environment.arrive();
                Vec::new()
            }
            Op::MemoryFence | Op::Executed | Op::Count(_) => Vec::new(),
            _ => unreachable!("{} is pure, or not interpreted here", data.op),
        };
        self.values.extend(data.results.iter().copied().zip(found));
        Some(())
    }

    /// A pure operation; `None` where an operand is one that it is not for, as a shift by too many bits.
    fn computed(&mut self, op: &Op, operands: &[(&[u128], Type)], to: Type) -> Option<Lanes> {
        let lanes = match (evaluate::lanes(op, operands, to), op) {
            (None, Op::Convert(Convert::FPToSI | Convert::FPToUI)) => {
                let (own, from) = operands[0];
                let found = own.iter().map(|lane| {
                    evaluate::element(op, &[*lane], from, to)
                        .unwrap_or_else(|| self.any_lanes(to.with_lanes(1))[0])
                });
                found.collect()
            }
            (lanes, _) => lanes?,
        };
        if !makes_nans(op) || !to.scalar.is_float() {
            return Some(lanes);
        }
        let one = |lane: u128| match is_nan(lane, to.scalar) {
            true => lane ^ self.environment.any() & payload(to.scalar),
            false => lane,
        };
        Some(lanes.into_iter().map(one).collect())
    }

    fn any_lanes(&mut self, ty: Type) -> Lanes {
        (0..ty.lanes).map(|_| evaluate::cut(self.environment.any(), ty.scalar.bits())).collect()
    }

    fn load(&mut self, access: &Access, operands: &[Lanes]) -> Option<Vec<Lanes>> {
        let (mask, addresses) = (&operands[0], &operands[1]);
        let size = usize::from(access.elements.size);
        let ty = Type { scalar: Scalar::Int(access.elements.size * 8), lanes: 1 };
        let all = ty.with_lanes(addresses.len());
        let mut found: Vec<Lanes> = access.elements.offsets().map(|_| self.any_lanes(all)).collect();
        for lane in (0..addresses.len()).filter(|lane| mask[*lane] != 0) {
            let address = aligned(addresses[lane], access)?;
            for (component, offset) in access.elements.offsets().enumerate() {
                let bytes = self.environment.read(access.space, address + offset as u64, size)?;
                found[component][lane] = lanes_of(&bytes, ty)[0];
            }
        }
        Some(found)
    }

    fn store(&mut self, access: &Access, operands: &[Lanes]) -> Option<Vec<Lanes>> {
        let (mask, addresses) = (&operands[0], &operands[1]);
        for lane in (0..addresses.len()).filter(|lane| mask[*lane] != 0) {
            let address = aligned(addresses[lane], access)?;
            for (data, offset) in operands[access.first_datum()..].iter().zip(access.elements.offsets()) {
                let bytes = &data[lane].to_le_bytes()[..access.elements.size.into()];
                self.environment.write(access.space, address + offset as u64, bytes)?;
            }
        }
        Some(Vec::new())
    }
}

/// The bits of an address that count.
fn counted(space: Space, address: u128) -> u64 {
    if space == Space::Local { address as u64 & LOCAL_OFFSET } else { address as u64 }
}

/// An address, if it is a multiple of what it must be one of. Those in images have their number in the upper bits.
fn aligned(address: u128, access: &Access) -> Option<u64> {
    let image = match access.window {
        Some(Window::Image(number)) => u64::from(number) << 32,
        _ => 0,
    };
    let address = counted(access.space, address) | image;
    address.is_multiple_of(access.elements.alignment.into()).then_some(address)
}

/// Whether the bits of a float are those of a NaN.
fn is_nan(bits: u128, scalar: Scalar) -> bool {
    match scalar {
        Scalar::Half => from_f16(bits as u16).is_nan(),
        Scalar::Float => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits as u64).is_nan(),
    }
}

/// The bits of which a quiet NaN has any: the sign, and the fraction but for its first bit.
fn payload(scalar: Scalar) -> u128 {
    let fraction = match scalar {
        Scalar::Half => 10,
        Scalar::Float => 23,
        _ => 52,
    };
    1 << (scalar.bits() - 1) | ((1 << (fraction - 1)) - 1)
}

/// Whether floats of an operation may be NaNs of which nothing defines the bits.
pub fn makes_nans(op: &Op) -> bool {
    match op {
        Op::Binary(_) | Op::Fma => true,
        Op::Convert(convert) => *convert != Convert::Bitcast,
        Op::Unary(unary) => !matches!(unary, Unary::FNeg | Unary::FAbs),
        _ => false,
    }
}
