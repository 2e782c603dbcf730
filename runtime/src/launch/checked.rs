//! Launches whose kernels are checked: what their checks have to know, and what they have found.

use std::sync::Arc;

use gencl_device_info::AddressModel;
use gencl_program::ArgumentKind;
use gencl_program::finding::{Check, Finding, Object, Record, Site};

use super::check_buffer::{CheckBuffer, CheckedLaunch, Extent};
use super::shadows::Shadows;
use super::{EnqueuedLaunch, Launch};
use crate::conflicts::Access as CommandAccess;
use crate::context::DeviceContext;
use crate::kernel::ArgumentMemory;
use crate::{MemoryFlags, Result};

/// A buffer for a launch, if its kernel has checks. Errors as [`CheckBuffer::new`].
pub(super) fn buffer(
    context: &DeviceContext,
    launch: &EnqueuedLaunch,
    shadows: &Shadows,
) -> Result<Option<CheckBuffer>> {
    let kernel = launch.kernel();
    if !launch.has_checks() {
        return Ok(None);
    }
    let allocations = allocations(context, launch);
    let begins = allocations.iter().flatten().map(|[begin, _]| *begin);
    let launch = CheckedLaunch {
        extents: (0..kernel.arguments.len()).map(|index| extent(context, launch, index)).collect(),
        shadows: begins.map(|begin| shadows.of(begin)).collect(),
        allocations,
        sites: launch.executable().sites().len(),
        has_marks: launch.part.is_some(),
    };
    CheckBuffer::new(context.space(), launch).map(Some)
}

/// What a launch has accessed, by the marks in its buffer.
pub(super) fn accesses(buffer: &CheckBuffer, launch: &Launch) -> Vec<CommandAccess> {
    let Some(marks) = buffer.marks() else { return Vec::new() };
    let mut accesses = Vec::new();
    for (index, memory) in launch.arguments.memory() {
        let (allocation, begin, size) = memory.range();
        let argument = format!("argument {index} ({})", launch.kernel().arguments[*index].name);
        for (kind, ranges) in marks.ranges(buffer.storage(), *index, size) {
            let ranges = ranges.into_iter().map(|range| range.start + begin..range.end + begin).collect();
            let (memory, argument) = (allocation.number(), Some(argument.clone()));
            accesses.push(CommandAccess { memory, kind, ranges, begin, argument });
        }
    }
    accesses
}

/// What a launch has found, by site.
pub(super) fn findings(buffer: &CheckBuffer, launch: &Launch) -> Vec<Finding> {
    let counts = buffer.counts();
    if counts.iter().all(|count| *count == 0) {
        return Vec::new();
    }
    let records = buffer.records();
    let finding = |(index, (site, count)): (usize, (&Site, u32))| {
        // Of several, the first work-item in the order of ids, so that the report does not depend on threads.
        let records = records.iter().filter(|record| record.site as usize == index && count > 0);
        let first =
            records.min_by_key(|record| record.work_item.iter().rev().copied().collect::<Vec<_>>())?;
        let object = object(buffer, launch, site, first);
        let finding = Finding::new(launch.name(), site, first, object);
        Some(Finding { count: count.into(), ..finding })
    };
    launch.executable().sites().iter().zip(counts).enumerate().filter_map(finding).collect()
}

/// Keeps copies of undefined values with the memory that they went to, as these are faults only if the host reads them.
/// Returns the other findings.
pub(super) fn keep_copies(findings: Vec<Finding>, launch: &Launch) -> Vec<Finding> {
    let (copies, others) =
        findings.into_iter().partition::<Vec<_>, _>(|finding| finding.site.check == Check::UndefinedCopy);
    for copy in copies {
        let Some(Object::Argument(index, _)) = copy.site.object else { continue };
        let mut memory = launch.arguments.memory().iter();
        if let Some((_, memory)) = memory.find(|(owner, _)| *owner == index as usize) {
            let (allocation, begin, _) = memory.range();
            allocation.add_copy(begin.wrapping_add_signed(copy.offset), copy);
        }
    }
    others
}

/// The object that was accessed: where the compiler does not know it, the argument that points to it.
fn object(buffer: &CheckBuffer, launch: &Launch, site: &Site, record: &Record) -> Option<Object> {
    if site.object.is_some() || record.address == 0 {
        return site.object.clone();
    }
    let mut arguments = (0..).zip(&launch.kernel().arguments).zip(buffer.extents());
    let ((index, argument), _) = arguments.find(|((_, argument), extent)| {
        argument.kind.is_global()
            && record.is_of(launch.arguments.address(argument), extent.before, extent.size)
    })?;
    Some(Object::Argument(index, argument.name.clone()))
}

fn extent(context: &DeviceContext, launch: &Launch, index: usize) -> Extent {
    let (arguments, argument) = (&launch.arguments, &launch.kernel().arguments[index]);
    if argument.kind == ArgumentKind::LocalPointer {
        return Extent { size: arguments.local_size(index), is_unmarked: true, ..Extent::default() };
    }
    let Some((_, memory)) = arguments.memory().iter().find(|(owner, _)| *owner == index) else {
        return Extent::default();
    };
    let (allocation, begin, size) = memory.range();
    let is_same = |(owner, other): &(usize, ArgumentMemory)| {
        *owner != index && Arc::ptr_eq(allocation, other.range().0)
    };
    Extent {
        before: arguments.address(argument) - allocation.on(context).address() - begin,
        size,
        is_unmarked: matches!(memory, ArgumentMemory::Image(_)),
        is_shared: arguments.memory().iter().any(is_same),
        is_unreadable: memory.flags().contains(MemoryFlags::WRITE_ONLY),
        is_unwritable: memory.flags().contains(MemoryFlags::READ_ONLY),
    }
}

/// Beginning and end of all memory that pointers in memory may point to, sorted. `None` where the kernel driver chooses
/// addresses: there are no such pointers.
fn allocations(context: &DeviceContext, launch: &EnqueuedLaunch) -> Option<Vec<[u64; 2]>> {
    if let AddressModel::Surface(_) = context.device().info().messages.global {
        return None;
    }
    let arguments = launch.arguments.memory().iter().map(|(_, memory)| {
        let (allocation, begin, size) = memory.range();
        let address = allocation.on(context).address() + begin;
        [address, address + size]
    });
    let shared = launch.reachable.iter().flat_map(|list| list.iter());
    let shared = shared.map(|memory| [memory.address() as u64, (memory.address() + memory.size()) as u64]);
    let program = launch.executable().variable_ranges();
    let mut all: Vec<_> = arguments.chain(shared).chain(program).collect();
    all.sort_unstable();
    // Of sub-buffers and the buffer that has them, the whole.
    all.dedup_by(|next, before| {
        let overlaps = next[0] < before[1];
        if overlaps {
            before[1] = before[1].max(next[1]);
        }
        overlaps
    });
    Some(all)
}
