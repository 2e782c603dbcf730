//! Surface and sampler states of test scripts, written from what the script says in words. The bits stand
//! here once more, so that the simulator's decoding is not checked with itself.
//!
//! `; surface INDEX: RAW BYTES at ADDRESS` is a buffer of bytes. Its state has the device's layout; all
//! others are those of Gen8 and Gen9.
//!
//! `; surface INDEX: SHAPE FORMAT SIZE WORDS`, where SHAPE is `1D`, `2D`, `3D`, `BUFFER` or `NULL`, FORMAT a
//! name of the manual, SIZE `WIDTH`, `WIDTHxHEIGHT` or with a third number for depth or slices, and WORDS are
//!
//! | words | |
//! | --- | --- |
//! | `at ADDRESS` | base address in hexadecimal |
//! | `pitch BYTES`, `qpitch ROWS` | distances of rows and slices |
//! | `tiled X`, `tiled Y`, `tiled Yf` | tiling |
//! | `array` | the third number is slices |
//! | `levels N` | levels of detail |
//! | `select CHANNELS` | shader channels, four letters of `rgba01` |
//!
//! `; sampler INDEX: WORDS`, where WORDS are `nearest` or `linear` (the filter), a mode for all coordinates
//! (`wrap`, `mirror`, `clamp`, `border`, `once`, `half`), `texels` (coordinates that are not normalized),
//! `rounded`, `mip nearest`, `mip linear`, and `border_colour R G B A` with the colour's bits in hexadecimal.

use gencl_isa::Generation;
use gencl_testing::packets::packets;

use super::super::message::FORMATS;
use crate::dispatch::Launch;
use crate::memory::{AddressSpace, Cursor};

/// The binding table, behind it the surface states.
const SURFACES: u64 = 0x1e000;
/// The sampler states, behind them the border colours.
const SAMPLERS: u64 = 0x1f000;
/// From the binding table to the first surface state.
const STATES: u64 = 0x100;
/// From the first sampler state to the first border colour.
const COLOURS: u64 = 0x400;
/// Bytes of a surface state and of a border colour.
const STEP: u64 = 64;

/// A field: name, first and last bit.
type Field = (&'static str, u32, u32);

const SURFACE_TYPE: Field = ("Surface Type", 29, 31);
const ARRAY: Field = ("Surface Array", 28, 28);
const FORMAT: Field = ("Surface Format", 18, 27);
const VERTICAL: Field = ("Surface Vertical Alignment", 16, 17);
const HORIZONTAL: Field = ("Surface Horizontal Alignment", 14, 15);
const TILE_MODE: Field = ("Tile Mode", 12, 13);
const QPITCH: Field = ("Surface QPitch", 32, 46);
const WIDTH: Field = ("Width", 64, 77);
const HEIGHT: Field = ("Height", 80, 93);
const PITCH: Field = ("Surface Pitch", 96, 113);
const DEPTH: Field = ("Depth", 117, 127);
const LEVELS: Field = ("MIP Count / LOD", 160, 163);
const RESOURCE_MODE: Field = ("Tiled Resource Mode", 178, 179);
const SELECT: [Field; 4] = [
    ("Shader Channel Select Red", 249, 251),
    ("Shader Channel Select Green", 246, 248),
    ("Shader Channel Select Blue", 243, 245),
    ("Shader Channel Select Alpha", 240, 242),
];
const ADDRESS: Field = ("Surface Base Address", 256, 319);
/// Before Gen8.
const NARROW_ADDRESS: Field = ("Surface Base Address", 32, 63);

const MINIFY: Field = ("Min Mode Filter", 14, 16);
const MAGNIFY: Field = ("Mag Mode Filter", 17, 19);
const MIP: Field = ("Mip Mode Filter", 20, 21);
const MAXIMUM: Field = ("Max LOD", 40, 51);
const COLOUR: Field = ("Border Color Pointer", 70, 87);
const MODES: [Field; 3] = [
    ("TCX Address Control Mode", 102, 104),
    ("TCY Address Control Mode", 99, 101),
    ("TCZ Address Control Mode", 96, 98),
];
const TEXELS: Field = ("Non-normalized Coordinate Enable", 106, 106);
const ROUNDING: [Field; 6] = [
    ("R Address Min Filter Rounding Enable", 109, 109),
    ("R Address Mag Filter Rounding Enable", 110, 110),
    ("V Address Min Filter Rounding Enable", 111, 111),
    ("V Address Mag Filter Rounding Enable", 112, 112),
    ("U Address Min Filter Rounding Enable", 113, 113),
    ("U Address Mag Filter Rounding Enable", 114, 114),
];

/// Sets a field of up to 64 bits.
fn put(dwords: &mut [u32], (name, first, last): Field, value: u64) {
    let width = last - first + 1;
    assert!(width == 64 || value >> width == 0, "{name} {value}");
    for bit in 0..width {
        let (at, set) = (first + bit, (value >> bit & 1) as u32);
        let dword = &mut dwords[(at / 32) as usize];
        *dword = *dword & !(1 << (at % 32)) | set << (at % 32);
    }
}

/// All states of a script.
#[derive(Debug, Default)]
pub struct States {
    surfaces: Vec<(u64, [u32; 16])>,
    /// Buffers of bytes: index, bytes, address.
    raw: Vec<(u64, u64, u64)>,
    samplers: Vec<(u64, [u32; 4], [u32; 4])>,
}

fn decimal(word: Option<&str>) -> u64 {
    word.expect("a number").parse().expect("a number")
}

fn hexadecimal(word: Option<&str>) -> u64 {
    u64::from_str_radix(word.expect("a number"), 16).expect("a hexadecimal number")
}

/// `INDEX: WORDS`
fn split(text: &str) -> (u64, impl Iterator<Item = &str>) {
    let (index, words) = text.split_once(':').expect("an index and a colon");
    (decimal(Some(index.trim())), words.split_whitespace())
}

impl States {
    /// Adds what a `surface` line says.
    pub fn surface(&mut self, text: &str) {
        let (index, mut words) = split(text);
        let mut state = [0; 16];
        let mut set = |field, value| put(&mut state, field, value);
        let shape = words.next().expect("a shape");
        if shape == "RAW" {
            let bytes = decimal(words.next());
            assert_eq!(words.next(), Some("at"));
            self.raw.push((index, bytes, hexadecimal(words.next())));
            return;
        }
        let kinds = [("1D", 0), ("2D", 1), ("3D", 2), ("BUFFER", 4), ("NULL", 7)];
        set(SURFACE_TYPE, kinds.iter().find(|(name, _)| *name == shape).expect("a shape").1);
        let format = words.next().expect("a format");
        let format = FORMATS.iter().find(|f| f.name == format).expect("a format");
        set(FORMAT, u64::from(format.number));
        let mut size = words.next().expect("a size").split('x').map(|n| decimal(Some(n)) - 1);
        if shape == "BUFFER" {
            let entries = size.next().unwrap();
            for (field, first, width) in [(WIDTH, 0, 7), (HEIGHT, 7, 14), (DEPTH, 21, 6)] {
                set(field, entries >> first & ((1 << width) - 1));
            }
            set(PITCH, format.bytes() as u64 - 1);
        } else {
            for field in [WIDTH, HEIGHT, DEPTH] {
                set(field, size.next().unwrap_or(0));
            }
        }
        // Alignment of 4 texels.
        set(HORIZONTAL, 1);
        set(VERTICAL, 1);
        let mut channels = "rgba";
        while let Some(word) = words.next() {
            match word {
                "at" => set(ADDRESS, hexadecimal(words.next())),
                "pitch" => set(PITCH, decimal(words.next()) - 1),
                "qpitch" => set(QPITCH, decimal(words.next()) / 4),
                "array" => set(ARRAY, 1),
                "levels" => set(LEVELS, decimal(words.next()) - 1),
                "select" => channels = words.next().expect("channels"),
                "tiled" => match words.next() {
                    Some("X") => set(TILE_MODE, 2),
                    Some("Y") => set(TILE_MODE, 3),
                    Some("Yf") => {
                        set(TILE_MODE, 3);
                        set(RESOURCE_MODE, 1);
                    }
                    other => panic!("tiling {other:?}"),
                },
                other => panic!("word {other} of a surface"),
            }
        }
        for (field, channel) in SELECT.into_iter().zip(channels.chars()) {
            let code = "01  rgba".find(channel).unwrap_or_else(|| panic!("channel {channel}"));
            set(field, code as u64);
        }
        self.surfaces.push((index, state));
    }

    /// Adds what a `sampler` line says.
    pub fn sampler(&mut self, text: &str) {
        let (index, mut words) = split(text);
        let (mut state, mut colour) = ([0; 4], [0; 4]);
        let mut set = |field, value| put(&mut state, field, value);
        set(MAXIMUM, 14 << 8);
        set(COLOUR, (COLOURS + index * STEP) / 64);
        while let Some(word) = words.next() {
            let modes = ["wrap", "mirror", "clamp", "cube", "border", "once", "half"];
            match word {
                "nearest" => {}
                "linear" => [MINIFY, MAGNIFY].iter().for_each(|field| set(*field, 1)),
                "texels" => set(TEXELS, 1),
                "rounded" => ROUNDING.iter().for_each(|field| set(*field, 1)),
                "mip" => set(MIP, if words.next() == Some("linear") { 3 } else { 1 }),
                "border_colour" => {
                    colour = std::array::from_fn(|_| hexadecimal(words.next()) as u32);
                }
                mode => {
                    let code = modes.iter().position(|name| *name == mode);
                    let code = code.unwrap_or_else(|| panic!("word {mode} of a sampler"));
                    MODES.iter().for_each(|field| set(*field, code as u64));
                }
            }
        }
        self.samplers.push((index, state, colour));
    }

    /// Writes them to memory and tells a launch where they are.
    pub fn write(&self, generation: Generation, memory: &AddressSpace, launch: &mut Launch) {
        if self.surfaces.is_empty() && self.raw.is_empty() {
            return;
        }
        let raw = self.raw.iter().map(|(index, bytes, at)| (*index, raw(generation, *bytes, *at)));
        let surfaces: Vec<_> = self.surfaces.iter().copied().chain(raw).collect();
        launch.bases.surface = SURFACES;
        launch.bases.dynamic = SAMPLERS;
        let mut cursor = Cursor::default();
        let mut write = |at: u64, dwords: &[u32]| {
            memory.write(&mut cursor, at, bytemuck::cast_slice(dwords)).expect("within the test's memory");
        };
        for (n, (index, state)) in (0..).zip(&surfaces) {
            let offset = STATES + n * STEP;
            write(SURFACES + index * 4, &[offset as u32]);
            write(SURFACES + offset, state);
        }
        for (index, state, colour) in &self.samplers {
            write(SAMPLERS + index * 16, state);
            write(SAMPLERS + COLOURS + index * STEP, colour);
        }
    }
}

/// The state of a buffer of bytes.
fn raw(generation: Generation, bytes: u64, at: u64) -> [u32; 16] {
    let mut state = [0; 16];
    put(&mut state, SURFACE_TYPE, 4);
    put(&mut state, FORMAT, 0x1ff);
    for (field, first, width) in [(WIDTH, 0, 7), (HEIGHT, 7, 14), (DEPTH, 21, 10)] {
        put(&mut state, field, (bytes - 1) >> first & ((1 << width) - 1));
    }
    let address = match generation {
        Generation::Gen7 | Generation::Gen75 => NARROW_ADDRESS,
        Generation::Gen8 | Generation::Gen9 => ADDRESS,
    };
    put(&mut state, address, at);
    state
}

/// Compares fields with those of an independent description.
fn check(generation: &str, structure: &str, fields: &[Field]) {
    let packets = packets(generation);
    for &(name, first, last) in fields {
        let described = packets[structure].fields.get(name).map(|field| (field.first, field.last));
        assert_eq!(described, Some((first, last)), "{generation} {structure}: {name}");
    }
}

#[test]
fn raw_buffers_are_those_of_the_description() {
    // The format has a bit less.
    let format = (FORMAT.0, FORMAT.1, FORMAT.2 - 1);
    for generation in ["gen7", "gen7.5"] {
        check(
            generation,
            "RENDER_SURFACE_STATE",
            &[SURFACE_TYPE, format, WIDTH, HEIGHT, DEPTH, NARROW_ADDRESS],
        );
    }
}

#[test]
fn fields_are_those_of_the_description() {
    let surface =
        [SURFACE_TYPE, ARRAY, FORMAT, VERTICAL, HORIZONTAL, TILE_MODE, QPITCH, WIDTH, HEIGHT, PITCH];
    check("gen9", "RENDER_SURFACE_STATE", &surface);
    check("gen9", "RENDER_SURFACE_STATE", &[DEPTH, LEVELS, RESOURCE_MODE, ADDRESS]);
    check("gen9", "RENDER_SURFACE_STATE", &SELECT);
    check("gen9", "SAMPLER_STATE", &[MINIFY, MAGNIFY, MIP, MAXIMUM, COLOUR, TEXELS]);
    check("gen9", "SAMPLER_STATE", &MODES);
    check("gen9", "SAMPLER_STATE", &ROUNDING);
}
