//! Arrays and structures that arguments point to: positions of addresses, and bytes that the node writes.

use std::mem::offset_of;
use std::ops::Range;

use gencl_i915::uapi::{
    ContextCreateExtSetparam, ContextParam, ExecObject2, ExecTimelineFences, GemCreateExtMemoryRegions,
    QueryItem, RelocationEntry,
};

/// Elements of one kind.
pub struct Layout {
    /// Bytes of an element.
    stride: usize,
    /// Offsets of addresses in an element. Random numbers there could be addresses of other memory.
    pub addresses: &'static [usize],
    /// Bytes of an element that the node writes.
    written: Range<usize>,
}

impl Layout {
    /// Whether the node writes the byte at this offset of the array.
    pub fn is_written(&self, offset: usize) -> bool {
        self.written.contains(&(offset % self.stride))
    }

    /// Offset of the address that the byte at this offset of the array is part of.
    pub fn address_at(&self, offset: usize) -> Option<usize> {
        let (element, inside) = (offset / self.stride * self.stride, offset % self.stride);
        let found = self.addresses.iter().find(|address| (**address..**address + 8).contains(&inside));
        found.map(|address| element + address)
    }
}

/// Input without addresses.
pub static BYTES: Layout = Layout { stride: 1, addresses: &[], written: 0..0 };
/// Output.
pub static RESULT: Layout = Layout { stride: 1, addresses: &[], written: 0..1 };
/// [`ExecObject2`]
pub static OBJECTS: Layout = Layout {
    stride: size_of::<ExecObject2>(),
    addresses: &[offset_of!(ExecObject2, relocs_ptr)],
    written: field(offset_of!(ExecObject2, offset)),
};
/// [`RelocationEntry`]
pub static RELOCATIONS: Layout = Layout {
    stride: size_of::<RelocationEntry>(),
    addresses: &[],
    written: field(offset_of!(RelocationEntry, presumed_offset)),
};
/// [`QueryItem`]
pub static QUERIES: Layout = Layout {
    stride: size_of::<QueryItem>(),
    addresses: &[offset_of!(QueryItem, data_ptr)],
    written: offset_of!(QueryItem, length)..offset_of!(QueryItem, length) + 4,
};
/// [`GemCreateExtMemoryRegions`]
pub static REGIONS: Layout = Layout {
    stride: size_of::<GemCreateExtMemoryRegions>(),
    addresses: &[0, offset_of!(GemCreateExtMemoryRegions, regions)],
    written: 0..0,
};
/// [`ContextCreateExtSetparam`]
pub static SET_PARAM: Layout = Layout {
    stride: size_of::<ContextCreateExtSetparam>(),
    addresses: &[0, offset_of!(ContextCreateExtSetparam, param) + offset_of!(ContextParam, value)],
    written: 0..0,
};
/// [`ExecTimelineFences`]
pub static TIMELINES: Layout = Layout {
    stride: size_of::<ExecTimelineFences>(),
    addresses: &[0, offset_of!(ExecTimelineFences, handles_ptr), offset_of!(ExecTimelineFences, values_ptr)],
    written: 0..0,
};
/// `i915_context_param_engines`, which begins with the address of the first extension.
pub static ENGINES: Layout = Layout { stride: 1 << 16, addresses: &[0], written: 0..0 };

/// A field of 64 bits.
const fn field(offset: usize) -> Range<usize> {
    offset..offset + 8
}
