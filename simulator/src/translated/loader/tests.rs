//! Tests of the loader, with objects made here.

use object::write::{Object, Relocation, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SymbolFlags, SymbolKind, SymbolScope, elf,
};
use proptest::prelude::*;

use super::{EntryPoint, HostCode};
use gencl_eu::abi::{self, Frame, IMPORTS, Translation};

/// An object with a function.
fn object(name: &str, code: &[u8]) -> (Object<'static>, SymbolId) {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let text = object.section_id(StandardSection::Text);
    let symbol = symbol(&mut object, name);
    object.add_symbol_data(symbol, text, code, 16);
    (object, symbol)
}

fn symbol(object: &mut Object<'_>, name: &str) -> SymbolId {
    object.add_symbol(Symbol {
        name: name.into(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    })
}

fn relocate(object: &mut Object<'_>, offset: u64, symbol: SymbolId, r_type: u32, addend: i64) {
    let section = object.section_id(StandardSection::Text);
    let flags = RelocationFlags::Elf { r_type };
    object.add_relocation(section, Relocation { offset, symbol, addend, flags }).unwrap();
}

fn translation(object: &Object<'_>) -> Translation {
    Translation { object: object.write().unwrap(), ..Translation::default() }
}

/// A translation whose code jumps to a function of this program.
fn group(function: EntryPoint) -> Translation {
    translation(&object(abi::ENTRY, &jump(function as usize)).0)
}

/// `movabs $address, %rax; jmp *%rax`
fn jump(address: usize) -> Vec<u8> {
    [&[0x48, 0xb8][..], &address.to_le_bytes(), &[0xff, 0xe0]].concat()
}

fn run(code: &HostCode) -> u32 {
    // SAFETY: the functions of these tests do not look at their arguments.
    unsafe { (code.entry)(std::ptr::null_mut(), 0, 1, 0) }
}

/// `mov $value, %eax; ret`
fn constant(value: u32) -> Vec<u8> {
    [&[0xb8][..], &value.to_le_bytes(), &[0xc3]].concat()
}

unsafe extern "C" fn eleven(_: *mut Frame, _: u32, _: u32, _: u32) -> u32 {
    11
}

#[test]
fn functions_are_found_and_called() {
    let (own, _) = object(abi::ENTRY, &constant(7));
    assert_eq!(run(&HostCode::load(&translation(&own)).unwrap()), 7);
    assert_eq!(run(&HostCode::load(&group(eleven)).unwrap()), 11);
}

#[test]
fn constants_and_other_functions_are_reached() {
    // `mov constant(%rip), %eax; ret`
    let (mut own, _) = object(abi::ENTRY, &[0x8b, 0x05, 0, 0, 0, 0, 0xc3]);
    let rodata = own.section_id(StandardSection::ReadOnlyData);
    own.append_section_data(rodata, &[1, 2, 3, 4], 4);
    let offset = own.append_section_data(rodata, &99u32.to_le_bytes(), 64);
    let section = own.section_symbol(rodata);
    relocate(&mut own, 2, section, elf::R_X86_64_PC32, offset as i64 - 4);
    assert_eq!(run(&HostCode::load(&translation(&own)).unwrap()), 99);

    // `jmp other`, then `jmp *other@GOTPCREL(%rip)`
    for (code, at, r_type) in [
        (vec![0xe9, 0, 0, 0, 0], 1, elf::R_X86_64_PLT32),
        (vec![0xff, 0x25, 0, 0, 0, 0], 2, elf::R_X86_64_GOTPCRELX),
    ] {
        let (mut own, _) = object(abi::ENTRY, &code);
        let other = symbol(&mut own, "other");
        let text = own.section_id(StandardSection::Text);
        own.add_symbol_data(other, text, &constant(5), 16);
        relocate(&mut own, at, other, r_type, -4);
        assert_eq!(run(&HostCode::load(&translation(&own)).unwrap()), 5);
    }

    // `movabs $other, %rax; jmp *%rax`
    let (mut own, _) = object(abi::ENTRY, &jump(0));
    let other = symbol(&mut own, "other");
    let text = own.section_id(StandardSection::Text);
    own.add_symbol_data(other, text, &constant(6), 16);
    relocate(&mut own, 2, other, elf::R_X86_64_64, 0);
    assert_eq!(run(&HostCode::load(&translation(&own)).unwrap()), 6);
}

#[test]
fn the_hosts_functions_are_called() {
    for name in IMPORTS {
        // `sub $8, %rsp; xor %edx, %edx; xor %esi, %esi; call name; add $8, %rsp; mov $3, %eax; ret`:
        // copies no bytes, or computes with what happens to be there.
        let mut code =
            vec![0x48, 0x83, 0xec, 8, 0x31, 0xd2, 0x31, 0xf6, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8];
        code.extend(constant(3));
        let (mut own, _) = object(abi::ENTRY, &code);
        let import = symbol(&mut own, name);
        relocate(&mut own, 9, import, elf::R_X86_64_PLT32, -4);
        assert_eq!(run(&HostCode::load(&translation(&own)).unwrap()), 3, "{name}");
        // `jmp *name@GOTPCREL(%rip)` instead
        let (mut own, _) = object(abi::ENTRY, &[0x31, 0xd2, 0x31, 0xf6, 0xff, 0x25, 0, 0, 0, 0]);
        let import = symbol(&mut own, name);
        relocate(&mut own, 6, import, elf::R_X86_64_REX_GOTPCRELX, -4);
        run(&HostCode::load(&translation(&own)).unwrap());
    }
}

#[test]
fn unsupported_objects_are_refused() {
    let error = |object: &Object<'_>| HostCode::load(&translation(object)).unwrap_err().to_string();
    let (mut own, _) = object(abi::ENTRY, &[0xe8, 0, 0, 0, 0, 0xc3]);
    let import = symbol(&mut own, "system");
    relocate(&mut own, 1, import, elf::R_X86_64_PLT32, -4);
    assert_eq!(error(&own), "translated code: undefined symbol \"system\"");

    for r_type in [elf::R_X86_64_32, elf::R_X86_64_32S, elf::R_X86_64_TPOFF32, 12345] {
        let (mut own, symbol) = object(abi::ENTRY, &constant(0));
        relocate(&mut own, 1, symbol, r_type, 0);
        assert_eq!(error(&own), format!("translated code: a relocation of unsupported type {r_type}"));
    }

    for (offset, addend, text) in [(3, 0, "outside of its section"), (1, 1 << 40, "reaches too far")] {
        let (mut own, symbol) = object(abi::ENTRY, &constant(0));
        relocate(&mut own, offset, symbol, elf::R_X86_64_PC32, addend);
        assert!(error(&own).contains(text), "{}", error(&own));
    }

    let (own, _) = object("another", &constant(0));
    assert_eq!(error(&own), "translated code: no function gencl_threads");
    let (mut own, _) = object(abi::ENTRY, &constant(0));
    let data = own.section_id(StandardSection::Data);
    own.append_section_data(data, &[0; 4], 4);
    assert_eq!(error(&own), "translated code: section .data is variable");

    let (own, _) = object(abi::ENTRY, &constant(0));
    let windows = Translation { windows: u32::MAX, ..translation(&own) };
    assert!(HostCode::load(&windows).is_err());
    let saved = Translation { saved: u32::MAX, ..translation(&own) };
    assert!(HostCode::load(&saved).is_err());
    assert!(HostCode::load(&Translation::default()).is_err());
}

#[test]
fn truncated_objects_are_refused_or_harmless() {
    let whole = group(eleven);
    for length in 0..whole.object.len() {
        let object = whole.object[..length].to_vec();
        // Loading must not read out of bounds; it may succeed if nothing that it needs is missing.
        let _ = HostCode::load(&Translation { object, ..whole.clone() });
    }
}

proptest! {
    #[test]
    fn garbage_is_an_error(object in prop::collection::vec(any::<u8>(), 0..512)) {
        let loaded = HostCode::load(&Translation { object, ..Translation::default() });
        prop_assert!(loaded.is_err());
    }

    #[test]
    fn damaged_objects_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut translation = group(eleven);
        for (index, value) in changes {
            let length = translation.object.len();
            translation.object[index.index(length)] = value;
        }
        let _ = HostCode::load(&translation);
    }
}
