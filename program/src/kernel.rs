//! Kernels and their ABI.
//!
//! A thread starts with (Skylake manual, Volume 7 "3D-Media-GPGPU", "GPGPU Thread Payload"):
//!
//! - `g0`: the header that the hardware makes: `g0.1`, `g0.6`, `g0.7` work-group ids x, y, z;
//!   `g0.5` scratch base (bits 31:10) and the number of the hardware thread (FFTID, bits 9:0), `g0.2` barrier id;
//! - from `g1`: the cross-thread constants, [`Kernel::cross_thread_size`] bytes, the same for all
//!   threads of a launch, filled as [`Kernel::pushes`] says;
//! - then the per-thread constants: local ids x, y, z when [`Kernel::local_ids`] is set, one after the
//!   other, each as one `UW` per lane, padded to whole 32-byte registers
//!   (SIMD8 and SIMD16: one register each, SIMD32: two each).
//!
//! Every thread of a work-group but the last runs all lanes; the right-most mask of the walker
//! disables the lanes of the last that are beyond the group. Work-items are numbered
//! x fastest, then y, then z.

use serde::{Deserialize, Serialize};

use crate::Data;
use crate::printf::PrintfFormat;

/// The largest object in global memory, in bytes, for which code is right: it computes signed offsets of 32
/// bits from the pointers that are a kernel's arguments, which point into objects.
pub const LARGEST_OBJECT: u64 = 1 << 31;

/// A compiled program: kernels and the data they share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The target's name as `genclc --target` takes it: `skl`.
    pub target: String,
    /// What it is.
    pub kind: ProgramKind,
    /// Options of the build, as the application gave them.
    pub options: String,
    /// May the last work-group of a dimension be smaller? Options and version of the language decide.
    pub uneven_groups: bool,
    /// Program-scope variables.
    pub data: Data,
    /// Formats of `printf`, by the numbers that records begin with.
    pub formats: Vec<PrintfFormat>,
    /// In the order of the source.
    pub kernels: Vec<Kernel>,
    /// LLVM bitcode as it comes from clang: what is linked, and what wider threads of an executable are
    /// compiled from.
    pub bitcode: Vec<u8>,
}

/// What a program is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramKind {
    /// Kernels can be launched.
    #[default]
    Executable,
    /// Compiled, to be linked.
    Object,
    /// Objects linked with `-create-library`, to be linked.
    Library,
}

/// One kernel: machine code and everything that a launch has to know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The function's name.
    pub name: String,
    /// Machine code, a multiple of 8 bytes, position independent, ends with end-of-thread.
    #[serde(skip)]
    pub code: Vec<u8>,
    /// Lanes per thread: 8, 16 or 32.
    pub simd_width: u32,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
    /// May the application ask about the arguments (`-cl-kernel-arg-info`)?
    pub argument_information: bool,
    /// Bytes of cross-thread constants, a multiple of 32.
    pub cross_thread_size: u32,
    /// Contents of the cross-thread constants.
    pub pushes: Vec<Push>,
    /// Surfaces of images in the binding table; entries that are not named here are the launch's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<SurfaceBinding>,
    /// Sampler states, by the index that messages name; at most [`MAX_SAMPLERS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samplers: Vec<SamplerSource>,
    /// Are local ids pushed?
    pub local_ids: bool,
    /// Static `__local` memory in bytes. `__local` arguments come after it, each aligned as it asks.
    pub local_size: u32,
    /// Scratch memory per thread in bytes: spills and private memory. A multiple of 1024 up to 2 MiB.
    pub scratch_size: u32,
    /// Bytes for each thread in the buffer that [`PushSource::StackBase`] points to: private memory that is
    /// too large for scratch memory. A thread's part begins at its number times this. 0, or a multiple of 32
    /// up to 2 MiB.
    pub stack_size: u32,
    /// Private memory per work-item in bytes (contained in `scratch_size` or `stack_size`), for
    /// `CL_KERNEL_PRIVATE_MEM_SIZE`.
    pub private_size: u32,
    /// Spilled registers per thread in bytes (contained in `scratch_size`), for
    /// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`. Files leave out 0, so that those from before there was this are
    /// still what would be written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spill_size: u32,
    /// Does the kernel use work-group barriers?
    pub barrier: bool,
    /// Are denormal floats zeros (`-cl-denorms-are-zero`)?
    pub flushes_denormals: bool,
    /// Bytes of the argument block (arguments laid out one after the other, each aligned as its type asks)
    /// that [`PushSource::ArgumentBlock`] points to; 0 when the kernel does not need it in memory.
    pub argument_block_size: u32,
    /// `reqd_work_group_size`
    pub required_work_group_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub work_group_size_hint: Option<[u32; 3]>,
    /// `intel_reqd_sub_group_size`
    pub required_sub_group_size: Option<u32>,
    /// `vec_type_hint` and the other attributes as the source has them, for `CL_KERNEL_ATTRIBUTES`.
    pub attributes: String,
    /// What the compiler counted.
    pub statistics: Statistics,
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its type as the source has it: `float*`.
    pub type_name: String,
    /// What it is.
    pub kind: ArgumentKind,
    /// Bytes that `clSetKernelArg` takes for values; 8 for pointers.
    pub size: u32,
    /// Alignment in bytes of a value, or of what a `__local` pointer points to.
    pub alignment: u32,
    /// Where it stands in the argument block.
    pub block_offset: u32,
    /// `const`, `restrict`, `volatile`, `pipe`: the `CL_KERNEL_ARG_TYPE_*` bits.
    pub type_qualifier: u32,
    /// Images: read, write or both.
    pub access: Access,
}

/// Kinds of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgumentKind {
    /// A value of any type, structures included.
    Value,
    /// `__global` pointer: a buffer or null.
    GlobalPointer,
    /// `__constant` pointer: a buffer or null.
    ConstantPointer,
    /// `__local` pointer: a size.
    LocalPointer,
    /// An image.
    Image,
    /// A sampler.
    Sampler,
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

/// One piece of the cross-thread constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Push {
    /// Where, in bytes from the beginning of the cross-thread constants (`g1.0`).
    pub offset: u32,
    /// How many bytes.
    pub size: u32,
    /// What.
    pub source: PushSource,
}

/// What can be pushed. All integers are little endian; work-item functions' values are 32 bits wide when
/// `size` is 4 and 64 bits when it is 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PushSource {
    /// Bytes of a by-value argument, from `offset` on.
    Value {
        /// Which argument.
        argument: u32,
        /// First byte of the value.
        offset: u32,
    },
    /// The GPU address of a global or constant pointer argument (8 bytes); 0 for null.
    Pointer {
        /// Which argument.
        argument: u32,
    },
    /// The offset in shared local memory of a `__local` pointer argument (4 bytes).
    LocalOffset {
        /// Which argument.
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
    /// `get_local_size(dimension)`: of this walker, so in uneven launches the actual size.
    LocalSize(u8),
    /// `get_enqueued_local_size(dimension)`
    EnqueuedLocalSize(u8),
    /// `get_num_groups(dimension)`
    NumGroups(u8),
    /// `get_work_dim()`
    WorkDim,
    /// The GPU address of the argument block.
    ArgumentBlock,
    /// The GPU address of the program's constant data.
    ConstantBase,
    /// The GPU address of the program's variables in global memory.
    VariableBase,
    /// The GPU address of the launch's [buffer for `printf`](crate::printf).
    PrintfBuffer,
    /// The GPU address of the buffer with [`Kernel::stack_size`] bytes for each thread.
    StackBase,
}

/// Properties of images that kernels ask for by `get_image_*`.
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
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What the compiler counted while it made a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Machine instructions.
    pub instructions: u32,
    /// Messages.
    pub sends: u32,
    /// Registers written to scratch, counted in store instructions.
    pub spills: u32,
    /// Loads from scratch.
    pub fills: u32,
    /// Most general registers in use at once.
    pub registers: u32,
}
