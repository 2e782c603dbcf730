//! Stack and floating-point mode of the host threads that execute batches. A thread of the application may be
//! one of them while it waits for a batch, and new threads inherit the floating-point mode of their parent.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Upper bound of the stack that executing a batch needs, in bytes: the frames of translated code with many
/// spilled registers, and those of its callers.
const STACK: usize = 1 << 20;

thread_local! {
    /// Lowest address and end of this thread's stack, once they have been queried; empty if that failed.
    static STACK_OF_THREAD: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// Whether enough stack is left on this thread to execute a batch. There is not on a thread that was created
/// with a small stack, nor on the stack of a coroutine.
pub fn has_room() -> bool {
    let (low, high) = STACK_OF_THREAD.get().unwrap_or_else(|| {
        let Range { start, end } = stack().unwrap_or_default();
        STACK_OF_THREAD.set(Some((start, end)));
        (start, end)
    });
    let here = std::ptr::from_ref(&low).addr();
    here < high && here.checked_sub(low).is_some_and(|room| room >= STACK)
}

/// The address range of this thread's stack.
fn stack() -> Option<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are read after they were written, and destroyed.
    let result = unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let result = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        result
    };
    (result == 0).then(|| low.addr()..low.addr().saturating_add(size))
}

/// A guard during whose lifetime the thread's floating-point operations round to nearest and keep denormals,
/// whatever the application has set (`-ffast-math` links code that enables flush-to-zero when a program
/// starts). Dropping it restores the application's mode.
pub struct IeeeFloats {
    #[cfg(target_arch = "x86_64")]
    saved: u32,
    /// The register belongs to the thread.
    _not_send: std::marker::PhantomData<*const ()>,
}

/// MXCSR at reset: all exceptions masked, none recorded (Intel's manual, Volume 1, 10.2.3).
#[cfg(target_arch = "x86_64")]
const MXCSR: u32 = 0x1f80;

impl IeeeFloats {
    pub fn new() -> IeeeFloats {
        #[cfg(target_arch = "x86_64")]
        let saved = {
            let mut saved = 0u32;
            // SAFETY: it stores the register to a variable.
            unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut saved, options(nostack)) };
            if saved != MXCSR {
                load(MXCSR);
            }
            saved
        };
        IeeeFloats {
            #[cfg(target_arch = "x86_64")]
            saved,
            _not_send: std::marker::PhantomData,
        }
    }
}

impl Drop for IeeeFloats {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        load(self.saved);
    }
}

#[cfg(target_arch = "x86_64")]
fn load(mxcsr: u32) {
    // SAFETY: the value is one that the register has had, or its value at reset; the application itself has
    // unmasked the exceptions that are not masked.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &mxcsr, options(nostack, readonly)) };
}

#[cfg(test)]
mod tests {
    use super::{IeeeFloats, has_room};

    #[test]
    fn a_thread_with_a_small_stack_has_no_room() {
        let on_stack =
            |size| std::thread::Builder::new().stack_size(size).spawn(has_room).unwrap().join().unwrap();
        assert!(on_stack(4 << 20));
        assert!(!on_stack(256 << 10));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn denormals_are_kept_whatever_the_mode_of_the_thread() {
        let half = || std::hint::black_box(f32::MIN_POSITIVE) / std::hint::black_box(2.0);
        // Flush to zero, denormals are zeros.
        super::load(super::MXCSR | 0x8040);
        let flushed = half();
        let guard = IeeeFloats::new();
        let kept = half();
        drop(guard);
        let again = half();
        super::load(super::MXCSR);
        assert_eq!((flushed, again), (0.0, 0.0));
        assert!(kept > 0.0);
    }
}
