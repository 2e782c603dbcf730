//! Messages as text.

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

/// ` word` where it holds.
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
                ", bti {surface}, sampler {sampler}, kind {kind}, mode {mode}{}",
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
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, mlen {} rlen {}", self.operation, self.payload, self.response)?;
        f.write_str(word(self.header, " header"))
    }
}
