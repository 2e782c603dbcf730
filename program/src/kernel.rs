//! Kernels and their ABI.
//!
//! The payload of a thread (Skylake manual, Volume 7 "3D-Media-GPGPU", "GPGPU Thread Payload"):
//!
//! - `g0`: the header, which the hardware writes: `g0.1`, `g0.6`, `g0.7` work-group ids x, y, z; `g0.5`
//!   scratch base (bits 31:10) and the number of the hardware thread (FFTID, bits 9:0), `g0.2` barrier id;
//! - from `g1`: the cross-thread constants, [`Kernel::cross_thread_size`] bytes, the same for all threads of
//!   a walker. [`Kernel::pushes`] lists their contents;
//! - then the per-thread constants: local ids x, y, z when [`Kernel::local_ids`] is set, one after the
//!   other, each as one `UW` per lane, padded to whole 32-byte registers
//!   (SIMD8 and SIMD16: one register each, SIMD32: two each).
//!
//! All lanes of a thread are enabled, except in the last thread of a work-group, where the walker's right
//! execution mask disables the lanes beyond the group. Work-items are numbered x first, then y, then z.
//!
//! An argument has two layouts here: its offset in the argument block ([`Argument::block_offset`]), and the
//! pieces of it that are pushed ([`Push`] with [`PushSource::Value`], [`PushSource::Pointer`] or
//! [`PushSource::LocalOffset`]). The compiler chooses both, [`Program::check`] checks them when a binary is
//! read, and the runtime fills in the values (`docs/arguments.md`).

use serde::{Deserialize, Serialize};

use crate::Data;
use crate::finding::Site;
use crate::printf::PrintfFormat;

/// Largest memory object in bytes. Generated code computes signed offsets of 32 bits from pointer arguments,
/// which point into objects.
pub const LARGEST_OBJECT: u64 = 1 << 31;

/// What the names of initializers begin with: clang's functions for what C++ initializes at run time, one for each
/// source.
const INITIALIZER: &str = "_GLOBAL__sub_I_";

impl Kernel {
    /// Whether it initializes program-scope variables: one work-item of it runs before the program's first launch on
    /// a device, and applications do not see it.
    #[must_use]
    pub fn is_initializer(&self) -> bool {
        self.name.starts_with(INITIALIZER)
    }
}

/// A compiled program: kernels and the data they share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The target's name as `genclc --target` takes it: `skl`.
    pub target: String,
    /// Executable, object or library.
    pub kind: ProgramKind,
    /// Options of the build, as the application gave them.
    pub options: String,
    /// Whether the last work-group of a dimension may be smaller. Depends on options and version of OpenCL C.
    pub uneven_groups: bool,
    /// Program-scope variables.
    pub data: Data,
    /// Formats of `printf`. Records refer to them by index.
    pub formats: Vec<PrintfFormat>,
    /// Places that are checked, if the program was compiled with checks. Records refer to them by index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<Site>,
    /// In the order of the source.
    pub kernels: Vec<Kernel>,
    /// LLVM bitcode from clang: the input of links, and of compiling an executable for another SIMD width.
    pub bitcode: Vec<u8>,
    /// DWARF line tables, if the source was compiled with `-g` or for a profile.
    #[serde(skip)]
    pub debug: Vec<DebugSection>,
}

/// A section of debug information, whose addresses are those of [`code_addresses`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugSection {
    /// Its name, with [`DebugSection::PREFIX`].
    pub name: String,
    /// Contents.
    pub bytes: Vec<u8>,
}

impl DebugSection {
    /// The beginning of the names.
    pub const PREFIX: &'static str = ".debug_";
}

/// The section with the text of the Gen IR that machine code was generated from, in programs that are compiled
/// for a profile.
pub const GEN_IR: &str = ".debug_gen_ir";

/// Alignment of machine code: a cache line.
pub const CODE_ALIGNMENT: usize = 64;

/// The address of each kernel's code in debug information, and of its section in the ELF file: one kernel
/// after the other, from 0.
pub fn code_addresses(kernels: &[Kernel]) -> impl Iterator<Item = u64> + '_ {
    kernels.iter().scan(0, |end, kernel| {
        let begin = *end;
        *end += kernel.code.len().next_multiple_of(CODE_ALIGNMENT) as u64;
        Some(begin)
    })
}

/// Type of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramKind {
    /// Linked: kernels can be launched.
    #[default]
    Executable,
    /// Compiled and not linked.
    Object,
    /// Linked with `-create-library`; can be linked further.
    Library,
}

/// A kernel: machine code, and the description that launches need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The function's name.
    pub name: String,
    /// Position-independent machine code, a multiple of 8 bytes, which ends with EOT.
    #[serde(skip)]
    pub code: Vec<u8>,
    /// Lanes per thread: 8, 16 or 32.
    pub simd_width: u32,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
    /// Whether `clGetKernelArgInfo` works (`-cl-kernel-arg-info`).
    pub argument_information: bool,
    /// Bytes of cross-thread constants, a multiple of 32.
    pub cross_thread_size: u32,
    /// Contents of the cross-thread constants: arguments and properties of the launch.
    pub pushes: Vec<Push>,
    /// Surfaces of images in the binding table; entries that are not named here are the launch's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceBinding>,
    /// Sampler states, by the index that messages name; at most [`MAX_SAMPLERS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samplers: Vec<SamplerSource>,
    /// Whether local ids are pushed.
    pub local_ids: bool,
    /// Bytes of `__local` variables. `__local` arguments follow, each with its [`Argument::alignment`].
    pub local_size: u32,
    /// Scratch memory per thread in bytes: spills and private memory. A multiple of 1024 up to 2 MiB.
    pub scratch_size: u32,
    /// Bytes per thread in the buffer that [`PushSource::StackBase`] points to, for private memory that
    /// exceeds scratch memory. A thread's part begins at its FFTID times this. 0, or a multiple of 32 up to 2
    /// MiB.
    pub stack_size: u32,
    /// Private memory per work-item in bytes (contained in `scratch_size` or `stack_size`), for
    /// `CL_KERNEL_PRIVATE_MEM_SIZE`.
    pub private_size: u32,
    /// For debuggers, how private memory is interleaved: so many bytes of each lane in turn; 0: each lane's are contiguous. It
    /// begins after the spilled registers in scratch memory, or in the thread's part of the buffer for what exceeds that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_granule: Option<u32>,
    /// Spilled registers per thread in bytes (contained in `scratch_size`), for
    /// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`. Files omit 0, so that files without this field remain valid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spill_size: u32,
    /// Whether the kernel uses work-group barriers.
    pub barrier: bool,
    /// Whether denormal floats are zeros (`-cl-denorms-are-zero`).
    pub flushes_denormals: bool,
    /// Bytes of the argument block in memory, that [`PushSource::ArgumentBlock`] points to; 0 when the kernel
    /// does not load from it.
    pub argument_block_size: u32,
    /// `reqd_work_group_size`
    pub required_work_group_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub work_group_size_hint: Option<[u32; 3]>,
    /// `intel_reqd_sub_group_size`
    pub required_sub_group_size: Option<u32>,
    /// Whether it calls functions of sub-groups, so that programs see its SIMD width: it is the same in all
    /// launches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sub_groups: bool,
    /// `vec_type_hint` and the other attributes as the source has them, for `CL_KERNEL_ATTRIBUTES`.
    pub attributes: String,
    /// What the compiler counted.
    pub statistics: Statistics,
}

/// The layout of a kernel argument, and its description for `clGetKernelArgInfo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its type as the source has it: `float*`.
    pub type_name: String,
    /// What the argument is.
    pub kind: ArgumentKind,
    /// Bytes of a by-value argument, as `clSetKernelArg` takes them; 8 for all others.
    pub size: u32,
    /// Alignment in bytes of a value, or of the memory of a `__local` pointer.
    pub alignment: u32,
    /// Offset in the argument block in bytes. Arguments are in order, each aligned; they have offsets also
    /// when the kernel needs no block in memory.
    pub block_offset: u32,
    /// `const`, `restrict`, `volatile`, `pipe`: the `CL_KERNEL_ARG_TYPE_*` bits.
    pub type_qualifier: u32,
    /// Access qualifier of an image.
    pub access: Access,
}

impl Argument {
    /// Bytes that the argument has in the argument block: those of a value, else 8.
    #[must_use]
    pub fn block_size(&self) -> u32 {
        if self.kind == ArgumentKind::Value { self.size } else { 8 }
    }
}

/// Kinds of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgumentKind {
    /// A value of any type, structures included.
    Value,
    /// `__global` pointer.
    GlobalPointer,
    /// `__constant` pointer.
    ConstantPointer,
    /// `__local` pointer, set by a size.
    LocalPointer,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
}

impl ArgumentKind {
    /// Whether it is a pointer to memory outside of the work-group.
    #[must_use]
    pub const fn is_global(self) -> bool {
        matches!(self, ArgumentKind::GlobalPointer | ArgumentKind::ConstantPointer)
    }
}

/// Access qualifier of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named as in OpenCL C")]
pub enum Access {
    #[default]
    None,
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// Sampler states that messages without a header can name (Skylake manual, Volume 2d, `MSD_SAMPLER`, "Sampler
/// Index").
pub const MAX_SAMPLERS: usize = 16;

/// An entry of the binding table: the surface of an image that is an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurfaceBinding {
    /// Binding table index.
    pub index: u8,
    /// Which argument.
    pub argument: u32,
    /// Which messages access it.
    pub view: SurfaceView,
}

/// How messages access a surface, which decides about its format: not every format that is sampled can be written,
/// too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SurfaceView {
    /// By the sampler.
    Sampled,
    /// By typed writes of the data port.
    Written,
}

/// Where the properties of a sampler come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SamplerSource {
    /// The sampler object that is this argument.
    Argument(u32),
    /// The source: `CLK_NORMALIZED_COORDS_*`, `CLK_ADDRESS_*` and `CLK_FILTER_*`, or'ed, with the numbers that clang's
    /// `opencl-c-base.h` gives them.
    Constant(u32),
}

/// A piece of the cross-thread constants: `size` bytes at `offset` from `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Push {
    /// Offset in bytes from the beginning of the cross-thread constants (`g1.0`).
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// The data.
    pub source: PushSource,
}

/// Data that can be pushed. Integers are little endian and, where no size is given, have 4 or 8 bytes, by
/// [`Push::size`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PushSource {
    /// Bytes of a by-value argument, or of the number that a sampler has in OpenCL C, from `offset` on.
    Value {
        /// Index of the argument.
        argument: u32,
        /// First byte of the value.
        offset: u32,
    },
    /// The GPU address that a global or constant pointer argument holds; 0 for null.
    Pointer {
        /// Index of the argument.
        argument: u32,
    },
    /// The offset in shared local memory of a `__local` pointer argument (4 bytes).
    LocalOffset {
        /// Index of the argument.
        argument: u32,
    },
    /// A property of an image argument (4 bytes).
    Image {
        /// Which argument.
        argument: u32,
        /// Which property.
        property: ImageProperty,
    },
    /// `get_global_offset(dimension)`
    GlobalOffset(u8),
    /// `get_global_size(dimension)`
    GlobalSize(u8),
    /// `get_local_size(dimension)`: the actual size, which differs between the walkers of an uneven launch.
    LocalSize(u8),
    /// `get_enqueued_local_size(dimension)`
    EnqueuedLocalSize(u8),
    /// `get_num_groups(dimension)`
    NumGroups(u8),
    /// `get_work_dim()`
    WorkDim,
    /// The GPU address of the argument block.
    ArgumentBlock,
    /// The GPU address of the program's variables in constant memory.
    ConstantBase,
    /// The GPU address of the program's variables in global memory.
    VariableBase,
    /// The GPU address of the launch's [buffer for `printf`](crate::printf).
    PrintfBuffer,
    /// The GPU address of the launch's [buffer for findings](crate::finding).
    CheckBuffer,
    /// The GPU address of the launch's table of accesses, by which a simulator finds data races
    /// (`gencl_eu::message::RaceCheck`).
    RaceTable,
    /// The GPU address of the shadow memory ([`crate::finding`]) of the object that a global or constant pointer argument
    /// points into; 0 for null.
    Shadow {
        /// Index of the argument.
        argument: u32,
    },
    /// How many bytes behind each byte of local memory its shadow is; 0 if there is none (4 bytes).
    LocalShadow,
    /// The GPU address of the buffer with [`Kernel::stack_size`] bytes per thread.
    StackBase,
}

/// Properties of images: what kernels ask for by `get_image_*`, and where texels are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageProperty {
    /// Texels in a row.
    Width,
    /// Rows; 1 for one-dimensional images.
    Height,
    /// Slices of a three-dimensional image; else 1.
    Depth,
    /// Layers of an array; else 1.
    ArraySize,
    /// `CL_SNORM_INT8` and so on.
    ChannelType,
    /// `CL_R` and so on.
    ChannelOrder,
    /// Bytes of a texel.
    TexelSize,
    /// Bytes between rows, or layers of a one-dimensional array.
    RowPitch,
    /// Bytes between slices, or layers of a two-dimensional array.
    SlicePitch,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The compiler's statistics on a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Machine instructions.
    pub instructions: u32,
    /// `send` instructions.
    pub sends: u32,
    /// Spills: stores to scratch memory.
    pub spills: u32,
    /// Fills: loads from scratch memory.
    pub fills: u32,
    /// Largest number of GRFs in use at once.
    pub registers: u32,
}
