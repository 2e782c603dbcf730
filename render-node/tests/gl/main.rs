//! Mesa's installed OpenGL drivers on the simulated devices: crocus on Gen7 and Gen7.5, iris from Gen8 on.
//! Results of compute shaders are compared with the host's.

mod images;
mod library;
mod shaders;
#[path = "../common/under_gencl_sim.rs"]
mod under_gencl_sim;

use gencl_testing::harness::{self, test_unless};
use library::{Context, missing};
use shaders::{COUNT, SHADERS};
use under_gencl_sim::run_with;

/// The declarations of all shaders, behind the dialect's first lines.
const BUFFERS: &str = "layout(std430, binding = 0) buffer Input { uint i[]; };
layout(std430, binding = 1) buffer Output { uint o[]; };
uniform uint seven;
";

/// Runs all shaders on the device that there is, or those on images; its name contains `device`.
fn compute(device: &str, images: bool) {
    let context = Context::new();
    let name = context.name();
    println!("{name}, {:?}", context.dialect);
    assert!(name.contains(device), "{name} is not {device}");
    if images {
        let compared = images::check(&context).unwrap_or_else(|wrong| panic!("{wrong}"));
        println!("{compared} values are right");
        return;
    }
    let input: Vec<u32> = (0..COUNT as u32).map(|n| n.wrapping_mul(2_654_435_761)).collect();
    let mut wrong = Vec::new();
    for shader in SHADERS {
        let [x, y, z] = shader.local_size;
        let layout = format!("layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;\n");
        let head = context.dialect.head();
        let program = context.program(&[head, &layout, BUFFERS, shader.code].concat());
        context.storage(0, &input);
        let output = context.storage(1, &[0; COUNT]);
        if shader.code.contains("seven") {
            context.set(program, c"seven", 7);
        }
        context.dispatch(shader.groups, shader.indirect);
        let got = context.read(output, COUNT);
        let expected = (shader.host)(&input);
        let place = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        if let Some(place) = place {
            wrong.push(format!(
                "{}: o[{place}] is {:#x}, not {:#x}",
                shader.name, got[place], expected[place]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), SHADERS.len(), wrong.join("\n"));
}

/// A test: Mesa's driver, the simulated device, its name in Mesa, and variables for Mesa.
struct Row {
    name: &'static str,
    driver: &'static str,
    device: &'static str,
    shown: &'static str,
    variables: &'static [(&'static str, &'static str)],
    images: bool,
}

/// What most have.
const PLAIN: Row = Row { name: "", driver: "", device: "", shown: "", variables: &[], images: false };

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { name: "crocus_on_ivy_bridge", driver: "crocus", device: "ivb", shown: "IVB GT2", ..PLAIN },
    Row { name: "crocus_on_bay_trail", driver: "crocus", device: "byt", shown: "BYT", ..PLAIN },
    Row { name: "crocus_on_haswell", driver: "crocus", device: "hsw", shown: "HSW GT2", ..PLAIN },
    // Everything goes through scratch memory between its uses. Not on Ivy Bridge, where crocus gives launches
    // of 11 KiB the buffer of those of 1 KiB (`crocus_get_scratch_space` looks for the lowest bit of the
    // size).
    Row { name: "crocus_on_haswell_spills", driver: "crocus", device: "hsw", shown: "HSW GT2", variables: &[("INTEL_DEBUG", "spill_fs")], ..PLAIN },
    Row { name: "crocus_on_ivy_bridge_of_8_lanes", driver: "crocus", device: "ivb", shown: "IVB GT2", variables: &[("INTEL_DEBUG", "no16")], ..PLAIN },
    Row { name: "crocus_on_haswell_of_32_lanes", driver: "crocus", device: "hsw", shown: "HSW GT2", variables: &[("INTEL_DEBUG", "do32")], ..PLAIN },
    Row { name: "iris_on_broadwell_spills", driver: "iris", device: "bdw", shown: "BDW GT2", variables: &[("INTEL_DEBUG", "spill_fs")], ..PLAIN },
    Row { name: "iris_on_skylake_spills", driver: "iris", device: "skl", shown: "SKL GT2", variables: &[("INTEL_DEBUG", "spill_fs")], ..PLAIN },
    // Compressed surfaces are not simulated.
    Row { name: "crocus_on_ivy_bridge_images", driver: "crocus", device: "ivb", shown: "IVB GT2", variables: &[("INTEL_DEBUG", "noccs")], images: true },
    Row { name: "crocus_on_haswell_images", driver: "crocus", device: "hsw", shown: "HSW GT2", variables: &[("INTEL_DEBUG", "noccs")], images: true },
    Row { name: "iris_on_broadwell_images", driver: "iris", device: "bdw", shown: "BDW GT2", variables: &[("INTEL_DEBUG", "noccs")], images: true },
    Row { name: "iris_on_skylake_images", driver: "iris", device: "skl", shown: "SKL GT2", variables: &[("INTEL_DEBUG", "noccs")], images: true },
    Row { name: "iris_on_broadwell", driver: "iris", device: "bdw", shown: "BDW GT2", ..PLAIN },
    Row { name: "iris_on_skylake", driver: "iris", device: "skl", shown: "SKL GT2", ..PLAIN },
];

fn main() -> ! {
    let test = |row: &'static Row| {
        let run = || {
            let variables = [&[("MESA_SHADER_CACHE_DISABLE", "true")], row.variables].concat();
            run_with(row.name, &["--strict", "--device", row.device], &variables, || {
                compute(row.shown, row.images)
            });
            Ok(())
        };
        test_unless(missing(row.driver), row.name, run)
    };
    harness::run(ROWS.iter().map(test).collect())
}
