//! The three API calls that build programs.

use gencl_program::options::{BuildOptions, LinkOptions};

use crate::{Code, Device, Error, Result};

/// `clBuildProgram`, `clCompileProgram`, `clLinkProgram`: they differ in their options and in the codes of
/// their errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Build,
    Compile,
    Link,
}

impl Call {
    /// The code for errors in the source or between objects.
    pub(super) fn failure(self) -> Code {
        match self {
            Self::Build => Code::BuildProgramFailure,
            Self::Compile => Code::CompileProgramFailure,
            Self::Link => Code::LinkProgramFailure,
        }
    }

    /// Its name in a trace.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Compile => "compile",
            Self::Link => "link",
        }
    }

    pub(super) fn invalid_options(self) -> Code {
        match self {
            Self::Build => Code::InvalidBuildOptions,
            Self::Compile => Code::InvalidCompilerOptions,
            Self::Link => Code::InvalidLinkerOptions,
        }
    }

    /// The error when no compiler can be started.
    pub(super) fn not_available(self, reason: gencl_client::Unavailable) -> Error {
        let code = match self {
            Self::Build | Self::Compile => Code::CompilerNotAvailable,
            Self::Link => Code::LinkerNotAvailable,
        };
        Error::new(code, reason.to_string())
    }

    /// Checks the options for a device; the code of the error is [`Call::invalid_options`].
    pub(super) fn check_options(self, options: &str, device: &Device) -> Result<()> {
        let read = match self {
            Self::Build | Self::Compile => BuildOptions::parse(options, &device.facts().profile()).map(drop),
            Self::Link => LinkOptions::parse(options).map(drop),
        };
        read.map_err(|error| Error::new(self.invalid_options(), error.to_string()))
    }

    /// Checks that there is a compiler, which is also the linker.
    pub(super) fn check_available(self) -> Result<()> {
        gencl_client::check_available().map_err(|reason| self.not_available(reason))
    }
}
