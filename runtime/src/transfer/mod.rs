//! Commands that move bytes between memory objects: done by the processor, through the buffers' coherent mappings.
//!
//! The functions check a command and describe what is to be done; a queue, or a command-buffer, has it done any number
//! of times. Ranges of copies and fills may be empty (from OpenCL 2.1 on, which has no error for a size of 0).

mod buffer;
mod image;
mod shared;

use std::sync::{Arc, Weak};

pub(crate) use image::image_rect;

use crate::SharedMemory;
use crate::event::CommandKind;

/// A command that moves bytes, checked and ready to be executed, any number of times.
#[derive(Clone)]
pub struct Transfer(Arc<Work>);

struct Work<F: ?Sized = dyn Fn() + Send + Sync> {
    kind: CommandKind,
    /// Allocations of shared virtual memory that it uses, which only an enqueued command keeps alive.
    shared: [Weak<SharedMemory>; 2],
    run: F,
}

impl std::fmt::Debug for Transfer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Transfer").field(&self.kind()).finish()
    }
}

impl Transfer {
    /// What `run` does, as a command of a type.
    pub(crate) fn new(kind: CommandKind, run: impl Fn() + Send + Sync + 'static) -> Self {
        Self::with_shared(kind, Default::default(), run)
    }

    fn with_shared(
        kind: CommandKind,
        shared: [Weak<SharedMemory>; 2],
        run: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Work { kind, shared, run }))
    }

    /// Type of the command.
    pub(crate) fn kind(&self) -> CommandKind {
        self.0.kind
    }

    /// The shared virtual memory that it uses, for a command to keep.
    pub(crate) fn hold(&self) -> [Option<Arc<SharedMemory>>; 2] {
        self.0.shared.each_ref().map(Weak::upgrade)
    }

    /// Moves the bytes.
    pub(crate) fn run(&self) {
        (self.0.run)();
    }
}
