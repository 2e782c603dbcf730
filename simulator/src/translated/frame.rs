//! What translated code calls, and what that needs.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use super::loader::Code;
use crate::running::Running;
use gencl_eu::abi::{Frame, Window};
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::fault::Fault;
use gencl_eu::file::{CONTROL, dword};
use gencl_eu::memory::{AddressSpace, Cursor, PAGE_SIZE};
use gencl_eu::thread::{FloatMode, Status, Thread};
use gencl_eu::{self as eu, Context, Kernel};

/// A launch and what it takes to execute it.
pub struct Work {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The launch.
    pub launch: Launch,
    /// GPU memory.
    pub memory: Arc<AddressSpace>,
    /// The batch.
    pub running: Arc<Running>,
}

/// A launch that is executed by translated code.
pub struct Task {
    /// Made for such launches of the kernel.
    pub code: Arc<Code>,
    /// The launch.
    pub work: Arc<Work>,
}

/// A frame and what its callbacks need: they get the frame's address, which is the owner's.
#[repr(C)]
pub struct Owner {
    pub frame: Frame,
    pub task: Option<Task>,
    pub device: &'static Device,
    pub windows: Vec<Window>,
    /// One for each register file.
    pub threads: Vec<Thread>,
    /// For each instruction.
    pub cursors: Vec<Cursor>,
    /// What a callback failed with.
    pub fault: Option<Fault>,
}

impl Owner {
    /// Makes a window the buffer that has an address, if there is one. Windows that are still to be found
    /// become the same: most messages of a kernel use few buffers, and one that uses another looks for its
    /// own.
    fn find(&mut self, window: u32, address: u64) -> Result<bool, Fault> {
        let task = self.task.as_ref().ok_or_else(idle)?;
        let Some((start, size, host)) = task.work.memory.buffer(address) else { return Ok(false) };
        let (skip, size) = part(size, address - start);
        // SAFETY: the part begins within the buffer.
        let host = unsafe { host.add(skip as usize) };
        let found = Window { start: start + skip, size, host };
        self.windows.iter_mut().filter(|window| window.size == 0).for_each(|window| *window = found);
        self.windows[window as usize] = found;
        Ok(true)
    }

    /// Interprets one instruction.
    fn execute(&mut self, number: u32, instruction: u32, active: u32) -> Result<(), Fault> {
        let Owner { frame, task, device, threads, cursors, .. } = self;
        let work = &*task.as_ref().ok_or_else(idle)?.work;
        let index = if threads.len() == 1 { 0 } else { number as usize };
        let thread = &mut threads[index];
        if thread.number != number {
            // Threads that never stop are executed one after the other.
            thread.clear_accumulators();
        }
        thread.number = number;
        thread.active = active;
        thread.dispatch_mask = work.launch.dispatch_mask(number);
        thread.parked = 0;
        thread.ip = instruction as usize;
        // What is read was written: that was proven before, but for this.
        let [low, high] = mem::take(&mut frame.unwritten).map(u128::from);
        thread.written = !(low | high << 64);
        thread.status = Status::Ready;
        thread.float = FloatMode::of_control(dword(&thread.file, CONTROL));
        // SAFETY: the frame's local memory is so many bytes of the runner's own, and translated code does not
        // run now.
        let local = unsafe { slice::from_raw_parts_mut(frame.local, frame.local_size as usize) };
        let cancel = &work.running.cancel;
        let mut context =
            Context::new(&work.kernel, &work.launch, &work.memory, local, cursors, device, cancel);
        context.barrier.arrived = frame.arrived;
        let result = eu::run_one(&work.kernel, &mut context, thread, frame.group);
        frame.arrived = context.barrier.arrived;
        result
    }
}

/// The part of a buffer of `size` bytes that a window is, as its first byte and bytes: one that contains
/// `offset` and as much as possible on both sides.
fn part(size: u64, offset: u64) -> (u64, u64) {
    if size <= Window::MAX_SIZE {
        return (0, size);
    }
    let first = offset.saturating_sub(Window::MAX_SIZE / 2) & !(PAGE_SIZE - 1);
    let first = first.min(size - Window::MAX_SIZE);
    (first, Window::MAX_SIZE)
}

fn idle() -> Fault {
    Fault::unsupported("translated code that runs without a launch")
}

/// Calls a method of a frame's owner. What it fails with stays there.
///
/// # Safety
/// `frame` is that of an [`Owner`] that nobody else refers to.
unsafe fn with_owner<T>(frame: *mut Frame, act: impl FnOnce(&mut Owner) -> Result<T, Fault>) -> Option<T> {
    // SAFETY: an owner begins with its frame, and is ours by the caller's word.
    let owner = unsafe { &mut *frame.cast::<Owner>() };
    let result = catch_unwind(AssertUnwindSafe(|| act(owner)));
    match result.unwrap_or_else(|panic| Err(Fault::internal(&*panic))) {
        Ok(value) => Some(value),
        Err(fault) => {
            owner.fault = Some(fault);
            None
        }
    }
}

/// [`Frame::find`]
///
/// # Safety
/// As [`with_owner`].
pub unsafe extern "C" fn find(frame: *mut Frame, window: u32, address: u64) -> u32 {
    // SAFETY: the caller gives the frame of an owner that nobody else refers to.
    let found = unsafe { with_owner(frame, |owner| owner.find(window, address)) };
    u32::from(found.unwrap_or(false))
}

/// [`Frame::execute`]
///
/// # Safety
/// As [`with_owner`].
pub unsafe extern "C" fn execute(frame: *mut Frame, thread: u32, instruction: u32, active: u32) -> u32 {
    // SAFETY: the caller gives the frame of an owner that nobody else refers to.
    let done = unsafe { with_owner(frame, |owner| owner.execute(thread, instruction, active)) };
    u32::from(done.is_none())
}

#[cfg(test)]
mod tests {
    use super::{Window, part};

    #[test]
    fn windows_of_large_buffers_are_parts() {
        const MAX: u64 = Window::MAX_SIZE;
        assert_eq!(part(MAX, MAX - 1), (0, MAX));
        assert_eq!(part(4 * MAX, 5), (0, MAX));
        assert_eq!(part(4 * MAX, 2 * MAX + 5), (2 * MAX - MAX / 2, MAX));
        assert_eq!(part(4 * MAX, 4 * MAX - 1), (3 * MAX, MAX));
    }
}
