//! Kernels and their arguments.

mod arguments;
mod built;

use std::sync::{Arc, Weak};

use gencl_i915::LaunchHint;
use gencl_program::{Access, Argument, ArgumentKind, SurfaceView};
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

pub use arguments::ArgumentValue;
use arguments::LocalLayout;
pub(crate) use arguments::{ArgumentBlock, ArgumentMemory};
pub use built::BuiltKernel;

use crate::context::DeviceContext;
use crate::{Code, Device, Error, Image, ImageLayout, MemoryFlags, Program, Result, SharedMemory};

/// A kernel of a program, with the values of its arguments. A launch has those of when it was enqueued.
/// Several threads may use a kernel at a time.
pub struct Kernel {
    program: Arc<Program>,
    /// The kernel on each device that it is built for, in the order of the devices; at least one. All have
    /// the same arguments.
    builds: SmallVec<[BuiltKernel; 1]>,
    /// By index; `None` for those that are not set.
    arguments: Mutex<Vec<Option<ArgumentValue>>>,
    /// That the devices will have to launch it.
    expected: Arc<[LaunchHint]>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("name", &self.info().name).finish_non_exhaustive()
    }
}

impl Kernel {
    /// A kernel of a built program. `INVALID_PROGRAM_EXECUTABLE` when it is not built for any device,
    /// `INVALID_KERNEL_NAME` when it has no kernel of this name; the reason lists those it has.
    /// `INVALID_KERNEL_DEFINITION` when its arguments differ from device to device.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Arc<Self>> {
        Self::create(program, name, true)
    }

    /// An initializer of the program's variables.
    pub(crate) fn initializer(program: &Arc<Program>, name: &str) -> Result<Arc<Self>> {
        Self::create(program, name, false)
    }

    /// As [`Kernel::new`]. Devices prepare for its launches if these are `expected`.
    fn create(program: &Arc<Program>, name: &str, expected: bool) -> Result<Arc<Self>> {
        let builds: SmallVec<[_; 1]> = program
            .executables()?
            .into_iter()
            .filter_map(|(device, executable)| {
                let number = executable.kernels().iter().position(|kernel| kernel.name == name)?;
                Some(BuiltKernel::new(device, executable, number))
            })
            .collect();
        let Some(first) = builds.first() else {
            let reason = format!("no kernel {name}; there are: {}", program.kernel_names()?.join(", "));
            return Err(Error::new(Code::InvalidKernelName, reason));
        };
        let arguments = &first.info().arguments;
        if !builds.iter().all(|build| arguments::take_same_values(&build.info().arguments, arguments)) {
            let reason = format!("the arguments of {name} differ from device to device");
            return Err(Error::new(Code::InvalidKernelDefinition, reason));
        }
        let arguments = Mutex::new(vec![None; arguments.len()]);
        let expected = builds.iter().filter(|_| expected).filter_map(crate::launch::expect).collect();
        program.attach();
        Ok(Arc::new(Self { program: program.clone(), builds, arguments, expected }))
    }

    /// One of each kernel of the program that has the same arguments on all devices.
    /// `INVALID_PROGRAM_EXECUTABLE` when it is not built for any. Devices do not prepare for their launches: there may be hundreds.
    pub fn all(program: &Arc<Program>) -> Result<Vec<Arc<Self>>> {
        let kernels = program.kernel_names()?.into_iter().map(|name| Self::create(program, &name, false));
        let differs = |kernel: &Result<_>| {
            kernel.as_ref().is_err_and(|error: &Error| error.code == Code::InvalidKernelDefinition)
        };
        kernels.filter(|kernel| !differs(kernel)).collect()
    }

    /// A new kernel with the same arguments (`clCloneKernel`).
    pub fn duplicate(&self) -> Arc<Self> {
        self.program.attach();
        Arc::new(Self {
            program: self.program.clone(),
            builds: self.builds.clone(),
            arguments: Mutex::new(self.arguments.lock().clone()),
            expected: self.expected.clone(),
        })
    }

    /// The program that has the kernel.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The kernel on each device that it is built for.
    pub fn builds(&self) -> &[BuiltKernel] {
        &self.builds
    }

    /// The kernel on a device. `INVALID_DEVICE` when it is not built for that.
    pub fn on(&self, device: &Arc<Device>) -> Result<&BuiltKernel> {
        let build = self.builds.iter().find(|build| Arc::ptr_eq(build.device(), device));
        build.ok_or_else(|| Error::new(Code::InvalidDevice, "the kernel is not built for the device"))
    }

    /// The kernel on a device, for a launch. `INVALID_PROGRAM_EXECUTABLE` when it is not built for that.
    pub(crate) fn executable_on(&self, device: &DeviceContext) -> Result<&BuiltKernel> {
        let build = self.builds.iter().find(|build| build.member().index() == device.index());
        build.ok_or_else(|| {
            Error::new(Code::InvalidProgramExecutable, "the program is not built for the device")
        })
    }

    /// The compiler's description of the kernel. Only name, arguments and attributes are the same on all
    /// devices.
    pub fn info(&self) -> &gencl_program::Kernel {
        self.builds[0].info()
    }

    /// Its attributes in OpenCL C, separated by spaces. None when the program was made from IL or binaries
    /// ("The OpenCL Specification", `CL_KERNEL_ATTRIBUTES`).
    pub fn attributes(&self) -> &str {
        let given = self.program.il().is_some() || self.program.is_from_binary();
        if given { "" } else { &self.info().attributes }
    }

    /// The layout of an argument. `INVALID_ARG_INDEX`.
    pub fn argument(&self, index: u32) -> Result<&Argument> {
        self.info().arguments.get(index as usize).ok_or_else(|| {
            let reason = format!(
                "{} has {} arguments, none with index {index}",
                self.info().name,
                self.info().arguments.len()
            );
            Error::new(Code::InvalidArgIndex, reason)
        })
    }

    /// As [`Kernel::argument`], for `clGetKernelArgInfo`. `KERNEL_ARG_INFO_NOT_AVAILABLE` unless the
    /// program was made from source and built with `-cl-kernel-arg-info`.
    pub fn argument_information(&self, index: u32) -> Result<&Argument> {
        let argument = self.argument(index)?;
        if self.program.is_from_binary() {
            return Err(Error::new(Code::KernelArgInfoNotAvailable, "the program is from a binary"));
        }
        if !self.info().argument_information {
            return Err(Error::new(Code::KernelArgInfoNotAvailable, "built without -cl-kernel-arg-info"));
        }
        Ok(argument)
    }

    /// The value of a pointer argument that points into shared virtual memory. `INVALID_ARG_VALUE` when
    /// `address` is in no allocation of the kernel's context.
    pub fn shared_pointer(&self, address: usize) -> Result<ArgumentValue> {
        Ok(ArgumentValue::Shared(address, self.shared_at(address, Code::InvalidArgValue)?))
    }

    /// The allocation of the context that an address is in; `code` when it is in none.
    fn shared_at(&self, address: usize, code: Code) -> Result<Weak<SharedMemory>> {
        let memory = self.program.context().shared_at(address);
        memory.map(|memory| Arc::downgrade(&memory)).ok_or_else(|| {
            Error::new(code, format!("{address:#x} is not in shared virtual memory of the context"))
        })
    }

    /// Sets an argument. `INVALID_ARG_INDEX`, `INVALID_ARG_SIZE` (a value of the wrong size, more local memory than
    /// addresses reach), `INVALID_ARG_VALUE` (a value of the wrong kind), `INVALID_CONTEXT` (an object of another
    /// context), `INVALID_MEM_OBJECT` (memory that was released, an image of another type).
    pub fn set_argument(&self, index: u32, value: ArgumentValue) -> Result<()> {
        self.check_argument(index, &value)?;
        self.arguments.lock()[index as usize] = Some(value);
        Ok(())
    }

    /// Errors as [`Kernel::set_argument`].
    pub(crate) fn check_argument(&self, index: u32, value: &ArgumentValue) -> Result<()> {
        self.check_value(self.argument(index)?, value)
    }

    fn check_value(&self, argument: &Argument, value: &ArgumentValue) -> Result<()> {
        use ArgumentKind::{ConstantPointer, GlobalPointer};
        let context = self.program.context();
        match (argument.kind, value) {
            (ArgumentKind::Value, ArgumentValue::Bytes(bytes)) if bytes.len() != argument.size as usize => {
                Err(self.wrong_size(argument, bytes.len() as u64))
            }
            (ArgumentKind::LocalPointer, ArgumentValue::Local(size)) if u32::try_from(*size).is_err() => {
                Err(self.wrong_size(argument, *size))
            }
            (GlobalPointer | ConstantPointer, ArgumentValue::Buffer(buffer)) => match buffer.upgrade() {
                Some(buffer) if Arc::ptr_eq(buffer.context(), context) => Ok(()),
                Some(_) => Err(Error::new(Code::InvalidContext, "the buffer is of another context")),
                None => Err(Error::new(Code::InvalidMemObject, "the buffer was released")),
            },
            (ArgumentKind::Image, ArgumentValue::Image(image)) => match image.upgrade() {
                Some(image) => self.check_image(argument, &image),
                None => Err(Error::new(Code::InvalidMemObject, "the image was released")),
            },
            (ArgumentKind::Sampler, ArgumentValue::Sampler(sampler))
                if !Arc::ptr_eq(sampler.context(), context) =>
            {
                Err(Error::new(Code::InvalidContext, "the sampler is of another context"))
            }
            (ArgumentKind::Value, ArgumentValue::Bytes(_))
            | (ArgumentKind::Sampler, ArgumentValue::Sampler(_))
            | (ArgumentKind::LocalPointer, ArgumentValue::Local(_))
            | (GlobalPointer | ConstantPointer, ArgumentValue::Null | ArgumentValue::Shared(..)) => Ok(()),
            (kind, value) => {
                let reason = format!("argument {} is a {kind:?}, not {}", argument.name, value.description());
                Err(Error::new(Code::InvalidArgValue, reason))
            }
        }
    }

    /// `INVALID_CONTEXT` for an image of another context, `INVALID_MEM_OBJECT` for one of another type than the
    /// argument's, `INVALID_ARG_VALUE` for one whose flags exclude the argument's access qualifier.
    fn check_image(&self, argument: &Argument, image: &Image) -> Result<()> {
        if !Arc::ptr_eq(image.data().context(), self.program.context()) {
            return Err(Error::new(Code::InvalidContext, "the image is of another context"));
        }
        let ImageLayout { kind, format, .. } = *image.layout();
        if image.layout().type_name() != argument.type_name {
            let reason = format!(
                "argument {} is an {}, not a {kind:?} of {format:?}",
                argument.name, argument.type_name
            );
            return Err(Error::new(Code::InvalidMemObject, reason));
        }
        let can = match argument.access {
            Access::ReadOnly => true,
            Access::WriteOnly | Access::ReadWrite | Access::None => {
                format.surface_format(SurfaceView::Written).is_some()
            }
        };
        if !can {
            let reason =
                format!("argument {}: kernels have no {:?} of {format:?}", argument.name, argument.access);
            return Err(Error::new(Code::InvalidArgValue, reason));
        }
        let forbidden = match argument.access {
            Access::ReadOnly => MemoryFlags::WRITE_ONLY,
            Access::WriteOnly => MemoryFlags::READ_ONLY,
            Access::ReadWrite => MemoryFlags::WRITE_ONLY | MemoryFlags::READ_ONLY,
            Access::None => MemoryFlags::empty(),
        };
        if image.data().flags().intersects(forbidden) {
            let reason = format!("argument {} is {:?}, and the image is not", argument.name, argument.access);
            return Err(Error::new(Code::InvalidArgValue, reason));
        }
        Ok(())
    }

    /// `INVALID_VALUE` for an address that is not in shared virtual memory of the kernel's context. Launches reach
    /// all of it, so the application need not say what they access through pointers in memory
    /// (`clSetKernelExecInfo`): many programs do not, and other drivers do not require it.
    pub fn check_reachable(&self, addresses: &[usize]) -> Result<()> {
        addresses.iter().try_for_each(|address| self.shared_at(*address, Code::InvalidValue).map(drop))
    }

    fn wrong_size(&self, argument: &Argument, size: u64) -> Error {
        let reason = format!(
            "argument {} of {} has type {} of {} bytes, {size} bytes were given",
            argument.name,
            self.info().name,
            argument.type_name,
            argument.size
        );
        Error::new(Code::InvalidArgSize, reason)
    }

    /// Local memory in bytes on a device: the kernel's variables and the arguments that are set.
    pub fn local_memory_size(&self, build: &BuiltKernel) -> u64 {
        let arguments = self.arguments.lock();
        let mut layout = LocalLayout::new(build.info());
        for (argument, value) in build.info().arguments.iter().zip(arguments.iter()) {
            if let Some(ArgumentValue::Local(size)) = value {
                layout.allocate(argument, *size);
            }
        }
        layout.size
    }

    /// The values of the arguments as they are now, by index.
    pub(crate) fn values(&self) -> MutexGuard<'_, Vec<Option<ArgumentValue>>> {
        self.arguments.lock()
    }

    /// Writes values of the arguments to an empty block, for a launch on a device.
    /// `INVALID_KERNEL_ARGS` with the name of one that is not set, or whose memory was released.
    pub(crate) fn bind_arguments(
        &self,
        build: &BuiltKernel,
        values: &[Option<ArgumentValue>],
        device: &DeviceContext,
        block: &mut ArgumentBlock,
    ) -> Result<()> {
        let mut local = LocalLayout::new(build.info());
        block.resize(&build.info().arguments);
        for (index, (argument, value)) in build.info().arguments.iter().zip(values.iter()).enumerate() {
            let refused = |why: &str| {
                let reason = format!("argument {} of {} {why}", argument.name, self.info().name);
                Error::new(Code::InvalidKernelArgs, reason)
            };
            match value {
                None => return Err(refused("is not set")),
                // The block is one of zeros.
                Some(ArgumentValue::Null) => {}
                Some(ArgumentValue::Bytes(bytes)) => block.put(argument, bytes),
                Some(ArgumentValue::Local(size)) => {
                    block.put_local((index, argument), local.allocate(argument, *size), *size);
                }
                Some(ArgumentValue::Buffer(buffer)) => {
                    let buffer = buffer.upgrade().ok_or_else(|| refused("is a buffer that was released"))?;
                    let address = buffer.address_on(device);
                    block.put_memory((index, argument), address, ArgumentMemory::Buffer(buffer));
                }
                Some(ArgumentValue::Shared(address, memory)) => {
                    let memory = memory.upgrade();
                    let memory = memory.ok_or_else(|| refused("is shared virtual memory that was freed"))?;
                    let pages = ArgumentMemory::Shared(memory.storage().clone(), memory.size() as u64);
                    block.put_memory((index, argument), *address as u64, pages);
                }
                Some(ArgumentValue::Image(image)) => {
                    let image = image.upgrade().ok_or_else(|| refused("is an image that was released"))?;
                    image.check_device(device)?;
                    let address = image.data().address_on(device);
                    block.put_memory((index, argument), address, ArgumentMemory::Image(image));
                }
                Some(ArgumentValue::Sampler(sampler)) => block.put_pointer(argument, sampler.number().into()),
            }
        }
        block.set_local_memory(local.size);
        Ok(())
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.detach();
    }
}
