//! `DRM_IOCTL_I915_GEM_EXECBUFFER2`: checks, placement and relocation, in the order and with the error
//! numbers of the kernel's `i915_gem_execbuffer.c` (Linux 6.1).

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gencl_i915::{Errno, ExecBuffer, ExecFlags, ExecObject, ObjectFlags, Relocation, Result};

use super::buffers::{Buffer, Buffers};
use super::context::{Context, Job};
use super::fence::Fence;
use super::vm::{BATCH_BIAS, PlacementRequest, padding};
use gencl_eu::device::Device;
use gencl_eu::memory::{AddressSpace, Cursor, PAGE_SIZE, canonical};

/// `I915_GEM_GPU_DOMAINS`: render, sampler, command, instruction, vertex.
const GPU_DOMAINS: u32 = 0x3e;

const EINVAL: Errno = Errno(libc::EINVAL);

/// Relocations of a request's objects, which are loaded only when they are needed.
pub trait Relocations {
    /// Whether an object has relocations.
    fn any(&self, object: usize) -> bool;
    /// Loads those of one object.
    fn load(&mut self, object: usize) -> Result<Vec<Relocation>>;
    /// Stores those of one object, whose presumed offsets have been updated.
    fn store(&mut self, object: usize, relocations: Vec<Relocation>);
}

/// The parts of a request that an [`ExecBuffer`] does not have.
pub struct Submission<'a> {
    /// The relocations; those of the [`ExecObject`]s are not used.
    pub relocations: &'a mut dyn Relocations,
    /// Fences that have to be signaled before the batch begins.
    pub in_fences: Vec<Fence>,
    /// Fences of batches that have to begin before this one (`I915_EXEC_FENCE_SUBMIT`).
    pub submit_fences: Vec<Fence>,
}

/// The relocations of [`ExecObject::relocations`].
pub struct InlineRelocations(pub Vec<Vec<Relocation>>);

impl Relocations for InlineRelocations {
    fn any(&self, object: usize) -> bool {
        !self.0[object].is_empty()
    }

    fn load(&mut self, object: usize) -> Result<Vec<Relocation>> {
        Ok(self.0[object].clone())
    }

    fn store(&mut self, object: usize, relocations: Vec<Relocation>) {
        self.0[object] = relocations;
    }
}

/// A checked request.
pub struct Prepared {
    /// The batch to be queued.
    pub job: Job,
    /// The buffers that the batch uses.
    pub uses: BufferUses,
}

/// The buffers of a batch and how it uses them.
pub struct BufferUses(Vec<(Arc<Buffer>, ObjectFlags)>);

impl BufferUses {
    /// Attaches a batch's fence to its buffers, and returns the fences that the batch has to wait for.
    pub fn order(&self, fence: &Fence) -> Vec<Fence> {
        let mut before = Vec::new();
        for (buffer, flags) in &self.0 {
            let writes = flags.contains(ObjectFlags::WRITE);
            let mut fences = buffer.fences.lock();
            if !flags.contains(ObjectFlags::ASYNC) {
                before.extend(fences.dependencies(writes));
            }
            fences.add(fence, writes);
        }
        before
    }
}

/// Checks a request and binds its buffers. Updates the offsets of objects and relocations as the kernel does.
pub fn prepare(
    device: &Device,
    buffers: &Buffers,
    context: &Context,
    exec: &mut ExecBuffer<'_>,
    submission: &mut Submission<'_>,
) -> Result<Prepared> {
    check_arguments(exec)?;
    let batch = if exec.flags.contains(ExecFlags::BATCH_FIRST) { 0 } else { exec.objects.len() - 1 };
    let found = look_up(buffers, exec, batch)?;
    if context.is_banned() {
        return Err(Errno(libc::EIO));
    }
    let addresses = place(device, context, exec, submission, &found, batch)?;
    let moved = exec.objects.iter().zip(&addresses).any(|(o, address)| decanonicalize(o.offset) != *address);
    let mut flags: Vec<ObjectFlags> = exec.objects.iter().map(|object| object.flags).collect();
    if moved || !exec.flags.contains(ExecFlags::NO_RELOC) {
        relocate(device, exec, submission, &found, &addresses, &mut flags)?;
    }
    for (object, address) in exec.objects.iter_mut().zip(&addresses) {
        object.offset = canonical(*address);
    }
    // A buffer that is listed twice is bound once.
    let placed = exec.objects.iter().zip(&found).zip(&addresses);
    let mut memory: Vec<_> = placed
        .map(|((object, buffer), address)| (*address, Arc::clone(&buffer.object), padding(object, buffer)))
        .collect();
    memory.sort_by_key(|(address, ..)| *address);
    memory.dedup_by_key(|(address, ..)| *address);
    let memory = Arc::new(AddressSpace::padded(memory).ok_or(Errno(libc::ENOSPC))?);
    Ok(Prepared {
        job: Job { batch: addresses[batch] + u64::from(exec.batch_start), memory, engine: exec.engine },
        uses: BufferUses(found.into_iter().zip(flags).collect()),
    })
}

/// `i915_gem_check_execbuffer`
fn check_arguments(exec: &ExecBuffer<'_>) -> Result<()> {
    let unknown = exec.flags.bits() & !ExecFlags::all().bits() != 0;
    let unaligned = (exec.batch_start | exec.batch_length) & 7 != 0;
    if unknown || unaligned || exec.objects.is_empty() {
        return Err(EINVAL);
    }
    Ok(())
}

/// `eb_lookup_vmas`
fn look_up(buffers: &Buffers, exec: &ExecBuffer<'_>, batch: usize) -> Result<Vec<Arc<Buffer>>> {
    let check = |(index, object): (usize, &ExecObject)| {
        let buffer = buffers.get(object.handle)?;
        check_object(object)?;
        if index == batch {
            check_batch(exec, object, &buffer)?;
        }
        buffer.check_memory()?;
        Ok(buffer)
    };
    exec.objects.iter().enumerate().map(check).collect()
}

/// `eb_validate_vma`
fn check_object(object: &ExecObject) -> Result<()> {
    let unknown = object.flags.bits() & !ObjectFlags::all().bits() != 0;
    let alignment = object.alignment != 0 && !object.alignment.is_power_of_two();
    let pinned = object.flags.contains(ObjectFlags::PINNED)
        && object.offset != canonical(object.offset & !(PAGE_SIZE - 1));
    let padded =
        object.flags.contains(ObjectFlags::PAD_TO_SIZE) && !object.pad_to_size.is_multiple_of(PAGE_SIZE);
    if unknown || alignment || pinned || padded {
        return Err(EINVAL);
    }
    Ok(())
}

/// `eb_add_vma`
fn check_batch(exec: &ExecBuffer<'_>, object: &ExecObject, buffer: &Buffer) -> Result<()> {
    // A batch must not be written to.
    if object.flags.contains(ObjectFlags::WRITE) {
        return Err(EINVAL);
    }
    let rest = buffer.size().checked_sub(u64::from(exec.batch_start)).ok_or(EINVAL)?;
    if rest == 0 || u64::from(exec.batch_length) > rest {
        return Err(EINVAL);
    }
    Ok(())
}

/// `gen8_noncanonical_addr`: 48 bits on all devices.
fn decanonicalize(address: u64) -> u64 {
    address & ((1 << 48) - 1)
}

/// Binds all objects; returns their addresses, 48 bits wide.
fn place(
    device: &Device,
    context: &Context,
    exec: &ExecBuffer<'_>,
    submission: &Submission<'_>,
    found: &[Arc<Buffer>],
    batch: usize,
) -> Result<Vec<u64>> {
    static REQUESTS: AtomicU64 = AtomicU64::new(1);
    let mut objects = exec.objects.to_vec();
    objects.iter_mut().for_each(|object| object.offset = decanonicalize(object.offset));
    let request = |(index, object)| PlacementRequest {
        object,
        buffer: &found[index],
        bias: match index == batch && submission.relocations.any(index) {
            true if !object.flags.contains(ObjectFlags::PINNED) => BATCH_BIAS,
            _ => 0,
        },
    };
    let requests: Vec<PlacementRequest<'_>> = objects.iter().enumerate().map(request).collect();
    context.vm().place(device, REQUESTS.fetch_add(1, Ordering::Relaxed), &requests)
}

/// Checks relocations and writes the addresses of their targets (`eb_relocate_entry`).
fn relocate(
    device: &Device,
    exec: &ExecBuffer<'_>,
    submission: &mut Submission<'_>,
    found: &[Arc<Buffer>],
    addresses: &[u64],
    flags: &mut [ObjectFlags],
) -> Result<()> {
    let mut by_handle: HashMap<u32, usize> = HashMap::new();
    let lut = exec.flags.contains(ExecFlags::HANDLE_LUT);
    if !lut {
        by_handle.extend(exec.objects.iter().enumerate().map(|(index, object)| (object.handle.0, index)));
    }
    let target = |relocation: &Relocation| match lut {
        true => Some(relocation.target as usize).filter(|index| *index < addresses.len()),
        false => by_handle.get(&relocation.target).copied(),
    };
    for (index, buffer) in found.iter().enumerate() {
        if !submission.relocations.any(index) {
            continue;
        }
        let mut relocations = submission.relocations.load(index)?;
        // The kernel waits for the buffer, too, before it writes.
        let mut fences = buffer.fences.lock().pending();
        let memory = AddressSpace::new([(0, Arc::clone(&buffer.object))]).ok_or(EINVAL)?;
        for relocation in &mut relocations {
            let to = target(relocation).ok_or(Errno(libc::ENOENT))?;
            let domains = relocation.read_domains | relocation.write_domain;
            let several = relocation.write_domain & relocation.write_domain.wrapping_sub(1) != 0;
            if several || domains & !GPU_DOMAINS != 0 {
                return Err(EINVAL);
            }
            if relocation.write_domain != 0 {
                flags[to] |= ObjectFlags::WRITE;
            }
            let address = canonical(addresses[to]);
            if relocation.presumed_offset == address {
                continue;
            }
            let size = device.driver.relocation_size;
            if relocation.offset > buffer.size() - size || relocation.offset & 3 != 0 {
                return Err(EINVAL);
            }
            flags[index] &= !ObjectFlags::ASYNC;
            fences.drain(..).for_each(|fence| {
                fence.wait(None);
            });
            // The delta is signed (`relocation_target`).
            let value = canonical(address.wrapping_add(i64::from(relocation.delta as i32) as u64));
            let mut cursor = Cursor::default();
            let bytes = &value.to_le_bytes()[..size as usize];
            memory.write(&mut cursor, relocation.offset, bytes).map_err(|_| EINVAL)?;
            relocation.presumed_offset = address;
        }
        submission.relocations.store(index, relocations);
    }
    Ok(())
}
