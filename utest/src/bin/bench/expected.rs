//! What the kernels of `utest/kernels/bench` compute, on the host: from a case's arguments, the contents of the
//! first.

use std::f64::consts::PI;

use crate::data::Data::{self, Bytes, Doubles, Float, Floats, Halves, Word, Words};

/// Levels of the breadth-first search.
pub const LEVELS: u32 = 8;

/// Says that the table gives a function the arguments of another kernel.
pub fn mismatch() -> ! {
    panic!("the arguments are those of another kernel")
}

pub fn fft(arguments: &[Data]) -> Data {
    let [_, Floats(input)] = arguments else { mismatch() };
    let rows = input.chunks_exact(2 * 1024);
    Floats(
        rows.flat_map(|row| transform(row.as_chunks().0)).flat_map(|value| value.map(|v| v as f32)).collect(),
    )
}

/// The Fourier transform of complex numbers, by that of every other one.
fn transform(values: &[[f32; 2]]) -> Vec<[f64; 2]> {
    if let [value] = values {
        return vec![value.map(f64::from)];
    }
    let half = |first: usize| transform(&values.iter().skip(first).step_by(2).copied().collect::<Vec<_>>());
    let (even, odd) = (half(0), half(1));
    let value = |i: usize| {
        let (sin, cos) = (-2.0 * PI * i as f64 / values.len() as f64).sin_cos();
        let ([a, b], [x, y]) = (even[i % even.len()], odd[i % odd.len()]);
        [a + x * cos - y * sin, b + x * sin + y * cos]
    };
    (0..values.len()).map(value).collect()
}

pub fn black_scholes(arguments: &[Data]) -> Data {
    let [_, Floats(prices), Floats(strikes), Floats(years), Float(rate), Float(volatility)] = arguments
    else {
        mismatch()
    };
    let (rate, volatility) = (f64::from(*rate), f64::from(*volatility));
    let normal = |d: f64| libm::erfc(-d / 2f64.sqrt()) / 2.0;
    let option = |i: usize| {
        let [price, strike, t] = [prices[i], strikes[i], years[i]].map(f64::from);
        let deviation = volatility * t.sqrt();
        let d1 = ((price / strike).ln() + (rate + volatility * volatility / 2.0) * t) / deviation;
        let discounted = strike * (-rate * t).exp();
        let call = price * normal(d1) - discounted * normal(d1 - deviation);
        [call as f32, (call + discounted - price) as f32]
    };
    Floats((0..prices.len()).flat_map(option).collect())
}

pub fn sorted(arguments: &[Data]) -> Data {
    let [Words(keys)] = arguments else { mismatch() };
    let mut keys = keys.clone();
    keys.sort_unstable();
    Words(keys)
}

/// The pixels around one in a square image of `width`, whose border is repeated, row by row.
fn around<T: Copy>(image: &[T], width: usize, pixel: usize, radius: isize) -> impl Iterator<Item = T> {
    let at = move |center: usize, by: isize| center.saturating_add_signed(by).min(width - 1);
    let (x, y) = (pixel % width, pixel / width);
    (-radius..=radius).flat_map(move |j| (-radius..=radius).map(move |i| image[at(y, j) * width + at(x, i)]))
}

pub fn convolution(arguments: &[Data]) -> Data {
    let [_, Floats(image), Floats(weights), Word(width)] = arguments else { mismatch() };
    let sum = |pixel: usize| {
        let products = around(image, *width as usize, pixel, 2).zip(weights);
        products.map(|(value, weight)| f64::from(value) * f64::from(*weight)).sum::<f64>() as f32
    };
    Floats((0..image.len()).map(sum).collect())
}

pub fn kmeans(arguments: &[Data]) -> Data {
    let [_, Floats(points), Floats(centers), Word(count)] = arguments else { mismatch() };
    let count = *count as usize;
    let nearest = |i: usize| {
        let distance = |center: &[f32]| {
            let differences = center.iter().enumerate().map(|(c, value)| points[c * count + i] - value);
            differences.map(|difference| (difference * difference) as u64).sum::<u64>()
        };
        let distances = centers.chunks_exact(8).map(distance).enumerate();
        // The first of the nearest.
        distances.min_by_key(|&(_, distance)| distance).map_or(0, |(k, _)| k as u32)
    };
    Words((0..count).map(nearest).collect())
}

pub fn sgemm(arguments: &[Data]) -> Data {
    let [_, Floats(a), Floats(b), Word(n)] = arguments else { mismatch() };
    let n = *n as usize;
    let row = |row: &[f32]| {
        let mut sums = vec![0f64; n];
        for (value, others) in row.iter().zip(b.chunks_exact(n)) {
            sums.iter_mut()
                .zip(others)
                .for_each(|(sum, other)| *sum += f64::from(*value) * f64::from(*other));
        }
        sums.into_iter().map(|sum| sum as f32)
    };
    Floats(a.chunks_exact(n).flat_map(row).collect())
}

pub fn histogram(arguments: &[Data]) -> Data {
    let [_, Bytes(bytes), ..] = arguments else { mismatch() };
    let mut counts = vec![0; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    Words(counts)
}

/// A step of heat conduction with a factor, in a square or a cube.
pub fn stencil(arguments: &[Data], dimensions: u32, factor: f64) -> Data {
    let [_, Floats(input), Word(n)] = arguments else { mismatch() };
    let n = *n as usize;
    let strides = || (0..dimensions).map(move |dimension| n.pow(dimension));
    let value = |i: usize| {
        let center = f64::from(input[i]);
        if strides().any(|stride| [0, n - 1].contains(&(i / stride % n))) {
            return center as f32;
        }
        let curvature = |stride| f64::from(input[i - stride]) + f64::from(input[i + stride]) - 2.0 * center;
        (center + factor * strides().map(curvature).sum::<f64>()) as f32
    };
    Floats((0..input.len()).map(value).collect())
}

pub fn scan(arguments: &[Data]) -> Data {
    let [_, Words(input), ..] = arguments else { mismatch() };
    let mut sum = 0u32;
    let add = |value: &u32| {
        sum = sum.wrapping_add(*value);
        sum
    };
    Words(input.iter().map(add).collect())
}

pub fn transpose(arguments: &[Data]) -> Data {
    let [_, Floats(input), Word(n)] = arguments else { mismatch() };
    let n = *n as usize;
    Floats((0..n * n).map(|i| input[i % n * n + i / n]).collect())
}

pub fn bytes16(arguments: &[Data]) -> Data {
    let [_, Bytes(a), Bytes(b), Word(amount)] = arguments else { mismatch() };
    let value = |(&a, &b): (&u8, &u8)| {
        let mixed = (u32::from(a) * (256 - amount) + u32::from(b) * amount) >> 8;
        let brighter = (mixed as u8).saturating_add(a.abs_diff(b));
        (u16::from(brighter) + u16::from(a.max(b))).div_ceil(2) as u8
    };
    Bytes(a.iter().zip(b).map(value).collect())
}

pub fn rows4(arguments: &[Data]) -> Data {
    let [_, Floats(input), Word(length)] = arguments else { mismatch() };
    let row = |row: &[f32]| {
        let length = row.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        row.iter().map(|value| (f64::from(*value) / length) as f32).collect::<Vec<_>>()
    };
    Floats(input.chunks_exact(4 * *length as usize).flat_map(row).collect())
}

pub fn roots(arguments: &[Data]) -> Data {
    let [_, Doubles(a), Doubles(b), Doubles(c)] = arguments else { mismatch() };
    let root = |i: usize| ((b[i] * b[i] + 4.0 * a[i] * c[i]).sqrt() - b[i]) / (2.0 * a[i]);
    Doubles((0..a.len()).map(root).collect())
}

/// What a byte of a message does to a CRC-32.
fn crc_of(byte: u32) -> u32 {
    (0..8).fold(byte, |sum, _| (sum >> 1) ^ ((sum & 1) * 0xedb8_8320))
}

/// The table that the kernel is given.
pub fn crc_table() -> Data {
    Words((0..256).map(crc_of).collect())
}

pub fn crc32(arguments: &[Data]) -> Data {
    let [_, Bytes(messages), _, Word(length)] = arguments else { mismatch() };
    let sum = |message: &[u8]| {
        !message.iter().fold(!0, |sum, byte| (sum >> 8) ^ crc_of((sum ^ u32::from(*byte)) & 255))
    };
    Words(messages.chunks_exact(*length as usize).map(sum).collect())
}

pub fn median(arguments: &[Data]) -> Data {
    let [_, Bytes(image), Word(width)] = arguments else { mismatch() };
    let value = |pixel: usize| {
        let mut values: Vec<u8> = around(image, *width as usize, pixel, 1).collect();
        values.sort_unstable();
        values[4]
    };
    Bytes((0..image.len()).map(value).collect())
}

pub fn photons(arguments: &[Data]) -> Data {
    let [Floats(out), Word(seed), Float(density), Float(albedo)] = arguments else { mismatch() };
    let count = out.len() as u32 / 2;
    Floats((0..count).flat_map(|photon| walk(photon, *seed, *density, *albedo)).collect())
}

/// The weight with which a photon leaves the slab, and its distance from the axis.
fn walk(photon: u32, seed: u32, density: f32, albedo: f32) -> [f32; 2] {
    let mut state = ((photon + 1).wrapping_mul(2_654_435_761) ^ seed) | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / 16_777_216.0
    };
    let (mut position, mut direction, mut weight) = ([0f32; 3], [0f32, 0.0, 1.0], 1f32);
    let distance = |position: [f32; 3]| position[0].hypot(position[1]);
    while weight > 0.0 {
        let path = -(1.0 - random()).ln() / density;
        position.iter_mut().zip(direction).for_each(|(value, part)| *value += part * path);
        if position[2] < 0.0 {
            return [-weight, distance(position)];
        }
        if position[2] > 1.0 {
            return [weight, distance(position)];
        }
        weight *= albedo;
        if weight < 0.01 {
            weight = if random() < 0.1 { weight * 10.0 } else { 0.0 };
        }
        let z = 2.0 * random() - 1.0;
        let (sin, cos) = (2.0 * std::f32::consts::PI * random()).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        direction = [radius * cos, radius * sin, z];
    }
    [0.0, distance(position)]
}

pub fn queens(arguments: &[Data]) -> Data {
    let [Words(out), Word(n)] = arguments else { mismatch() };
    let mut counts = vec![0; out.len()];
    for (code, count) in counts.iter_mut().enumerate().take(n.pow(3) as usize) {
        let n = *n as usize;
        let mut rows = Vec::new();
        let first = [code % n, code / n % n, code / (n * n)];
        if first.into_iter().all(|column| place(&mut rows, column)) {
            *count = solutions(&mut rows, n);
        }
    }
    Words(counts)
}

/// Adds a queen in the next row if none attacks it.
fn place(rows: &mut Vec<usize>, column: usize) -> bool {
    let row = rows.len();
    let attacks = |(other, &at): (usize, &usize)| at == column || at.abs_diff(column) == row - other;
    let is_free = !rows.iter().enumerate().any(attacks);
    if is_free {
        rows.push(column);
    }
    is_free
}

/// How many ways there are to add queens to those that stand.
fn solutions(rows: &mut Vec<usize>, n: usize) -> u32 {
    if rows.len() == n {
        return 1;
    }
    let mut sum = 0;
    for column in 0..n {
        if place(rows, column) {
            sum += solutions(rows, n);
            rows.pop();
        }
    }
    sum
}

pub fn waves(arguments: &[Data]) -> Data {
    let [Floats(y), Halves(x), Float(a), Word(terms)] = arguments else { mismatch() };
    let value = |(y, x): (&f32, &half::f16)| {
        let series = (1..=*terms).map(f64::from).map(|k| (k * x.to_f64()).sin() / k).sum::<f64>();
        (f64::from(*y) + f64::from(*a) * series) as f32
    };
    Floats(y.iter().zip(x).map(value).collect())
}

pub fn matvec(arguments: &[Data]) -> Data {
    let [_, Floats(matrix), Floats(x), ..] = arguments else { mismatch() };
    let row = |row: &[f32]| row.iter().zip(x).map(|(a, x)| f64::from(*a) * f64::from(*x)).sum::<f64>() as f32;
    Floats(matrix.chunks_exact(x.len()).map(row).collect())
}

pub fn softmax(arguments: &[Data]) -> Data {
    let [_, Floats(input), Word(columns)] = arguments else { mismatch() };
    let row = |row: &[f32]| {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f64> = row.iter().map(|value| f64::from(value - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(move |power| (power / sum) as f32)
    };
    Floats(input.chunks_exact(*columns as usize).flat_map(row).collect())
}

pub fn nearest(arguments: &[Data]) -> Data {
    let [_, Floats(points), Floats(query), ..] = arguments else { mismatch() };
    let square = |(a, b): (&f32, &f32)| (f64::from(*a) - f64::from(*b)).powi(2);
    let distance = |point: &[f32]| point.iter().zip(query).map(square).sum::<f64>() as f32;
    Floats(points.chunks_exact(query.len()).map(distance).collect())
}

pub fn pagerank(arguments: &[Data]) -> Data {
    let [_, Floats(shares), Words(starts), Words(links), Float(damping), Word(pages)] = arguments else {
        mismatch()
    };
    let damping = f64::from(*damping);
    let rank = |ends: &[u32]| {
        let links = &links[ends[0] as usize..ends[1] as usize];
        let sum: f64 = links.iter().map(|link| f64::from(shares[*link as usize])).sum();
        ((1.0 - damping) / f64::from(*pages) + damping * sum) as f32
    };
    Floats(starts.windows(2).map(rank).collect())
}

pub fn segments(arguments: &[Data]) -> Data {
    let [_, Floats(values), Words(starts)] = arguments else { mismatch() };
    let segment = |ends: &[u32]| {
        let values = &values[ends[0] as usize..ends[1] as usize];
        let mean = values.iter().copied().map(f64::from).sum::<f64>() / values.len() as f64;
        [mean as f32, values.iter().copied().fold(f32::NEG_INFINITY, f32::max)]
    };
    Floats(starts.windows(2).flat_map(segment).collect())
}

pub fn bfs(arguments: &[Data]) -> Data {
    let [Words(levels), Words(starts), Words(edges)] = arguments else { mismatch() };
    let mut levels = levels.clone();
    let mut front: Vec<usize> = (0..levels.len()).filter(|node| levels[*node] == 0).collect();
    for level in 1..=LEVELS {
        for node in std::mem::take(&mut front) {
            for &edge in &edges[starts[node] as usize..starts[node + 1] as usize] {
                if levels[edge as usize] == u32::MAX {
                    levels[edge as usize] = level;
                    front.push(edge as usize);
                }
            }
        }
    }
    Words(levels)
}
