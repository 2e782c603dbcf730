//! What the checks of a launch find (`gencl-debug --check`), at the time when they do.
//!
//! A check that fails takes space for a record in the launch's buffer ([`gencl_program::finding`]), and fills it: the
//! counter of that space is watched.

use std::ops::Range;

use gencl_program::PushSource;
use gencl_program::finding::{ARGUMENTS, Check, Finding, Object, RECORD_SIZE, Record};
use gencl_program::finding::{SHARED, UNREADABLE, UNWRITABLE};
use gencl_simulator::debug::stops::Watch;

use crate::launch::Launch;
use crate::value::Memory;

/// The bytes that change when a check fails; none if the kernel has no checks.
#[must_use]
pub fn counter(launch: &Launch) -> Option<Watch> {
    let begin = launch.pushed(PushSource::CheckBuffer)?;
    Some(Watch { local: None, bytes: begin..begin + 4 })
}

/// The address of the next record.
///
/// # Errors
/// The kernel has no checks.
pub fn next_record(launch: &Launch, memory: &dyn Memory) -> Result<u64, String> {
    let begin = launch.pushed(PushSource::CheckBuffer).ok_or("the kernel has no checks")?;
    Ok(begin + integer(&memory.read(begin, 4)?))
}

/// The bytes of the last of some records that are written last, of all at once.
#[must_use]
pub fn completion(records: &Range<u64>) -> Watch {
    Watch { local: None, bytes: records.end - 4..records.end }
}

/// What the lanes of a thread have found, by their records: that of the first work-item. None if these are no faults by
/// themselves.
///
/// # Errors
/// The records cannot be read.
pub fn finding(
    launch: &Launch,
    memory: &dyn Memory,
    records: &Range<u64>,
) -> Result<Option<Finding>, String> {
    let bytes = memory.read(records.start, (records.end - records.start) as usize)?;
    let (records, _) = bytes.as_chunks::<{ RECORD_SIZE as usize }>();
    let records = records.iter().map(Record::read);
    let Some(record) =
        records.min_by_key(|record| record.work_item.iter().rev().copied().collect::<Vec<_>>())
    else {
        return Ok(None);
    };
    let Some(site) = launch.info.sites.get(record.site as usize) else { return Ok(None) };
    // It is one when the host reads the copy.
    if site.check == Check::UndefinedCopy {
        return Ok(None);
    }
    let object = match &site.object {
        None if record.address != 0 => argument(launch, memory, &record)?,
        known => known.clone(),
    };
    Ok(Some(Finding::new(&launch.kernel().kernel.name, site, &record, object)))
}

/// The argument whose object was accessed.
fn argument(launch: &Launch, memory: &dyn Memory, record: &Record) -> Result<Option<Object>, String> {
    let Some(buffer) = launch.pushed(PushSource::CheckBuffer) else { return Ok(None) };
    for (index, argument) in (0..).zip(&launch.kernel().kernel.arguments) {
        let address = launch.pushed(PushSource::Pointer { argument: index });
        let Some(address) = address.filter(|_| argument.kind.is_global()) else { continue };
        let extent = memory.read(buffer + u64::from(ARGUMENTS + 16 * index), 16)?;
        let [before, size] = [integer(&extent[..8]), integer(&extent[8..])];
        if record.is_of(address, before & !(SHARED | UNREADABLE | UNWRITABLE), size) {
            return Ok(Some(Object::Argument(index, argument.name.clone())));
        }
    }
    Ok(None)
}

fn integer(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
