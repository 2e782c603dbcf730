//! The description's structure.

use gencl_isa::Generation;

use crate::family::Family;

/// How messages address global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressModel {
    /// 64-bit addresses.
    A64,
    /// 32-bit offsets in the surface with this binding table index, which begins at address 0 and covers the
    /// address space.
    Surface(u8),
}

/// The GPU's address spaces (i915's `i915_pci.c`: `ppgtt_type`, `ppgtt_size`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSpaceKind {
    /// One of 31 bits that all contexts share ("aliasing PPGTT"); the kernel driver chooses addresses.
    Shared31,
    /// One of 32 bits for each context, which excludes the host's addresses.
    Own32,
    /// One of 48 bits for each context.
    Own48,
}

impl AddressSpaceKind {
    /// Bits of an address.
    pub const fn bits(self) -> u32 {
        match self {
            AddressSpaceKind::Shared31 => 31,
            AddressSpaceKind::Own32 => 32,
            AddressSpaceKind::Own48 => 48,
        }
    }
}

/// What an instruction can do, and what limits it. Operations on all lanes are split accordingly.
///
/// "64 bits" are three capabilities: `int64` and `float64` here, 64-bit addresses in [`Messages::global`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Lanes of a kernel's threads, which are the sizes of sub-groups.
    pub simd_widths: &'static [u32],
    /// General registers, 32 bytes each.
    pub registers: u32,
    /// 64-bit integer types, their arithmetic and immediates exist. Otherwise quadwords are copied as doubles,
    /// constants as two dwords, and arithmetic is lowered to dwords (Ivy Bridge manual, Volume 4 Part 3, "Numeric
    /// Data Types", "Immediate Operand"). Only the compiler asks; code with such types is refused by the tables of
    /// `gencl_isa`.
    pub int64: bool,
    /// Arithmetic on doubles.
    pub float64: bool,
    /// Arithmetic on half floats. Otherwise conversions between half and single floats are separate instructions
    /// (`f32to16`, `f16to32`), and all there is.
    pub half: bool,
    /// An instruction that writes two registers is executed as two halves of 8 channels each, of 4 with
    /// doubles: its sources must have two registers as well, except scalars and packed words that are
    /// converted to packed dwords (Ivy Bridge manual, Volume 4 Part 3, "Register Region Restrictions"; Mesa's
    /// `get_fpu_lowered_simd_width`).
    pub halves: bool,
    /// Maximum number of lanes of a three-source instruction; half as many with doubles (the same, "Align16":
    /// no 16 lanes of dwords and no 8 of doubles on Ivy Bridge; Mesa's `supports_simd16_3src`).
    pub ternary_lanes: u32,
    /// A double counts as two channels, and both registers of a result are written by the same ones.
    pub double_pairs: bool,
    /// Operations on 64-bit types and multiplications of dwords have no additional restrictions on regions;
    /// otherwise their operands must be aligned alike (Atom line).
    pub free_wide_regions: bool,
    /// `mul` of two dwords without restrictions on regions. Without it products are computed from 16-bit
    /// partial products.
    pub dword_multiply: bool,
    /// A comparison without destination needs a thread switch (Mesa's `brw_CMP`:
    /// `WaCMPInstNullDstForcesThreadSwitch`).
    pub compare_switches: bool,
    /// `sends`: a message's payload in two pieces.
    pub split_sends: bool,
    /// `goto` and `join`.
    pub gotos: bool,
    /// Bits of `cr0.0` set at the start: denormals of half, single ([`SINGLE_DENORMALS`]) and double floats
    /// are kept.
    pub denormal_bits: u32,
}

/// The bit of `cr0.0` that keeps denormals of single floats (manual, Volume 7, "Control Register").
pub const SINGLE_DENORMALS: u32 = 1 << 7;

/// Messages to the data port, the sampler and the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// How messages address global memory.
    pub global: AddressModel,
    /// Maximum number of lanes of an A64 surface or scattered message (Skylake: 16, Broadwell: 8; manuals, Volume 7,
    /// "A64 Messages").
    pub a64_lanes: u32,
    /// Maximum number of lanes of an A64 atomic message.
    pub a64_atomic_lanes: u32,
    /// Atomic operations on quadwords.
    pub int64_atomics: bool,
    /// Typed messages have a header (Broadwell manual, Volume 7, "Data Port", message headers; Mesa's
    /// `lower_surface_logical_send`).
    pub typed_header: bool,
    /// `sample_lz` and `ld_lz`; otherwise level 0 is a parameter (Mesa's `brw_lower_logical_sends.cpp`).
    pub sampler_level_zero: bool,
    /// The sampler has border colours of integer formats. Ivy Bridge's are floats only; Haswell's depend on the
    /// format (Mesa's `crocus_upload_border_color`), and Beignet does without them on both (`ocl_image.cl`).
    pub integer_borders: bool,
    /// Bits of `g0.2` that a barrier message carries (Mesa's `fs_visitor::emit_barrier`; Broadwell manual, Volume 7,
    /// "Message Gateway, BarrierMsg").
    pub barrier_mask: u32,
}

/// What a thread has when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Maximum number of registers of constants and local ids of a thread. Without cross-thread constants
    /// (Ivy Bridge) all are per-thread constants (manual, Volume 2 Part 2, `INTERFACE_DESCRIPTOR_DATA`,
    /// Constant URB Entry Read Length); otherwise the limit leaves registers for the kernel.
    pub constants: u32,
    /// Maximum size of a thread's scratch memory in bytes (MEDIA_VFE_STATE, "Per Thread Scratch Space").
    pub scratch: u32,
    /// Bits of `g0.5` with the hardware thread's number (FFTID), on devices where private memory that exceeds
    /// scratch memory is in a buffer with a part for each thread. Beignet's `GenContext::emitStackPointer`
    /// has nine for Ivy Bridge.
    pub thread_number: Option<u32>,
}

/// Hardware threads, and what is allocated for them. Mesa's `intel_device_info.c` (threads of an EU; for scratch memory:
/// `init_max_scratch_ids`), Beignet's `intel_gpgpu_get_max_curbe_size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Hardware threads of each EU.
    pub per_eu: u32,
    /// Subslices per slice that scratch memory is allocated for. It may exceed the subslices that exist: the
    /// hardware computes a thread's offset as if all were there.
    pub scratch_subslices: u32,
    /// Threads per subslice that scratch memory is allocated for.
    pub scratch_per_subslice: u32,
    /// Registers of constants that a walker may load (MEDIA_VFE_STATE, CURBE Allocation Size: the URB without
    /// its 32 entries).
    pub constant_registers: u32,
}

/// What all devices of a family have in common. Differences between generations are expressed as capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The family.
    pub family: Family,
    /// The instruction set.
    pub generation: Generation,
    /// What instructions can do.
    pub execution: Execution,
    /// What messages can do.
    pub messages: Messages,
    /// What a thread has when it starts.
    pub payload: Payload,
    /// Hardware threads; a model may have fewer.
    pub threads: Threads,
    /// Address spaces.
    pub address_space: AddressSpaceKind,
    /// Shared local memory of a subslice in bytes, all of which a work-group can have.
    pub local_memory: u32,
    /// Bytes for data in a bank of the L3 cache (NEO's `hw_info_*.inl`).
    pub l3_bank: u64,
    /// Ticks of the GPU's timestamp per second (Mesa's `intel_device_info.c`).
    pub timestamp_hz: u64,
    /// The hardware's version as Intel counts it, if it does.
    pub ip_version: Option<IpVersion>,
}

/// A version of the hardware as Intel's compiler names it (`ocloc ids NAME`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpVersion {
    /// The generation.
    pub architecture: u32,
    /// A device of it.
    pub release: u32,
    /// A stepping of the device.
    pub revision: u32,
}

impl IpVersion {
    /// The version in 32 bits, as Intel's drivers give it (NEO's `hw_ip_version.h`).
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.architecture << 22 | self.release << 14 | self.revision
    }
}

impl DeviceInfo {
    /// Bits of a pointer in kernels: `CL_DEVICE_ADDRESS_BITS`.
    pub const fn pointer_bits(&self) -> u32 {
        match self.messages.global {
            AddressModel::A64 => 64,
            AddressModel::Surface(_) => 32,
        }
    }
}
