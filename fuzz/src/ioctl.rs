//! Requests to the simulated kernel driver.

use std::time::Duration;

use gencl_i915::{
    ContextId, Engine, ExecBuffer, ExecFlags, ExecObject, GemHandle, HostMemory, ObjectFlags, RenderNode,
};
use gencl_simulator::{Settings, Simulator};
use serde::{Deserialize, Serialize};

/// Devices that differ in what their driver can do, by the first byte.
const DEVICES: [&str; 4] = ["skl", "hsw", "bdw", "ivb"];

/// Memory of the caller's that is lent to the driver, in bytes.
const LENT: usize = 16 * PAGE;
const PAGE: usize = 4096;

/// A request, with numbers as the caller gives them. Handles and contexts are counted from 1, so that a byte
/// names one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// What the driver says without state: which question, and of what.
    Ask(u8, u64),
    /// A context's parameter, which is read, or set.
    Parameter(u8, u64, Option<u64>),
    /// A new context.
    ContextCreate,
    /// A context less.
    ContextDestroy(u8),
    /// A buffer of a size.
    Create(u64),
    /// A buffer of lent memory: its first page and how many.
    Lend(u8, u8),
    /// A buffer less.
    Close(u8),
    /// What does not change a buffer.
    Look(u8, Access),
    /// Bytes into a buffer.
    Write(u8, u32, Vec<u8>),
    /// A batch.
    Execute {
        /// Where it runs.
        context: u8,
        /// With the blitter?
        blit: bool,
        /// [`ExecFlags`]
        flags: u64,
        /// Is it waited for at once?
        awaited: bool,
        /// Where in the buffer the commands are, and their bytes.
        batch: (u32, u32),
        /// What it uses.
        objects: Vec<Object>,
    },
}

/// What is asked about a buffer.
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
    /// Where it is to be.
    pub offset: u64,
    /// At multiples of what.
    pub alignment: u64,
    /// [`ObjectFlags`]
    pub flags: u64,
    /// Addresses in it.
    pub relocations: Vec<Relocation>,
}

/// An address in a buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Relocation {
    /// Of what.
    pub target: u8,
    /// How far behind its beginning.
    pub delta: u32,
    /// Where.
    pub offset: u64,
    /// What is there already.
    pub presumed: u64,
    /// Cache domains, read and written.
    pub domains: (u32, u32),
}

/// Requests in `postcard` encoding, one after the other. The first byte says which device.
pub fn ioctl(data: &[u8]) {
    let Some((device, mut rest)) = data.split_first() else { return };
    let settings =
        Settings { hang_limit: Duration::from_millis(50), workers: 1, shared: false, ..Settings::default() };
    let lent = HostMemory::zeros(LENT).expect("there is memory");
    // Dropped before the memory that was lent to it.
    let node = Simulator::with_settings(DEVICES[usize::from(*device) % DEVICES.len()], settings)
        .expect("there is such a device");
    while !rest.is_empty() {
        // What is no request is skipped byte by byte, so that the requests behind it keep their meaning.
        match postcard::take_from_bytes::<Request>(rest) {
            Ok((request, after)) => {
                // An error is an answer.
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
