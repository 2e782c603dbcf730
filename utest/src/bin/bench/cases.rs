//! The kernels of `utest/kernels/bench`: sizes, arguments, launches and what they compute.

use gencl_utest::{Launch, Random};
use half::f16;

use crate::data::Data::{Bytes, Doubles, Float, Floats, Halves, Image, Word, Words};
use crate::data::{Check, Data};
use crate::expected::{self, LEVELS};
use crate::filters;
use crate::images::{CHANNELS, Picture, Texels};

/// A program that is measured. Its first argument is what it computes.
pub struct Case {
    /// The file, without `.cl`.
    pub name: &'static str,
    /// For an interpreter, medium, and what comparisons are quoted at.
    pub sizes: [usize; 3],
    /// The arguments of all of the file's kernels, for a size.
    pub arguments: fn(usize, &mut Random) -> Vec<Data>,
    /// The launches of one repetition, for a size.
    pub steps: fn(usize) -> Vec<Step>,
    /// The first argument's contents after one repetition, from the contents of all before it.
    pub expected: fn(&[Data]) -> Data,
    /// How close the contents must be to that.
    pub check: Check,
}

/// A launch of a kernel.
pub struct Step {
    /// The kernel.
    pub kernel: &'static str,
    /// Its size.
    pub launch: Launch,
    /// Arguments after those of the case, integers.
    pub more: Vec<u32>,
}

/// Features of each point of `nearest`.
const FEATURES: usize = 32;

const EXACT: Check = within(0.0);

const fn within(tolerance: f64) -> Check {
    Check { tolerance, outliers: 0.0 }
}

/// All of them.
pub static CASES: [Case; 30] = [
    Case {
        name: "fft",
        sizes: [1 << 10, 1 << 16, 1 << 21],
        arguments: |n, random| vec![Floats(vec![0.0; 2 * n]), floats(random, 2 * n, -1.0, 1.0)],
        steps: |n| linear("fft", n / 4, 256),
        expected: expected::fft,
        check: within(1e-4),
    },
    Case {
        name: "black_scholes",
        sizes: [1 << 10, 1 << 18, 1 << 22],
        arguments: |n, random| {
            let [prices, strikes] = [(); 2].map(|()| floats(random, n, 5.0, 30.0));
            let years = floats(random, n, 0.25, 10.0);
            vec![Floats(vec![0.0; 2 * n]), prices, strikes, years, Float(0.02), Float(0.3)]
        },
        steps: |n| linear("black_scholes", n, 256),
        expected: expected::black_scholes,
        check: within(1e-4),
    },
    Case {
        name: "bitonic",
        sizes: [1 << 10, 1 << 15, 1 << 20],
        arguments: |n, random| vec![words(random, n, u32::MAX)],
        steps: |n| {
            let sizes = (1..=n.ilog2()).map(|bits| 1 << bits);
            let passes =
                sizes.flat_map(|size| (1..=u32::ilog2(size)).map(move |shift| [size, size >> shift]));
            passes.flat_map(|pass| with(linear("bitonic", n / 2, 256), &pass)).collect()
        },
        expected: expected::sorted,
        check: EXACT,
    },
    Case {
        name: "convolution",
        sizes: [64, 512, 2048],
        arguments: |n, random| {
            let image = floats(random, n * n, 0.0, 1.0);
            vec![Floats(vec![0.0; n * n]), image, floats(random, 25, -0.2, 0.2), word(n)]
        },
        steps: |n| grid("convolution", vec![n, n], vec![16, 16]),
        expected: expected::convolution,
        check: within(1e-5),
    },
    Case {
        name: "kmeans",
        sizes: [1 << 10, 1 << 17, 1 << 20],
        // Integers, so that distances are exact.
        arguments: |n, random| {
            let mut integers = |count| Floats((0..count).map(|_| random.below(256u32) as f32).collect());
            vec![Words(vec![0; n]), integers(8 * n), integers(8 * 16), word(n)]
        },
        steps: |n| linear("kmeans", n, 256),
        expected: expected::kmeans,
        check: EXACT,
    },
    Case {
        name: "sgemm",
        sizes: [32, 256, 1024],
        arguments: |n, random| {
            let [a, b] = [(); 2].map(|()| floats(random, n * n, -1.0, 1.0));
            vec![Floats(vec![0.0; n * n]), a, b, word(n)]
        },
        steps: |n| grid("sgemm", vec![n, n], vec![16, 16]),
        expected: expected::sgemm,
        check: within(1e-4),
    },
    Case {
        name: "histogram",
        sizes: [1 << 12, 1 << 20, 1 << 24],
        arguments: |n, random| vec![Words(vec![0; 256]), bytes(random, n), word(n)],
        steps: |n| linear("histogram", (n / 16).min(1 << 16), 256),
        expected: expected::histogram,
        check: EXACT,
    },
    Case {
        name: "stencil2d",
        sizes: [64, 512, 2048],
        arguments: |n, random| vec![Floats(vec![0.0; n * n]), floats(random, n * n, 0.0, 1.0), word(n)],
        steps: |n| grid("stencil2d", vec![n, n], vec![16, 16]),
        expected: |arguments| expected::stencil(arguments, 2, 0.2),
        check: within(1e-6),
    },
    Case {
        name: "stencil3d",
        sizes: [16, 64, 256],
        arguments: |n, random| {
            vec![Floats(vec![0.0; n * n * n]), floats(random, n * n * n, 0.0, 1.0), word(n)]
        },
        steps: |n| grid("stencil3d", vec![n, n, n], vec![16, 4, 4]),
        expected: |arguments| expected::stencil(arguments, 3, 0.1),
        check: within(1e-6),
    },
    Case {
        name: "scan",
        sizes: [1 << 10, 1 << 18, 1 << 22],
        arguments: |n, random| {
            vec![Words(vec![0; n]), words(random, n, 1000), Words(vec![0; n / 256]), word(n / 256)]
        },
        steps: |n| {
            let launches = [("scan_blocks", n), ("scan_sums", 256), ("add_sums", n)];
            launches.into_iter().flat_map(|(kernel, global)| linear(kernel, global, 256)).collect()
        },
        expected: expected::scan,
        check: EXACT,
    },
    Case {
        name: "transpose",
        sizes: [64, 512, 2048],
        arguments: |n, random| vec![Floats(vec![0.0; n * n]), floats(random, n * n, 0.0, 1.0), word(n)],
        steps: |n| grid("transpose", vec![n, n], vec![16, 16]),
        expected: expected::transpose,
        check: EXACT,
    },
    Case {
        name: "bytes16",
        sizes: [1 << 8, 1 << 16, 1 << 20],
        arguments: |n, random| {
            let [a, b] = [(); 2].map(|()| bytes(random, 16 * n));
            vec![Bytes(vec![0; 16 * n]), a, b, Word(77)]
        },
        steps: |n| linear("bytes16", n, 256),
        expected: expected::bytes16,
        check: EXACT,
    },
    Case {
        name: "rows4",
        sizes: [1 << 8, 1 << 13, 1 << 17],
        arguments: |n, random| vec![Floats(vec![0.0; 64 * n]), floats(random, 64 * n, -1.0, 1.0), Word(16)],
        steps: |n| linear("rows4", n, 256),
        expected: expected::rows4,
        check: within(1e-6),
    },
    Case {
        name: "doubles",
        sizes: [1 << 9, 1 << 17, 1 << 21],
        arguments: |n, random| {
            let mut doubles = || Doubles((0..n).map(|_| f64::from(random.float(0.5, 1.5))).collect());
            vec![Doubles(vec![0.0; n]), doubles(), doubles(), doubles()]
        },
        steps: |n| linear("doubles", n, 256),
        expected: expected::roots,
        check: within(1e-14),
    },
    Case {
        name: "crc32",
        sizes: [1 << 8, 1 << 14, 1 << 18],
        arguments: |n, random| {
            vec![Words(vec![0; n]), bytes(random, 64 * n), expected::crc_table(), Word(64)]
        },
        steps: |n| linear("crc32", n, 256),
        expected: expected::crc32,
        check: EXACT,
    },
    Case {
        name: "median",
        sizes: [64, 512, 2048],
        arguments: |n, random| vec![Bytes(vec![0; n * n]), bytes(random, n * n), word(n)],
        steps: |n| grid("median", vec![n, n], vec![16, 16]),
        expected: expected::median,
        check: EXACT,
    },
    Case {
        name: "photons",
        sizes: [1 << 8, 1 << 14, 1 << 18],
        arguments: |n, _| vec![Floats(vec![0.0; 2 * n]), Word(12345), Float(10.0), Float(0.9)],
        steps: |n| linear("photons", n, 256),
        expected: expected::photons,
        check: Check { tolerance: 1e-3, outliers: 2e-3 },
    },
    Case {
        name: "queens",
        sizes: [6, 10, 13],
        arguments: |n, _| vec![Words(vec![0; (n * n * n).next_multiple_of(64)]), word(n)],
        steps: |n| linear("queens", (n * n * n).next_multiple_of(64), 64),
        expected: expected::queens,
        check: EXACT,
    },
    Case {
        name: "waves",
        sizes: [1 << 10, 1 << 18, 1 << 22],
        arguments: |n, random| {
            let halves = (0..n).map(|_| f16::from_f32(random.float(-1.0, 1.0))).collect();
            vec![floats(random, n, -1.0, 1.0), Halves(halves), Float(0.5), Word(8)]
        },
        steps: |n| linear("waves", n, 256),
        expected: expected::waves,
        // The precision of native_sin is the device's.
        check: within(2e-3),
    },
    Case {
        name: "matvec",
        sizes: [64, 1024, 4096],
        arguments: |n, random| {
            let matrix = floats(random, n * n, -1.0, 1.0);
            vec![Floats(vec![0.0; n]), matrix, floats(random, n, -1.0, 1.0), word(n)]
        },
        steps: |n| linear("matvec", n, 64),
        expected: expected::matvec,
        check: within(1e-4),
    },
    Case {
        name: "softmax",
        sizes: [64, 1024, 4096],
        arguments: |n, random| vec![Floats(vec![0.0; n * 64]), floats(random, n * 64, -4.0, 4.0), Word(64)],
        steps: |n| linear("softmax", n, 64),
        expected: expected::softmax,
        check: within(1e-3),
    },
    Case {
        name: "nearest",
        sizes: [1 << 9, 1 << 14, 1 << 18],
        arguments: |n, random| {
            let points = floats(random, n * FEATURES, -1.0, 1.0);
            vec![Floats(vec![0.0; n]), points, floats(random, FEATURES, -1.0, 1.0), word(FEATURES)]
        },
        steps: |n| linear("nearest", n, 64),
        expected: expected::nearest,
        check: within(1e-4),
    },
    Case {
        name: "pagerank",
        sizes: [1 << 9, 1 << 16, 1 << 20],
        arguments: |n, random| {
            let starts = starts(random, n, 0, 32);
            let links = words(random, starts[n] as usize, n as u32);
            let shares = floats(random, n, 0.0, 1.0);
            vec![Floats(vec![0.0; n]), shares, Words(starts), links, Float(0.85), word(n)]
        },
        steps: |n| linear("pagerank", n, 256),
        expected: expected::pagerank,
        check: within(1e-4),
    },
    Case {
        name: "segments",
        sizes: [1 << 9, 1 << 16, 1 << 20],
        arguments: |n, random| {
            let starts = starts(random, n, 1, 32);
            vec![Floats(vec![0.0; 2 * n]), floats(random, starts[n] as usize, -1.0, 1.0), Words(starts)]
        },
        steps: |n| linear("segments", n, 256),
        expected: expected::segments,
        check: within(1e-4),
    },
    Case {
        name: "bfs",
        sizes: [1 << 9, 1 << 16, 1 << 20],
        arguments: |n, random| {
            let mut levels = vec![u32::MAX; n];
            levels[n / 2] = 0;
            let starts = starts(random, n, 0, 16);
            let edges = words(random, starts[n] as usize, n as u32);
            vec![Words(levels), Words(starts), edges]
        },
        steps: |n| (0..LEVELS).flat_map(|level| with(linear("bfs", n, 256), &[level])).collect(),
        expected: expected::bfs,
        check: EXACT,
    },
    Case {
        name: "boxblur",
        sizes: [64, 512, 2048],
        arguments: |n, random| vec![bytes_image(random, [n, n, 1]), bytes_image(random, [n, n, 1]), Word(2)],
        steps: |n| grid("boxblur", vec![n, n], vec![16, 16]),
        expected: filters::boxblur,
        check: within(ROUNDED),
    },
    Case {
        name: "resize",
        sizes: [64, 1024, 4096],
        arguments: |n, random| {
            vec![bytes_image(random, [n, n, 1]), bytes_image(random, [n / 2, n * 3 / 4, 1])]
        },
        steps: |n| grid("resize", vec![n, n], vec![16, 16]),
        expected: filters::resize,
        check: within(INTERPOLATED),
    },
    Case {
        name: "rotate",
        sizes: [64, 1024, 4096],
        arguments: |n, random| {
            let [out, image] = [(); 2].map(|()| bytes_image(random, [n, n, 1]));
            vec![out, image, Float(0.5), Float(0.866)]
        },
        steps: |n| grid("rotate_image", vec![n, n], vec![16, 16]),
        expected: filters::rotate,
        check: within(INTERPOLATED),
    },
    Case {
        name: "slice",
        sizes: [64, 1024, 4096],
        arguments: |n, random| vec![bytes_image(random, [n, n, 1]), bytes_image(random, [64; 3]), Float(0.3)],
        steps: |n| grid("slice", vec![n, n], vec![16, 16]),
        expected: filters::slice,
        check: within(INTERPOLATED),
    },
    Case {
        name: "gauss",
        sizes: [64, 512, 2048],
        arguments: |n, random| (0..3).map(|_| floats_image(random, [n, n, 1])).collect(),
        steps: |n| {
            ["rows", "columns"].into_iter().flat_map(|name| grid(name, vec![n, n], vec![16, 16])).collect()
        },
        expected: filters::gauss,
        check: within(1e-5),
    },
];

/// What bytes of images may differ by: by one where they are rounded, and by the precision of positions, 1/256 texel on each axis.
const ROUNDED: f64 = 1.01 / 255.0;
const INTERPOLATED: f64 = 5.0 / 256.0;

fn bytes_image(random: &mut Random, size: [usize; 3]) -> Data {
    let count = size.iter().product::<usize>() * CHANNELS;
    let texels = Texels::Bytes((0..count).map(|_| random.next_u32() as u8).collect());
    Image(Picture { size, texels })
}

fn floats_image(random: &mut Random, size: [usize; 3]) -> Data {
    let count = size.iter().product::<usize>() * CHANNELS;
    let texels = Texels::Floats((0..count).map(|_| random.float(0.0, 1.0)).collect());
    Image(Picture { size, texels })
}

fn word(value: usize) -> Data {
    Word(value as u32)
}

fn bytes(random: &mut Random, count: usize) -> Data {
    Bytes((0..count).map(|_| random.next_u32() as u8).collect())
}

fn words(random: &mut Random, count: usize, limit: u32) -> Data {
    Words((0..count).map(|_| random.below(limit)).collect())
}

fn floats(random: &mut Random, count: usize, low: f32, high: f32) -> Data {
    Floats((0..count).map(|_| random.float(low, high)).collect())
}

/// Where each of some rows begins, which have at least so many elements and fewer than `limit`, and where the last one ends.
fn starts(random: &mut Random, count: usize, least: u32, limit: u32) -> Vec<u32> {
    let mut end = 0;
    let ends = (0..count).map(|_| {
        end += random.below(limit - least) + least;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

fn linear(kernel: &'static str, global: usize, local: usize) -> Vec<Step> {
    grid(kernel, vec![global], vec![local])
}

fn grid(kernel: &'static str, global: Vec<usize>, local: Vec<usize>) -> Vec<Step> {
    vec![Step { kernel, launch: Launch { global, local, ..Launch::default() }, more: Vec::new() }]
}

/// The same launches with more arguments.
fn with(steps: Vec<Step>, more: &[u32]) -> Vec<Step> {
    steps.into_iter().map(|step| Step { more: more.to_vec(), ..step }).collect()
}
