//! What the contexts of a simulator share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::vm::Vm;
use crate::gpu::Gpu;
use crate::watchdog::Watchdog;

/// The parts of a simulator that its contexts share.
pub struct Core {
    pub gpu: Gpu,
    pub watchdog: Watchdog,
    pub reset_count: AtomicU32,
    pub closing: AtomicBool,
    /// The address space of all contexts on devices without full PPGTT.
    pub shared_vm: Arc<Vm>,
}

impl Core {
    /// Whether the simulator is being dropped.
    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }
}
