//! Handles (`cl_mem`, `cl_kernel`, ...) and the registry of valid ones.
//!
//! A handle points to a [`Header`], whose first word is the ICD loader's dispatch table. Headers are never
//! freed, only reused after some time, so that the loader finds the table even through a released handle. The
//! object is found in a registry. A null, invalid or released handle is not in it, or with another type, and
//! results in the error code for the expected type.
//!
//! An object is alive while the application holds references (`clRetain…`, `clRelease…`) or another object
//! refers to it. Queries such as `CL_QUEUE_CONTEXT` may return handles of objects that the application has
//! released; they are valid, and may be retained again, as long as the object is alive.

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, Weak};

use gencl_program::misuse::MisuseKind;
use gencl_runtime::calls::{Call, current};
use gencl_runtime::{Code, Error};
use opencl_sys::cl_icd::cl_icd_dispatch;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::CLResult;
use crate::dispatch::TABLE;
use crate::misuse::{self, one};

/// Number of released headers that are kept before the oldest is reused.
const QUARANTINE: usize = 4096;

/// The memory that a handle points to.
#[repr(C)]
struct Header {
    dispatch: &'static cl_icd_dispatch,
    /// Pads the header to 16 bytes, so that different headers never share a word.
    reserved: usize,
}

static FREE_HEADERS: Mutex<VecDeque<&'static Header>> = Mutex::new(VecDeque::new());

fn take_header() -> &'static Header {
    let mut free = FREE_HEADERS.lock();
    if free.len() > QUARANTINE
        && let Some(header) = free.pop_front()
    {
        return header;
    }
    Box::leak(Box::new(Header { dispatch: &TABLE, reserved: 0 }))
}

/// A type of objects with handles.
pub trait Object: Send + Sync + Sized + 'static {
    /// The error code for an invalid handle.
    const INVALID: Code;

    /// What the objects are, in reports.
    const NAME: &'static str;

    /// Whether the objects are reference-counted. Platforms and root devices are not.
    const COUNTED: bool = true;

    /// What this one is, in reports.
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// What the application has to do yet before it releases the object: `is mapped`.
    fn undone(&self) -> Option<&'static str> {
        None
    }

    /// Called when the application has released its last reference.
    fn released(&self) {}
}

/// An object with its handle.
pub struct Handle<T: Object> {
    header: &'static Header,
    object: T,
}

struct Entry {
    object: Weak<dyn Any + Send + Sync>,
    /// The application's references, which together own the object.
    references: u32,
    owned: Option<Arc<dyn Any + Send + Sync>>,
    /// What it is: [`Object::NAME`].
    name: &'static str,
    /// If calls are checked.
    origin: Option<Box<Origin>>,
}

/// Where an object was made, for reports.
struct Origin {
    call: Call,
    /// What the object is, as text.
    describe: fn(&(dyn Any + Send + Sync)) -> Option<String>,
}

/// The calls that have released objects for the last time, with what these were, by handle; if calls are checked.
static RELEASED: LazyLock<Mutex<FxHashMap<usize, (&'static str, Call)>>> = LazyLock::new(Mutex::default);

const SHARDS: usize = 16;

static REGISTRY: LazyLock<[Mutex<FxHashMap<usize, Entry>>; SHARDS]> = LazyLock::new(Default::default);

/// The shard that holds the handle with this address.
fn shard(address: usize) -> &'static Mutex<FxHashMap<usize, Entry>> {
    // Headers have 16 bytes, and the allocator adds 16.
    &REGISTRY[(address >> 5) % SHARDS]
}

/// A handle that is none of this type.
fn invalid<T: Object>(raw: *mut c_void) -> Error {
    if misuse::is_on() {
        report_invalid(raw as usize, T::NAME);
    }
    Error::new(T::INVALID, "not a handle of this type, or released")
}

fn report_invalid(address: usize, expected: &str) {
    let released = RELEASED.lock().get(&address).copied();
    let actual = shard(address).lock().get(&address).map(|entry| entry.name);
    let function = current();
    let (kind, what) = match (released, actual) {
        (Some((name, _)), _) => (MisuseKind::ReleasedHandle, format!("{} that was released", one(name))),
        (None, Some(name)) if name != expected => {
            (MisuseKind::InvalidHandle, format!("{} instead of {}", one(name), one(expected)))
        }
        _ if address == 0 => (MisuseKind::InvalidHandle, format!("null instead of {}", one(expected))),
        _ => (MisuseKind::InvalidHandle, format!("what is no handle instead of {}", one(expected))),
    };
    let other = released.map(|(_, call)| (format!("it was released by {}", call.function), call));
    misuse::report_with(kind, || format!("{function} gets {what}"), || other);
}

/// Calls a function with a description of each object of which the application has references, and the call that made it; if
/// calls are checked.
pub fn each_owned(mut function: impl FnMut(String, Call)) {
    for shard in &*REGISTRY {
        // Objects are dropped without the lock.
        let all: Vec<_> = shard
            .lock()
            .values()
            .filter_map(|entry| {
                let origin = entry.origin.as_ref().filter(|_| entry.references > 0)?;
                Some((entry.object.upgrade()?, origin.describe, origin.call))
            })
            .collect();
        for (object, describe, call) in all {
            if let Some(text) = describe(&*object) {
                function(text, call);
            }
        }
    }
}

impl<T: Object> Handle<T> {
    /// A new handle, without references of the application.
    pub fn new(object: T) -> Arc<Self> {
        let handle = Arc::new(Self { header: take_header(), object });
        let any: Arc<dyn Any + Send + Sync> = handle.clone();
        let origin = misuse::is_on().then(|| {
            RELEASED.lock().remove(&handle.address());
            Box::new(Origin { call: Call::here(), describe: Self::describe })
        });
        let object = Arc::downgrade(&any);
        let entry = Entry { object, references: 0, owned: None, name: T::NAME, origin };
        shard(handle.address()).lock().insert(handle.address(), entry);
        handle
    }

    /// A new handle with one reference of the application.
    pub fn create(object: T) -> *mut c_void {
        let handle = Self::new(object);
        handle.add_reference();
        handle.raw()
    }

    /// The object of a handle; `T::INVALID` when the handle is invalid.
    pub fn get(raw: *mut c_void) -> CLResult<Arc<Self>> {
        let object = shard(raw as usize).lock().get(&(raw as usize)).and_then(|entry| entry.object.upgrade());
        object.and_then(|object| object.downcast().ok()).ok_or_else(|| invalid::<T>(raw))
    }

    /// What an object is, and what is to be done with it, if it is one of this type.
    fn describe(object: &(dyn Any + Send + Sync)) -> Option<String> {
        let object = &object.downcast_ref::<Self>()?.object;
        let undone = object.undone().map(|undone| format!(" that {undone}")).unwrap_or_default();
        Some(one(object.name()) + &undone)
    }

    /// `clRetain…`
    pub fn retain(raw: *mut c_void) -> CLResult<()> {
        Self::get(raw)?.add_reference();
        Ok(())
    }

    /// `clRelease…`. `T::INVALID` when the application has no reference left.
    pub fn release(raw: *mut c_void) -> CLResult<()> {
        let handle = Self::get(raw)?;
        if !T::COUNTED {
            return Ok(());
        }
        let last = {
            let mut shard = shard(handle.address()).lock();
            let entry = shard.get_mut(&handle.address()).filter(|entry| entry.references > 0);
            let references = entry.map(|entry| {
                entry.references -= 1;
                if entry.references == 0 { entry.owned.take() } else { None }
            });
            drop(shard);
            references.ok_or_else(|| invalid::<T>(raw))?
        };
        // Without the lock, which dropping an object takes.
        if last.is_some() {
            if misuse::is_on() {
                RELEASED.lock().insert(handle.address(), (handle.object.name(), Call::here()));
            }
            handle.object.released();
        }
        Ok(())
    }

    fn add_reference(self: &Arc<Self>) {
        if T::COUNTED
            && let Some(entry) = shard(self.address()).lock().get_mut(&self.address())
        {
            entry.references += 1;
            if entry.owned.is_none() && entry.origin.is_some() {
                RELEASED.lock().remove(&self.address());
            }
            entry.owned.get_or_insert_with(|| self.clone());
        }
    }

    /// Number of the application's references, for `CL_…_REFERENCE_COUNT`; 1 for types without counts.
    pub fn references(&self) -> u32 {
        if !T::COUNTED {
            return 1;
        }
        shard(self.address()).lock().get(&self.address()).map_or(0, |entry| entry.references)
    }

    /// The handle.
    pub fn raw(&self) -> *mut c_void {
        std::ptr::from_ref(self.header).cast_mut().cast()
    }

    /// The handle as an integer, which is `Send`.
    pub fn address(&self) -> usize {
        self.raw() as usize
    }
}

impl<T: Object> Deref for Handle<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: Object> Drop for Handle<T> {
    fn drop(&mut self) {
        shard(self.address()).lock().remove(&self.address());
        FREE_HEADERS.lock().push_back(self.header);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Apple;
    struct Pear(Arc<Handle<Apple>>);

    impl Object for Apple {
        const INVALID: Code = Code::InvalidMemObject;
        const NAME: &'static str = "apple";
    }

    impl Object for Pear {
        const INVALID: Code = Code::InvalidKernel;
        const NAME: &'static str = "pear";
    }

    fn code<T>(result: CLResult<T>) -> Option<Code> {
        result.err().map(|error| error.code)
    }

    #[test]
    fn wrong_handles_are_errors() {
        let apple = Handle::create(Apple);
        assert_eq!(code(Handle::<Apple>::get(apple)), None);
        assert_eq!(code(Handle::<Pear>::get(apple)), Some(Code::InvalidKernel));
        assert_eq!(code(Handle::<Apple>::get(std::ptr::null_mut())), Some(Code::InvalidMemObject));
        assert_eq!(
            code(Handle::<Apple>::get((&raw const apple).cast_mut().cast())),
            Some(Code::InvalidMemObject)
        );
        Handle::<Apple>::release(apple).unwrap();
        assert_eq!(code(Handle::<Apple>::get(apple)), Some(Code::InvalidMemObject));
        assert_eq!(code(Handle::<Apple>::release(apple)), Some(Code::InvalidMemObject));
        assert_eq!(code(Handle::<Apple>::retain(apple)), Some(Code::InvalidMemObject));
    }

    #[test]
    fn references_are_counted() {
        let raw = Handle::create(Apple);
        Handle::<Apple>::retain(raw).unwrap();
        assert_eq!(Handle::<Apple>::get(raw).unwrap().references(), 2);
        Handle::<Apple>::release(raw).unwrap();
        assert_eq!(Handle::<Apple>::get(raw).unwrap().references(), 1);
        Handle::<Apple>::release(raw).unwrap();
        assert!(Handle::<Apple>::get(raw).is_err());
    }

    #[test]
    fn a_referenced_object_outlives_the_applications_references() {
        let apple = Handle::create(Apple);
        let pear = Handle::create(Pear(Handle::get(apple).unwrap()));
        Handle::<Apple>::release(apple).unwrap();
        assert_eq!(Handle::<Pear>::get(pear).unwrap().0.raw(), apple);
        // No reference is left, but it may be retained again.
        assert!(Handle::<Apple>::release(apple).is_err());
        Handle::<Apple>::retain(apple).unwrap();
        Handle::<Pear>::release(pear).unwrap();
        assert_eq!(Handle::<Apple>::get(apple).unwrap().references(), 1);
        Handle::<Apple>::release(apple).unwrap();
        assert!(Handle::<Apple>::get(apple).is_err());
    }

    #[test]
    fn the_loader_finds_the_table_behind_a_released_handle() {
        let raw = Handle::create(Apple);
        Handle::<Apple>::release(raw).unwrap();
        // SAFETY: headers are never freed.
        let first_word = unsafe { *raw.cast::<*const cl_icd_dispatch>() };
        assert!(std::ptr::eq(first_word, &TABLE));
    }
}
