//! Whether threads in translated code may go on, while their batch is suspected to hang.
//!
//! Registers of a thread are values of the translated function: in the host's registers and on its stack. Where a thread that
//! nothing from outside can change comes back to an instruction, and both are the same as before, it never ends.

use std::slice;

use gencl_eu::abi::Frame;
use gencl_eu::fault::{Fault, Reason};
use gencl_eu::{self as eu, Cycle, Kernel};
use rustc_hash::FxHashMap;

use super::frame::{FrameOwner, no_launch, with_owner};

/// Most bytes of a stack that are compared: translated code has few kilobytes.
const MAX_STACK: usize = 1 << 20;

/// What has been observed of the threads of a launch.
#[derive(Default)]
pub struct Looks {
    cycle: Cycle,
    /// [`Kernel::is_silent`] of instructions at which threads have looked.
    silent: FxHashMap<u32, bool>,
}

impl Looks {
    fn is_silent(&mut self, kernel: &Kernel, instruction: u32) -> bool {
        *self.silent.entry(instruction).or_insert_with(|| kernel.is_silent(instruction as usize))
    }
}

impl FrameOwner {
    /// Stops thread `number`, which is at an instruction, if the launch is cancelled or the thread could never end. `stack` is that of the
    /// translated function, with the registers that callees keep; empty where it is unknown.
    fn look(&mut self, number: u32, instruction: u32, stack: &[u8]) -> Result<(), Fault> {
        let work = &self.task.as_ref().ok_or_else(no_launch)?.work;
        let mut fault = if work.running.cancel.is_set() {
            Fault::new(Reason::Cancelled)
        } else if !work.kernel.can_end(instruction as usize) {
            eu::no_end()
        } else if !self.looks.is_silent(&work.kernel, instruction) || stack.is_empty() {
            self.looks.cycle.restart();
            return Ok(());
        } else {
            let [x, y, z] = self.frame.group;
            let place = [number, instruction, x, y, z];
            let index = if self.threads.len() == 1 { 0 } else { number as usize };
            // Of kernels with indirect accesses it has the registers.
            let file = &self.threads[index].file[..];
            if !self.looks.cycle.repeats(&[bytemuck::bytes_of(&place), stack, file]) {
                return Ok(());
            }
            eu::registers_repeat()
        };
        fault.group = Some(self.frame.group);
        Err(eu::locate_fault(&work.kernel, fault, number, instruction as usize))
    }
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
