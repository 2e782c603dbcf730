//! Errors: the codes of OpenCL, each with a text.

use std::borrow::Cow;

/// Result of a fallible call.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! codes {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        /// The error codes of OpenCL (`cl.h`); the discriminants are the values of the C API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
        #[repr(i32)]
        pub enum Code {
            $(#[doc = concat!("`", stringify!($value), "`: ", $text)]
            #[error($text)]
            $name = $value,)*
        }

        impl Code {
            /// The code with the given value, if there is one.
            pub fn from_value(value: i32) -> Option<Self> {
                match value {
                    $($value => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    DeviceNotFound = -1, "no device found";
    DeviceNotAvailable = -2, "the device is not available";
    CompilerNotAvailable = -3, "no compiler is available";
    MemObjectAllocationFailure = -4, "memory object could not be allocated";
    OutOfResources = -5, "out of resources on the device";
    OutOfHostMemory = -6, "out of host memory";
    ProfilingInfoNotAvailable = -7, "no profiling information";
    MemCopyOverlap = -8, "source and destination of a copy overlap";
    ImageFormatMismatch = -9, "image formats differ";
    ImageFormatNotSupported = -10, "image format not supported";
    BuildProgramFailure = -11, "building the program failed";
    MapFailure = -12, "mapping failed";
    MisalignedSubBufferOffset = -13, "misaligned sub-buffer offset";
    ExecStatusErrorForEventsInWaitList = -14, "an event in the wait list failed";
    CompileProgramFailure = -15, "compiling the program failed";
    LinkerNotAvailable = -16, "no linker is available";
    LinkProgramFailure = -17, "linking the program failed";
    DevicePartitionFailed = -18, "the device could not be partitioned";
    KernelArgInfoNotAvailable = -19, "no information on kernel arguments";
    InvalidValue = -30, "invalid value";
    InvalidDeviceType = -31, "invalid device type";
    InvalidPlatform = -32, "invalid platform";
    InvalidDevice = -33, "invalid device";
    InvalidContext = -34, "invalid context";
    InvalidQueueProperties = -35, "invalid queue properties";
    InvalidCommandQueue = -36, "invalid command queue";
    InvalidHostPtr = -37, "invalid host pointer";
    InvalidMemObject = -38, "invalid memory object";
    InvalidImageFormatDescriptor = -39, "invalid image format descriptor";
    InvalidImageSize = -40, "invalid image size";
    InvalidSampler = -41, "invalid sampler";
    InvalidBinary = -42, "invalid program binary";
    InvalidBuildOptions = -43, "invalid build options";
    InvalidProgram = -44, "invalid program";
    InvalidProgramExecutable = -45, "the program is not built";
    InvalidKernelName = -46, "no kernel of this name";
    InvalidKernelDefinition = -47, "invalid kernel definition";
    InvalidKernel = -48, "invalid kernel";
    InvalidArgIndex = -49, "invalid argument index";
    InvalidArgValue = -50, "invalid argument value";
    InvalidArgSize = -51, "invalid argument size";
    InvalidKernelArgs = -52, "kernel arguments are not set";
    InvalidWorkDimension = -53, "invalid number of dimensions";
    InvalidWorkGroupSize = -54, "invalid work-group size";
    InvalidWorkItemSize = -55, "invalid work-item size";
    InvalidGlobalOffset = -56, "invalid global offset";
    InvalidEventWaitList = -57, "invalid event wait list";
    InvalidEvent = -58, "invalid event";
    InvalidOperation = -59, "invalid operation";
    InvalidGlObject = -60, "invalid GL object";
    InvalidBufferSize = -61, "invalid buffer size";
    InvalidMipLevel = -62, "invalid mip level";
    InvalidGlobalWorkSize = -63, "invalid global work size";
    InvalidProperty = -64, "invalid property";
    InvalidImageDescriptor = -65, "invalid image descriptor";
    InvalidCompilerOptions = -66, "invalid compiler options";
    InvalidLinkerOptions = -67, "invalid linker options";
    InvalidDevicePartitionCount = -68, "invalid device partition count";
    InvalidPipeSize = -69, "invalid pipe size";
    InvalidDeviceQueue = -70, "invalid device queue";
    InvalidSpecId = -71, "invalid specialization constant";
    MaxSizeRestrictionExceeded = -72, "a size restriction is exceeded";
    InvalidCommandBuffer = -1138, "invalid command-buffer";
    InvalidSyncPointWaitList = -1139, "invalid sync-point wait list";
    IncompatibleCommandQueue = -1140, "the queue is incompatible with the command-buffer";
    InvalidMutableCommand = -1141, "invalid mutable command";
    InvalidSemaphore = -1142, "invalid semaphore";
}

/// An error: code and reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}{}{reason}", if reason.is_empty() { "" } else { ": " })]
pub struct Error {
    /// The code that the API returns.
    pub code: Code,
    /// Text for users; may be empty.
    pub reason: Cow<'static, str>,
    /// The device or the driver failed in a command, or in one that this one depends on: its results must not
    /// be used.
    pub fault: bool,
}

impl Error {
    /// An error with a reason.
    pub fn new(code: Code, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { code, reason: reason.into(), fault: false }
    }

    /// The same error as a fault of the device or the driver.
    pub(crate) fn of_fault(self) -> Self {
        Self { fault: true, ..self }
    }
}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        Self::new(code, "")
    }
}

/// An error of the render node while something was allocated or set up.
impl From<gencl_i915::Errno> for Error {
    fn from(errno: gencl_i915::Errno) -> Self {
        Self::new(Code::OutOfResources, format!("the kernel driver returned {errno}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_values_of_the_api() {
        assert_eq!(Code::OutOfResources as i32, -5);
        assert_eq!(Code::from_value(-61), Some(Code::InvalidBufferSize));
        assert_eq!(Code::from_value(-29), None);
    }

    #[test]
    fn reason_follows_the_code() {
        assert_eq!(Error::from(Code::InvalidValue).to_string(), "invalid value");
        assert_eq!(Error::new(Code::InvalidValue, "size is 0").to_string(), "invalid value: size is 0");
    }
}
