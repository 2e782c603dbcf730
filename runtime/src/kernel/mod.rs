//! Kernels and their arguments.

mod built;

use std::ops::Range;
use std::sync::{Arc, Weak};

use gencl_program::{Access, Argument, ArgumentKind};
use parking_lot::Mutex;
use smallvec::SmallVec;

pub use built::BuiltKernel;

use crate::context::DeviceContext;
use crate::{
    Buffer, Code, Device, Error, Image, MemoryFlags, Program, Result, Sampler, SharedKind, SharedMemory,
};

/// What an argument is set to.
#[derive(Clone, Debug)]
pub enum ArgumentValue<'a> {
    /// The bytes of a value.
    Bytes(&'a [u8]),
    /// A buffer for a global or constant pointer, `None` for a null pointer.
    Buffer(Option<Arc<Buffer>>),
    /// An address in shared virtual memory for a global or constant pointer.
    Shared(usize),
    /// Bytes of local memory.
    Local(u64),
    /// An image.
    Image(Arc<Image>),
    /// A sampler.
    Sampler(Arc<Sampler>),
}

/// What a kernel remembers of an argument that is set. It does not keep a memory object alive: a kernel may
/// hold no references to its arguments, as the application could not take them back (specification of
/// `clSetKernelArg`).
#[derive(Clone, Debug)]
enum Setting {
    /// Most are scalars and short vectors, which are kept without an allocation.
    Bytes(SmallVec<[u8; 16]>),
    Null,
    Buffer(Weak<Buffer>),
    Shared(usize, Weak<SharedMemory>),
    Local(u32),
    Image(Weak<Image>),
    Sampler(Weak<Sampler>),
}

/// An argument of a launch, which does keep them.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// Which of the bytes of all values.
    Bytes(Range<usize>),
    Buffer(Option<Arc<Buffer>>),
    Shared(usize, Arc<SharedMemory>),
    Local(u32),
    Image(Arc<Image>),
    /// Nothing of it is to be in memory.
    Sampler,
}

impl Bound {
    /// Is it the same as another, whose launch still keeps what it refers to? Of values it says only that
    /// they stand at the same place: [`Arguments::are_like`] compares their bytes.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(own), Self::Bytes(other)) => own == other,
            (Self::Buffer(own), Self::Buffer(other)) => match (own, other) {
                (Some(own), Some(other)) => Arc::ptr_eq(own, other),
                (own, other) => own.is_none() && other.is_none(),
            },
            (Self::Shared(own, _), Self::Shared(other, _)) => own == other,
            (Self::Local(own), Self::Local(other)) => own == other,
            (Self::Image(own), Self::Image(other)) => Arc::ptr_eq(own, other),
            (Self::Sampler, Self::Sampler) => true,
            _ => false,
        }
    }
}

/// The arguments of a launch.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    bound: Vec<Bound>,
    values: Vec<u8>,
    /// What the launch may reach through pointers in memory.
    reaches: Vec<Arc<SharedMemory>>,
}

impl Arguments {
    /// Each, in the kernel's order.
    pub(crate) fn bound(&self) -> &[Bound] {
        &self.bound
    }

    /// The bytes of a value.
    pub(crate) fn value(&self, range: &Range<usize>) -> &[u8] {
        &self.values[range.clone()]
    }

    /// What the launch may reach through pointers in memory, as far as it had not been freed.
    pub(crate) fn reaches(&self) -> &[Arc<SharedMemory>] {
        &self.reaches
    }

    /// The next argument.
    pub(crate) fn push(&mut self, bound: Bound) {
        self.bound.push(bound);
    }

    /// The next argument, a value.
    pub(crate) fn push_value(&mut self, bytes: &[u8]) {
        let begin = self.values.len();
        self.values.extend_from_slice(bytes);
        self.bound.push(Bound::Bytes(begin..self.values.len()));
    }

    /// Are they the same as others, for the same kernel?
    pub(crate) fn are_like(&self, other: &Self) -> bool {
        // With nothing to compare, `memcmp` reads from nowhere under an empty mask, which processors take
        // long for.
        let same_values = || self.values.is_empty() || self.values == other.values;
        let same_bound = || self.bound.iter().zip(&other.bound).all(|(own, other)| own.is_like(other));
        let same_reaches =
            || self.reaches.iter().zip(&other.reaches).all(|(own, other)| Arc::ptr_eq(own, other));
        let lengths = |of: &Self| [of.values.len(), of.bound.len(), of.reaches.len()];
        lengths(self) == lengths(other) && same_values() && same_bound() && same_reaches()
    }

    /// Forgets them all; the memory for them stays.
    pub(crate) fn clear(&mut self) {
        self.bound.clear();
        self.values.clear();
        self.reaches.clear();
    }
}

/// Lists of what launches may reach through pointers in memory: each replaces only itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedList {
    /// `CL_KERNEL_EXEC_INFO_SVM_PTRS`
    Svm,
    /// `CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL`
    Unified,
}

/// Kinds of allocations of which launches may reach all (`CL_KERNEL_EXEC_INFO_INDIRECT_*_ACCESS_INTEL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in cl_ext.h")]
pub enum ReachedKind {
    Host,
    Device,
    Shared,
}

impl ReachedKind {
    fn of(kind: SharedKind) -> Option<Self> {
        match kind {
            SharedKind::Svm => None,
            SharedKind::Host => Some(Self::Host),
            SharedKind::Device => Some(Self::Device),
            SharedKind::Shared => Some(Self::Shared),
        }
    }
}

/// What launches may reach through pointers in memory.
#[derive(Clone, Debug, Default)]
struct Reaches {
    /// By [`ReachedList`].
    lists: [Vec<Weak<SharedMemory>>; 2],
    /// By [`ReachedKind`].
    all: [bool; 3],
}

/// A kernel of a program, with arguments. Several threads may use one at a time, but the arguments that a
/// launch sees are those set when it is enqueued.
pub struct Kernel {
    program: Arc<Program>,
    /// On each device that has it, in their order; at least on one. What arguments there are is the same on
    /// all.
    builds: SmallVec<[BuiltKernel; 1]>,
    arguments: Mutex<Vec<Option<Setting>>>,
    /// What launches may reach through pointers in memory.
    reaches: Mutex<Reaches>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("name", &self.info().name).finish_non_exhaustive()
    }
}

impl Kernel {
    /// Finds a kernel in a built program. `INVALID_PROGRAM_EXECUTABLE` when it is not built for any device,
    /// `INVALID_KERNEL_NAME` when it has no kernel of this name; the reason lists those it has.
    /// `INVALID_KERNEL_DEFINITION` when its arguments differ from device to device.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Arc<Self>> {
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
        if !builds.iter().all(|build| are_alike(&build.info().arguments, arguments)) {
            let reason = format!("the arguments of {name} differ from device to device");
            return Err(Error::new(Code::InvalidKernelDefinition, reason));
        }
        let arguments = Mutex::new(vec![None; arguments.len()]);
        program.attach();
        Ok(Arc::new(Self { program: program.clone(), builds, arguments, reaches: Mutex::default() }))
    }

    /// One of each kernel of the program that has the same arguments on all devices.
    /// `INVALID_PROGRAM_EXECUTABLE` when it is not built for any.
    pub fn all(program: &Arc<Program>) -> Result<Vec<Arc<Self>>> {
        let kernels = program.kernel_names()?.into_iter().map(|name| Self::new(program, &name));
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
            reaches: Mutex::new(self.reaches.lock().clone()),
        })
    }

    /// Its program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// On each device that it is built for.
    pub fn builds(&self) -> &[BuiltKernel] {
        &self.builds
    }

    /// On a device. `INVALID_DEVICE` when it is not built for that.
    pub fn on(&self, device: &Arc<Device>) -> Result<&BuiltKernel> {
        let build = self.builds.iter().find(|build| Arc::ptr_eq(build.device(), device));
        build.ok_or_else(|| Error::new(Code::InvalidDevice, "the kernel is not built for the device"))
    }

    /// For a launch on a device. `INVALID_PROGRAM_EXECUTABLE` when it is not built for that.
    pub(crate) fn executable_on(&self, device: &DeviceContext) -> Result<&BuiltKernel> {
        let build = self.builds.iter().find(|build| build.member().index() == device.index());
        build.ok_or_else(|| {
            Error::new(Code::InvalidProgramExecutable, "the program is not built for the device")
        })
    }

    /// What the compiler says of it, as far as that is the same on all devices: name, arguments, attributes.
    pub fn info(&self) -> &gencl_program::Kernel {
        self.builds[0].info()
    }

    /// One argument's description. `INVALID_ARG_INDEX`.
    pub fn argument(&self, index: u32) -> Result<&Argument> {
        self.info().arguments.get(index as usize).ok_or_else(|| {
            let reason = format!(
                "{} has {} arguments, not one {index}",
                self.info().name,
                self.info().arguments.len()
            );
            Error::new(Code::InvalidArgIndex, reason)
        })
    }

    /// As [`Kernel::argument`], for the application's questions. `KERNEL_ARG_INFO_NOT_AVAILABLE` unless the
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

    /// Sets an argument. `INVALID_ARG_INDEX`, `INVALID_ARG_SIZE` (a value of the wrong size, local memory of
    /// none), `INVALID_ARG_VALUE` (a value of the wrong kind).
    pub fn set_argument(&self, index: u32, value: ArgumentValue<'_>) -> Result<()> {
        let argument = self.argument(index)?;
        let bound = match (argument.kind, value) {
            (ArgumentKind::Value, ArgumentValue::Bytes(bytes)) => {
                if bytes.len() != argument.size as usize {
                    return Err(self.wrong_size(argument, bytes.len() as u64));
                }
                Setting::Bytes(bytes.into())
            }
            (ArgumentKind::GlobalPointer | ArgumentKind::ConstantPointer, ArgumentValue::Buffer(buffer)) => {
                if buffer
                    .as_ref()
                    .is_some_and(|buffer| !Arc::ptr_eq(buffer.context(), self.program.context()))
                {
                    return Err(Error::new(Code::InvalidMemObject, "the buffer is of another context"));
                }
                buffer.map_or(Setting::Null, |buffer| Setting::Buffer(Arc::downgrade(&buffer)))
            }
            (ArgumentKind::GlobalPointer | ArgumentKind::ConstantPointer, ArgumentValue::Shared(address)) => {
                let memory = self.program.context().shared_at(address).ok_or_else(|| {
                    let reason = format!("{address:#x} is not in shared virtual memory of the context");
                    Error::new(Code::InvalidArgValue, reason)
                })?;
                Setting::Shared(address, Arc::downgrade(&memory))
            }
            (ArgumentKind::LocalPointer, ArgumentValue::Local(size)) => match u32::try_from(size) {
                Ok(size) if size > 0 => Setting::Local(size),
                _ => return Err(self.wrong_size(argument, size)),
            },
            (ArgumentKind::Image, ArgumentValue::Image(image)) => {
                self.check_image(argument, &image)?;
                Setting::Image(Arc::downgrade(&image))
            }
            (ArgumentKind::Sampler, ArgumentValue::Sampler(sampler)) => {
                if !Arc::ptr_eq(sampler.context(), self.program.context()) {
                    return Err(Error::new(Code::InvalidSampler, "the sampler is of another context"));
                }
                Setting::Sampler(Arc::downgrade(&sampler))
            }
            (kind, value) => {
                let reason = format!("argument {} is a {kind:?}, not {value:?}", argument.name);
                return Err(Error::new(Code::InvalidArgValue, reason));
            }
        };
        self.arguments.lock()[index as usize] = Some(bound);
        Ok(())
    }

    /// `INVALID_MEM_OBJECT` for an image of another context, `INVALID_ARG_VALUE` for one of another kind than
    /// the argument's type has, or that kernels may not use as the argument's qualifier says.
    fn check_image(&self, argument: &Argument, image: &Image) -> Result<()> {
        if !Arc::ptr_eq(image.data().context(), self.program.context()) {
            return Err(Error::new(Code::InvalidMemObject, "the image is of another context"));
        }
        let kind = image.layout().kind;
        if !kind.type_names().contains(&argument.type_name.as_str()) {
            let reason = format!("argument {} is an {}, not a {kind:?}", argument.name, argument.type_name);
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

    /// Says which shared virtual memory launches may reach through pointers in memory, in place of what was
    /// said before. `INVALID_VALUE` for an address that is in none.
    pub fn set_reaches(&self, which: ReachedList, addresses: &[usize]) -> Result<()> {
        let find = |address: &usize| {
            let memory = self.program.context().shared_at(*address).map(|memory| Arc::downgrade(&memory));
            memory.ok_or_else(|| {
                Error::new(
                    Code::InvalidValue,
                    format!("{address:#x} is not in shared virtual memory of the context"),
                )
            })
        };
        let found = addresses.iter().map(find).collect::<Result<_>>()?;
        self.reaches.lock().lists[which as usize] = found;
        Ok(())
    }

    /// Says whether launches may reach all allocations of a kind through pointers in memory.
    pub fn set_reaches_all(&self, which: ReachedKind, may: bool) {
        self.reaches.lock().all[which as usize] = may;
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

    /// Local memory in bytes on a device: what the kernel declares and what its arguments are set to.
    pub fn local_memory_size(&self, build: &BuiltKernel) -> u64 {
        let arguments = self.arguments.lock();
        let mut layout = LocalLayout::new(build.info());
        for (argument, bound) in build.info().arguments.iter().zip(arguments.iter()) {
            if let Some(Setting::Local(size)) = bound {
                layout.place(argument.alignment, *size);
            }
        }
        layout.size
    }

    /// Copies the arguments as they are now to empty ones. `INVALID_KERNEL_ARGS` with the name of one that is
    /// not set, or whose memory was released.
    pub(crate) fn snapshot(&self, to: &mut Arguments) -> Result<()> {
        let settings = self.arguments.lock();
        let refuse = |argument: &Argument, why: &str| {
            let reason = format!("argument {} of {} {why}", argument.name, self.info().name);
            Error::new(Code::InvalidKernelArgs, reason)
        };
        for (argument, setting) in self.info().arguments.iter().zip(settings.iter()) {
            match setting {
                None => return Err(refuse(argument, "is not set")),
                Some(Setting::Bytes(bytes)) => to.push_value(bytes),
                Some(Setting::Null) => to.push(Bound::Buffer(None)),
                Some(Setting::Local(size)) => to.push(Bound::Local(*size)),
                Some(Setting::Buffer(buffer)) => match buffer.upgrade() {
                    Some(buffer) => to.push(Bound::Buffer(Some(buffer))),
                    None => return Err(refuse(argument, "is a buffer that was released")),
                },
                Some(Setting::Shared(address, memory)) => match memory.upgrade() {
                    Some(memory) => to.push(Bound::Shared(*address, memory)),
                    None => return Err(refuse(argument, "is shared virtual memory that was freed")),
                },
                Some(Setting::Image(image)) => match image.upgrade() {
                    Some(image) => to.push(Bound::Image(image)),
                    None => return Err(refuse(argument, "is an image that was released")),
                },
                Some(Setting::Sampler(sampler)) => match sampler.upgrade() {
                    Some(_) => to.push(Bound::Sampler),
                    None => return Err(refuse(argument, "is a sampler that was released")),
                },
            }
        }
        let reaches = self.reaches.lock();
        to.reaches.extend(reaches.lists.iter().flatten().filter_map(Weak::upgrade));
        if reaches.all.contains(&true) {
            let may = |kind| ReachedKind::of(kind).is_some_and(|kind| reaches.all[kind as usize]);
            to.reaches.extend(self.program.context().shared_where(may));
        }
        Ok(())
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.detach();
    }
}

/// Does `clSetKernelArg` take the same for both?
fn are_alike(own: &[Argument], other: &[Argument]) -> bool {
    let taken = |argument: &Argument| (argument.kind, argument.size, argument.access);
    let alike =
        |(own, other): (&Argument, &Argument)| taken(own) == taken(other) && own.type_name == other.type_name;
    own.len() == other.len() && own.iter().zip(other).all(alike)
}

/// Where local memory arguments are placed: behind the static local memory, one after the other.
pub(crate) struct LocalLayout {
    /// Bytes so far.
    pub(crate) size: u64,
}

impl LocalLayout {
    pub(crate) fn new(kernel: &gencl_program::Kernel) -> Self {
        Self { size: u64::from(kernel.local_size) }
    }

    /// Places `size` bytes; gives their offset.
    pub(crate) fn place(&mut self, alignment: u32, size: u32) -> u64 {
        let offset = self.size.next_multiple_of(u64::from(alignment.max(1)));
        self.size = offset + u64::from(size);
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_arguments_are_aligned() {
        let kernel = gencl_program::Kernel { local_size: 5, ..Default::default() };
        let mut layout = LocalLayout::new(&kernel);
        assert_eq!(layout.place(16, 4), 16);
        assert_eq!(layout.place(1, 3), 20);
        assert_eq!(layout.place(4, 4), 24);
        assert_eq!(layout.size, 28);
    }
}
