//! Programs as the GPU sees them: machine code and constants in buffers.

use std::sync::Arc;

use gencl_program::elf;

use crate::launch::check;
use crate::memory::{Storage, Zone};
use crate::{Code, Context, Error, Result};

/// Bytes that the instruction fetch may read beyond the last instruction (Skylake manual, Volume 7 "3D-Media-GPGPU",
/// "Instruction prefetch": 128 bytes); they have to be mapped.
const PREFETCH: u64 = 128;

/// Kernels begin at multiples of this many bytes, as interface descriptors point to them.
const KERNEL_ALIGNMENT: usize = 64;

/// A loaded program.
#[derive(Debug)]
pub(crate) struct Executable {
    kernels: Vec<Arc<gencl_program::Kernel>>,
    /// Where each kernel's code begins in `code`.
    starts: Vec<u32>,
    code: Arc<Storage>,
    constants: Option<Arc<Storage>>,
    constants_size: u64,
    uneven_groups: bool,
}

impl Executable {
    /// Loads an ELF file. `INVALID_BINARY`.
    pub(crate) fn load(context: &Arc<Context>, binary: &[u8]) -> Result<Self> {
        let program =
            elf::read(binary).map_err(|error| Error::new(Code::InvalidBinary, error.to_string()))?;
        Self::from_program(context, program)
    }

    pub(crate) fn from_program(context: &Arc<Context>, program: gencl_program::Program) -> Result<Self> {
        let target = context.device().facts().target;
        if program.target != target {
            let reason = format!("the binary is for {}, the device is {target}", program.target);
            return Err(Error::new(Code::InvalidBinary, reason));
        }
        for kernel in &program.kernels {
            check(kernel)
                .map_err(|what| Error::new(Code::InvalidBinary, format!("kernel {}: {what}", kernel.name)))?;
        }
        let mut bytes = Vec::new();
        let mut starts = Vec::new();
        for kernel in &program.kernels {
            bytes.resize(bytes.len().next_multiple_of(KERNEL_ALIGNMENT), 0);
            starts.push(bytes.len() as u32);
            bytes.extend_from_slice(&kernel.code);
        }
        let code = Storage::new(context.space(), Zone::Instructions, bytes.len() as u64 + PREFETCH)?;
        code.memory().write(0, &bytes);
        let constants = match program.constants.len() as u64 {
            0 => None,
            size => {
                let storage = Storage::new(context.space(), Zone::Buffers, size)?;
                storage.memory().write(0, &program.constants);
                Some(Arc::new(storage))
            }
        };
        Ok(Self {
            kernels: program.kernels.into_iter().map(Arc::new).collect(),
            starts,
            code: Arc::new(code),
            constants,
            constants_size: program.constants.len() as u64,
            uneven_groups: allows_uneven_groups(&program.options),
        })
    }

    /// May the last work-group of a dimension be smaller?
    pub(crate) fn uneven_groups(&self) -> bool {
        self.uneven_groups
    }

    pub(crate) fn kernels(&self) -> &[Arc<gencl_program::Kernel>] {
        &self.kernels
    }

    /// Machine code of all kernels.
    pub(crate) fn code(&self) -> &Arc<Storage> {
        &self.code
    }

    /// Offset of a kernel's first instruction from the instruction base address.
    pub(crate) fn kernel_start(&self, kernel: &Arc<gencl_program::Kernel>) -> u32 {
        let index = self.kernels.iter().position(|other| Arc::ptr_eq(kernel, other));
        self.code.zone_offset() + self.starts[index.expect("the kernel is one of this executable's")]
    }

    /// Program-scope constants.
    pub(crate) fn constants(&self) -> Option<&Arc<Storage>> {
        self.constants.as_ref()
    }

    /// Their size in bytes.
    pub(crate) fn constants_size(&self) -> u64 {
        self.constants_size
    }
}

/// Do build options allow uneven work-groups? Since OpenCL C 2.0 they do, unless one forbids it.
fn allows_uneven_groups(options: &str) -> bool {
    let mut version = false;
    let mut uniform = false;
    for option in options.split_ascii_whitespace() {
        match option.strip_prefix("-cl-std=") {
            Some(standard) => version = !standard.starts_with("CL1"),
            None => uniform |= option == "-cl-uniform-work-group-size",
        }
    }
    version && !uniform
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uneven_groups_by_language() {
        assert!(!allows_uneven_groups(""));
        assert!(!allows_uneven_groups("-w -cl-std=CL1.2"));
        assert!(allows_uneven_groups("-cl-std=CL2.0 -w"));
        assert!(!allows_uneven_groups("-cl-std=CL3.0 -cl-uniform-work-group-size"));
    }
}
