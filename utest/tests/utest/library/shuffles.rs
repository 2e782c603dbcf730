//! `shuffle` and `shuffle2` (OpenCL C 3.0, 6.15.11): from and to each number of elements; of a mask only the
//! bits that are needed count. Which types go with which numbers of elements goes round, as all together take
//! long to build.

use gencl_utest::{Case, Gpu, Launch, Outcome, Random};

use super::calls::{case, extensions, pack, unpack};
use crate::numbers::{TYPES, Type};

const WIDTHS: [usize; 4] = [2, 4, 8, 16];
const N: usize = 64;

pub fn cases() -> Vec<Case> {
    TYPES.iter().enumerate().map(|(place, ty)| case("library_shuffles", ty, move || run(ty, place))).collect()
}

fn run(ty: &'static Type, place: usize) -> Outcome {
    let gpu = Gpu::get()?;
    let mut random = Random::new(36);
    let bits = |random: &mut Random| u64::from(random.next_u32()) << 32 | u64::from(random.next_u32());
    let all = u64::MAX >> (64 - 8 * ty.bytes);
    let mut numbers = || (0..16 * N).map(|_| bits(&mut random) & all).collect::<Vec<u64>>();
    let (x, y, masks) = (numbers(), numbers(), numbers());
    let mask = ty.integers(false);
    let pairs = WIDTHS.iter().flat_map(|from| WIDTHS.iter().map(move |to| (*from, *to)));
    let pairs: Vec<(usize, usize)> = pairs
        .enumerate()
        .filter(|(k, _)| (k + k / 4 + place).is_multiple_of(4))
        .map(|(_, pair)| pair)
        .collect();
    let (name, of_mask) = (ty.name, mask.name);
    let kernel = |(from, to): &(usize, usize)| {
        format!(
            "kernel void shuffle_{from}_{to}(global const {name} *x, global const {name} *y, \
             global const {of_mask} *m, global {name} *d) {{ size_t i = get_global_id(0);\n\
             {name}{from} a = vload{from}(i, x), b = vload{from}(i, y); {of_mask}{to} n = vload{to}(i, m);\n\
             vstore{to}(shuffle(a, n), i, d); vstore{to}(shuffle2(a, b, n), i, d + {}); }}\n",
            16 * N
        )
    };
    let source = extensions(gpu) + &pairs.iter().map(kernel).collect::<String>();
    let program = gpu.build_source(&source, "-cl-std=CL3.0")?;
    let buffers = [(ty, &x), (ty, &y), (mask, &masks)].map(|(ty, values)| gpu.buffer(&pack(ty, values)));
    let [dx, dy, dm] = buffers;
    let (dx, dy, dm) = (dx?, dy?, dm?);
    let d = gpu.buffer(&vec![0u8; 32 * N * ty.bytes])?;
    let mut faults = Vec::new();
    for (from, to) in pairs {
        program.run(
            &format!("shuffle_{from}_{to}"),
            &[dx.arg(), dy.arg(), dm.arg(), d.arg()],
            &Launch::linear(N, 16),
        )?;
        let results = unpack(ty, &d.read()?);
        for (k, got) in results.into_iter().enumerate() {
            let (two, i) = (k >= 16 * N, k % (16 * N));
            if i >= to * N {
                continue;
            }
            let (vector, index) = (i / to * from, masks[i] as usize % if two { 2 * from } else { from });
            let expected = if index < from { x[vector + index] } else { y[vector + index - from] };
            if got != expected {
                faults.push(format!(
                    "from {from} to {to} {name}, element {i}: {got:#x}, expected {expected:#x}"
                ));
                break;
            }
        }
    }
    super::none(&faults)
}
