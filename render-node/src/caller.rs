//! Access to the caller's memory, to which requests point.
//!
//! Addresses come from the program and may be invalid, which the kernel reports as `EFAULT`. So copies are
//! made by the kernel, within this process (`process_vm_readv`).

use bytemuck::Pod;
use gencl_i915::uapi::UserExtension;
use gencl_i915::{Errno, Result};

/// Largest number of elements of an array that a request points to: more than programs use, and far from
/// exhausting memory.
const MAX_ELEMENTS: usize = 1 << 22;

const EFAULT: Errno = Errno(libc::EFAULT);

/// `process_vm_readv` or `process_vm_writev`.
type Transfer = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> isize;

fn transfer(call: Transfer, ours: *mut u8, length: usize, theirs: u64) -> Result<()> {
    if length == 0 {
        return Ok(());
    }
    let local = libc::iovec { iov_base: ours.cast(), iov_len: length };
    let remote = libc::iovec { iov_base: theirs as *mut libc::c_void, iov_len: length };
    // SAFETY: the callers of this function give memory of their own in `ours`. The kernel checks `theirs`,
    // memory that the program has passed to be read or written.
    let done = unsafe { call(std::process::id() as libc::pid_t, &local, 1, &remote, 1, 0) };
    if done == length as isize { Ok(()) } else { Err(EFAULT) }
}

/// Copies from the caller's memory.
pub fn read_bytes(address: u64, out: &mut [u8]) -> Result<()> {
    transfer(libc::process_vm_readv, out.as_mut_ptr(), out.len(), address)
}

/// Copies to the caller's memory.
pub fn write_bytes(address: u64, data: &[u8]) -> Result<()> {
    transfer(libc::process_vm_writev, data.as_ptr().cast_mut(), data.len(), address)
}

/// Reads a structure.
pub fn read<T: Pod>(address: u64) -> Result<T> {
    let mut value = T::zeroed();
    read_bytes(address, bytemuck::bytes_of_mut(&mut value))?;
    Ok(value)
}

/// Writes a structure.
pub fn write<T: Pod>(address: u64, value: &T) -> Result<()> {
    write_bytes(address, bytemuck::bytes_of(value))
}

/// Number of elements that are read at once.
const PIECE: usize = 1 << 12;

/// Reads an array. `ENOMEM` when it is unreasonably long.
pub fn read_array<T: Pod>(address: u64, count: usize) -> Result<Vec<T>> {
    if count > MAX_ELEMENTS {
        return Err(Errno(libc::ENOMEM));
    }
    // In pieces, so that a wrong count fails at the end of the caller's memory, before it exhausts ours.
    let mut values = Vec::new();
    while values.len() < count {
        let begin = values.len();
        values.resize((begin + PIECE).min(count), T::zeroed());
        let offset = (begin * size_of::<T>()) as u64;
        read_bytes(address.wrapping_add(offset), bytemuck::cast_slice_mut(&mut values[begin..]))?;
    }
    Ok(values)
}

/// Largest number of extensions of a request (`i915_user_extensions`).
const MAX_EXTENSIONS: usize = 512;

/// Calls `apply` with the name and the address of each extension of a request.
pub fn extensions(first: u64, mut apply: impl FnMut(u32, u64) -> Result<()>) -> Result<()> {
    let mut address = first;
    for _ in 0..MAX_EXTENSIONS {
        if address == 0 {
            return Ok(());
        }
        let head: UserExtension = read(address)?;
        if head.flags != 0 || head.rsvd != [0; 4] {
            return Err(Errno(libc::EINVAL));
        }
        apply(head.name, address)?;
        address = head.next_extension;
    }
    Err(Errno(libc::E2BIG))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_faults() {
        let mut values = [1u32, 2, 3];
        let address = values.as_mut_ptr() as u64;
        assert_eq!(read_array::<u32>(address, 3), Ok(vec![1, 2, 3]));
        write(address + 4, &7u32).unwrap();
        assert_eq!(read::<u32>(address + 4), Ok(7));
        assert_eq!(read::<u32>(16), Err(EFAULT));
        assert_eq!(write(u64::MAX - 3, &1u32), Err(EFAULT));
        assert_eq!(read_array::<u32>(address, usize::MAX), Err(Errno(libc::ENOMEM)));
        assert_eq!(read_array::<u64>(address, 1 << 22), Err(EFAULT));
    }
}
