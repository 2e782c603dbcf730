//! The owner of the frame that translated code runs on, and the callbacks of that code.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use super::loader::HostCode;
use super::look::Looks;
use super::surfaces::LaunchSurfaces;
use crate::running::Running;
use gencl_eu::abi::{Frame, Image, Window};
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::fault::{Fault, Reason};
use gencl_eu::file::{CONTROL, dword};
use gencl_eu::memory::{AddressSpace, PAGE_SIZE};
use gencl_eu::thread::{FloatMode, Status, Thread};
use gencl_eu::{self as eu, Context, Kernel, MessageCache};

/// Most bytes of a stack that are compared: translated code has few kilobytes.
const MAX_STACK: usize = 1 << 20;

/// A launch with its kernel, its memory and its batch.
pub struct LaunchContext {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The launch.
    pub launch: Launch,
    /// GPU memory.
    pub memory: Arc<AddressSpace>,
    /// What code may be specialised for.
    pub surfaces: LaunchSurfaces,
    /// Cancellation and progress of the batch.
    pub running: Arc<Running>,
}

/// A launch that translated code executes.
pub struct TranslatedLaunch {
    /// A translation that is valid for the launch.
    pub code: Arc<HostCode>,
    /// The launch.
    pub work: Arc<LaunchContext>,
}

/// A frame and the state of its callbacks. These get the frame's address, which is also the owner's.
#[repr(C)]
pub struct FrameOwner {
    pub frame: Frame,
    pub task: Option<TranslatedLaunch>,
    pub device: &'static Device,
    pub windows: Vec<Window>,
    pub images: Vec<Image>,
    /// The threads whose register files the frame has.
    pub threads: Vec<Thread>,
    /// One per instruction.
    pub caches: Vec<MessageCache>,
    /// The fault of a callback.
    pub fault: Option<Fault>,
    /// Where the stack of translated code begins, at its highest address, while that is executed.
    pub stack: usize,
    /// What threads have found when they looked whether they go on.
    pub looks: Looks,
}

impl FrameOwner {
    /// Fills a window with the buffer that contains an address, if there is one. Empty windows are filled as
    /// well: the messages of a kernel use few buffers, and a message whose guess was wrong looks its own up.
    fn find_window(&mut self, window: u32, address: u64) -> Result<bool, Fault> {
        let task = self.task.as_ref().ok_or_else(no_launch)?;
        let Some((start, size, host)) = task.work.memory.buffer(address) else { return Ok(false) };
        let (skip, size) = window_range(size, address - start);
        // SAFETY: the range begins within the buffer.
        let host = unsafe { host.add(skip as usize) };
        let found = Window { start: start + skip, size, host };
        self.windows.iter_mut().filter(|window| window.size == 0).for_each(|window| *window = found);
        self.windows[window as usize] = found;
        Ok(true)
    }

    /// Thread `number` at an instruction, and what it shares with the others.
    fn thread(&mut self, number: u32, instruction: u32) -> Result<CalledThread<'_>, Fault> {
        let FrameOwner { frame, task, device, threads, caches, .. } = self;
        let work = &*task.as_ref().ok_or_else(no_launch)?.work;
        let index = if threads.len() == 1 { 0 } else { number as usize };
        let thread = &mut threads[index];
        if thread.number != number {
            // Threads that never yield share one state, one after the other.
            thread.clear_accumulators();
        }
        thread.number = number;
        thread.ip = instruction as usize;
        // SAFETY: `local` and `local_size` describe memory that the runner owns, and translated code, which
        // also accesses it, is suspended in this call.
        let local = unsafe { slice::from_raw_parts_mut(frame.local, frame.local_size as usize) };
        let strict = work.kernel.is_strict();
        let context = Context::new(&work.launch, &work.memory, local, caches, device, strict);
        Ok(CalledThread { frame, work, context, thread })
    }

    /// Interprets one instruction for thread `number` and the channels `active`.
    fn interpret(&mut self, number: u32, instruction: u32, active: u32) -> Result<(), Fault> {
        let CalledThread { frame, work, mut context, thread } = self.thread(number, instruction)?;
        thread.active = active;
        thread.dispatch_mask = work.launch.dispatch_mask(number);
        thread.parked = 0;
        // The translated code has checked that registers were written before they are read, but for these.
        let [low, high] = mem::take(&mut frame.unwritten).map(u128::from);
        thread.written = !(low | high << 64);
        thread.status = Status::Ready;
        thread.float = FloatMode::of_control(dword(&thread.file, CONTROL));
        context.barrier.arrived = frame.arrived;
        let result = eu::run_one(&work.kernel, &mut context, thread, frame.group);
        frame.arrived = context.barrier.arrived;
        result
    }

    /// Performs the message of an instruction for thread `number` and the instruction's channels in `mask`.
    fn send(&mut self, number: u32, instruction: u32, mask: u32) -> Result<(), Fault> {
        if mask == 0 {
            return Ok(());
        }
        let CalledThread { frame, work, mut context, thread } = self.thread(number, instruction)?;
        eu::send_one(&work.kernel, &mut context, thread, frame.group, mask)
    }

    /// Stops thread `number`, which is at an instruction, if the launch is cancelled or the thread could never end. `stack`: as of
    /// [`Looks::repeats`].
    fn look(&mut self, number: u32, instruction: u32, stack: &[u8]) -> Result<(), Fault> {
        let work = &self.task.as_ref().ok_or_else(no_launch)?.work;
        let [x, y, z] = self.frame.group;
        let index = if self.threads.len() == 1 { 0 } else { number as usize };
        let file = &self.threads[index].file[..];
        let mut fault = if work.running.cancel.is_set() {
            Fault::new(Reason::Cancelled)
        } else if !work.kernel.can_end(instruction as usize) {
            eu::no_end()
        } else if self.looks.repeats(&work.kernel, [number, instruction, x, y, z], stack, file) {
            eu::registers_repeat()
        } else {
            return Ok(());
        };
        fault.group = Some(self.frame.group);
        Err(eu::locate_fault(&work.kernel, fault, number, instruction as usize))
    }
}

/// A thread for which translated code calls the simulator.
struct CalledThread<'a> {
    frame: &'a mut Frame,
    work: &'a LaunchContext,
    context: Context<'a>,
    thread: &'a mut Thread,
}

/// The part of a buffer of `size` bytes that a window covers, as its first byte and size: it contains
/// `offset`, and extends as far as possible to both sides.
fn window_range(size: u64, offset: u64) -> (u64, u64) {
    if size <= Window::MAX_SIZE {
        return (0, size);
    }
    let first = offset.saturating_sub(Window::MAX_SIZE / 2) & !(PAGE_SIZE - 1);
    let first = first.min(size - Window::MAX_SIZE);
    (first, Window::MAX_SIZE)
}

fn no_launch() -> Fault {
    Fault::unsupported("translated code that runs without a launch")
}

/// Calls a function with a frame's owner, and stores its fault there.
///
/// # Safety
/// `frame` belongs to a [`FrameOwner`] without other references.
unsafe fn with_owner<T>(
    frame: *mut Frame,
    act: impl FnOnce(&mut FrameOwner) -> Result<T, Fault>,
) -> Option<T> {
    // SAFETY: an owner begins with its frame; the caller guarantees exclusive access to it.
    let owner = unsafe { &mut *frame.cast::<FrameOwner>() };
    let result = catch_unwind(AssertUnwindSafe(|| act(owner)));
    match result.unwrap_or_else(|panic| Err(Fault::internal(&*panic))) {
        Ok(value) => Some(value),
        Err(fault) => {
            owner.fault = Some(fault);
            None
        }
    }
}

/// [`Frame::find_window`]
///
/// # Safety
/// As [`with_owner`].
pub unsafe extern "C" fn find_window(frame: *mut Frame, window: u32, address: u64) -> u32 {
    // SAFETY: the caller gives the frame of an owner that nobody else refers to.
    let found = unsafe { with_owner(frame, |owner| owner.find_window(window, address)) };
    u32::from(found.unwrap_or(false))
}

/// [`Frame::interpret`]
///
/// # Safety
/// As [`with_owner`].
pub unsafe extern "C" fn interpret(frame: *mut Frame, thread: u32, instruction: u32, active: u32) -> u32 {
    // SAFETY: the caller gives the frame of an owner that nobody else refers to.
    let done = unsafe { with_owner(frame, |owner| owner.interpret(thread, instruction, active)) };
    u32::from(done.is_none())
}

/// [`Frame::send`]
///
/// # Safety
/// As [`with_owner`].
pub unsafe extern "C" fn send(frame: *mut Frame, thread: u32, instruction: u32, mask: u32) -> u32 {
    // SAFETY: the caller gives the frame of an owner that nobody else refers to.
    let done = unsafe { with_owner(frame, |owner| owner.send(thread, instruction, mask)) };
    u32::from(done.is_none())
}

/// [`Frame::look`] with the top of the stack.
///
/// # Safety
/// `frame` belongs to a [`FrameOwner`] without other references. `top` is 0, or the memory from there to
/// [`FrameOwner::stack`] is the stack of the calls between.
unsafe extern "C" fn look_at(frame: *mut Frame, thread: u32, instruction: u32, top: usize) -> u32 {
    // SAFETY: the caller gives the frame of an owner that nobody else refers to.
    let done = unsafe {
        with_owner(frame, |owner| {
            let bytes = owner.stack.checked_sub(top).filter(|bytes| top != 0 && *bytes <= MAX_STACK);
            // The functions there are suspended in this call.
            let stack = bytes.map_or(&[][..], |bytes| slice::from_raw_parts(top as *const u8, bytes));
            owner.look(thread, instruction, stack)
        })
    };
    u32::from(done.is_none())
}

/// [`Frame::look`]
///
/// # Safety
/// As [`look_at`]; called by translated code.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn look(frame: *mut Frame, thread: u32, instruction: u32) -> u32 {
    // The translated function has saved the registers that callees may change; on the stack those that they keep are compared, too.
    std::arch::naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rcx, rsp",
        "sub rsp, 8",
        "call {look_at}",
        "add rsp, 56",
        "ret",
        look_at = sym look_at,
    )
}

/// [`Frame::look`]
///
/// # Safety
/// As [`look_at`].
#[cfg(not(target_arch = "x86_64"))]
pub unsafe extern "C" fn look(frame: *mut Frame, thread: u32, instruction: u32) -> u32 {
    // SAFETY: the caller gives the frame of an owner that nobody else refers to.
    unsafe { look_at(frame, thread, instruction, 0) }
}

#[cfg(test)]
mod tests {
    use super::{Window, window_range};

    #[test]
    fn windows_of_large_buffers_are_parts() {
        const MAX: u64 = Window::MAX_SIZE;
        assert_eq!(window_range(MAX, MAX - 1), (0, MAX));
        assert_eq!(window_range(4 * MAX, 5), (0, MAX));
        assert_eq!(window_range(4 * MAX, 2 * MAX + 5), (2 * MAX - MAX / 2, MAX));
        assert_eq!(window_range(4 * MAX, 4 * MAX - 1), (3 * MAX, MAX));
    }
}
