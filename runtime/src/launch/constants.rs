//! The CURBE: the constants that the hardware pushes into registers when a thread starts.

use gencl_program::{Kernel, Push, PushSource};

use super::constant_sizes::local_ids_size;
use super::walk::{Space, Walk};
use crate::kernel::ArgumentBlock;

/// Addresses of a launch that can be pushed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses {
    pub(crate) argument_block: u64,
    pub(crate) constants: u64,
    pub(crate) variables: u64,
    pub(crate) printf: u64,
    pub(crate) check: u64,
    pub(crate) races: u64,
    /// Of shadow memory, by argument.
    pub(crate) shadows: Vec<u64>,
    /// Offset of local memory's shadow in bytes, or 0.
    pub(crate) local_shadow: u32,
    pub(crate) stack: u64,
}

/// Whether the source is the address of a buffer.
fn is_address(source: PushSource) -> bool {
    matches!(
        source,
        PushSource::Pointer { .. }
            | PushSource::ArgumentBlock
            | PushSource::ConstantBase
            | PushSource::VariableBase
            | PushSource::PrintfBuffer
            | PushSource::CheckBuffer
            | PushSource::RaceTable
            | PushSource::Shadow { .. }
            | PushSource::StackBase
    )
}

/// Offsets in the cross-thread constants of addresses of buffers, in bytes.
pub(crate) fn addresses(kernel: &Kernel) -> impl Iterator<Item = u32> {
    kernel.pushes.iter().filter(|push| is_address(push.source)).map(|push| push.offset)
}

/// Writes the cross-thread constants of one walker, as the kernel's pushes say: arguments from the argument
/// block, sizes and offsets from the index space, addresses.
pub(crate) fn cross_thread(
    kernel: &Kernel,
    arguments: &ArgumentBlock,
    space: &Space,
    walk: &Walk,
    addresses: &Addresses,
    bytes: &mut [u8],
) {
    bytes.fill(0);
    let mut put = |push: &Push, value: &[u8]| {
        bytes[push.offset as usize..][..push.size as usize].copy_from_slice(&value[..push.size as usize]);
    };
    for push in &kernel.pushes {
        let argument =
            |index: u32, offset| arguments.part(&kernel.arguments[index as usize], offset, push.size);
        let number = match push.source {
            PushSource::Value { argument: index, offset } => {
                put(push, argument(index, offset));
                continue;
            }
            PushSource::Pointer { argument: index } | PushSource::LocalOffset { argument: index } => {
                put(push, argument(index, 0));
                continue;
            }
            PushSource::Image { argument, property } => {
                arguments.image(argument).map_or(0, |image| image.property(property)).into()
            }
            PushSource::GlobalOffset(dimension) => space.offset[usize::from(dimension)],
            PushSource::GlobalSize(dimension) => space.global[usize::from(dimension)],
            PushSource::LocalSize(dimension) => walk.local[usize::from(dimension)].into(),
            PushSource::EnqueuedLocalSize(dimension) => space.local[usize::from(dimension)].into(),
            PushSource::NumGroups(dimension) => space.groups[usize::from(dimension)].into(),
            PushSource::WorkDim => space.dimensions.into(),
            PushSource::ArgumentBlock => addresses.argument_block,
            PushSource::ConstantBase => addresses.constants,
            PushSource::VariableBase => addresses.variables,
            PushSource::PrintfBuffer => addresses.printf,
            PushSource::CheckBuffer => addresses.check,
            PushSource::RaceTable => addresses.races,
            PushSource::Shadow { argument } => {
                addresses.shadows.get(argument as usize).copied().unwrap_or_default()
            }
            PushSource::LocalShadow => addresses.local_shadow.into(),
            PushSource::StackBase => addresses.stack,
        };
        put(push, &number.to_le_bytes());
    }
}

/// Writes the local ids of all threads of a work-group. Lanes beyond the group get the ids of its last
/// work-item.
pub(crate) fn local_ids(kernel: &Kernel, local: [u32; 3], bytes: &mut [u8]) {
    let each = local_ids_size(kernel);
    if each == 0 {
        return;
    }
    bytes.fill(0);
    let [mut x, mut y, mut z] = [0; 3];
    for thread in bytes.chunks_exact_mut(each) {
        for lane in 0..kernel.simd_width as usize {
            for (ids, id) in thread.chunks_exact_mut(each / 3).zip([x, y, z]) {
                ids[2 * lane..2 * lane + 2].copy_from_slice(&(id as u16).to_le_bytes());
            }
            x += 1;
            if x == local[0] {
                (x, y) = (0, y + 1);
            }
            if y == local[1] {
                (y, z) = (0, z + 1);
            }
            if z == local[2] {
                [x, y, z] = [local[0] - 1, local[1] - 1, local[2] - 1];
            }
        }
    }
}

/// Rearranges `shared` bytes of cross-thread constants, followed by `own` bytes of local ids for each thread,
/// into per-thread constants: a copy of the former and the thread's ids.
pub(crate) fn interleave(shared: usize, own: usize, threads: usize, bytes: &mut [u8]) {
    // From the last to the first, as that overwrites only what has been moved.
    for thread in (0..threads).rev() {
        let (from, to) = (shared + thread * own, thread * (shared + own) + shared);
        bytes.copy_within(from..from + own, to);
        if thread > 0 {
            bytes.copy_within(..shared, to - shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use gencl_program::{Argument, ArgumentKind};

    use super::*;
    use crate::NdRange;

    fn kernel(simd_width: u32) -> Kernel {
        Kernel { simd_width, local_ids: true, ..Kernel::default() }
    }

    #[test]
    fn local_ids_are_numbered_x_first() {
        let kernel = kernel(8);
        let mut bytes = vec![0xff; 2 * local_ids_size(&kernel)];
        local_ids(&kernel, [3, 2, 2], &mut bytes);
        let ids = |thread: usize, dimension: usize| -> Vec<u8> {
            let begin = thread * 96 + dimension * 32;
            bytes[begin..begin + 16].iter().step_by(2).copied().collect()
        };
        assert_eq!(ids(0, 0), [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(ids(0, 1), [0, 0, 0, 1, 1, 1, 0, 0]);
        assert_eq!(ids(0, 2), [0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(ids(1, 0), [2, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(ids(1, 1), [0, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn simd32_ids_take_two_registers() {
        assert_eq!(local_ids_size(&kernel(16)), 96);
        assert_eq!(local_ids_size(&kernel(32)), 192);
    }

    fn argument(kind: ArgumentKind, size: u32, alignment: u32, block_offset: u32) -> Argument {
        let access = gencl_program::Access::None;
        let (name, type_name) = (String::new(), String::new());
        Argument { name, type_name, kind, size, alignment, block_offset, type_qualifier: 0, access }
    }

    #[test]
    fn pushes_and_block() {
        let push = |offset, size, source| Push { offset, size, source };
        let kernel = Kernel {
            local_size: 4,
            cross_thread_size: 64,
            argument_block_size: 24,
            arguments: vec![
                argument(ArgumentKind::Value, 4, 4, 0),
                argument(ArgumentKind::LocalPointer, 8, 16, 8),
                argument(ArgumentKind::GlobalPointer, 8, 4, 16),
            ],
            pushes: vec![
                push(0, 2, PushSource::Value { argument: 0, offset: 2 }),
                push(4, 4, PushSource::LocalOffset { argument: 1 }),
                push(8, 8, PushSource::Pointer { argument: 2 }),
                push(16, 4, PushSource::GlobalSize(0)),
                push(20, 4, PushSource::LocalSize(0)),
                push(24, 4, PushSource::EnqueuedLocalSize(0)),
                push(28, 4, PushSource::NumGroups(0)),
                push(32, 8, PushSource::ArgumentBlock),
                push(40, 8, PushSource::GlobalOffset(1)),
                push(48, 4, PushSource::WorkDim),
            ],
            ..kernel(8)
        };
        let mut arguments = ArgumentBlock::default();
        arguments.resize(&kernel.arguments);
        arguments.put(&kernel.arguments[0], &[1, 2, 3, 4]);
        arguments.put_pointer(&kernel.arguments[1], 16);
        let range = NdRange { dimensions: 2, offset: [0, 9, 0], global: [100, 1, 1], local: None };
        let space = Space::new(&range, [64, 1, 1], true).unwrap();
        let walk = space.walks()[1];
        let addresses = Addresses { argument_block: 0x1234_5678_9abc, ..Addresses::default() };
        let mut bytes = [0xff; 64];
        cross_thread(&kernel, &arguments, &space, &walk, &addresses, &mut bytes);
        let dword = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(&bytes[..4], [3, 4, 0, 0]);
        let expected = [16, 0, 0, 100, 36, 64, 2, 0x5678_9abc, 0x1234, 9, 0, 2];
        assert_eq!(std::array::from_fn(|index| dword(4 + 4 * index)), expected);
        let block = [1, 2, 3, 4, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(arguments.bytes(), block);
    }
}
