//! Commands on shared virtual memory.

use std::sync::Arc;

use gencl_i915::HostMemory;

use super::buffer::{check_pattern, fill};
use super::{Transfer, Work, accesses};
use crate::conflicts::{Access, AccessKind};
use crate::event::CommandKind;
use crate::{Code, Context, Result, SharedMemory};

impl Transfer {
    /// Copies between shared virtual memory, or it and memory of the application. `MEM_COPY_OVERLAP`.
    pub fn copy_shared(
        context: &Arc<Context>,
        kind: CommandKind,
        to: &HostMemory,
        from: &HostMemory,
    ) -> Result<Self> {
        let begins = (to.address() as usize, from.address() as usize);
        if begins.0.abs_diff(begins.1) < to.len() {
            return Err(Code::MemCopyOverlap.into());
        }
        let shared = [context.shared_at(begins.0), context.shared_at(begins.1)];
        let (to, from) = (to.clone(), from.clone());
        let [written, read] = &shared;
        let accesses = accesses(context, || {
            [
                of_shared(AccessKind::Write, written.as_deref(), &to),
                of_shared(AccessKind::Read, read.as_deref(), &from),
            ]
        });
        Ok(Self::of_shared(kind, shared, accesses, move || to.copy_from(0, &from, 0, to.len())))
    }

    /// Fills shared virtual memory with a pattern as [`Transfer::fill_buffer`] does; the address is a multiple
    /// of its size. `INVALID_VALUE`.
    pub fn fill_shared(
        context: &Arc<Context>,
        kind: CommandKind,
        to: &HostMemory,
        pattern: &[u8],
    ) -> Result<Self> {
        let address = to.address() as usize;
        check_pattern(pattern, address, to.len())?;
        let (to, pattern) = (to.clone(), Box::<[u8]>::from(pattern));
        let shared = [context.shared_at(address), None];
        let accesses = accesses(context, || [of_shared(AccessKind::Write, shared[0].as_deref(), &to)]);
        Ok(Self::of_shared(kind, shared, accesses, move || fill(&to, &pattern, 0, to.len())))
    }

    /// A transfer that uses these allocations. It keeps their pages, so that one that was recorded does no harm when
    /// the application has freed them.
    fn of_shared(
        kind: CommandKind,
        shared: [Option<Arc<SharedMemory>>; 2],
        accesses: Vec<Access>,
        run: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let pages = shared.each_ref().map(|memory| memory.as_ref().map(|memory| memory.storage().clone()));
        let shared = shared.map(|memory| memory.as_ref().map(Arc::downgrade).unwrap_or_default());
        let run = move || {
            let _pages = &pages;
            run();
        };
        Self(Arc::new(Work { kind, shared, accesses, run }))
    }
}

/// An access to memory that is in an allocation, if it is in any.
fn of_shared(kind: AccessKind, memory: Option<&SharedMemory>, bytes: &HostMemory) -> Option<Access> {
    memory?.access(kind, bytes.address() as usize, bytes.len())
}
