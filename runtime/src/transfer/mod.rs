//! Commands that move bytes between memory objects: done by the processor, through the buffers' coherent mappings.
//!
//! The functions check a command and describe what is to be done; a queue, or a command-buffer, has it done any number
//! of times. Ranges of copies and fills may be empty (from OpenCL 2.1 on, which has no error for a size of 0).

mod buffer;
mod image;
mod shared;

use std::sync::{Arc, Weak};

pub(crate) use image::image_rect;

use crate::conflicts::Access;
use crate::event::CommandKind;
use crate::{Context, SharedMemory};

/// A command that moves bytes, checked and ready to be executed, any number of times.
#[derive(Clone)]
pub struct Transfer(Arc<Work>);

struct Work<F: ?Sized = dyn Fn() + Send + Sync> {
    kind: CommandKind,
    /// Allocations of shared virtual memory that it uses, which only an enqueued command keeps alive.
    shared: [Weak<SharedMemory>; 2],
    /// What it accesses, if commands are checked.
    accesses: Vec<Access>,
    run: F,
}

impl std::fmt::Debug for Transfer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Transfer").field(&self.kind()).finish()
    }
}

impl Transfer {
    /// What `run` does, as a command of a type. It has these [`accesses`].
    pub(crate) fn new(
        kind: CommandKind,
        accesses: Vec<Access>,
        run: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Work { kind, shared: Default::default(), accesses, run }))
    }

    /// Type of the command.
    pub(crate) fn kind(&self) -> CommandKind {
        self.0.kind
    }

    /// The shared virtual memory that it uses, for a command to keep.
    pub(crate) fn hold(&self) -> [Option<Arc<SharedMemory>>; 2] {
        self.0.shared.each_ref().map(Weak::upgrade)
    }

    /// What it accesses, if commands are checked.
    pub(crate) fn accesses(&self) -> Vec<Access> {
        self.0.accesses.clone()
    }

    /// Moves the bytes.
    pub(crate) fn run(&self) {
        (self.0.run)();
    }
}

/// The accesses of a command, if commands of the context are checked.
pub(crate) fn accesses<const N: usize>(
    context: &Context,
    of: impl FnOnce() -> [Option<Access>; N],
) -> Vec<Access> {
    match context.conflicts() {
        Some(_) => of().into_iter().flatten().collect(),
        None => Vec::new(),
    }
}
