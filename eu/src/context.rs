//! The state that the threads of a work-group share.

use crate::device::Device;
use crate::dispatch::Launch;
use crate::memory::{AddressSpace, Cursor};
use crate::message::image::PreparedSlot;

/// What a message instruction keeps from one execution to the next. It can be used with any launch: a stale one
/// only costs time.
#[derive(Debug, Default)]
pub struct MessageCache {
    /// The buffer of the last access.
    pub cursor: Cursor,
    /// The image of the last access.
    pub image: PreparedSlot,
}

/// The barrier of a work-group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Barrier {
    /// Number of threads that have sent the barrier message since the barrier was last released.
    pub arrived: u32,
}

/// The state that the threads of a work-group share.
pub struct Context<'a> {
    /// The launch.
    pub launch: &'a Launch,
    /// GPU memory.
    pub memory: &'a AddressSpace,
    /// Shared local memory.
    pub local: &'a mut [u8],
    /// One per instruction.
    pub caches: &'a mut [MessageCache],
    /// Cursor for surface states.
    pub state_cursor: Cursor,
    /// The barrier.
    pub barrier: Barrier,
    /// Strict mode: refuse what the hardware leaves undefined.
    pub strict: bool,
    /// The device that executes.
    pub device: &'static Device,
}

impl<'a> Context<'a> {
    /// The state of a new work-group. There is one element of `caches` for each instruction of the kernel.
    pub fn new(
        launch: &'a Launch,
        memory: &'a AddressSpace,
        local: &'a mut [u8],
        caches: &'a mut [MessageCache],
        device: &'static Device,
        strict: bool,
    ) -> Context<'a> {
        Context {
            launch,
            memory,
            local,
            caches,
            state_cursor: Cursor::default(),
            barrier: Barrier::default(),
            strict,
            device,
        }
    }
}
