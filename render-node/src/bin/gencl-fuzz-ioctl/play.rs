//! The steps of valid sequences, and their cleanup.

use bytemuck::Pod;
use gencl_i915::uapi::{
    ContextCreateExt, ContextDestroy, ExecBuffer2, ExecObject2, GemClose, GemCreate, GemMmap, GemWait,
    ResetStats, SyncFileInfo, exec, ioctl,
};

use crate::batch;
use crate::layout::{BYTES, OBJECTS};
use crate::mutation;
use crate::pools::Buffer;
use crate::sender::{Mode, Sender};

/// Result of a sequence; the error is a text about a wrong result.
pub type Outcome<T = ()> = Result<T, String>;

/// Bytes of each buffer of a sequence.
pub const SIZE: u64 = 8192;
/// GPU address of batches.
const BATCH: u64 = 0x30_0000;

/// Initial value of a returned descriptor, of which only a part may be written.
pub const NO_FENCE: u64 = 0xffff_ffff << 32;

/// A sequence that runs on an open file.
pub struct Play<'s, 'a> {
    pub s: &'s mut Sender<'a>,
    pub fd: i32,
    mappings: Vec<(*mut u8, usize)>,
    descriptors: Vec<i32>,
    contexts: Vec<u32>,
    handles: Vec<u32>,
    was_stopped: bool,
}

/// Fails when a condition does not hold.
pub fn expect(holds: bool, what: &str) -> Outcome {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

impl<'s, 'a> Play<'s, 'a> {
    /// A sequence that has not begun.
    pub fn new(s: &'s mut Sender<'a>, fd: i32) -> Play<'s, 'a> {
        let (mappings, descriptors) = (Vec::new(), Vec::new());
        Play { s, fd, mappings, descriptors, contexts: vec![0], handles: Vec::new(), was_stopped: false }
    }

    /// Whether the sequence is mutated.
    pub fn is_mutated(&self) -> bool {
        matches!(self.s.mode, Mode::Mutated(_))
    }

    /// A request on the open file that has to succeed.
    pub fn ask<T: Pod>(&mut self, name: &str, request: u32, argument: &mut T) -> Outcome {
        self.ask_of(self.fd, name, request, argument)
    }

    /// A request on another descriptor that has to succeed.
    pub fn ask_of<T: Pod>(&mut self, fd: i32, name: &str, request: u32, argument: &mut T) -> Outcome {
        match self.s.send_in_sequence(fd, name, request, argument) {
            0 => Ok(()),
            error => Err(format!("{name}: errno {error}")),
        }
    }

    /// A request that has to fail with an error.
    pub fn refuse<T: Pod>(&mut self, name: &str, request: u32, argument: &mut T, errno: i32) -> Outcome {
        match self.s.send_in_sequence(self.fd, name, request, argument) {
            error if error == errno => Ok(()),
            error => Err(format!("{name}: errno {error}, not {errno}")),
        }
    }

    /// Registers a descriptor returned by the node, to be closed at the end.
    pub fn keep(&mut self, fd: i32) -> Outcome<i32> {
        // A mutated request may return none.
        expect((3..1 << 20).contains(&fd), "no descriptor")?;
        self.descriptors.push(fd);
        Ok(fd)
    }

    /// Registers a handle, to be closed at the end.
    pub fn keep_handle(&mut self, handle: u32) {
        self.handles.push(handle);
    }

    /// Registers a buffer's mapping, to be removed at the end.
    pub fn keep_mapping(&mut self, memory: *mut u8, size: u64) -> Outcome<*mut u8> {
        expect(!memory.is_null() && (memory as u64) < 1 << 47, "no mapping")?;
        self.mappings.push((memory, size as usize));
        Ok(memory)
    }

    /// A new buffer, mapped.
    pub fn buffer(&mut self, address: u64) -> Outcome<Buffer> {
        let mut args = GemCreate { size: SIZE, ..Default::default() };
        self.ask("create", ioctl::GEM_CREATE, &mut args)?;
        let handle = args.handle;
        self.keep_handle(handle);
        self.map(handle, address)
    }

    /// Maps a buffer.
    pub fn map(&mut self, handle: u32, address: u64) -> Outcome<Buffer> {
        // All bits of outputs are set, as they may be written in part.
        let mut args = GemMmap { handle, size: SIZE, addr_ptr: u64::MAX, ..Default::default() };
        self.ask("mmap", ioctl::GEM_MMAP, &mut args)?;
        let memory = self.keep_mapping(args.addr_ptr as *mut u8, args.size)?;
        Ok(Buffer { handle, size: args.size, memory, address })
    }

    /// A buffer with a batch.
    pub fn batch(&mut self, dwords: &[u32]) -> Outcome<Buffer> {
        let buffer = self.buffer(BATCH)?;
        let mut dwords = dwords.to_vec();
        if self.is_mutated() && self.s.random.one_in(6) {
            let index = self.s.random.below(dwords.len() as u64) as usize;
            mutation::dword(&mut self.s.random, bytemuck::bytes_of_mut(&mut dwords[index]));
        }
        buffer.write(&dwords);
        Ok(buffer)
    }

    /// Submits a batch, by default the last object.
    pub fn submit(&mut self, objects: &[ExecObject2], args: &mut ExecBuffer2) -> Outcome {
        args.buffers_ptr = self.s.list(0, &OBJECTS, objects);
        args.buffer_count = objects.len() as u32;
        self.ask("execbuffer", ioctl::GEM_EXECBUFFER2_WR, args)
    }

    /// Submits a batch and returns the descriptor of its fence.
    pub fn submit_for_fence(&mut self, objects: &[ExecObject2], args: &mut ExecBuffer2) -> Outcome<i32> {
        args.flags |= exec::FENCE_OUT;
        args.rsvd2 |= NO_FENCE;
        self.submit(objects, args)?;
        self.keep((args.rsvd2 >> 32) as i32)
    }

    /// Submits a batch and waits for its fence.
    pub fn run(&mut self, objects: &[ExecObject2], args: &mut ExecBuffer2) -> Outcome {
        let fence = self.submit_for_fence(objects, args)?;
        self.await_fence(fence)
    }

    /// Waits until a fence is signaled, which must not have an error.
    pub fn await_fence(&mut self, fence: i32) -> Outcome {
        self.s.note("poll of a fence");
        let mut poll = libc::pollfd { fd: fence, events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure of our own.
        let ready = unsafe { libc::poll(&mut poll, 1, 50_000) };
        expect(ready == 1 && poll.revents & libc::POLLIN != 0, "a fence is not signaled")?;
        let mut args = SyncFileInfo::default();
        self.ask_of(fence, "sync_file_info", ioctl::SYNC_FILE_INFO, &mut args)?;
        expect(args.status == 1, "a batch has failed")
    }

    /// Waits for the batches of a buffer.
    pub fn wait(&mut self, handle: u32) -> Outcome {
        let mut args = GemWait { handle, timeout_ns: 50_000_000_000, flags: 0 };
        self.ask("wait", ioctl::GEM_WAIT, &mut args)
    }

    /// A new context.
    pub fn context(&mut self, extensions: u64) -> Outcome<u32> {
        let mut args = ContextCreateExt { ctx_id: 0, flags: u32::from(extensions != 0), extensions };
        self.ask("context_create", ioctl::GEM_CONTEXT_CREATE_EXT, &mut args)?;
        self.contexts.push(args.ctx_id);
        Ok(args.ctx_id)
    }

    /// Handles in memory.
    pub fn handles(&mut self, arena: usize, handles: &[u32]) -> u64 {
        self.s.list(arena, &BYTES, handles)
    }

    /// Whether a batch was stopped. On a busy host even short batches may exceed the hang limit.
    pub fn was_stopped(&mut self) -> bool {
        self.note_stopped();
        self.was_stopped
    }

    /// Checks whether a batch of the open file was stopped.
    pub fn note_stopped(&mut self) {
        for ctx_id in self.contexts.clone() {
            let mut args = ResetStats { ctx_id, ..Default::default() };
            let error = self.s.send_exactly(self.fd, "reset_stats", ioctl::GET_RESET_STATS, &mut args, None);
            self.was_stopped |= error == 0 && args.batch_active > 0;
        }
    }

    /// Drops handles of another open file, which is closed.
    pub fn without_closing<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.handles.len();
        let result = act(self);
        self.handles.truncate(before);
        result
    }

    /// Closes all handles and descriptors, which has to succeed after a valid sequence.
    pub fn finish(&mut self) -> Outcome {
        let mut outcome = Ok(());
        for handle in std::mem::take(&mut self.handles) {
            let mut args = GemClose { handle, pad: 0 };
            outcome = outcome.and(self.ask("close", ioctl::GEM_CLOSE, &mut args));
        }
        for ctx_id in std::mem::take(&mut self.contexts).into_iter().filter(|context| *context != 0) {
            let mut args = ContextDestroy { ctx_id, pad: 0 };
            outcome = outcome.and(self.ask("context_destroy", ioctl::GEM_CONTEXT_DESTROY, &mut args));
        }
        outcome
    }
}

impl Drop for Play<'_, '_> {
    fn drop(&mut self) {
        for fd in &self.descriptors {
            // SAFETY: it was given to this sequence.
            unsafe { libc::close(*fd) };
        }
        for (memory, size) in &self.mappings {
            // SAFETY: the mapping is this sequence's.
            unsafe { libc::munmap(memory.cast(), *size) };
        }
    }
}

/// An object at its buffer's address.
pub fn object(buffer: &Buffer) -> ExecObject2 {
    ExecObject2 { handle: buffer.handle, offset: buffer.address, flags: batch::PINNED, ..Default::default() }
}

/// An object at its buffer's address that the batch writes.
pub fn written(buffer: &Buffer) -> ExecObject2 {
    ExecObject2 { flags: batch::PINNED | batch::WRITTEN, ..object(buffer) }
}

/// A request for the render engine.
pub fn request() -> ExecBuffer2 {
    ExecBuffer2 { flags: 1, ..Default::default() }
}
