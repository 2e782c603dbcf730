//! Our batches against Mesa's description of the commands: names, positions, headers and reserved bits.

use std::path::Path;

use roxmltree::{Document, Node};
use smallvec::smallvec;

use super::batch::{BatchState, Common, WalkState, Writer};
use super::commands::CommandSet;
use super::field::{Field, Layout};
use super::gen7::{GEN7, GEN75};
use super::gen8::GEN8;
use super::gen9::GEN9;
use super::walk::Walk;

/// All tables, with the names of genxml's files.
const SETS: &[(&str, &CommandSet)] = &[("gen7", &GEN7), ("gen75", &GEN75), ("gen8", &GEN8), ("gen9", &GEN9)];

/// The text of a generation's file, when it is beside the checkout.
fn description(generation: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/oracle/genxml");
    let text = std::fs::read_to_string(root.join(format!("{generation}.xml"))).ok();
    if text.is_none() {
        println!("skipped: there is no {generation}.xml in ../shared/oracle/genxml");
    }
    text
}

fn number(node: Node<'_, '_>, attribute: &str) -> Option<u64> {
    node.attribute(attribute).and_then(|text| text.parse().ok())
}

fn fields<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(|child| child.has_tag_name("field"))
}

fn find<'a>(document: &'a Document<'a>, layout: &Layout) -> Node<'a, 'a> {
    let named = |node: &Node<'_, '_>| {
        (node.has_tag_name("instruction") || node.has_tag_name("struct"))
            && node.attribute("name") == Some(layout.name)
    };
    document.descendants().find(named).unwrap_or_else(|| panic!("{} is not described", layout.name))
}

/// Bits of a field within dword `index`.
fn mask(start: u64, end: u64, index: usize) -> u32 {
    (0..32).filter(|bit| (start..=end).contains(&(32 * index as u64 + bit))).map(|bit| 1 << bit).sum()
}

fn check_layout(document: &Document<'_>, layout: &Layout, ours: &[Field]) {
    let node = find(document, layout);
    assert_eq!(number(node, "length"), Some(layout.length as u64), "{}", layout.name);
    let default = |field: Node<'_, '_>| Some(number(field, "default")? << number(field, "start")?);
    let header: u64 = fields(node).filter_map(default).sum();
    assert_eq!(u64::from(layout.header), header, "header of {}", layout.name);
    for field in ours {
        let theirs = fields(node).find(|theirs| theirs.attribute("name") == Some(field.name));
        let theirs = theirs.unwrap_or_else(|| panic!("{} has no field {}", layout.name, field.name));
        let place = (number(theirs, "start"), number(theirs, "end"));
        assert_eq!(
            place,
            (Some(field.start.into()), Some(field.end.into())),
            "{} of {}",
            field.name,
            layout.name
        );
    }
}

#[test]
fn fields_stand_where_genxml_has_them() {
    for (name, set) in SETS {
        let Some(text) = description(name) else { return };
        let document = Document::parse(&text).unwrap();
        for (layout, fields) in set.commands() {
            check_layout(&document, &layout, &fields);
        }
        let (layout, fields) = set.interface_descriptor.table();
        check_layout(&document, &layout, &fields);
        if let Some(surface) = &set.surface_state {
            let (layout, fields) = surface.table();
            check_layout(&document, &layout, &fields);
        }
    }
}

#[test]
fn registers_are_those_of_genxml() {
    for generation in ["gen8", "gen9"] {
        let Some(text) = description(generation) else { return };
        check_l3_register(&Document::parse(&text).unwrap());
    }
}

fn check_l3_register(document: &Document<'_>) {
    let (offset, value) = GEN9.registers[0];
    let register = document.descendants().find(|node| node.attribute("name") == Some("L3CNTLREG")).unwrap();
    assert_eq!(register.attribute("num"), Some(format!("{offset:#x}").as_str()));
    let field = |name| {
        let node = fields(register).find(|node| node.attribute("name") == Some(name)).unwrap();
        let (start, end) = (number(node, "start").unwrap(), number(node, "end").unwrap());
        value >> start & ((1 << (end - start + 1)) - 1)
    };
    let ways =
        ["SLM Enable", "URB Allocation", "All Allocation", "RO Allocation", "DC Allocation"].map(field);
    assert_eq!(ways, [1, 16, 48, 0, 0]);
}

/// Walks a batch by the description alone: every command is known, has its length, and no bit is set that no field has.
#[test]
fn batches_decode_without_reserved_bits() {
    for (name, set) in SETS {
        let Some(text) = description(name) else { return };
        check_batch(&Document::parse(&text).unwrap(), set);
    }
}

fn check_batch(document: &Document<'_>, set: &'static CommandSet) {
    let walk = |first, end| WalkState {
        walk: Walk { local: [16, 4, 1], first: [first, 0, 0], end: [end, u32::MAX, 7] },
        threads: 4,
        right_mask: 0xffff,
        descriptor: 0x3fff_ff40,
        constants: 0x3fff_ff80,
        constants_size: 0x4000,
    };
    let other = WalkState { descriptor: 0x3fff_ff00, constants: 0x3fff_0000, ..walk(8, 9) };
    let state = BatchState {
        simd_width: 32,
        device_threads: 168,
        scratch: Some((0x3ff0_0000, 11)),
        walks: smallvec![
            walk(0, 8),
            other,
            WalkState { descriptor: 0x3fff_fec0, constants_size: 0, ..walk(9, 10) }
        ],
        stamps: [0xbfff_ff00, 0xbfff_ff08],
    };
    let (mut dwords, mut relocations) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(set, &mut dwords, &mut relocations);
    writer.begin(if set.surface_state.is_some() { 0x1000_0000 } else { 0 });
    // The same twice needs its front end once, and what a single walker loads once.
    let mut common = Common::new(set);
    for state in [&state, &BatchState { walks: smallvec![walk(0, 8)], ..state.clone() }] {
        writer.launch(state, &mut common);
        writer.launch(state, &mut common);
    }
    writer.end();
    let mut names = Vec::new();
    let mut rest = &dwords[..];
    while let Some(&header) = rest.first() {
        let describes = |node: &Node<'_, '_>| {
            node.has_tag_name("instruction")
                && fields(*node).all(|field| {
                    let (start, end) = (number(field, "start").unwrap(), number(field, "end").unwrap());
                    let opcode = number(field, "default").filter(|_| end < 32);
                    opcode.is_none_or(|value| {
                        field.attribute("name") == Some("DWord Length")
                            || (u64::from(header) & u64::from(mask(start, end, 0))) >> start == value
                    })
                })
                && fields(*node).any(|field| number(field, "default").is_some())
        };
        let node =
            document.descendants().find(describes).unwrap_or_else(|| panic!("{header:#010x} is unknown"));
        let name = node.attribute("name").unwrap();
        let length = number(node, "length").unwrap() as usize;
        for (index, dword) in rest[..length].iter().enumerate() {
            let known = fields(node)
                .map(|field| mask(number(field, "start").unwrap(), number(field, "end").unwrap(), index))
                .fold(0, |all, mask| all | mask);
            assert_eq!(dword & !known, 0, "reserved bits of dword {index} of {name}: {dword:#010x}");
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
