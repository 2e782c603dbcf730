//! Functions of the application that the driver calls.

use std::ffi::{CString, c_char, c_void};
use std::marker::PhantomData;

use opencl_sys::{cl_command_queue, cl_event, cl_int, cl_uint};

use super::Argument;

/// `pfn_notify` of contexts.
type ContextFunction = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);
/// `pfn_notify` of builds, of the end of contexts and of memory objects.
type ObjectFunction = unsafe extern "C" fn(*mut c_void, *mut c_void);
/// `pfn_notify` of events.
type EventFunction = unsafe extern "C" fn(cl_event, cl_int, *mut c_void);
/// `pfn_free_func` of clEnqueueSVMFree.
type FreeFunction = unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void);
/// `user_func` of clEnqueueNativeKernel.
pub type NativeFunction = unsafe extern "C" fn(*mut c_void);

/// The `user_data` of callbacks.
#[derive(Clone, Copy)]
pub struct UserData(*mut c_void);

// SAFETY: the pointer is only passed to callbacks, which by the specification are called from any thread and
// have to be thread-safe.
unsafe impl Send for UserData {}
// SAFETY: a shared reference gives nothing but a copy of the pointer, which is only handed back.
unsafe impl Sync for UserData {}

impl UserData {
    /// Whether it is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    // A method, so that closures capture the whole value, which is `Send`, and not the pointer in it.
    fn pointer(self) -> *mut c_void {
        self.0
    }
}

impl Argument for UserData {
    type Raw = *mut c_void;

    unsafe fn from_raw(raw: *mut c_void) -> Self {
        Self(raw)
    }
}

/// Declares the parameter type of a callback: a function pointer that may be null.
macro_rules! callback {
    ($(#[$doc:meta])* $name:ident($function:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(Option<$function>);

        impl Argument for $name {
            type Raw = Option<$function>;

            unsafe fn from_raw(raw: Self::Raw) -> Self {
                Self(raw)
            }
        }
    };
}

callback! {
    /// Called for errors in a context.
    ContextNotify(ContextFunction)
}
callback! {
    /// Called at the end of a build, or when a context or memory object is destroyed.
    ObjectNotify(ObjectFunction)
}
callback! {
    /// Called when an event reaches a status.
    EventNotify(EventFunction)
}
callback! {
    /// The application's function that frees shared virtual memory.
    SharedFree(FreeFunction)
}
/// A callback of a feature that no device supports, never called. `F` is its C type.
pub struct Unused<F>(PhantomData<F>);

impl<F> Argument for Unused<F> {
    type Raw = Option<F>;

    unsafe fn from_raw(_: Self::Raw) -> Self {
        Self(PhantomData)
    }
}

impl ContextNotify {
    /// Whether there is no function.
    pub fn is_null(self) -> bool {
        self.0.is_none()
    }

    /// The function, bound to its user data; `None` for null.
    pub fn bind(self, user: UserData) -> Option<impl Fn(&str) + Send + Sync + 'static> {
        let function = self.0?;
        Some(move |text: &str| {
            let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
            // SAFETY: a function of the application with the signature of the specification; there are no
            // private data.
            unsafe { function(text.as_ptr(), std::ptr::null(), 0, user.pointer()) }
        })
    }
}

impl ObjectNotify {
    /// Whether there is no function.
    pub fn is_null(self) -> bool {
        self.0.is_none()
    }

    /// The function, bound to its user data; `None` for null.
    pub fn bind(self, user: UserData) -> Option<impl FnOnce(*mut c_void) + Send + 'static> {
        let function = self.0?;
        // SAFETY: a function of the application with the signature of the specification.
        Some(move |handle| unsafe { function(handle, user.pointer()) })
    }
}

impl SharedFree {
    /// The function, bound to its user data; `None` for null.
    pub fn bind(self, user: UserData) -> Option<impl FnOnce(cl_command_queue, &[usize]) + Send + 'static> {
        let function = self.0?;
        Some(move |queue, addresses: &[usize]| {
            let mut pointers: Vec<*mut c_void> =
                addresses.iter().map(|address| *address as *mut c_void).collect();
            // SAFETY: a function of the application with the signature of the specification.
            unsafe { function(queue, pointers.len() as cl_uint, pointers.as_mut_ptr(), user.pointer()) }
        })
    }
}

impl EventNotify {
    /// The function, bound to its user data; `None` for null.
    pub fn bind(self, user: UserData) -> Option<impl FnOnce(cl_event, cl_int) + Send + 'static> {
        let function = self.0?;
        // SAFETY: a function of the application with the signature of the specification.
        Some(move |event, status| unsafe { function(event, status, user.pointer()) })
    }
}
