//! `DRM_IOCTL_I915_GEM_EXECBUFFER2`: checks, placement and relocation, in the order and with the error
//! numbers of the kernel's `i915_gem_execbuffer.c`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use gencl_i915::{Errno, ExecBuffer, ExecFlags, ExecObject, ObjectFlags, Relocation, Result};

use super::buffers::{Buffer, Buffers};
use super::context::{Context, Job};
use super::timeline::Fence;
use crate::device::Device;
use crate::memory::{AddressSpace, Cursor, Object, PAGE_SIZE, canonical};

/// `I915_GEM_GPU_DOMAINS`: render, sampler, command, instruction, vertex.
const GPU_DOMAINS: u32 = 0x3e;

/// Without [`ObjectFlags::SUPPORTS_48B_ADDRESS`] buffers end before the last page below 4 GiB (`PIN_ZONE_4G`).
const ZONE_4G: u64 = (1 << 32) - PAGE_SIZE;

const EINVAL: Errno = Errno(libc::EINVAL);

/// A checked request.
pub struct Prepared {
    /// What the context's thread executes.
    pub job: Job,
    /// The buffers that it uses.
    pub uses: Uses,
}

/// The buffers of a batch and how it uses them.
pub struct Uses(Vec<(Arc<Buffer>, ObjectFlags)>);

impl Uses {
    /// Attaches a batch's fence to its buffers, and gives the batches that have to be done before it.
    pub fn order(&self, fence: &Fence) -> Vec<Fence> {
        let mut before = Vec::new();
        for (buffer, flags) in &self.0 {
            let writes = flags.contains(ObjectFlags::WRITE);
            let mut users = buffer.users.lock();
            if !flags.contains(ObjectFlags::ASYNC) {
                before.extend(users.before(writes));
            }
            users.add(fence, writes);
        }
        before
    }
}

/// Checks a request and places its buffers. Objects' and relocations' offsets are updated as the kernel does.
pub fn prepare(
    device: &Device,
    buffers: &Buffers,
    context: &Context,
    exec: &mut ExecBuffer<'_>,
) -> Result<Prepared> {
    check_arguments(exec)?;
    if context.is_banned() {
        return Err(Errno(libc::EIO));
    }
    let found = look_up(buffers, exec.objects)?;
    exec.objects.iter().try_for_each(check_object)?;
    let batch = if exec.flags.contains(ExecFlags::BATCH_FIRST) { 0 } else { found.len() - 1 };
    check_batch(exec, &exec.objects[batch], &found[batch].object)?;
    let addresses = place(device, context, exec.objects, &found)?;
    relocate(exec, &found, &addresses)?;
    for (object, address) in exec.objects.iter_mut().zip(&addresses) {
        object.offset = canonical(*address);
    }
    let memory = addresses.iter().copied().zip(found.iter().map(|b| Arc::clone(&b.object)));
    let memory = Arc::new(AddressSpace::new(memory).ok_or(Errno(libc::ENOSPC))?);
    let uses =
        found.iter().zip(exec.objects.iter()).map(|(buffer, object)| (Arc::clone(buffer), object.flags));
    Ok(Prepared {
        job: Job { batch: addresses[batch] + u64::from(exec.batch_start), memory, engine: exec.engine },
        uses: Uses(uses.collect()),
    })
}

fn check_arguments(exec: &ExecBuffer<'_>) -> Result<()> {
    let unknown = exec.flags.bits() & !ExecFlags::all().bits() != 0;
    let unaligned = (exec.batch_start | exec.batch_length) & 7 != 0;
    if unknown || unaligned || exec.objects.is_empty() {
        return Err(EINVAL);
    }
    Ok(())
}

fn look_up(buffers: &Buffers, objects: &[ExecObject]) -> Result<Vec<Arc<Buffer>>> {
    let mut seen = HashSet::with_capacity(objects.len());
    let find = |object: &ExecObject| {
        let buffer = buffers.get(object.handle)?;
        if seen.insert(object.handle) { Ok(buffer) } else { Err(EINVAL) }
    };
    objects.iter().map(find).collect()
}

fn check_object(object: &ExecObject) -> Result<()> {
    let unknown = object.flags.bits() & !ObjectFlags::all().bits() != 0;
    let alignment = object.alignment != 0 && !object.alignment.is_power_of_two();
    let pinned = object.flags.contains(ObjectFlags::PINNED)
        && object.offset != canonical(object.offset & !(PAGE_SIZE - 1));
    if unknown || alignment || pinned {
        return Err(EINVAL);
    }
    Ok(())
}

fn check_batch(exec: &ExecBuffer<'_>, object: &ExecObject, memory: &Object) -> Result<()> {
    // A batch that writes to itself.
    if object.flags.contains(ObjectFlags::WRITE) {
        return Err(EINVAL);
    }
    let rest = memory.size().checked_sub(u64::from(exec.batch_start)).ok_or(EINVAL)?;
    if rest == 0 || u64::from(exec.batch_length) > rest {
        return Err(EINVAL);
    }
    Ok(())
}

/// Addresses of all objects, 48 bits wide.
fn place(
    device: &Device,
    context: &Context,
    objects: &[ExecObject],
    found: &[Arc<Buffer>],
) -> Result<Vec<u64>> {
    let end = 1u64 << device.address_bits;
    let limit = |object: &ExecObject| match object.flags.contains(ObjectFlags::SUPPORTS_48B_ADDRESS) {
        true => end,
        false => ZONE_4G,
    };
    let mut taken = Taken::default();
    let mut addresses = vec![None; objects.len()];
    // Those with fixed addresses first, as the kernel does.
    for (index, object) in objects.iter().enumerate() {
        if object.flags.contains(ObjectFlags::PINNED) {
            let (address, size) = (object.offset & (end - 1), found[index].object.size());
            if address + size > limit(object) {
                return Err(EINVAL);
            }
            if !taken.take(address, size) {
                return Err(Errno(libc::ENOSPC));
            }
            addresses[index] = Some(address);
        }
    }
    let mut known = context.placement.lock();
    for (index, object) in objects.iter().enumerate() {
        if addresses[index].is_some() {
            continue;
        }
        let memory = &found[index].object;
        let size = memory.size();
        let alignment = object.alignment.max(PAGE_SIZE);
        // Where it was before, where the caller presumes it, or the first gap.
        let hints = [known.get(&object.handle).copied(), Some(object.offset & (end - 1))];
        let hint = hints.into_iter().flatten().find(|address| {
            *address != 0
                && address % alignment == 0
                && address + size <= limit(object)
                && taken.take(*address, size)
        });
        let address = match hint {
            Some(address) => address,
            None => taken.take_gap(size, alignment, limit(object)).ok_or(Errno(libc::ENOSPC))?,
        };
        known.insert(object.handle, address);
        addresses[index] = Some(address);
    }
    Ok(addresses.into_iter().flatten().collect())
}

/// Ranges of addresses that are in use: end by start.
#[derive(Default)]
struct Taken(BTreeMap<u64, u64>);

impl Taken {
    fn take(&mut self, address: u64, size: u64) -> bool {
        let before = self.0.range(..address + size).next_back();
        let free = before.is_none_or(|(_, end)| *end <= address);
        if free {
            self.0.insert(address, address + size);
        }
        free
    }

    /// The lowest gap, above page 0 so that no buffer is at address 0.
    fn take_gap(&mut self, size: u64, alignment: u64, limit: u64) -> Option<u64> {
        let mut address = alignment;
        for (start, end) in &self.0 {
            if address.checked_add(size)? <= *start {
                break;
            }
            address = address.max(end.checked_next_multiple_of(alignment)?);
        }
        if address.checked_add(size)? > limit {
            return None;
        }
        self.0.insert(address, address + size);
        Some(address)
    }
}

/// Checks relocations and writes the addresses of their targets.
fn relocate(exec: &mut ExecBuffer<'_>, found: &[Arc<Buffer>], addresses: &[u64]) -> Result<()> {
    let by_handle: HashMap<u32, usize> =
        exec.objects.iter().enumerate().map(|(index, object)| (object.handle.0, index)).collect();
    let lut = exec.flags.contains(ExecFlags::HANDLE_LUT);
    let target = |relocation: &Relocation| match lut {
        true => Some(relocation.target as usize).filter(|index| *index < addresses.len()),
        false => by_handle.get(&relocation.target).copied(),
    };
    for (object, buffer) in exec.objects.iter_mut().zip(found) {
        if object.relocations.is_empty() {
            continue;
        }
        // The kernel, too, writes when the buffer is idle.
        let mut users = buffer.users.lock().pending();
        let memory = AddressSpace::new([(0, Arc::clone(&buffer.object))]).ok_or(EINVAL)?;
        for relocation in &mut object.relocations {
            let to = target(relocation).ok_or(Errno(libc::ENOENT))?;
            let domains = relocation.read_domains | relocation.write_domain;
            let several = relocation.write_domain & relocation.write_domain.wrapping_sub(1) != 0;
            let outside = relocation.offset > buffer.object.size() - 8;
            if several || domains & !GPU_DOMAINS != 0 || outside || relocation.offset & 3 != 0 {
                return Err(EINVAL);
            }
            let address = canonical(addresses[to]);
            if relocation.presumed_offset == address {
                continue;
            }
            users.drain(..).for_each(|fence| {
                fence.wait(None);
            });
            let value = canonical(address.wrapping_add(u64::from(relocation.delta)));
            let mut cursor = Cursor::default();
            memory.write_u64(&mut cursor, relocation.offset, value).map_err(|_| EINVAL)?;
            relocation.presumed_offset = address;
        }
    }
    Ok(())
}
