//! Relocations, where the kernel driver chooses the addresses of buffers.

use gencl_i915::{GemHandle, ObjectFlags, Relocation};
use gencl_program::DataSection;

use super::slot::{COMMANDS, Slot};
use crate::program::Executable;

/// Makes the relocation list of the slot.
pub(super) fn relocate(slot: &mut Slot) {
    let mut targets: Vec<(u64, GemHandle)> =
        slot.objects.iter().map(|object| (object.offset, object.handle)).collect();
    targets.sort_unstable_by_key(|(address, _)| *address);
    let entry = |offset: u32| {
        let at = offset as usize;
        let bytes = match at.checked_sub(COMMANDS) {
            Some(at) => &slot.state[at..at + 4],
            None => &slot.commands[at..at + 4],
        };
        let address = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        // Buffers do not overlap: an address is in the last one that begins at or below it. Null is in none.
        let below = targets.partition_point(|(begin, _)| *begin <= address.into()).checked_sub(1)?;
        let (begin, handle) = targets[below];
        Some(relocation(handle, address - begin as u32, offset.into(), begin))
    };
    let relocations: Vec<Relocation> = slot.relocations.iter().filter_map(|offset| entry(*offset)).collect();
    let own = slot.storage.handle();
    if let Some(object) = slot.objects.iter_mut().find(|object| object.handle == own) {
        object.relocations = relocations;
    }
}

/// A relocation: the address of `target` plus `delta` is written at `offset`, unless the buffer is at
/// `presumed`, the address that was used to build the batch.
fn relocation(target: GemHandle, delta: u32, offset: u64, presumed: u64) -> Relocation {
    Relocation {
        target: target.0,
        delta,
        offset,
        presumed_offset: presumed,
        read_domains: 0,
        write_domain: 0,
    }
}

/// Sets the presumed addresses in the relocation lists of program-scope variables.
pub(super) fn presume(slot: &mut Slot) {
    let placed = |target: u32| slot.relocated.iter().find(|storage| storage.handle().0 == target);
    for storage in &slot.relocated {
        let Some(object) = slot.objects.iter_mut().find(|object| object.handle == storage.handle()) else {
            continue;
        };
        for entry in &mut object.relocations {
            entry.presumed_offset =
                placed(entry.target).map_or(entry.presumed_offset, |target| target.placed());
        }
    }
}

/// Stores the addresses that the kernel driver has chosen for program-scope variables.
pub(super) fn note_places(slot: &Slot) {
    for storage in &slot.relocated {
        if let Some(object) = slot.objects.iter().find(|object| object.handle == storage.handle()) {
            storage.place_at(object.offset);
        }
    }
}

/// Adds a program's variables to the validation list, with relocations for the pointers in them.
pub(super) fn add_variables(
    slot: &mut Slot,
    executable: &Executable,
    section: DataSection,
    flags: ObjectFlags,
) {
    let Some(storage) = executable.data_section(section) else { return };
    slot.add(storage, flags);
    if !storage.relocates() || slot.relocated.iter().any(|other| other.handle() == storage.handle()) {
        return;
    }
    let pointers = executable.relocations().iter().filter(|pointer| pointer.section == section);
    // The kernel driver writes a pointer when its target has moved, even if a kernel has changed the pointer.
    // Presumed addresses are set when the batch is submitted, as batches of other queues come between.
    let entries = pointers.filter_map(|pointer| {
        let target = executable.data_section(pointer.target)?;
        Some(relocation(target.handle(), pointer.addend as u32, pointer.offset, 0))
    });
    if let Some(object) = slot.objects.iter_mut().find(|object| object.handle == storage.handle()) {
        object.relocations = entries.collect();
        slot.relocated.push(storage.clone());
    }
}
