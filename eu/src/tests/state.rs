//! Surface and sampler states of test scripts, encoded from their description in the script. The fields' places
//! are those of Mesa's descriptions of the device's generation (`gencl_testing::packets`), so that the simulator's
//! decoder is not tested with itself.
//!
//! `; surface INDEX: RAW BYTES at ADDRESS` is a buffer of bytes.
//!
//! `; surface INDEX: SHAPE FORMAT SIZE WORDS`, where SHAPE is `1D`, `2D`, `3D`, `BUFFER` or `NULL`, FORMAT a
//! name of the manual, SIZE `WIDTH`, `WIDTHxHEIGHT` or with a third number for depth or slices, and WORDS are
//!
//! | words | |
//! | --- | --- |
//! | `at ADDRESS` | base address in hexadecimal |
//! | `pitch BYTES` | distance of rows |
//! | `qpitch ROWS` | distance of slices; before Gen8 it follows from the size, with space for levels if there are several |
//! | `tiled X`, `tiled Y`, `tiled Yf` | tiling |
//! | `array` | the third number is slices |
//! | `levels N` | levels of detail |
//! | `select CHANNELS` | shader channels, four letters of `rgba01` |
//! | `integers` | the border colour is that of integers (Haswell) |
//!
//! `; sampler INDEX: WORDS`, where WORDS are `nearest` or `linear` (the filter), a mode for all coordinates
//! (`wrap`, `mirror`, `clamp`, `border`, `once`, `half`), `texels` (coordinates that are not normalized),
//! `rounded`, `mip nearest`, `mip linear`, and `border_colour R G B A` and (Haswell) `integer_border DWORD
//! DWORD DWORD DWORD` with the colour's bits in hexadecimal.

use gencl_isa::Generation;
use gencl_testing::packets::{Packet, packets};

use crate::dispatch::Launch;
use crate::memory::{AddressSpace, Cursor};
use crate::message::FORMATS;

/// Address of the binding table, which the surface states follow.
const SURFACES: u64 = 0x1e000;
/// Address of the sampler states, which the border colours follow.
const SAMPLERS: u64 = 0x1f000;
/// From the binding table to the first surface state.
const STATES: u64 = 0x100;
/// From the first sampler state to the first border colour.
const COLOURS: u64 = 0x400;
/// From a surface state to the next one.
const STEP: u64 = 64;
/// From a border colour to the next one, and from there to that of integers.
const COLOUR_STEP: u64 = 0x200;
const INTEGERS: u64 = 64;

const SELECT: [&str; 4] = [
    "Shader Channel Select Red",
    "Shader Channel Select Green",
    "Shader Channel Select Blue",
    "Shader Channel Select Alpha",
];
const MODES: [&str; 3] = ["TCX Address Control Mode", "TCY Address Control Mode", "TCZ Address Control Mode"];
const ROUNDING: [&str; 6] = [
    "R Address Min Filter Rounding Enable",
    "R Address Mag Filter Rounding Enable",
    "V Address Min Filter Rounding Enable",
    "V Address Mag Filter Rounding Enable",
    "U Address Min Filter Rounding Enable",
    "U Address Mag Filter Rounding Enable",
];

/// The values of a state's fields, by their names in the description. A generation that does not have a field
/// does without its value.
type Values = Vec<(&'static str, u64)>;

/// The dwords of a state.
fn pack(packet: &Packet, values: &Values) -> Vec<u32> {
    let mut dwords = vec![0; packet.dwords.expect("a length") as usize];
    for &(name, value) in values {
        let Some(field) = packet.fields.get(name) else { continue };
        let width = field.last - field.first + 1;
        assert!(width == 64 || value >> width == 0, "{name} {value}");
        for bit in 0..width {
            let (at, set) = (field.first + bit, (value >> bit & 1) as u32);
            let dword = &mut dwords[(at / 32) as usize];
            *dword = (*dword & !(1 << (at % 32))) | (set << (at % 32));
        }
    }
    dwords
}

/// "Width", "Height" and "Depth" of a buffer.
fn entries(count: u64, depth_bits: u32) -> Values {
    let part = |first: u32, bits: u32| (count - 1) >> first & ((1 << bits) - 1);
    vec![("Width", part(0, 7)), ("Height", part(7, 14)), ("Depth", part(21, depth_bits))]
}

/// A sampler and its border colours: four floats or integers, and those of integers.
type Sampler = (u64, Values, [[u32; 4]; 2]);

/// All states of a script.
#[derive(Debug, Default)]
pub struct States {
    surfaces: Vec<(u64, Values)>,
    samplers: Vec<Sampler>,
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
    /// Adds the state of a `surface` line.
    pub fn surface(&mut self, text: &str) {
        let (index, mut words) = split(text);
        let shape = words.next().expect("a shape");
        if shape == "RAW" {
            let mut values = vec![("Surface Type", 4), ("Surface Format", 0x1ff)];
            values.extend(entries(decimal(words.next()), 10));
            assert_eq!(words.next(), Some("at"));
            values.push(("Surface Base Address", hexadecimal(words.next())));
            self.surfaces.push((index, values));
            return;
        }
        let kinds = [("1D", 0), ("2D", 1), ("3D", 2), ("BUFFER", 4), ("NULL", 7)];
        let kind = kinds.iter().find(|(name, _)| *name == shape).expect("a shape").1;
        let format = words.next().expect("a format");
        let format = FORMATS.iter().find(|f| f.name == format).expect("a format");
        let mut size = words.next().expect("a size").split('x').map(|n| decimal(Some(n)));
        let mut values = vec![("Surface Type", kind), ("Surface Format", u64::from(format.number))];
        if shape == "BUFFER" {
            values.extend(entries(size.next().unwrap(), 6));
            values.push(("Surface Pitch", format.bytes() as u64 - 1));
        } else {
            values.extend(["Width", "Height", "Depth"].map(|name| (name, size.next().unwrap_or(1) - 1)));
        }
        // Alignment of 4 texels, as "Surface Horizontal Alignment" has it where it has two bits; of one, it is 0.
        values.extend([("Surface Vertical Alignment", 1), ("Surface Array Spacing", 1)]);
        let mut channels = "rgba";
        while let Some(word) = words.next() {
            match word {
                "at" => values.push(("Surface Base Address", hexadecimal(words.next()))),
                "pitch" => values.push(("Surface Pitch", decimal(words.next()) - 1)),
                "qpitch" => values.push(("Surface QPitch", decimal(words.next()) / 4)),
                "array" => values.push(("Surface Array", 1)),
                "integers" => values.push(("Integer Surface Format", 1)),
                "levels" => {
                    values.push(("MIP Count / LOD", decimal(words.next()) - 1));
                    values.push(("Surface Array Spacing", 0));
                }
                "select" => channels = words.next().expect("channels"),
                "tiled" => values.extend(match words.next() {
                    Some("X") => [("Tile Mode", 2), ("Tiled Surface", 1), ("Tile Walk", 0)],
                    Some("Y") => [("Tile Mode", 3), ("Tiled Surface", 1), ("Tile Walk", 1)],
                    Some("Yf") => [("Tile Mode", 3), ("Tiled Resource Mode", 1), ("Tile Walk", 1)],
                    other => panic!("tiling {other:?}"),
                }),
                other => panic!("word {other} of a surface"),
            }
        }
        for (name, channel) in SELECT.into_iter().zip(channels.chars()) {
            let code = "01  rgba".find(channel).unwrap_or_else(|| panic!("channel {channel}"));
            values.push((name, code as u64));
        }
        self.surfaces.push((index, values));
    }

    /// Adds the state of a `sampler` line.
    pub fn sampler(&mut self, text: &str) {
        let (index, mut words) = split(text);
        let mut colours = [[0; 4]; 2];
        let mut values = vec![("Max LOD", 14 << 8)];
        let mut set = |names: &[&'static str], value| values.extend(names.iter().map(|name| (*name, value)));
        while let Some(word) = words.next() {
            let modes = ["wrap", "mirror", "clamp", "cube", "border", "once", "half"];
            match word {
                "nearest" => {}
                "linear" => set(&["Min Mode Filter", "Mag Mode Filter"], 1),
                "texels" => set(&["Non-normalized Coordinate Enable"], 1),
                "rounded" => set(&ROUNDING, 1),
                "mip" => set(&["Mip Mode Filter"], if words.next() == Some("linear") { 3 } else { 1 }),
                "border_colour" | "integer_border" => {
                    let colour = std::array::from_fn(|_| hexadecimal(words.next()) as u32);
                    colours[usize::from(word == "integer_border")] = colour;
                }
                mode => {
                    let code = modes.iter().position(|name| *name == mode);
                    let code = code.unwrap_or_else(|| panic!("word {mode} of a sampler"));
                    set(&MODES, code as u64);
                }
            }
        }
        self.samplers.push((index, values, colours));
    }

    /// Writes them to memory, and sets their addresses in a launch.
    pub fn write(&self, generation: Generation, memory: &AddressSpace, launch: &mut Launch) {
        if self.surfaces.is_empty() {
            return;
        }
        let packets = packets(generation.capabilities().name);
        let (surface, sampler) = (&packets["RENDER_SURFACE_STATE"], &packets["SAMPLER_STATE"]);
        launch.bases.surface = SURFACES;
        launch.bases.dynamic = SAMPLERS;
        let mut cursor = Cursor::default();
        let mut write = |at: u64, dwords: &[u32]| {
            memory.write(&mut cursor, at, bytemuck::cast_slice(dwords)).expect("within the test's memory");
        };
        let alignment = surface.fields["Surface Horizontal Alignment"];
        let alignment = ("Surface Horizontal Alignment", u64::from(alignment.last - alignment.first));
        for (n, (index, values)) in (0..).zip(&self.surfaces) {
            let offset = STATES + n * STEP;
            write(SURFACES + index * 4, &[offset as u32]);
            write(SURFACES + offset, &pack(surface, &[values.as_slice(), &[alignment]].concat()));
        }
        let pointer = sampler.fields["Border Color Pointer"].first % 32;
        for (index, values, colours) in &self.samplers {
            let colour = COLOURS + index * COLOUR_STEP;
            let pointer = ("Border Color Pointer", colour >> pointer);
            write(SAMPLERS + index * 16, &pack(sampler, &[values.as_slice(), &[pointer]].concat()));
            write(SAMPLERS + colour, &colours[0]);
            write(SAMPLERS + colour + INTEGERS, &colours[1]);
        }
    }
}
