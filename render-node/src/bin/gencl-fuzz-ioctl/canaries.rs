//! Canaries: buffers that no request refers to, and that must not be written.

use gencl_i915::uapi::{ExecBuffer2, ExecObject2, GemCreate, GemMmap, ioctl};

use crate::batch;
use crate::sender::errno;

/// Handles of canaries are the first ones, from 1 on.
pub const CANARIES: u32 = 8;
/// Bytes of each canary.
const SIZE: u64 = 8192;

/// Buffers with a pattern, bound in the shared open file just before the addresses of the threads' own
/// buffers.
pub struct Canaries(Vec<*const u64>);

// SAFETY: the mappings stay, and nobody writes to them.
unsafe impl Sync for Canaries {}

/// A request that has to work.
fn ask<T>(fd: i32, request: u32, argument: &mut T) {
    // SAFETY: a right argument of our own.
    let result = unsafe { libc::ioctl(fd, u64::from(request), std::ptr::from_mut(argument)) };
    assert_eq!(result, 0, "0x{request:08x}: errno {}", errno());
}

fn pattern(canary: u64, index: u64) -> u64 {
    (canary << 32 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Canaries {
    /// Canaries for a number of threads, in a new open file.
    pub fn new(node: i32, threads: u64) -> Canaries {
        let (mut all, mut objects) = (Vec::new(), Vec::new());
        for canary in 0..u64::from(CANARIES) {
            let mut create = GemCreate { size: SIZE, ..Default::default() };
            ask(node, ioctl::GEM_CREATE, &mut create);
            assert_eq!(u64::from(create.handle), canary + 1);
            let mut map = GemMmap { handle: create.handle, size: SIZE, ..Default::default() };
            ask(node, ioctl::GEM_MMAP, &mut map);
            let memory = map.addr_ptr as *mut u64;
            if canary == 0 {
                // The first is the batch that binds them.
                // SAFETY: the mapping is larger.
                unsafe { memory.cast::<u32>().write(batch::END) };
            } else {
                for index in 0..SIZE / 8 {
                    // SAFETY: within the mapping.
                    unsafe { memory.add(index as usize).write(pattern(canary, index)) };
                }
                all.push(memory.cast_const());
            }
            let place = (canary % threads.max(1) + 1) << 24;
            let offset = place - SIZE * (1 + canary / threads.max(1));
            objects.push(ExecObject2 {
                handle: create.handle,
                offset,
                flags: batch::PINNED,
                ..Default::default()
            });
        }
        let mut exec = ExecBuffer2 {
            buffers_ptr: objects.as_ptr() as u64,
            buffer_count: objects.len() as u32,
            flags: batch::FIRST,
            ..Default::default()
        };
        ask(node, ioctl::GEM_EXECBUFFER2_WR, &mut exec);
        Canaries(all)
    }

    /// Whether they are unchanged.
    pub fn are_well(&self) -> bool {
        self.0.iter().zip(1..).all(|(memory, canary)| {
            // SAFETY: within the mapping; what the GPU might write there is what is looked for.
            (0..SIZE / 8)
                .all(|index| unsafe { memory.add(index as usize).read_volatile() } == pattern(canary, index))
        })
    }
}
