//! One query with all combinations of arguments.

use std::ffi::c_void;
use std::ptr::null_mut;

use gencl_utest::Outcome;
use opencl_sys::{CL_INVALID_VALUE, CL_SUCCESS, cl_int};

/// What an answer looks like.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// One value of so many bytes.
    Value(usize),
    /// A list, perhaps empty, of elements of so many bytes.
    List(usize),
    /// Characters with a zero at their end.
    Text,
    /// Pointers, to memory that the answer is written to; null ones are skipped.
    Pointers,
}

/// `cl_uint`, `cl_bool` and the like.
pub const UINT: Shape = Shape::Value(4);
/// `cl_ulong` and bit fields.
pub const ULONG: Shape = Shape::Value(8);
/// `size_t`
pub const SIZE: Shape = Shape::Value(size_of::<usize>());
/// A handle or a pointer.
pub const HANDLE: Shape = Shape::Value(size_of::<*mut c_void>());
/// Names with versions.
pub const NAMES: Shape = Shape::List(size_of::<opencl_sys::cl_name_version>());

/// A query by its name.
pub struct Query {
    pub name: &'static str,
    pub value: u32,
    pub shape: Shape,
}

/// `NAME: shape` for each query.
macro_rules! queries {
    ($($name:ident: $shape:expr,)*) => {
        &[$($crate::information::Query {
            name: stringify!($name),
            value: opencl_sys::$name as u32,
            shape: $shape,
        }),*]
    };
}
pub(crate) use queries;

/// A function `clGet...Info` with an object: name, size, value and returned size.
pub type Ask = Box<dyn Fn(u32, usize, *mut c_void, *mut usize) -> cl_int>;

/// A byte that no answer is to be found by.
const GUARD: u8 = 0xa5;

/// Is no query's name.
const UNKNOWN: u32 = 0xfeed;

/// Makes each query with all combinations of arguments, and one that does not exist.
pub fn check_all(what: &str, queries: &[Query], ask: &Ask) -> Outcome {
    for query in queries {
        check(query, ask).map_err(|error| format!("{what}, {}: {error}", query.name))?;
    }
    let mut size = 77;
    expect(ask(UNKNOWN, 0, null_mut(), &mut size), CL_INVALID_VALUE, "the size of an unknown query")?;
    let mut memory = [GUARD; 256];
    let code = ask(UNKNOWN, memory.len(), memory.as_mut_ptr().cast(), &mut size);
    expect(code, CL_INVALID_VALUE, "an unknown query")?;
    if memory != [GUARD; 256] || size != 77 {
        return Err(format!("{what}: an unknown query was answered"));
    }
    Ok(())
}

/// The answer to a query.
pub fn answer(ask: &Ask, query: u32) -> Result<Vec<u8>, String> {
    let mut size = 0;
    expect(ask(query, 0, null_mut(), &mut size), CL_SUCCESS, "the size")?;
    let mut memory = vec![0; size];
    expect(ask(query, size, memory.as_mut_ptr().cast(), null_mut()), CL_SUCCESS, "the value")?;
    Ok(memory)
}

/// The answer as a number.
pub fn number(ask: &Ask, query: u32) -> Result<u64, String> {
    let bytes = answer(ask, query)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The answer as text without its end.
pub fn text(ask: &Ask, query: u32) -> Result<String, String> {
    let bytes = answer(ask, query)?;
    String::from_utf8(bytes)
        .map(|text| text.trim_end_matches('\0').to_owned())
        .map_err(|error| error.to_string())
}

/// Complains unless a call returned what it should.
pub fn expect(code: cl_int, expected: cl_int, what: &str) -> Outcome {
    if code == expected { Ok(()) } else { Err(format!("{what}: {code}, expected {expected}")) }
}

fn check(query: &Query, ask: &Ask) -> Outcome {
    let mut size = usize::MAX;
    expect(ask(query.value, 0, null_mut(), &mut size), CL_SUCCESS, "the size")?;
    let fits = match query.shape {
        Shape::Value(bytes) => size == bytes,
        Shape::List(bytes) => size.is_multiple_of(bytes),
        Shape::Text => size > 0,
        Shape::Pointers => size == size_of::<*mut c_void>(),
    };
    if !fits {
        return Err(format!("{size} bytes, expected {:?}", query.shape));
    }
    // Neither value nor size are requested; the size does not matter.
    expect(ask(query.value, 0, null_mut(), null_mut()), CL_SUCCESS, "nothing")?;
    expect(ask(query.value, size + 8, null_mut(), null_mut()), CL_SUCCESS, "nothing, with a size")?;
    // Room for the value, and for more.
    let fill = if matches!(query.shape, Shape::Pointers) { 0 } else { GUARD };
    for room in [size, size + 8] {
        let mut memory = vec![fill; size + 16];
        let mut returned = usize::MAX;
        let code = ask(query.value, room, memory.as_mut_ptr().cast(), &mut returned);
        expect(code, CL_SUCCESS, "the value")?;
        if returned != size {
            return Err(format!("{returned} bytes with the value, {size} before"));
        }
        if memory[size..].iter().any(|byte| *byte != fill) {
            return Err(format!("written to behind {size} bytes"));
        }
        if matches!(query.shape, Shape::Text)
            && memory[..size].iter().position(|byte| *byte == 0) != Some(size - 1)
        {
            return Err("the text does not end with its only zero".into());
        }
    }
    // Too little room.
    if size > 0 {
        let mut memory = vec![fill; size];
        let code = ask(query.value, size - 1, memory.as_mut_ptr().cast(), null_mut());
        expect(code, CL_INVALID_VALUE, "too little room")?;
        if memory.iter().any(|byte| *byte != fill) {
            return Err("written to where there is too little room".into());
        }
    }
    Ok(())
}
