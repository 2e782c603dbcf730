//! Tests: batches against an independent description of the commands (Mesa's genxml): names, positions,
//! headers and reserved bits.

use std::collections::BTreeMap;

use gencl_eu::dispatch::LaunchMark;
use gencl_testing::packets::{Packet, packets};
use smallvec::smallvec;

use super::batch::{BatchState, BatchWriter, EmittedState, WalkState};
use super::commands::CommandSet;
use super::field::{CommandLayout, Field};
use super::gen7::{GEN7, GEN75};
use super::gen8::GEN8;
use super::gen9::GEN9;
use super::walk::Walk;

/// All tables, with the names of the description's columns.
const SETS: &[(&str, &CommandSet)] = &[("gen7", &GEN7), ("gen7.5", &GEN75), ("gen8", &GEN8), ("gen9", &GEN9)];

type Packets = BTreeMap<&'static str, Packet>;

fn check_layout(packets: &Packets, layout: &CommandLayout, ours: &[Field]) {
    let name = layout.name;
    let packet = packets.get(name).unwrap_or_else(|| panic!("{name} is not described"));
    assert_eq!(packet.dwords, Some(layout.length as u32), "{name}");
    assert_eq!(layout.header, packet.header(0), "header of {name}");
    for field in ours {
        let place = packet.fields.get(field.name);
        let place = place.unwrap_or_else(|| panic!("{name} has no field {}", field.name));
        assert_eq!(
            (u32::from(field.start), u32::from(field.end)),
            (place.first, place.last),
            "{} of {name}",
            field.name
        );
    }
}

#[test]
fn fields_have_the_described_positions() {
    for (name, set) in SETS {
        let packets = packets(name);
        for (layout, fields) in set.commands() {
            check_layout(&packets, &layout, &fields);
        }
        let (layout, fields) = set.interface_descriptor.table();
        check_layout(&packets, &layout, &fields);
        for (layout, fields) in [set.surface_state.table(), set.sampler_state.table()] {
            check_layout(&packets, &layout, &fields);
        }
    }
}

#[test]
fn the_l3_register_is_the_described_one() {
    let (offset, value) = GEN9.registers[0];
    for generation in ["gen8", "gen9"] {
        let register = &packets(generation)["L3CNTLREG"];
        assert_eq!(register.offset.map(u64::from), Some(offset));
        let field = |name| {
            let field = register.fields[name];
            value >> field.first & ((1 << (field.last - field.first + 1)) - 1)
        };
        let ways =
            ["SLM Enable", "URB Allocation", "All Allocation", "RO Allocation", "DC Allocation"].map(field);
        assert_eq!(ways, [1, 16, 48, 0, 0]);
    }
}

/// Typed writes of Ivy Bridge go through the render cache.
#[test]
fn the_render_cache_is_flushed_on_ivy_bridge() {
    for (name, set) in SETS {
        let header = set.pipe_control.layout.header;
        let flush = packets(name)["PIPE_CONTROL"].fields["Render Target Cache Flush Enable"].mask(1);
        let flushes = batch(set).windows(2).filter(|pair| pair[0] == header && pair[1] & flush != 0).count();
        assert_eq!(flushes > 0, *name == "gen7", "{name}");
    }
}

/// Decodes a batch by the description alone: every command is known and has its length, and no reserved bit
/// is set.
#[test]
fn batches_decode_without_reserved_bits() {
    for (name, set) in SETS {
        check_batch(&packets(name), set);
    }
}

/// A batch with every command that launches use.
fn batch(set: &'static CommandSet) -> Vec<u32> {
    let walk = |first, end| WalkState {
        walk: Walk { local: [16, 4, 1], first: [first, 0, 0], end: [end, u32::MAX, 7] },
        threads: 4,
        right_mask: 0xffff,
        descriptor: 0x7f_ff40,
        constants: 0x7f_ff80,
        constants_size: 0x4000,
    };
    let other = WalkState { descriptor: 0x7f_ff00, constants: 0x7f_0000, ..walk(8, 9) };
    let state = BatchState {
        simd_width: 32,
        device_threads: 168,
        scratch: Some((0x3ff0_0000, 11)),
        walks: smallvec![
            walk(0, 8),
            other,
            WalkState { descriptor: 0x7f_fec0, constants_size: 0, ..walk(9, 10) }
        ],
        stamps: [0xbfff_ff00, 0xbfff_ff08],
        mark: Some(LaunchMark::new(1, 0x1f_fffe)),
    };
    let (mut dwords, mut relocations) = (Vec::new(), Vec::new());
    let mut writer = BatchWriter::new(set, &mut dwords, &mut relocations);
    writer.begin(0x1000_0000);
    // The second of two equal launches sets no front end, and a single walker loads no state again.
    let mut emitted = EmittedState::new(set);
    for state in [&state, &BatchState { walks: smallvec![walk(0, 8)], ..state.clone() }] {
        writer.launch(state, &mut emitted);
        writer.launch(state, &mut emitted);
    }
    writer.end();
    dwords
}

/// The command with a header.
fn command(packets: &Packets, header: u32) -> Option<(&'static str, &Packet)> {
    packets.iter().map(|(name, packet)| (*name, packet)).find(|(_, packet)| {
        let mut identifying = packet
            .fields
            .iter()
            .filter(|(name, field)| field.last < 32 && field.default.is_some() && **name != "DWord Length")
            .map(|(_, field)| field.mask(0))
            .peekable();
        identifying.peek().is_some() && identifying.all(|mask| header & mask == packet.header(0) & mask)
    })
}

fn check_batch(packets: &Packets, set: &'static CommandSet) {
    let dwords = batch(set);
    let mut names = Vec::new();
    let mut rest = &dwords[..];
    while let Some(&header) = rest.first() {
        let (name, packet) = command(packets, header).unwrap_or_else(|| panic!("{header:#010x} is unknown"));
        let length = packet.dwords.expect("a fixed length") as usize;
        for (index, dword) in (0..).zip(&rest[..length]) {
            let reserved = dword & !packet.bits(index);
            assert_eq!(reserved, 0, "reserved bits of dword {index} of {name}: {dword:#010x}");
        }
        names.push(name);
        rest = &rest[length..];
    }
    let count = |wanted| names.iter().filter(|&&name| name == wanted).count();
    let walks = ["GPGPU_WALKER", "MEDIA_CURBE_LOAD", "MEDIA_INTERFACE_DESCRIPTOR_LOAD", "MEDIA_VFE_STATE"];
    assert_eq!(walks.map(count), [8, 5, 7, 1], "{names:?}");
    assert!(names.contains(&"MI_BATCH_BUFFER_END"), "{names:?}");
    assert_eq!(dwords.len() % 2, 0);
}
