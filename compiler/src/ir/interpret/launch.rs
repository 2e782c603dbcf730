//! The launch of a kernel in the interpreter.

use super::Trap;
use super::image::Image;
use super::memory::{Memory, from_bytes};
use crate::ir::{Function, Input};
use gencl_program::{ArgumentKind, PushSource};

/// An argument's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Bytes of a by-value argument.
    Bytes(Vec<u8>),
    /// Address of a buffer, 0 for null.
    Address(u64),
    /// Size of local memory in bytes.
    Local(u32),
    /// Number of an image of the [`Memory`].
    Image(usize),
    /// A sampler: the number that it has in OpenCL C.
    Sampler(u32),
}

/// An NDRange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Lanes of a thread, 1 to 32. In the per-lane form it only determines lane and sub-group ids.
    pub simd_width: u32,
    /// Number of dimensions, for `get_work_dim`.
    pub dimensions: u32,
    /// First global id.
    pub global_offset: [u64; 3],
    /// Work-items.
    pub global_size: [u32; 3],
    /// Work-items of a group; groups at the end may be smaller.
    pub local_size: [u32; 3],
    /// Values of the arguments in order.
    pub arguments: Vec<Value>,
    /// The value of `Input::Push(PushSource::PrintfBuffer)`.
    pub printf_buffer: u64,
    /// The value of `Input::Push(PushSource::CheckBuffer)`.
    pub check_buffer: u64,
    /// Limit of instructions of a thread, after which it is assumed not to end.
    pub step_limit: u64,
}

impl Launch {
    /// One dimension, no offset, no arguments.
    pub fn linear(simd_width: u32, global_size: u32, local_size: u32) -> Launch {
        Launch {
            simd_width,
            dimensions: 1,
            global_offset: [0; 3],
            global_size: [global_size, 1, 1],
            local_size: [local_size, 1, 1],
            arguments: Vec::new(),
            printf_buffer: 0,
            check_buffer: 0,
            step_limit: 10_000_000,
        }
    }

    pub(super) fn group_counts(&self) -> [u32; 3] {
        [0, 1, 2].map(|d| self.global_size[d].div_ceil(self.local_size[d].max(1)))
    }
}

/// What is the same for all threads of one group.
pub(super) struct Group<'l> {
    pub launch: &'l Launch,
    pub id: [u32; 3],
    pub size: [u32; 3],
    pub local_offsets: Vec<u32>,
    pub argument_block: u64,
    pub constant_base: u64,
    pub variable_base: u64,
}

impl<'l> Group<'l> {
    pub fn items(&self) -> u32 {
        self.size.iter().product()
    }

    /// The image of an argument.
    pub fn image<'m>(&self, argument: u32, memory: &'m mut Memory) -> Result<&'m mut Image, Trap> {
        let missing = Trap::Argument { index: argument };
        match self.launch.arguments.get(argument as usize) {
            Some(&Value::Image(number)) => memory.image(number).ok_or(missing),
            _ => Err(missing),
        }
    }

    /// The value of an input for work-item `item` of the group, `bytes` wide.
    pub fn input(
        &self,
        function: &Function,
        memory: &mut Memory,
        input: Input,
        item: u32,
        bytes: u32,
    ) -> Result<u64, Trap> {
        let launch = self.launch;
        Ok(match input {
            Input::LocalId(0) => (item % self.size[0]).into(),
            Input::LocalId(1) => (item / self.size[0] % self.size[1]).into(),
            Input::LocalId(_) => (item / self.size[0] / self.size[1]).into(),
            Input::GroupId(d) => self.id[usize::from(d)].into(),
            Input::LaneId => (item % launch.simd_width).into(),
            Input::SimdWidth => launch.simd_width.into(),
            Input::SubgroupId => (item / launch.simd_width).into(),
            Input::Push(source) => match source {
                PushSource::Value { argument, offset } => match launch.arguments.get(argument as usize) {
                    Some(Value::Bytes(value)) => {
                        let begin = offset as usize;
                        let value = value.get(begin..begin + bytes as usize);
                        from_bytes(value.ok_or(Trap::Argument { index: argument })?)
                    }
                    Some(Value::Sampler(number)) if offset == 0 => (*number).into(),
                    _ => return Err(Trap::Argument { index: argument }),
                },
                PushSource::Pointer { argument } => match launch.arguments.get(argument as usize) {
                    Some(Value::Address(address)) => *address,
                    _ => return Err(Trap::Argument { index: argument }),
                },
                PushSource::LocalOffset { argument } => {
                    let offset = self.local_offsets.get(argument as usize);
                    (*offset.ok_or(Trap::Argument { index: argument })?).into()
                }
                PushSource::Image { argument, property } => {
                    let kind = &function.kernel.arguments[argument as usize].type_name;
                    let image = self.image(argument, memory)?;
                    image.property(property, kind).ok_or(Trap::Unsupported)?.into()
                }
                PushSource::GlobalOffset(d) => launch.global_offset[usize::from(d)],
                PushSource::GlobalSize(d) => launch.global_size[usize::from(d)].into(),
                PushSource::LocalSize(d) => self.size[usize::from(d)].into(),
                PushSource::EnqueuedLocalSize(d) => launch.local_size[usize::from(d)].into(),
                PushSource::NumGroups(d) => launch.group_counts()[usize::from(d)].into(),
                PushSource::WorkDim => launch.dimensions.into(),
                PushSource::ArgumentBlock => self.argument_block,
                PushSource::ConstantBase => self.constant_base,
                PushSource::VariableBase => self.variable_base,
                PushSource::PrintfBuffer => launch.printf_buffer,
                PushSource::CheckBuffer => launch.check_buffer,
                PushSource::RaceTable => 0,
                // Nothing is checked, and private memory has no address here.
                PushSource::Shadow { .. } | PushSource::LocalShadow | PushSource::StackBase => 0,
            },
        })
    }
}

/// Offsets of `__local` arguments, by argument, and the size of all local memory.
pub(super) fn local_layout(function: &Function, launch: &Launch) -> (Vec<u32>, u32) {
    let mut size = function.local_size;
    let mut offsets = Vec::new();
    for (argument, value) in function.kernel.arguments.iter().zip(&launch.arguments) {
        let mut offset = 0;
        if let (ArgumentKind::LocalPointer, Value::Local(bytes)) = (argument.kind, value) {
            offset = size.next_multiple_of(argument.alignment.max(1));
            size = offset + bytes;
        }
        offsets.push(offset);
    }
    (offsets, size)
}

/// Writes the argument block to memory and returns its address.
pub(super) fn argument_block(
    function: &Function,
    launch: &Launch,
    locals: &[u32],
    memory: &mut Memory,
) -> u64 {
    let mut block = vec![0; function.kernel.argument_block_size as usize];
    for (index, (argument, value)) in function.kernel.arguments.iter().zip(&launch.arguments).enumerate() {
        let bytes = match value {
            Value::Bytes(bytes) => bytes.clone(),
            Value::Address(address) => address.to_le_bytes().to_vec(),
            Value::Local(_) => u64::from(locals[index]).to_le_bytes().to_vec(),
            // Neither has an address.
            Value::Image(_) | Value::Sampler(_) => continue,
        };
        let begin = argument.block_offset as usize;
        let length = bytes.len().min(block.len().saturating_sub(begin));
        if length > 0 {
            block[begin..begin + length].copy_from_slice(&bytes[..length]);
        }
    }
    memory.add(block)
}
