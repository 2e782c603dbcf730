//! Debug information of programs that are compiled for a debugger.
#![cfg(feature = "llvm")]

use gencl_compiler::driver::{Build, Driver, Listener};
use gencl_program::debug::Debug;
use gencl_program::debug_address::{Space, split};
use gencl_program::{Program, code_addresses};
use gimli::{AttributeValue, Dwarf, EndianSlice, LittleEndian, Operation, constants};

type Reader<'a> = EndianSlice<'a, LittleEndian>;

struct Quiet;

impl Listener for Quiet {
    fn progress(&mut self, _: &str, _: &str) {}
    fn print(&mut self, _: &str, _: &str) {}
}

fn compile(source: &str, debug: &str, options: &str, target: &str) -> Program {
    let (debug, _) = Debug::parse(debug);
    let build = Build { source: source.as_bytes(), name: "<source>", options, target, ..Build::default() };
    let outcome = Driver::new(&debug, &mut Quiet).build(&build);
    outcome.program.unwrap_or_else(|| panic!("{}", outcome.log))
}

const SOURCE: &str = "#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
constant int table[2] = {3, 4};
typedef struct { char tag; int values[3]; unsigned low : 3, high : 5; } Pair;
static float square(float x) { float result = x * x; return result; }
kernel void first(global float *out, int n) {
  local float4 tile[8];
  Pair pair = {0};
  for (int i = 0; i < n; i++) { int twice = 2 * i; pair.values[0] += twice; }
  for (int i = 0; i < n; i++) { pair.values[1] += table[i & 1]; }
  tile[get_local_id(0)] = pair.tag;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = square(pair.values[0]) + tile[0].x;
}
kernel void second(read_only image2d_t image, sampler_t s, global float4 *out) {
  *out = read_imagef(image, s, (int2)(0, 0));
}
";

/// A variable: the path of the scopes that it is in, its tag, and the space and offset of its place.
type Found = (String, gimli::DwTag, (Space, u64));

fn variables(program: &Program) -> Vec<Found> {
    let section = |id: gimli::SectionId| {
        let section = program.debug.iter().find(|section| section.name == id.name());
        let bytes = section.map_or(&[][..], |section| &section.bytes);
        Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
    };
    let dwarf = Dwarf::load(section).unwrap();
    let unit = dwarf.unit(dwarf.units().next().unwrap().unwrap()).unwrap();
    let mut found = Vec::new();
    let mut tree = unit.entries_tree(None).unwrap();
    collect(&dwarf, &unit, tree.root().unwrap(), "", &mut found);
    found
}

fn collect(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &gimli::Unit<Reader<'_>>,
    node: gimli::EntriesTreeNode<'_, '_, Reader<'_>>,
    path: &str,
    found: &mut Vec<Found>,
) {
    let mut children = node.children();
    while let Some(child) = children.next().unwrap() {
        let entry = child.entry();
        let name = entry.attr_value(constants::DW_AT_name);
        let name = name.map(|name| dwarf.attr_string(unit, name).unwrap().to_string_lossy().into_owned());
        let path = format!("{path}/{}", name.unwrap_or_default());
        if let Some(AttributeValue::Exprloc(place)) = entry.attr_value(constants::DW_AT_location) {
            let Some(Operation::Address { address }) = place.operations(unit.encoding()).next().unwrap()
            else {
                panic!("{path} has no address")
            };
            found.push((path.clone(), entry.tag(), split(address)));
        }
        collect(dwarf, unit, child, &path, found);
    }
}

#[test]
fn variables_have_scopes_and_places() {
    for (target, pointer) in [("skl", 8), ("hsw", 4)] {
        let program = compile(SOURCE, "debug=folder", "", target);
        let found = variables(&program);
        let space = |wanted: &str| {
            let all: Vec<_> = found.iter().filter(|(path, ..)| path == wanted).collect();
            assert_eq!(all.len(), 1, "{wanted} in {found:?}");
            all[0].2
        };
        assert_eq!(space("/table"), (Space::Constants, 0));
        assert_eq!(space("/first/tile").0, Space::Local);
        let [out, n] = ["/first/out", "/first/n"].map(&space);
        assert_eq!((out.0, n), (Space::Private, (Space::Private, out.1 + pointer)));
        assert_eq!(space("/first/pair").0, Space::Private);
        // Two variables of the same name, in a block each.
        let loops: Vec<_> = found.iter().filter(|(path, ..)| path == "/first//i").collect();
        assert!(loops.len() == 2 && loops[0].2 != loops[1].2, "{found:?}");
        space("/first////twice");
        // Those of an inlined call.
        let parameter = found.iter().find(|(path, ..)| path.ends_with("/x")).unwrap();
        assert_eq!(parameter.1, constants::DW_TAG_formal_parameter);
        assert_eq!(found.iter().filter(|(path, ..)| path.ends_with("/result")).count(), 1);
        // Images are in no memory.
        assert!(found.iter().all(|(path, ..)| path != "/second/image"), "{found:?}");
        let kernel = &program.kernels[0];
        assert_eq!((kernel.simd_width, kernel.private_granule.is_some()), (8, true));
    }
}

/// Without a debugger there are lines at most, and the code is what it was.
#[test]
fn other_builds_have_no_variables() {
    let lines = compile(SOURCE, "", "-g", "skl");
    assert_eq!(variables(&lines), []);
    assert_eq!(lines.kernels[0].private_granule, None);
    assert_eq!(code_addresses(&lines.kernels).count(), 2);
}
