//! Pointer parameters, by the type that they point to.

use std::convert::Infallible;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;

use gencl_runtime::HostMemory;

use super::Argument;

/// A pointer to return one value through; may be null.
#[derive(Clone, Copy)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Whether it is null: the application does not need the value.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns a value, unless the pointer is null.
    pub fn write(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so by the contract of `from_raw` writable; it need not be aligned.
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

/// A pointer to return several values through; another parameter has the capacity. May be null.
#[derive(Clone, Copy)]
pub struct OutList<T>(*mut T);

impl<T: Copy> OutList<T> {
    /// Whether it is null: the application does not need the values.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the first `room` of `values`, unless the pointer is null.
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

/// A pointer to return bytes of an info query through; may be null.
#[derive(Clone, Copy)]
pub struct Bytes(*mut c_void);

impl Bytes {
    /// Whether it is null: the application does not need the bytes.
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
    /// Writes each element of a list through a pointer of the array that is here, unless that pointer is
    /// null.
    ///
    /// # Safety
    /// Not null; the array has as many pointers as the list, and each is null or points to memory for all
    /// bytes of its element.
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

/// Several values from the application; another parameter has their number. May be null.
#[derive(Clone, Copy)]
pub struct List<T>(*const T);

impl<T: Copy> List<T> {
    /// No list.
    pub fn none() -> Self {
        Self(std::ptr::null())
    }

    /// Whether there is no list.
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

/// As [`List`], where C declares a pointer to mutable values.
#[derive(Clone, Copy)]
pub struct ListMut<T>(List<T>);

impl<T: Copy> ListMut<T> {
    /// Whether there is no list.
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

/// A zero-terminated string, or null.
#[derive(Clone, Copy)]
pub struct Text(*const c_char);

impl Text {
    /// The string; bytes that are not UTF-8 are replaced. `None` for null.
    pub fn get(self) -> Option<String> {
        // SAFETY: not null, so by the contract of `from_raw` it is a zero-terminated string.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

impl Argument for Text {
    type Raw = *const c_char;

    unsafe fn from_raw(raw: *const c_char) -> Self {
        Self(raw)
    }
}

/// A list of strings or of byte arrays, `const T **`; another parameter has their number.
pub struct Strings<T>(*mut *const T);

impl<T> Strings<T> {
    /// Whether there is no list.
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
    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// A copy of the bytes: `length` of them, or those before the first zero.
    ///
    /// # Safety
    /// Not null; the string has the length, which the application gave, or is zero-terminated.
    pub unsafe fn to_vec(&self, length: Option<usize>) -> Vec<u8> {
        match length {
            // SAFETY: the caller vouches for the length.
            Some(length) => unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), length) }.to_vec(),
            // SAFETY: the caller vouches for the terminating zero.
            None => unsafe { CStr::from_ptr(self.0.cast()) }.to_bytes().to_vec(),
        }
    }
}

/// A list of properties, names and values in turn, terminated by a 0 in place of a name; or null.
#[derive(Clone, Copy)]
pub struct ZeroTerminated<T>(*const T);

impl<T: Copy + Default + PartialEq> ZeroTerminated<T> {
    /// The list including its terminating 0, as queries return it; empty for null.
    pub fn raw(self) -> Vec<T> {
        let Ok(list) = self.checked(|_, _| Ok::<_, Infallible>(()));
        list
    }

    /// As [`ZeroTerminated::raw`]. Each name and its value are checked before more is read, as behind an unknown name
    /// the list may have no end.
    pub fn checked<E>(self, mut check: impl FnMut(T, T) -> Result<(), E>) -> Result<Vec<T>, E> {
        self.checked_with_lists(|_| false, |name, value| check(name, value[0]))
    }

    /// As [`ZeroTerminated::checked`], where the values of the names that `has_list` tells are lists of their own, each
    /// terminated by a 0, without which `check` gets it.
    pub fn checked_with_lists<E>(
        self,
        has_list: impl Fn(T) -> bool,
        mut check: impl FnMut(T, &[T]) -> Result<(), E>,
    ) -> Result<Vec<T>, E> {
        let mut list = Vec::new();
        if self.0.is_null() {
            return Ok(list);
        }
        let next = |list: &mut Vec<T>| {
            // SAFETY: neither all properties nor the value of the last one have ended, so by the contract of `from_raw`
            // the list continues.
            let next = unsafe { self.0.add(list.len()).read_unaligned() };
            list.push(next);
            next
        };
        loop {
            let name = next(&mut list);
            if name == T::default() {
                return Ok(list);
            }
            let begin = list.len();
            if has_list(name) {
                while next(&mut list) != T::default() {}
                check(name, &list[begin..list.len() - 1])?;
            } else {
                next(&mut list);
                check(name, &list[begin..])?;
            }
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
    /// Whether it is null.
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
    /// `length` bytes are what the specification requires there, and the result is not
    /// used for longer than the specification requires them to be valid.
    pub unsafe fn memory(&self, length: usize) -> HostMemory {
        // SAFETY: the caller and the contract of `from_raw` vouch for the range and its lifetime.
        unsafe { HostMemory::new(self.address.cast(), length) }
    }

    /// The first `length` bytes during a call, `None` for null.
    ///
    /// # Safety
    /// `length` bytes are what the specification requires there, and they are not
    /// written until the result is dropped.
    pub unsafe fn bytes(&self, length: usize) -> Option<&[u8]> {
        // SAFETY: not null, and the caller vouches for the length and for the time.
        (!self.is_null()).then(|| unsafe { std::slice::from_raw_parts(self.address.cast::<u8>(), length) })
    }

    /// A copy of the first `length` bytes, `None` for null.
    ///
    /// # Safety
    /// `length` bytes are what the specification requires there.
    pub unsafe fn to_vec(&self, length: usize) -> Option<Vec<u8>> {
        // SAFETY: the caller vouches for the length, and the bytes are copied at once.
        unsafe { self.bytes(length) }.map(<[u8]>::to_vec)
    }
}

impl HostPointer<*const c_void> {
    /// The first `N` words, `None` for null.
    ///
    /// # Safety
    /// `N` words are what the specification requires there.
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
