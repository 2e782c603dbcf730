//! Compute shaders, each with the same computation on the host.

/// Dwords of the input and of the output.
pub const COUNT: usize = 1024;

/// A shader: it reads `i[]` and writes `o[]`.
pub struct Shader {
    pub name: &'static str,
    /// Of a work-group.
    pub local_size: [u32; 3],
    pub groups: [u32; 3],
    /// The GPU reads the number of work-groups from memory.
    pub indirect: bool,
    /// Behind the declarations of the buffers.
    pub code: &'static str,
    /// The output for an input.
    pub host: fn(&[u32]) -> Vec<u32>,
}

/// Defaults: an invocation per dword, 64 per work-group.
const PLAIN: Shader = Shader {
    name: "",
    local_size: [64, 1, 1],
    groups: [COUNT as u32 / 64, 1, 1],
    indirect: false,
    code: "",
    host: |input| input.to_vec(),
};

/// The output of a function of each dword's index and value.
fn each(input: &[u32], f: impl Fn(u32, u32) -> u32) -> Vec<u32> {
    (0..).zip(input).map(|(n, value)| f(n, *value)).collect()
}

/// The output of a function of each group of `N` dwords, of the output that there is.
fn groups<const N: usize>(input: &[u32], f: impl Fn(&[u32; N]) -> [u32; N]) -> Vec<u32> {
    let group = |dwords: &[u32]| f(dwords.try_into().expect("a whole group"));
    input.chunks_exact(N).flat_map(group).collect()
}

/// The rounds of SHA-256 with other constants, of the sixteen dwords from `first` on.
fn hash(input: &[u32], first: usize) -> u32 {
    let mut w: [u32; 16] = std::array::from_fn(|k| input[(first + k) % COUNT]);
    let mut h: [u32; 8] = std::array::from_fn(|k| 0x6a09_e667u32.wrapping_mul(k as u32 + 1));
    let sum = |terms: &[u32]| terms.iter().fold(0u32, |sum, term| sum.wrapping_add(*term));
    for r in 0..64 {
        let (x, y) = (w[(r + 1) % 16], w[(r + 14) % 16]);
        let x = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
        let y = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
        w[r % 16] = sum(&[w[r % 16], x, w[(r + 9) % 16], y]);
        let [a, b, c, d, e, f, g, last] = h;
        let t = sum(&[
            last,
            e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25),
            e & f ^ !e & g,
            w[r % 16],
        ]);
        let u = sum(&[a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22), a & b ^ a & c ^ b & c]);
        h = [sum(&[t, u]), a, b, c, sum(&[d, t]), e, f, g];
    }
    h[0] ^ h[3] ^ h[7]
}

/// All shaders.
pub const SHADERS: &[Shader] = &[
    Shader {
        name: "uniforms",
        code: "void main() { uint g = gl_GlobalInvocationID.x; o[g] = i[g] * seven + g; }",
        host: |input| each(input, |n, v| v.wrapping_mul(7).wrapping_add(n)),
        ..PLAIN
    },
    Shader {
        name: "products",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x, a = i[g], b = i[g ^ 5u], high, low;
            int signed_high, signed_low;
            umulExtended(a, b, high, low);
            imulExtended(int(a), int(b), signed_high, signed_low);
            o[g] = high ^ low * 3u ^ uint(signed_high) * 5u ^ a * b;
        }",
        host: |input| {
            each(input, |n, a| {
                let b = input[n as usize ^ 5];
                let wide = u64::from(a) * u64::from(b);
                let signed = i64::from(a as i32) * i64::from(b as i32);
                let low = wide as u32;
                (wide >> 32) as u32 ^ low.wrapping_mul(3) ^ ((signed >> 32) as u32).wrapping_mul(5) ^ low
            })
        },
        ..PLAIN
    },
    Shader {
        name: "quotients",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x, a = i[g], b = (g & 63u) + 3u;
            int c = int(a), d = -int(b);
            o[g] = a / b + (a % b) * 3u + uint(c / d) * 5u + uint(c - c / d * d) * 7u;
        }",
        host: |input| {
            each(input, |n, a| {
                let (b, c) = ((n & 63) + 3, a as i32);
                let d = -(b as i32);
                let terms = [a / b, (a % b) * 3, ((c / d) as u32).wrapping_mul(5), ((c % d) as u32).wrapping_mul(7)];
                terms.iter().fold(0, |sum: u32, term| sum.wrapping_add(*term))
            })
        },
        ..PLAIN
    },
    Shader {
        name: "bits",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x, v = i[g];
            uint r = bitfieldExtract(v, 5, 11) ^ uint(bitfieldExtract(int(v), 3, 7)) << 2;
            r = bitfieldInsert(r, v, 4, 9) + bitfieldReverse(v) + uint(bitCount(v));
            o[g] = r + uint(findLSB(v)) * 3u + uint(findMSB(v)) * 5u + uint(findMSB(int(v))) * 7u;
        }",
        host: |input| {
            each(input, |_, v| {
                let r = (v >> 5 & 0x7ff) ^ ((v as i32) << 22 >> 25 << 2) as u32;
                let r = r & !(0x1ff << 4) | (v & 0x1ff) << 4;
                let r = r.wrapping_add(v.reverse_bits()).wrapping_add(v.count_ones());
                let lowest = if v == 0 { u32::MAX } else { v.trailing_zeros() };
                let highest = |v: u32| 31u32.wrapping_sub(v.leading_zeros());
                let of_signed = highest(if (v as i32) < 0 { !v } else { v });
                r.wrapping_add(lowest.wrapping_mul(3))
                    .wrapping_add(highest(v).wrapping_mul(5))
                    .wrapping_add(of_signed.wrapping_mul(7))
            })
        },
        ..PLAIN
    },
    Shader {
        name: "floats",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x;
            float f = float(int(i[g]) >> 12) * 0.25, h = floor(f) - fract(f) * 8.0;
            f = max(abs(h) * 0.5, min(f, 100.0)) + trunc(f * 0.125);
            o[g] = floatBitsToUint(f) ^ uint(int(h));
        }",
        host: |input| {
            each(input, |_, v| {
                let f = (v as i32 >> 12) as f32 * 0.25;
                let h = f.floor() - (f - f.floor()) * 8.0;
                let f = (h.abs() * 0.5).max(f.min(100.0)) + (f * 0.125).trunc();
                f.to_bits() ^ h as i32 as u32
            })
        },
        ..PLAIN
    },
    Shader {
        name: "half floats",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x;
            vec2 both = unpackHalf2x16(packHalf2x16(vec2(float(i[g] & 0x7ffu), -0.5 * float(g))));
            o[g] = uint(both.x) * 1024u + uint(-2.0 * both.y);
        }",
        host: |input| each(input, |n, v| (v & 0x7ff) * 1024 + n),
        ..PLAIN
    },
    Shader {
        name: "vectors",
        local_size: [32, 1, 1],
        groups: [COUNT as u32 / 4 / 32, 1, 1],
        code: "layout(std430, binding = 0) buffer In4 { uvec4 vi[]; };
        layout(std430, binding = 1) buffer Out4 { uvec4 vo[]; };
        void main() { uint g = gl_GlobalInvocationID.x; vo[g] = vi[g].wzyx + uvec4(g, 1u, 2u, 3u); }",
        host: |input| {
            let group = |(n, v): (u32, &[u32])| {
                [v[3].wrapping_add(n), v[2].wrapping_add(1), v[1].wrapping_add(2), v[0].wrapping_add(3)]
            };
            (0..).zip(input.chunks_exact(4)).flat_map(group).collect()
        },
        ..PLAIN
    },
    Shader {
        name: "divergent loops",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x, v = i[g] >> 20, n = 0u;
            while (v != 1u && n < 100u) {
                v = v == 0u ? 1u : (v & 1u) != 0u ? 3u * v + 1u : v / 2u;
                n++;
                if (n == 50u && (g & 1u) != 0u) break;
            }
            o[g] = n;
        }",
        host: |input| {
            each(input, |n, v| {
                let (mut v, mut steps) = (v >> 20, 0);
                while v != 1 && steps < 100 {
                    v = if v == 0 { 1 } else if v & 1 != 0 { 3 * v + 1 } else { v / 2 };
                    steps += 1;
                    if steps == 50 && n & 1 != 0 {
                        break;
                    }
                }
                steps
            })
        },
        ..PLAIN
    },
    Shader {
        name: "nested loops, continue and switch",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x, v = i[g], sum = 0u;
            for (uint k = 0u; k < (g & 15u); k++) {
                if (((v >> k) & 3u) == 3u) continue;
                for (uint m = k; m < 20u; m += 1u + (v & 3u)) {
                    switch ((v >> m) & 3u) {
                        case 0u: sum += m; break;
                        case 1u: sum ^= k; break;
                        case 2u: if (sum > 1000u) { o[g] = sum; return; }
                        default: sum += 3u * k;
                    }
                }
            }
            o[g] = sum + 1u;
        }",
        host: |input| {
            each(input, |n, v| {
                let mut sum: u32 = 0;
                for k in 0..n & 15 {
                    if v >> k & 3 == 3 {
                        continue;
                    }
                    let mut m = k;
                    while m < 20 {
                        match v >> m & 3 {
                            0 => sum += m,
                            1 => sum ^= k,
                            2 if sum > 1000 => return sum,
                            _ => sum += 3 * k,
                        }
                        m += 1 + (v & 3);
                    }
                }
                sum + 1
            })
        },
        ..PLAIN
    },
    Shader {
        name: "private arrays",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x, v = i[g];
            uint a[12];
            for (uint k = 0u; k < 12u; k++) a[k] = v >> k;
            for (uint k = 0u; k < 12u; k++) a[(v + k) % 12u] += a[(v >> 3) % 12u];
            o[g] = a[g % 12u];
        }",
        host: |input| {
            each(input, |n, v| {
                let mut a: [u32; 12] = std::array::from_fn(|k| v >> k);
                for k in 0..12 {
                    let index = (v.wrapping_add(k) % 12) as usize;
                    a[index] = a[index].wrapping_add(a[((v >> 3) % 12) as usize]);
                }
                a[n as usize % 12]
            })
        },
        ..PLAIN
    },
    Shader {
        name: "shared memory",
        code: "shared uint s[64];
        void main() {
            uint l = gl_LocalInvocationID.x, g = gl_GlobalInvocationID.x, sum = 0u;
            s[l] = i[g];
            barrier();
            for (uint k = 0u; k < 64u; k++) if (k != l) sum += s[k] ^ k;
            o[g] = sum;
        }",
        host: |input| {
            groups::<64>(input, |group| {
                std::array::from_fn(|l| {
                    let others = (0..64).filter(|k| *k != l);
                    others.fold(0, |sum: u32, k| sum.wrapping_add(group[k] ^ k as u32))
                })
            })
        },
        ..PLAIN
    },
    Shader {
        name: "barriers in a loop",
        local_size: [512, 1, 1],
        groups: [COUNT as u32 / 512, 1, 1],
        code: "shared uint s[512];
        void main() {
            uint l = gl_LocalInvocationID.x, g = gl_GlobalInvocationID.x;
            s[l] = i[g];
            for (uint step = 1u; step < 512u; step *= 2u) {
                barrier();
                uint before = l >= step ? s[l - step] : 0u;
                barrier();
                s[l] += before;
            }
            o[g] = s[l];
        }",
        host: |input| {
            groups::<512>(input, |group| {
                let mut sum = 0u32;
                group.map(|v| {
                    sum = sum.wrapping_add(v);
                    sum
                })
            })
        },
        ..PLAIN
    },
    Shader {
        name: "atomics",
        code: "void main() {
            uint g = gl_GlobalInvocationID.x, v = i[g];
            atomicAdd(o[v >> 24], 1u);
            atomicMax(o[300], v);
            atomicXor(o[301], v);
            atomicMin(o[302], v);
            atomicOr(o[303], v & g);
            uint place = atomicAdd(o[304], 1u);
            if (atomicCompSwap(o[305], 0u, 9u) == 0u) o[306] = 5u;
            atomicMax(o[400u + place % 512u], place + 1u);
            if (atomicExchange(o[307], 77u) > 77u) o[308] = 1u;
        }",
        host: |input| {
            let mut out = vec![0; COUNT];
            for (n, v) in (0..).zip(input) {
                out[(v >> 24) as usize] += 1;
                out[300] = out[300].max(*v);
                out[301] ^= v;
                out[303] |= v & n;
            }
            (out[304], out[305], out[306], out[307]) = (COUNT as u32, 9, 5, 77);
            (0..512).for_each(|k| out[400 + k] = 512 + k as u32 + 1);
            out
        },
        ..PLAIN
    },
    Shader {
        name: "atomics in shared memory",
        code: "shared uint h[16];
        shared uint most;
        void main() {
            uint l = gl_LocalInvocationID.x, g = gl_GlobalInvocationID.x;
            if (l < 16u) h[l] = 0u;
            if (l == 0u) most = 0u;
            barrier();
            atomicAdd(h[i[g] >> 28], 1u);
            atomicMax(most, i[g] & 0xffffu);
            barrier();
            o[g] = l < 16u ? h[l] : most;
        }",
        host: |input| {
            groups::<64>(input, |group| {
                let most = group.iter().map(|v| v & 0xffff).max().unwrap_or(0);
                std::array::from_fn(|l| match l {
                    0..16 => group.iter().filter(|v| (**v >> 28) as usize == l).count() as u32,
                    _ => most,
                })
            })
        },
        ..PLAIN
    },
    Shader {
        name: "three dimensions, lanes left over",
        local_size: [5, 3, 2],
        groups: [3, 4, 2],
        code: "void main() {
            uvec3 g = gl_GlobalInvocationID, size = gl_NumWorkGroups * gl_WorkGroupSize;
            uint n = (g.z * size.y + g.y) * size.x + g.x;
            o[n] = i[n] ^ gl_LocalInvocationIndex ^ gl_WorkGroupID.x << 8 ^ gl_WorkGroupID.y << 16 ^ gl_WorkGroupID.z << 24;
        }",
        host: |input| {
            let mut out = vec![0; COUNT];
            for (x, y, z) in (0..4).flat_map(|z| (0..12).flat_map(move |y| (0..15).map(move |x| (x, y, z)))) {
                let n = (z * 12 + y) * 15 + x;
                let local = (z % 2 * 3 + y % 3) * 5 + x % 5;
                out[n] = input[n] ^ (local | (x / 5) << 8 | (y / 3) << 16 | (z / 2) << 24) as u32;
            }
            out
        },
        ..PLAIN
    },
    Shader {
        name: "sorting networks",
        local_size: [128, 1, 1],
        groups: [COUNT as u32 / 256, 1, 1],
        code: "shared uint s[256];
        void main() {
            uint l = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 256u;
            s[l] = i[first + l];
            s[l + 128u] = i[first + l + 128u];
            for (uint size = 2u; size <= 256u; size *= 2u) {
                for (uint step = size / 2u; step > 0u; step /= 2u) {
                    barrier();
                    uint a = 2u * l - (l & (step - 1u)), b = a + step;
                    bool up = (a & size) == 0u;
                    if ((s[a] > s[b]) == up) { uint t = s[a]; s[a] = s[b]; s[b] = t; }
                }
            }
            barrier();
            o[first + l] = s[l];
            o[first + l + 128u] = s[l + 128u];
        }",
        host: |input| {
            groups::<256>(input, |group| {
                let mut sorted = *group;
                sorted.sort_unstable();
                sorted
            })
        },
        ..PLAIN
    },
    Shader {
        name: "products of matrices",
        local_size: [8, 8, 1],
        groups: [4, 4, 1],
        code: "shared float a[64], b[64];
        void main() {
            uvec2 g = gl_GlobalInvocationID.xy, l = gl_LocalInvocationID.xy;
            float sum = 0.0;
            for (uint tile = 0u; tile < 32u; tile += 8u) {
                a[l.y * 8u + l.x] = float(i[g.y * 32u + tile + l.x] & 63u);
                b[l.y * 8u + l.x] = float(i[(tile + l.y) * 32u + g.x] >> 26) - 32.0;
                barrier();
                for (uint k = 0u; k < 8u; k++) sum += a[l.y * 8u + k] * b[k * 8u + l.x];
                barrier();
            }
            o[g.y * 32u + g.x] = uint(int(sum));
        }",
        host: |input| {
            each(input, |n, _| {
                let (x, y) = (n as usize % 32, n as usize / 32);
                let term = |k: usize| (input[y * 32 + k] & 63) as i32 * ((input[k * 32 + x] >> 26) as i32 - 32);
                (0..32).map(term).sum::<i32>() as u32
            })
        },
        ..PLAIN
    },
    Shader {
        name: "rounds of a hash",
        code: "uint turned(uint v, int n) { return v >> n | v << (32 - n); }
        void main() {
            uint g = gl_GlobalInvocationID.x, w[16], h[8];
            for (uint k = 0u; k < 16u; k++) w[k] = i[(g + k) & 1023u];
            for (uint k = 0u; k < 8u; k++) h[k] = 0x6a09e667u * (k + 1u);
            for (uint r = 0u; r < 64u; r++) {
                uint x = w[(r + 1u) & 15u], y = w[(r + 14u) & 15u];
                w[r & 15u] += (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[(r + 9u) & 15u]
                    + (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
                uint t = h[7] + (turned(h[4], 6) ^ turned(h[4], 11) ^ turned(h[4], 25))
                    + (h[4] & h[5] ^ ~h[4] & h[6]) + w[r & 15u];
                uint u = (turned(h[0], 2) ^ turned(h[0], 13) ^ turned(h[0], 22))
                    + (h[0] & h[1] ^ h[0] & h[2] ^ h[1] & h[2]);
                h = uint[8](t + u, h[0], h[1], h[2], h[3] + t, h[4], h[5], h[6]);
            }
            o[g] = h[0] ^ h[3] ^ h[7];
        }",
        host: |input| each(input, |n, _| hash(input, n as usize)),
        ..PLAIN
    },
    Shader {
        name: "indirect dispatch",
        indirect: true,
        code: "void main() { uint g = gl_GlobalInvocationID.x; o[g] = i[g] + gl_NumWorkGroups.x; }",
        host: |input| each(input, |_, v| v.wrapping_add(COUNT as u32 / 64)),
        ..PLAIN
    },
];
