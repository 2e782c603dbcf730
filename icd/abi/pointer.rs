//! Pointer parameters, by what they point to.

use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;

use gencl_runtime::HostMemory;

use super::Argument;

/// Where one value is returned; null when the application does not want it.
#[derive(Clone, Copy)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Is the value not wanted?
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the value, if it is wanted.
    pub fn write(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so by the contract of `from_raw` it can be written; alignment is the caller's
            // affair.
            unsafe { self.0.write_unaligned(value) }
        }
    }
}

impl<T> Argument for Out<T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Self(raw)
    }
}

/// Where several values are returned; another parameter tells how many there is room for.
#[derive(Clone, Copy)]
pub struct OutList<T>(*mut T);

impl<T: Copy> OutList<T> {
    /// Are the values not wanted?
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns as many of `values` as there is room for.
    ///
    /// # Safety
    /// `room` is the parameter that the specification pairs with this one.
    pub unsafe fn write(self, values: &[T], room: usize) {
        if !self.0.is_null() {
            for (index, value) in values.iter().take(room).enumerate() {
                // SAFETY: the application has room for `room` values, and `index` is below it.
                unsafe { self.0.add(index).write_unaligned(*value) }
            }
        }
    }
}

impl<T> Argument for OutList<T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Self(raw)
    }
}

/// Where an info query returns bytes, or null.
#[derive(Clone, Copy)]
pub struct Bytes(*mut c_void);

impl Bytes {
    /// Are the bytes not wanted?
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the bytes of `values`.
    ///
    /// # Safety
    /// Not null, there is room for all of `values`, and `T` has no padding.
    pub unsafe fn write<T: Copy>(self, values: &[T]) {
        // SAFETY: the caller vouches for the room; a slice of ours does not overlap memory of the
        // application.
        unsafe {
            std::ptr::copy_nonoverlapping(values.as_ptr().cast(), self.0.cast::<u8>(), size_of_val(values));
        }
    }
}

impl Bytes {
    /// Returns bytes where the pointers that are here point to, one for each of a list, unless they are null.
    ///
    /// # Safety
    /// Not null; here are as many pointers, and each is null or has room behind it for all bytes of its place
    /// in the list.
    pub unsafe fn write_behind(self, list: &[impl AsRef<[u8]>]) {
        for (index, bytes) in list.iter().enumerate() {
            let bytes = bytes.as_ref();
            // SAFETY: the caller vouches for the pointers.
            let target = unsafe { self.0.cast::<*mut u8>().add(index).read_unaligned() };
            if !target.is_null() {
                // SAFETY: not null, and the caller vouches for the room.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) }
            }
        }
    }
}

impl Argument for Bytes {
    type Raw = *mut c_void;

    unsafe fn from_raw(raw: *mut c_void) -> Self {
        Self(raw)
    }
}

/// Several values from the application; another parameter tells how many.
#[derive(Clone, Copy)]
pub struct List<T>(*const T);

impl<T: Copy> List<T> {
    /// No list.
    pub fn none() -> Self {
        Self(std::ptr::null())
    }

    /// Is there no list?
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Copies the values; nothing for null.
    ///
    /// # Safety
    /// `to` has as many elements as the parameter says that the specification pairs with this one.
    pub unsafe fn copy_to(self, to: &mut [T]) {
        if !self.0.is_null() {
            for (index, value) in to.iter_mut().enumerate() {
                // SAFETY: the application has so many values there.
                *value = unsafe { self.0.add(index).read_unaligned() };
            }
        }
    }

    /// A copy of the values; empty for null.
    ///
    /// # Safety
    /// `count` is the parameter that the specification pairs with this one.
    pub unsafe fn to_vec(self, count: usize) -> Vec<T> {
        if self.0.is_null() {
            return Vec::new();
        }
        // SAFETY: the application has `count` values there.
        (0..count).map(|index| unsafe { self.0.add(index).read_unaligned() }).collect()
    }
}

impl<T> Argument for List<T> {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> Self {
        Self(raw)
    }
}

/// As [`List`], where C declares the list as one that could be written.
#[derive(Clone, Copy)]
pub struct ListMut<T>(List<T>);

impl<T: Copy> ListMut<T> {
    /// Is there no list?
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// A copy of the values; empty for null.
    ///
    /// # Safety
    /// As [`List::to_vec`].
    pub unsafe fn to_vec(self, count: usize) -> Vec<T> {
        // SAFETY: the caller vouches for it.
        unsafe { self.0.to_vec(count) }
    }
}

impl<T> Argument for ListMut<T> {
    type Raw = *mut T;

    unsafe fn from_raw(raw: *mut T) -> Self {
        Self(List(raw))
    }
}

/// A fixed number of values from the application, or null.
#[derive(Clone, Copy)]
pub struct Fixed<T, const N: usize>(*const T);

impl<T: Copy, const N: usize> Fixed<T, N> {
    /// The values, `None` for null.
    pub fn get(self) -> Option<[T; N]> {
        // SAFETY: not null, so by the contract of `from_raw` there are `N` values.
        (!self.0.is_null()).then(|| unsafe { self.0.cast::<[T; N]>().read_unaligned() })
    }
}

impl<T, const N: usize> Argument for Fixed<T, N> {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> Self {
        Self(raw)
    }
}

/// A string that ends with a zero byte, or null.
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// The string; bytes that are not UTF-8 are replaced. `None` for null.
    pub fn get(self) -> Option<String> {
        // SAFETY: not null, so by the contract of `from_raw` it is a string with its end.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

impl Argument for Text {
    type Raw = *const c_char;

    unsafe fn from_raw(raw: *const c_char) -> Self {
        Self(raw)
    }
}

/// A list of strings or of byte arrays, `const T **`; another parameter tells how many.
pub struct Strings<T>(*mut *const T);

impl<T> Strings<T> {
    /// Is there no list?
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The strings; none for null.
    ///
    /// # Safety
    /// `count` is the parameter that the specification pairs with this one.
    pub unsafe fn to_vec(&self, count: usize) -> Vec<StringPointer<T>> {
        if self.0.is_null() {
            return Vec::new();
        }
        // SAFETY: the application has `count` pointers there.
        (0..count).map(|index| StringPointer(unsafe { self.0.add(index).read_unaligned() })).collect()
    }
}

impl<T> Argument for Strings<T> {
    type Raw = *mut *const T;

    unsafe fn from_raw(raw: *mut *const T) -> Self {
        Self(raw)
    }
}

/// One of [`Strings`].
pub struct StringPointer<T>(*const T);

impl<T> StringPointer<T> {
    /// Is it null?
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// A copy of the bytes: `length` of them, or those before the first zero.
    ///
    /// # Safety
    /// Not null; the length is what the application gave, or the string has an end.
    pub unsafe fn to_vec(&self, length: Option<usize>) -> Vec<u8> {
        match length {
            // SAFETY: the caller vouches for the length.
            Some(length) => unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), length) }.to_vec(),
            // SAFETY: the caller vouches for the end.
            None => unsafe { CStr::from_ptr(self.0.cast()) }.to_bytes().to_vec(),
        }
    }
}

/// A list of properties, names and values in turn, with a 0 in place of a name at its end; or null.
#[derive(Clone, Copy)]
pub struct ZeroTerminated<T>(*const T);

impl<T: Copy + Default + PartialEq> ZeroTerminated<T> {
    /// The list as it stands, its end included, for the query that gives it back; empty for null.
    pub fn raw(self) -> Vec<T> {
        let mut list = Vec::new();
        if self.0.is_null() {
            return list;
        }
        loop {
            // SAFETY: all names before were not 0, so by the contract of `from_raw` the list goes on.
            let name = unsafe { self.0.add(list.len()).read_unaligned() };
            list.push(name);
            if name == T::default() {
                return list;
            }
            // SAFETY: a name that is not 0 has a value after it.
            list.push(unsafe { self.0.add(list.len()).read_unaligned() });
        }
    }
}

impl<T> Argument for ZeroTerminated<T> {
    type Raw = *const T;

    unsafe fn from_raw(raw: *const T) -> Self {
        Self(raw)
    }
}

/// Memory of the application that commands and memory objects use; `P` is the C type.
pub struct HostPointer<P> {
    address: *mut c_void,
    raw: PhantomData<P>,
}

impl<P> HostPointer<P> {
    /// Is it null?
    pub fn is_null(&self) -> bool {
        self.address.is_null()
    }

    /// Its address.
    pub fn address(&self) -> usize {
        self.address as usize
    }

    /// The first `length` bytes, for commands and memory objects.
    ///
    /// # Safety
    /// `length` bytes are what the specification asks the application to have there, and the result is not
    /// used for longer than the specification asks them to stay.
    pub unsafe fn memory(&self, length: usize) -> HostMemory {
        // SAFETY: the caller and the contract of `from_raw` vouch for the range and its lifetime.
        unsafe { HostMemory::new(self.address.cast(), length) }
    }

    /// The first `length` bytes during a call, `None` for null.
    ///
    /// # Safety
    /// `length` bytes are what the specification asks the application to have there, and nobody writes them
    /// until the result is dropped.
    pub unsafe fn bytes(&self, length: usize) -> Option<&[u8]> {
        // SAFETY: not null, and the caller vouches for the length and for the time.
        (!self.is_null()).then(|| unsafe { std::slice::from_raw_parts(self.address.cast::<u8>(), length) })
    }

    /// A copy of the first `length` bytes, `None` for null.
    ///
    /// # Safety
    /// `length` bytes are what the specification asks the application to have there.
    pub unsafe fn to_vec(&self, length: usize) -> Option<Vec<u8>> {
        // SAFETY: the caller vouches for the length, and the bytes are copied at once.
        unsafe { self.bytes(length) }.map(<[u8]>::to_vec)
    }
}

impl HostPointer<*const c_void> {
    /// The first `N` words, `None` for null.
    ///
    /// # Safety
    /// `N` words are what the specification asks the application to have there.
    pub unsafe fn to_words<const N: usize>(&self) -> Option<[usize; N]> {
        // SAFETY: not null, and the caller vouches for the length.
        (!self.is_null()).then(|| unsafe { self.address.cast::<[usize; N]>().read_unaligned() })
    }
}

impl Argument for HostPointer<*mut c_void> {
    type Raw = *mut c_void;

    unsafe fn from_raw(raw: *mut c_void) -> Self {
        Self { address: raw, raw: PhantomData }
    }
}

impl Argument for HostPointer<*const c_void> {
    type Raw = *const c_void;

    unsafe fn from_raw(raw: *const c_void) -> Self {
        Self { address: raw.cast_mut(), raw: PhantomData }
    }
}
