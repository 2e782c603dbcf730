//! Types of variables as entries of DWARF.

use gencl_program::debug_address::Space;
use gimli::constants;
use gimli::write::{AttributeValue, Unit, UnitEntryId};

use crate::ir::variable::TypeEntry;

/// Adds the types of a program to a unit, and returns their entries by index.
pub fn add(unit: &mut Unit, types: &[TypeEntry], pointer_bytes: u8) -> Vec<UnitEntryId> {
    let root = unit.root();
    let entries: Vec<_> = types.iter().map(|ty| unit.add(root, gimli::DwTag(ty.tag))).collect();
    for (ty, &entry) in types.iter().zip(&entries) {
        describe(unit, ty, entry, &entries, pointer_bytes);
    }
    entries
}

fn describe(unit: &mut Unit, ty: &TypeEntry, id: UnitEntryId, entries: &[UnitEntryId], pointer_bytes: u8) {
    let tag = gimli::DwTag(ty.tag);
    let entry = unit.get_mut(id);
    if !ty.name.is_empty() {
        entry.set(constants::DW_AT_name, AttributeValue::String(ty.name.clone().into_bytes()));
    }
    if let Some(of) = ty.of {
        entry.set(constants::DW_AT_type, AttributeValue::UnitRef(entries[of]));
    }
    match tag {
        constants::DW_TAG_member => {
            if ty.is_bit_field {
                entry.set(constants::DW_AT_bit_size, AttributeValue::Udata(ty.bits));
                entry.set(constants::DW_AT_data_bit_offset, AttributeValue::Udata(ty.offset));
            } else {
                entry.set(constants::DW_AT_data_member_location, AttributeValue::Udata(ty.offset / 8));
            }
        }
        constants::DW_TAG_subrange_type => {
            entry.set(constants::DW_AT_count, AttributeValue::Udata(ty.count));
        }
        constants::DW_TAG_enumerator => {
            entry.set(constants::DW_AT_const_value, AttributeValue::Sdata(ty.value));
        }
        _ => {
            let bytes =
                if tag == constants::DW_TAG_pointer_type { u64::from(pointer_bytes) } else { ty.bits / 8 };
            if bytes > 0 {
                entry.set(constants::DW_AT_byte_size, AttributeValue::Udata(bytes));
            }
        }
    }
    if ty.encoding != 0 {
        entry.set(constants::DW_AT_encoding, AttributeValue::Encoding(gimli::DwAte(ty.encoding)));
    }
    if let Some(space) = ty.address_space.and_then(Space::of_opencl) {
        entry.set(constants::DW_AT_address_class, AttributeValue::Udata(space as u64));
    }
    if ty.is_vector {
        entry.set(constants::DW_AT_GNU_vector, AttributeValue::Flag(true));
    }
    for part in &ty.parts {
        let part_id = unit.add(id, gimli::DwTag(part.tag));
        describe(unit, part, part_id, entries, pointer_bytes);
    }
}
