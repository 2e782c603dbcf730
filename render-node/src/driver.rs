//! Requests for information about driver and device.

use gencl_i915::uapi::{
    CAP_PRIME, CAP_SYNCOBJ, CAP_SYNCOBJ_TIMELINE, CAP_TIMESTAMP_MONOTONIC, GetCap, GetParam,
    PRIME_CAP_EXPORT, PRIME_CAP_IMPORT, PerfOpenParam, Query, QueryItem, RegRead, Version, query as queries,
};
use gencl_i915::{Errno, RenderNode, Result};

use crate::caller;
use crate::open_file::OpenFile;

const EINVAL: Errno = Errno(libc::EINVAL);

/// `ENOTSUPP`, an error number internal to the kernel that i915 returns nevertheless.
const ENOTSUPP: Errno = Errno(524);

/// `DRM_IOCTL_VERSION`: strings are truncated to the caller's buffers, lengths are complete.
pub fn version(file: &OpenFile, args: &mut Version) -> Result<()> {
    let version = file.simulator.version()?;
    (args.version_major, args.version_minor, args.version_patchlevel) = version.version;
    let strings = [
        (&mut args.name_len, args.name, version.name.as_str()),
        (&mut args.date_len, args.date, "20201103"),
        (&mut args.desc_len, args.desc, "Intel Graphics"),
    ];
    for (length, address, text) in strings {
        let room = usize::try_from(*length).unwrap_or(usize::MAX).min(text.len());
        if address != 0 {
            caller::write_bytes(address, &text.as_bytes()[..room])?;
        }
        *length = text.len() as u64;
    }
    Ok(())
}

/// `DRM_IOCTL_GET_CAP`: there is no display.
pub fn get_cap(_: &OpenFile, args: &mut GetCap) -> Result<()> {
    args.value = 0;
    args.value = match args.capability {
        CAP_PRIME => PRIME_CAP_IMPORT | PRIME_CAP_EXPORT,
        CAP_TIMESTAMP_MONOTONIC | CAP_SYNCOBJ | CAP_SYNCOBJ_TIMELINE => 1,
        _ => return Err(Errno(libc::EOPNOTSUPP)),
    };
    Ok(())
}

/// `DRM_IOCTL_I915_GETPARAM`
pub fn get_param(file: &OpenFile, args: &mut GetParam) -> Result<()> {
    caller::write(args.value, &file.simulator.get_param(args.param)?)
}

/// Offset of the length in a [`QueryItem`].
const LENGTH: u64 = std::mem::offset_of!(QueryItem, length) as u64;

/// `DRM_IOCTL_I915_QUERY`: an error of an item is stored in its length.
pub fn query(file: &OpenFile, args: &mut Query) -> Result<()> {
    if args.flags != 0 {
        return Err(EINVAL);
    }
    for index in 0..u64::from(args.num_items) {
        let address = args.items_ptr.wrapping_add(index * size_of::<QueryItem>() as u64);
        let item: QueryItem = caller::read(address)?;
        if item.query_id == 0 {
            return Err(EINVAL);
        }
        let length = query_item(file, &item).unwrap_or_else(|error| -error.0);
        if length != item.length {
            caller::write(address.wrapping_add(LENGTH), &length)?;
        }
    }
    Ok(())
}

/// Number of bytes at the beginning of a result's buffer that the caller has to set to zero.
fn reserved(id: u64) -> usize {
    match id {
        queries::ENGINE_INFO | queries::MEMORY_REGIONS => 16,
        _ => 0,
    }
}

fn query_item(file: &OpenFile, item: &QueryItem) -> Result<i32> {
    let data = file.simulator.query(item.query_id)?;
    let length = i32::try_from(data.len()).map_err(|_| EINVAL)?;
    if item.flags != 0 {
        return Err(EINVAL);
    }
    if item.length != 0 {
        if item.length < length {
            return Err(EINVAL);
        }
        // `copy_query_item`
        let mut head = [0; 16];
        caller::read_bytes(item.data_ptr, &mut head)?;
        if head[..reserved(item.query_id)].iter().any(|byte| *byte != 0) {
            return Err(EINVAL);
        }
        caller::write_bytes(item.data_ptr, &data)?;
    }
    Ok(length)
}

/// `DRM_IOCTL_I915_REG_READ`
pub fn reg_read(file: &OpenFile, args: &mut RegRead) -> Result<()> {
    args.val = file.simulator.reg_read(args.offset)?;
    Ok(())
}

/// `DRM_IOCTL_I915_PERF_OPEN`: there are no performance counters.
pub fn perf_open(_: &OpenFile, _: &mut PerfOpenParam) -> Result<()> {
    Err(ENOTSUPP)
}

/// `DRM_IOCTL_I915_PERF_ADD_CONFIG`
pub fn perf_add_config(_: &OpenFile, _: &mut [u64; 9]) -> Result<()> {
    Err(ENOTSUPP)
}

/// `DRM_IOCTL_I915_PERF_REMOVE_CONFIG`
pub fn perf_remove_config(_: &OpenFile, _: &mut u64) -> Result<()> {
    Err(ENOTSUPP)
}

/// `DRM_IOCTL_I915_GEM_THROTTLE`: returns at once, as there are no old batches to wait for.
pub fn throttle(_: &OpenFile, _: &mut [u8; 0]) -> Result<()> {
    Ok(())
}
