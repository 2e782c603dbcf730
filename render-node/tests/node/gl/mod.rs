//! Mesa's drivers for OpenGL on the simulated devices, as they are installed: crocus on Gen7 and Gen7.5, iris from Gen8 on.
//! Compute shaders compute what the host does.

mod library;
mod shaders;

use crate::support::run_with;
use library::{Context, missing};
use shaders::{COUNT, SHADERS};

/// What all shaders have behind the dialect's head.
const BUFFERS: &str = "layout(std430, binding = 0) buffer Input { uint i[]; };
layout(std430, binding = 1) buffer Output { uint o[]; };
uniform uint seven;
";

/// Runs all shaders on the device that there is; its name contains `device`.
fn compute(device: &str) {
    let context = Context::new();
    let name = context.name();
    println!("{name}, {:?}", context.dialect);
    assert!(name.contains(device), "{name} is not {device}");
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

/// Declares tests: Mesa's driver, the simulated device, how Mesa calls it, and variables for Mesa.
macro_rules! on_devices {
    ($($name:ident: $driver:literal, $device:literal, $shown:literal, [$($variable:literal = $value:literal),*];)*) => {$(
        #[test]
        fn $name() {
            if let Some(what) = missing($driver) {
                println!("skipped: {what} is not here");
                return;
            }
            let path = concat!(module_path!(), "::", stringify!($name));
            let variables = [("MESA_SHADER_CACHE_DISABLE", "true"), $(($variable, $value)),*];
            run_with(path, &["--strict", "--device", $device], &variables, || compute($shown));
        }
    )*};
}

on_devices! {
    crocus_on_ivy_bridge: "crocus", "ivb", "IVB GT2", [];
    crocus_on_bay_trail: "crocus", "byt", "BYT", [];
    crocus_on_haswell: "crocus", "hsw", "HSW GT2", [];
    // Everything goes through scratch memory between its uses. Not on Ivy Bridge, where crocus gives launches of 11 KiB the buffer of
    // those of 1 KiB (`crocus_get_scratch_space` looks for the lowest bit of the size).
    crocus_on_haswell_spills: "crocus", "hsw", "HSW GT2", ["INTEL_DEBUG" = "spill_fs"];
    crocus_on_ivy_bridge_of_8_lanes: "crocus", "ivb", "IVB GT2", ["INTEL_DEBUG" = "no16"];
    crocus_on_haswell_of_32_lanes: "crocus", "hsw", "HSW GT2", ["INTEL_DEBUG" = "do32"];
    iris_on_broadwell_spills: "iris", "bdw", "BDW GT2", ["INTEL_DEBUG" = "spill_fs"];
    iris_on_skylake_spills: "iris", "skl", "SKL GT2", ["INTEL_DEBUG" = "spill_fs"];
    iris_on_broadwell: "iris", "bdw", "BDW GT2", [];
    iris_on_skylake: "iris", "skl", "SKL GT2", [];
}
