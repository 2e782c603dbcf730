//! Requests to the simulated kernel driver.

use std::time::Duration;

use gencl_i915::{
    ContextId, Engine, ExecBuffer, ExecFlags, ExecObject, GemHandle, HostMemory, ObjectFlags, RenderNode,
};
use gencl_simulator::{Settings, Simulator};
use serde::{Deserialize, Serialize};

/// Devices whose kernel drivers have different features; the first byte selects one.
const DEVICES: [&str; 4] = ["skl", "hsw", "bdw", "ivb"];

/// Size of the caller's memory for userptr buffers in bytes.
const LENT: usize = 16 * PAGE;
const PAGE: usize = 4096;

/// A request, with numbers as the caller gives them. Handles and contexts are counted from 1, so that a byte
/// names one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// A stateless query: its number and argument.
    Ask(u8, u64),
    /// A context's parameter, which is read, or set.
    Parameter(u8, u64, Option<u64>),
    /// A new context.
    ContextCreate,
    /// Destroys a context.
    ContextDestroy(u8),
    /// A buffer of a size.
    Create(u64),
    /// A userptr buffer: its first page and number of pages.
    Lend(u8, u8),
    /// Closes a buffer.
    Close(u8),
    /// A query of a buffer.
    Look(u8, Access),
    /// Writes bytes to a buffer.
    Write(u8, u32, Vec<u8>),
    /// A batch.
    Execute {
        /// Its context.
        context: u8,
        /// Whether it is for the blitter.
        blit: bool,
        /// [`ExecFlags`]
        flags: u64,
        /// Whether to wait for it.
        awaited: bool,
        /// Offset and size of the commands in the buffer.
        batch: (u32, u32),
        /// Its validation list.
        objects: Vec<Object>,
    },
}

/// Queries of a buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named as the methods of `RenderNode`")]
pub enum Access {
    Export,
    Busy,
    Wait,
}

/// A buffer of a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Object {
    /// The buffer.
    pub handle: u8,
    /// Its presumed address.
    pub offset: u64,
    /// Its alignment.
    pub alignment: u64,
    /// [`ObjectFlags`]
    pub flags: u64,
    /// Its relocations.
    pub relocations: Vec<Relocation>,
}

/// A relocation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Relocation {
    /// The target.
    pub target: u8,
    /// The delta.
    pub delta: u32,
    /// Where.
    pub offset: u64,
    /// The presumed address.
    pub presumed: u64,
    /// Cache domains, read and written.
    pub domains: (u32, u32),
}

/// A sequence of requests in `postcard` encoding. The first byte selects the device.
pub fn ioctl(data: &[u8]) {
    let Some((device, mut rest)) = data.split_first() else { return };
    let settings =
        Settings { hang_limit: Duration::from_millis(50), workers: 1, shared: false, ..Settings::default() };
    let lent = HostMemory::zeros(LENT).expect("there is memory");
    // Dropped before the memory of its userptr buffers.
    let node = Simulator::with_settings(DEVICES[usize::from(*device) % DEVICES.len()], settings)
        .expect("there is such a device");
    while !rest.is_empty() {
        // Bytes that are not a request are skipped one by one, so that later requests are still decoded.
        match postcard::take_from_bytes::<Request>(rest) {
            Ok((request, after)) => {
                // Errors are valid results.
                let _ = answer(&node, &lent, request);
                rest = after;
            }
            Err(_) => rest = &rest[1..],
        }
    }
    node.finish();
    for context in 0..4 {
        let _ = node.error_state(ContextId(context));
    }
}

fn answer(node: &Simulator, lent: &HostMemory, request: Request) -> gencl_i915::Result<()> {
    let (context, handle) = (|id: u8| ContextId(id.into()), |handle: u8| GemHandle(handle.into()));
    match request {
        Request::Ask(which, number) => match which % 4 {
            0 => node.get_param(number as i32).map(drop),
            1 => node.query(number).map(drop),
            2 => node.reg_read(number).map(drop),
            _ => node.reset_stats(ContextId(number as u32)).map(drop),
        },
        Request::Parameter(id, which, None) => node.context_get_param(context(id), which).map(drop),
        Request::Parameter(id, which, Some(value)) => node.context_set_param(context(id), which, value),
        Request::ContextCreate => node.context_create().map(drop),
        Request::ContextDestroy(id) => node.context_destroy(context(id)),
        Request::Create(size) => node.gem_create(size).map(drop),
        Request::Lend(first, pages) => {
            let first = usize::from(first) % (LENT / PAGE);
            let pages = usize::from(pages) % (LENT / PAGE + 1 - first);
            let memory = lent.slice(first * PAGE, pages * PAGE);
            // SAFETY: the memory is dropped after the simulator.
            unsafe { node.gem_userptr(memory.address(), memory.len()) }.map(drop)
        }
        Request::Close(buffer) => node.gem_close(handle(buffer)),
        Request::Look(buffer, Access::Export) => node.gem_export(handle(buffer)).map(drop),
        Request::Look(buffer, Access::Busy) => node.gem_busy(handle(buffer)).map(drop),
        Request::Look(buffer, Access::Wait) => node.gem_wait(handle(buffer), -1),
        Request::Write(buffer, offset, bytes) => {
            let memory = node.gem_map(handle(buffer))?;
            let offset = (offset as usize).min(memory.len());
            memory.write(offset, &bytes[..bytes.len().min(memory.len() - offset)]);
            Ok(())
        }
        Request::Execute {
            context: id,
            blit,
            flags,
            awaited,
            batch: (batch_start, batch_length),
            objects,
        } => {
            let mut objects: Vec<ExecObject> = objects.into_iter().map(object).collect();
            node.exec_buffer(&mut ExecBuffer {
                context: context(id),
                engine: if blit { Engine::Blit } else { Engine::Render },
                flags: ExecFlags::from_bits_retain(flags),
                objects: &mut objects,
                batch_start,
                batch_length,
                awaited,
            })?;
            match objects.first() {
                Some(object) if awaited => node.gem_wait(object.handle, -1),
                _ => Ok(()),
            }
        }
    }
}

fn object(object: Object) -> ExecObject {
    let relocation = |relocation: Relocation| gencl_i915::Relocation {
        target: relocation.target.into(),
        delta: relocation.delta,
        offset: relocation.offset,
        presumed_offset: relocation.presumed,
        read_domains: relocation.domains.0,
        write_domain: relocation.domains.1,
    };
    ExecObject {
        handle: GemHandle(object.handle.into()),
        offset: object.offset,
        alignment: object.alignment,
        flags: ObjectFlags::from_bits_retain(object.flags),
        pad_to_size: 0,
        relocations: object.relocations.into_iter().map(relocation).collect(),
    }
}
