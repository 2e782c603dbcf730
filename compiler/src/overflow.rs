//! Reports of stack overflows.
//!
//! Rust reports accesses to the page below a thread's stack, and clang has frames that are larger than a page: such an
//! overflow may go on in other memory. So the end of the stack itself is made inaccessible, as far as no frame reaches.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes at the end of the stack are not accessible: more than any frame has.
const REACH: usize = 1 << 20;

/// The lowest address of the stack.
static END: AtomicUsize = AtomicUsize::new(0);

/// Reports overflows of the calling thread's stack on standard error, and aborts. The thread must be one of Rust's,
/// which have another stack for signals.
pub fn report() {
    let mut attributes = MaybeUninit::uninit();
    let (mut end, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the first call initialises the attributes, which the others read and destroy.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return;
        }
        libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut end, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    if size < 2 * REACH {
        return;
    }
    // SAFETY: the pages are of this thread's stack, which is far from there.
    unsafe { libc::mprotect(end, REACH, libc::PROT_NONE) };
    END.store(end as usize, Ordering::Relaxed);
    // SAFETY: zeros are a value of this structure; the handler only calls what a signal handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes the description of a fault.
    let address = unsafe { (*info).si_addr() } as usize;
    if address.abs_diff(END.load(Ordering::Relaxed)) < REACH {
        const MESSAGE: &str = "\nthe compiler has overflowed its stack\n";
        // SAFETY: the text is alive; both may be called by a signal handler.
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::abort();
        }
    }
    // The access is repeated, and ends the process.
    // SAFETY: the default action is no function.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}
