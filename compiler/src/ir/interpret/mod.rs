//! The interpreter of Gen IR: a witness besides the simulator and the hardware.
//!
//! It executes all forms over work-groups with memory and barriers. In the per-lane form each work-item is a
//! separate thread with its own control flow: the semantics of the program. In the linear form a thread has
//! `simd_width` lanes and one control flow, writes are masked by predicates only, uniform registers have one
//! value, and undefined values are garbage: the behaviour of the machine. In the masked form parked lanes are
//! masked in addition. Equal results verify the lowering.

mod image;
mod launch;
mod memory;
mod thread;

#[cfg(test)]
mod tests;

pub use image::Image;
pub use launch::{Launch, Value};
pub use memory::Memory;

use super::{Form, Function, Space};
use gencl_program::Data;
use launch::{Group, argument_block, local_layout};
use thread::{Stop, Thread};

/// Why a run was aborted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// An access outside all buffers.
    #[error("access to {space:?} memory at {address:#x} outside of it")]
    Address {
        /// Which memory.
        space: Space,
        /// Where.
        address: u64,
    },
    /// An argument is missing, of another kind, or too small.
    #[error("argument {index} is not what the kernel asks for")]
    Argument {
        /// Which.
        index: u32,
    },
    /// Something that the interpreter does not model: properties of images.
    #[error("not modelled by the interpreter")]
    Unsupported,
    /// More instructions than [`Launch::step_limit`].
    #[error("no end within the step limit")]
    Endless,
    /// Some work-items of a group wait at a barrier that others do not reach.
    #[error("a barrier that not all work-items of a group reach")]
    Barrier,
}

/// Runs a kernel. The function must be valid.
///
/// # Errors
/// The kernel has undefined behaviour, or does not end.
pub fn run(function: &Function, data: &Data, launch: &Launch, memory: &mut Memory) -> Result<(), Trap> {
    let (local_offsets, local_size) = local_layout(function, launch);
    let argument_block = argument_block(function, launch, &local_offsets, memory);
    let constant_base = memory.add(data.constants.clone());
    let variable_base = memory.add(data.variables.clone());
    let (constants, variables) = data.placed(constant_base, variable_base);
    memory.put(constant_base, constants);
    memory.put(variable_base, variables);
    let mut result = Ok(());
    let counts = launch.group_counts();
    'groups: for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                let id = [x, y, z];
                let size = [0, 1, 2]
                    .map(|d| launch.local_size[d].min(launch.global_size[d] - id[d] * launch.local_size[d]));
                let local_offsets = local_offsets.clone();
                let group =
                    Group { launch, id, size, local_offsets, argument_block, constant_base, variable_base };
                result = run_group(function, &group, local_size, memory);
                if result.is_err() {
                    break 'groups;
                }
            }
        }
    }
    memory.remove(constant_base);
    memory.remove(variable_base);
    memory.remove(argument_block);
    result
}

/// Runs the threads of a group in turn from barrier to barrier.
fn run_group(function: &Function, group: &Group, local_size: u32, memory: &mut Memory) -> Result<(), Trap> {
    let mut local = vec![0; local_size as usize];
    let mut threads = Thread::of_group(function, group);
    let sub_group = match function.form {
        Form::PerLane => group.launch.simd_width as usize,
        Form::Linear | Form::Masked => 1,
    };
    loop {
        let mut waiting = 0;
        for lanes in threads.chunks_mut(sub_group) {
            waiting += run_sub_group(function, group, lanes, &mut local, memory)?;
        }
        match waiting {
            0 => return Ok(()),
            all if all == threads.len() => {}
            _ => return Err(Trap::Barrier),
        }
    }
}

/// Runs the threads of a sub-group to the next barrier or to their end, and returns how many are at a
/// barrier. When none can continue, those at the first cross-lane operation in layout order execute it
/// together: this is the order in which lanes reconverge in the lowered forms.
fn run_sub_group(
    function: &Function,
    group: &Group,
    threads: &mut [Thread],
    local: &mut [u8],
    memory: &mut Memory,
) -> Result<usize, Trap> {
    let mut stops: Vec<Option<Stop>> = vec![None; threads.len()];
    loop {
        for (thread, stop) in threads.iter_mut().zip(&mut stops) {
            if stop.is_none() {
                *stop = Some(thread.run(function, group, local, memory)?);
            }
        }
        let places = stops.iter().filter_map(|stop| match *stop {
            Some(Stop::CrossLane(block, index)) => Some((block, index)),
            _ => None,
        });
        let Some((block, index)) = places.min() else {
            return Ok(stops.iter().filter(|stop| **stop == Some(Stop::Barrier)).count());
        };
        let here = |stop: &&mut Option<Stop>| **stop == Some(Stop::CrossLane(block, index));
        let mut together: Vec<(usize, &mut Thread)> = Vec::new();
        for ((lane, thread), stop) in threads.iter_mut().enumerate().zip(&mut stops) {
            if here(&stop) {
                *stop = None;
                together.push((lane, thread));
            }
        }
        Thread::cross_lane_of_group(function, group, &mut together);
    }
}
