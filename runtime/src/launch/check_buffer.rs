//! The buffer in which a launch with checks leaves records (`gencl_program::finding` describes it).

use std::sync::Arc;

use gencl_device_info::AddressModel;
use gencl_program::finding::{
    ARGUMENTS, Finding, Object, RECORD_SIZE, RECORDS_OF_SITE, Record, Site, UNKNOWN,
};
use gencl_program::{ArgumentKind, PushSource};

use super::{EnqueuedLaunch, Launch};
use crate::Result;
use crate::context::DeviceContext;
use crate::memory::{Storage, Zone};

/// The buffer of a launch.
pub(super) struct CheckBuffer {
    storage: Arc<Storage>,
    layout: Layout,
    /// For each argument, how many bytes of its object are in front of the pointer, and the object's size in bytes.
    extents: Vec<[u64; 2]>,
}

/// Offsets in the buffer in bytes.
#[derive(Clone, Copy)]
struct Layout {
    counters: u32,
    allocations: u32,
    records: u32,
    end: u32,
}

impl Layout {
    fn new(arguments: usize, sites: usize, allocations: usize) -> Self {
        let counters = ARGUMENTS + 16 * arguments as u32;
        let allocations_begin = (counters + 4 * sites as u32).next_multiple_of(8);
        let records = allocations_begin + 16 * allocations as u32;
        let end = records + sites as u32 * RECORDS_OF_SITE * RECORD_SIZE;
        Self { counters, allocations: allocations_begin, records, end }
    }
}

impl CheckBuffer {
    /// A buffer for a launch, if its kernel has checks. Errors as [`Storage::new`].
    pub(super) fn new(context: &DeviceContext, launch: &EnqueuedLaunch) -> Result<Option<Self>> {
        let kernel = launch.kernel();
        if !kernel.pushes.iter().any(|push| push.source == PushSource::CheckBuffer) {
            return Ok(None);
        }
        let allocations = allocations(context, launch);
        let sites = launch.executable().sites().len();
        let layout = Layout::new(kernel.arguments.len(), sites, allocations.as_ref().map_or(0, Vec::len));
        let mut bytes = vec![0; layout.records as usize];
        let mut put = |at: u32, value: &[u8]| bytes[at as usize..][..value.len()].copy_from_slice(value);
        let count = allocations.as_ref().map_or(UNKNOWN, |allocations| allocations.len() as u32);
        for (at, value) in [
            (0, layout.records),
            (4, layout.end),
            (8, layout.counters),
            (12, count),
            (16, layout.allocations),
        ] {
            put(at, &value.to_le_bytes());
        }
        let extents: Vec<_> =
            (0..kernel.arguments.len()).map(|index| extent(context, launch, index)).collect();
        for ([before, size], at) in extents.iter().zip((ARGUMENTS..).step_by(16)) {
            put(at, &before.to_le_bytes());
            put(at + 8, &size.to_le_bytes());
        }
        for ([begin, end], at) in allocations.iter().flatten().zip((layout.allocations..).step_by(16)) {
            put(at, &begin.to_le_bytes());
            put(at + 8, &end.to_le_bytes());
        }
        let storage = Storage::new(context.space(), Zone::Buffers, layout.end.into())?;
        storage.memory().write(0, &bytes);
        Ok(Some(Self { storage: Arc::new(storage), layout, extents }))
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// What the launch found, by site.
    pub(super) fn findings(&self, launch: &Launch) -> Vec<Finding> {
        let memory = self.storage.memory();
        let sites = launch.executable().sites();
        let mut counters = vec![0; 4 * sites.len()];
        memory.read(self.layout.counters as usize, &mut counters);
        let counters = counters.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        if counters.clone().all(|count| count == 0) {
            return Vec::new();
        }
        let mut bytes = vec![0; (self.layout.end - self.layout.records) as usize];
        memory.read(self.layout.records as usize, &mut bytes);
        let mut next = [0; 4];
        memory.read(0, &mut next);
        let used = u32::from_le_bytes(next).clamp(self.layout.records, self.layout.end) - self.layout.records;
        let (records, _) = bytes[..used as usize].as_chunks();
        let records: Vec<_> = records.iter().map(Record::read).collect();
        let finding = |(index, count): (usize, u32)| {
            // Of several, the first work-item in the order of ids, so that the report does not depend on threads.
            let records = records.iter().filter(|record| record.site as usize == index);
            let first =
                records.min_by_key(|record| record.work_item.iter().rev().copied().collect::<Vec<_>>())?;
            Some(Finding {
                kernel: launch.name().into(),
                site: Site { object: self.object(launch, &sites[index], first), ..sites[index].clone() },
                work_item: first.work_item,
                address: first.address,
                offset: first.offset,
                size: first.size,
                count: count.into(),
                launches: 1,
            })
        };
        counters.enumerate().filter(|(_, count)| *count > 0).filter_map(finding).collect()
    }

    /// The object that was accessed: where the compiler does not know it, the argument that points to it.
    fn object(&self, launch: &Launch, site: &Site, record: &Record) -> Option<Object> {
        let arguments = &launch.kernel().arguments;
        let begin = record.address.wrapping_sub(record.offset.cast_unsigned());
        let is_it = |&index: &usize| {
            let [before, size] = self.extents[index];
            arguments[index].kind.is_global()
                && size == record.size
                && launch.arguments.address(&arguments[index]) == begin.wrapping_add(before)
        };
        let found = || {
            let index = (0..arguments.len()).find(is_it).filter(|_| record.address != 0)?;
            Some(Object::Argument(index as u32, arguments[index].name.clone()))
        };
        site.object.clone().or_else(found)
    }
}

/// How many bytes of its object are in front of a pointer argument, and the object's size in bytes; zeros for null
/// pointers and other arguments.
fn extent(context: &DeviceContext, launch: &Launch, index: usize) -> [u64; 2] {
    let argument = &launch.kernel().arguments[index];
    if argument.kind == ArgumentKind::LocalPointer {
        return [0, launch.arguments.local_size(index)];
    }
    let memory = launch.arguments.memory().iter().find(|(owner, _)| *owner == index);
    memory.map_or([0; 2], |(_, memory)| {
        let (allocation, begin, size) = memory.range();
        let address = launch.arguments.address(argument);
        [address - allocation.on(context).address() - begin, size]
    })
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
    all.dedup();
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
