//! The buffer in which a launch with checks leaves records (`gencl_program::finding` describes it).

use std::sync::Arc;

use gencl_device_info::AddressModel;
use gencl_program::finding::{
    ARGUMENTS, Access, ENTRY_SIZE, Finding, Object, Other, RECORD_SIZE, RECORDS_OF_SITE, Record, SHARED,
    Site, UNKNOWN,
};
use gencl_program::{ArgumentKind, PushSource};

use super::{EnqueuedLaunch, Launch};
use crate::Result;
use crate::context::DeviceContext;
use crate::memory::{Storage, Zone};

/// Entries of local memory in a launch, at most: for 1,024 work-groups with 1 KiB each.
const MAX_LOCAL_ENTRIES: u32 = 1 << 20;

/// Entries of global memory.
const MIN_GLOBAL_ENTRIES: u64 = 1 << 10;
const MAX_GLOBAL_ENTRIES: u64 = 1 << 22;

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
    /// The end of the records.
    end: u32,
    races: Races,
}

/// The entries by which races are found.
#[derive(Clone, Copy)]
struct Races {
    /// Offset of the entries of local memory in bytes.
    local: u32,
    /// Number of work-groups that have entries, a power of two.
    groups: u32,
    /// Entries of a work-group.
    each: u32,
    /// Offset of the entries of global memory in bytes.
    global: u32,
    /// Their number, a power of two.
    count: u32,
    /// The end of the buffer.
    end: u32,
}

impl Races {
    /// Entries behind an offset, for local memory of `local_memory` bytes in each of `groups` work-groups, and for
    /// arguments of `global_memory` bytes. Only what a launch touches takes memory.
    fn new(begin: u32, groups: u64, local_memory: u64, global_memory: u64) -> Self {
        // Work-groups run one after the other on each thread, but threads begin with others.
        let each = local_memory as u32;
        let most = MAX_LOCAL_ENTRIES / each.max(1);
        let groups = (groups.min(most.into()) as u32).max(1).next_power_of_two();
        let count = global_memory.clamp(MIN_GLOBAL_ENTRIES, MAX_GLOBAL_ENTRIES).next_power_of_two() as u32;
        let local = begin.next_multiple_of(8);
        let global = local + groups * each * ENTRY_SIZE;
        Self { local, groups, each, global, count, end: global + count * ENTRY_SIZE }
    }
}

impl Layout {
    fn new(launch: &Launch, extents: &[[u64; 2]], allocations: usize) -> Self {
        let (arguments, sites) = (extents.len(), launch.executable().sites().len());
        let counters = ARGUMENTS + 16 * arguments as u32;
        let allocations_begin = (counters + 4 * sites as u32).next_multiple_of(8);
        let records = allocations_begin + 16 * allocations as u32;
        let end = records + sites as u32 * RECORDS_OF_SITE * RECORD_SIZE;
        let groups = launch.space.groups.iter().map(|&count| u64::from(count)).product();
        let global_memory = extents.iter().map(|[_, size]| *size).sum();
        let races = Races::new(end, groups, launch.arguments.local_memory(), global_memory);
        Self { counters, allocations: allocations_begin, records, end, races }
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
        let extents: Vec<_> =
            (0..kernel.arguments.len()).map(|index| extent(context, launch, index)).collect();
        let layout = Layout::new(launch, &extents, allocations.as_ref().map_or(0, Vec::len));
        let races = layout.races;
        let mut bytes = vec![0; layout.records as usize];
        let mut put = |at: u32, value: &[u8]| bytes[at as usize..][..value.len()].copy_from_slice(value);
        let count = allocations.as_ref().map_or(UNKNOWN, |allocations| allocations.len() as u32);
        let header = [
            layout.records,
            layout.end,
            layout.counters,
            count,
            layout.allocations,
            races.local,
            races.groups - 1,
            races.each,
            races.global,
            races.count - 1,
            races.count.ilog2(),
        ];
        for (value, at) in header.iter().zip((0..).step_by(4)) {
            put(at, &value.to_le_bytes());
        }
        for (index, ([before, size], at)) in extents.iter().zip((ARGUMENTS..).step_by(16)).enumerate() {
            let shared = if is_shared(launch, index) { SHARED } else { 0 };
            put(at, &(before | shared).to_le_bytes());
            put(at + 8, &size.to_le_bytes());
        }
        for ([begin, end], at) in allocations.iter().flatten().zip((layout.allocations..).step_by(16)) {
            put(at, &begin.to_le_bytes());
            put(at + 8, &end.to_le_bytes());
        }
        let storage = Storage::new(context.space(), Zone::Buffers, races.end.into())?;
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
                other: sites[index].check.is_race().then(|| other(launch, first)).flatten(),
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
        if site.check.is_race() {
            return site.object.clone();
        }
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

/// Whether another argument points into the same allocation.
fn is_shared(launch: &Launch, index: usize) -> bool {
    let memory = launch.arguments.memory();
    let Some((_, own)) = memory.iter().find(|(owner, _)| *owner == index) else { return false };
    memory.iter().any(|(owner, other)| *owner != index && Arc::ptr_eq(own.range().0, other.range().0))
}

/// The other access of a race.
fn other(launch: &Launch, record: &Record) -> Option<Other> {
    let access = Access(record.offset.cast_unsigned());
    let site = launch.executable().sites().get(usize::try_from(record.size).ok()?)?.clone();
    let [x, y, z] = launch.space.groups;
    let is_known = [x, y, z].iter().map(|&count| u64::from(count)).product::<u64>() <= Access::GROUPS.into();
    let group = [access.group() % x, access.group() / x % y, access.group() / x / y];
    let item = access.item().filter(|_| is_known);
    Some(Other { site, work_item: item.and_then(|item| launch.space.work_item(group, item)) })
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
