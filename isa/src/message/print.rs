//! Printing of messages.

use std::fmt;

use super::{Message, Operation, SimdMode, surface};

impl fmt::Display for SimdMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SimdMode::Simd4x2 => "SIMD4x2",
            SimdMode::Simd8 => "SIMD8",
            SimdMode::Simd16 => "SIMD16",
        })
    }
}

/// A binding table index, by name where it has one.
struct Surface(u8);

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            surface::SLM => f.write_str("slm"),
            surface::STATELESS => f.write_str("stateless"),
            surface::STATELESS_NON_COHERENT => f.write_str("stateless non-coherent"),
            n => write!(f, "bti {n}"),
        }
    }
}

/// Channels as letters.
struct Channels(u8);

impl fmt::Display for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ["x", "y", "z", "w"]
            .iter()
            .enumerate()
            .filter(|(bit, _)| self.0 >> bit & 1 != 0)
            .try_for_each(|(_, letter)| f.write_str(letter))
    }
}

/// A message type of the sampler, by name where it has one (Skylake, Volume 7, "Sampling Engine", "Message
/// Types"; Mesa's `brw_eu_defines.h`).
struct Sample {
    kind: u8,
    mode: u8,
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            0 => "sample",
            1 => "sample_b",
            2 => "sample_l",
            3 => "sample_c",
            4 => "sample_d",
            5 => "sample_b_c",
            6 => "sample_l_c",
            7 => "ld",
            8 => "gather4",
            9 => "lod",
            10 => "resinfo",
            11 => "sampleinfo",
            16 => "gather4_c",
            17 => "gather4_po",
            18 => "gather4_po_c",
            20 => "sample_d_c",
            24 => "sample_lz",
            25 => "sample_c_lz",
            26 => "ld_lz",
            28 => "ld2dms_w",
            29 => "ld_mcs",
            30 => "ld2dms",
            31 if self.mode == 3 => "cache_flush",
            31 => "ld2dss",
            n => return write!(f, "kind {n}"),
        })
    }
}

/// The sampler's SIMD mode.
struct SampleMode(u8);

impl fmt::Display for SampleMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("SIMD4x2"),
            1 => f.write_str("SIMD8"),
            2 => f.write_str("SIMD16"),
            n => write!(f, "mode {n}"),
        }
    }
}

/// The word, or nothing unless `holds`.
fn word(holds: bool, word: &str) -> &str {
    if holds { word } else { "" }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name())?;
        match *self {
            Operation::Untyped { surface, simd, channels, .. } => {
                write!(f, ", {}, {simd}, {}", Surface(surface), Channels(channels))
            }
            Operation::UntypedAtomic { surface, simd, operation, qword, returns, .. } => write!(
                f,
                " {operation:?}{}, {}, {simd}{}",
                word(qword, " qword"),
                Surface(surface),
                word(returns, ", returns")
            ),
            Operation::UntypedAtomicFloat { surface, simd, operation, returns, .. } => {
                write!(f, " {operation:?}, {}, {simd}{}", Surface(surface), word(returns, ", returns"))
            }
            Operation::ByteScattered { surface, simd, bytes, .. } => {
                write!(f, ", {}, {simd}, {bytes} bytes", Surface(surface))
            }
            Operation::DwordScattered { surface, simd, invalidate, .. } => {
                write!(f, ", {}, {simd}{}", Surface(surface), word(invalidate, ", invalidate"))
            }
            Operation::A64Scattered { surface, simd, element, elements, .. } => {
                write!(f, ", {}, {simd}, {elements} x {element:?}", Surface(surface))
            }
            Operation::OwordBlock { unaligned, surface, size, invalidate, .. } => write!(
                f,
                "{}, {}, {size:?}{}",
                word(unaligned, ", unaligned"),
                Surface(surface),
                word(invalidate, ", invalidate")
            ),
            Operation::OwordDualBlock { surface, owords, invalidate, .. } => {
                write!(f, ", {}, {owords}{}", Surface(surface), word(invalidate, ", invalidate"))
            }
            Operation::ScratchBlock { registers, offset, dword_mode, invalidate, .. } => write!(
                f,
                ", offset {offset}, {registers} registers{}{}",
                word(dword_mode, ", dword mode"),
                word(invalidate, ", invalidate")
            ),
            Operation::Fence { commit, flush, surface, .. } => {
                write!(f, ", flush {flush:#x}, bti {surface}{}", word(commit, ", commit"))
            }
            Operation::Typed { surface, slots, channels, .. } => {
                write!(f, ", {}, {slots:?}, {}", Surface(surface), Channels(channels))
            }
            Operation::TypedAtomic { surface, high, operation, returns } => write!(
                f,
                " {operation:?}, {}{}{}",
                Surface(surface),
                word(high, ", high"),
                word(returns, ", returns")
            ),
            Operation::MediaBlock { surface, control, .. } => {
                write!(f, ", {}, control {control:#x}", Surface(surface))
            }
            Operation::RenderTarget { surface, kind, high, last, per_sample, .. } => write!(
                f,
                ", bti {surface}, kind {kind}{}{}{}",
                word(high, ", high"),
                word(last, ", last"),
                word(per_sample, ", per sample")
            ),
            Operation::Sampler { surface, sampler, kind, mode, half } => write!(
                f,
                ", bti {surface}, sampler {sampler}, {} {}{}",
                Sample { kind, mode },
                SampleMode(mode),
                word(half, ", half")
            ),
            Operation::Urb { function, offset, per_slot, swizzle, complete } => write!(
                f,
                " {function:?}, offset {offset}{}{}{}",
                word(per_slot, ", per slot"),
                word(swizzle, ", swizzle"),
                word(complete, ", complete")
            ),
            Operation::Gateway { function, notify } => write!(f, " {function:?}, notify {notify}"),
            Operation::ThreadSpawner { keep_handle, root, spawn } => write!(
                f,
                "{}{}{}",
                word(keep_handle, ", keep handle"),
                word(root, ", root"),
                word(spawn, ", spawn")
            ),
            Operation::PixelInterpolator { data, high, kind, linear, simd16 } => write!(
                f,
                ", data {data:#x}, kind {kind}{}{}{}",
                word(high, ", high"),
                word(linear, ", linear"),
                word(simd16, ", SIMD16")
            ),
            Operation::RaceCheck { control, simd } => write!(f, " {control:#x}, {simd}"),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, mlen {} rlen {}", self.operation, self.payload, self.response)?;
        f.write_str(word(self.header, " header"))
    }
}
