//! Programs: source or IL, builds, binaries.

mod building;
mod call;
mod executable;
mod input;
mod lines;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gencl_program::protocol::{CompileRequest, Header, LinkRequest, ToServer};
use gencl_program::report;
use parking_lot::Mutex;

use building::{Build, Building, Notify, in_background};
use call::Call;
pub(crate) use executable::Executable;
use input::{Il, Input};

use crate::context::DeviceContext;
use crate::{Code, Context, Device, Error, Result};

/// Status of the last build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildStatus {
    /// The program has not been built.
    None,
    /// The build has not ended.
    InProgress,
    /// Compiled, linked or built.
    Success,
    /// Failed; the log says why.
    Error,
}

/// Type of a program's binary; the discriminants are the `CL_PROGRAM_BINARY_TYPE_*` values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BinaryKind {
    /// No binary.
    None = 0,
    /// From `clCompileProgram`.
    CompiledObject = 1,
    /// From `clLinkProgram` with `-create-library`.
    Library = 2,
    /// Built or linked: kernels can be created.
    Executable = 4,
}

/// A program, from source, IL or binaries.
#[derive(Debug)]
pub struct Program {
    context: Arc<Context>,
    input: Input,
    builds: Builds,
    /// Number of kernel objects.
    kernels: AtomicU32,
}

/// The state of a program on each of its devices, in the context's order.
type Builds = Box<[(Arc<DeviceContext>, Mutex<Build>)]>;

impl Program {
    fn new(context: &Arc<Context>, devices: &[Arc<DeviceContext>], input: Input) -> Self {
        Self {
            context: context.clone(),
            input,
            builds: devices.iter().map(|device| (device.clone(), Mutex::default())).collect(),
            kernels: AtomicU32::new(0),
        }
    }

    /// A program from OpenCL C, for all devices of the context.
    pub fn from_source(context: &Arc<Context>, source: String) -> Arc<Self> {
        gencl_client::expect_build(source.as_bytes());
        Arc::new(Self::new(context, context.members(), Input::Source(source)))
    }

    /// A program from a module of SPIR-V, for all devices of the context. `INVALID_VALUE` when it is no module.
    pub fn from_il(context: &Arc<Context>, module: &[u8]) -> Result<Arc<Self>> {
        let il = Il::new(module)?;
        gencl_client::expect_build(module);
        Ok(Arc::new(Self::new(context, context.members(), Input::Il(il))))
    }

    /// A program from binaries, as [`Program::binary`] returns them, for one or several devices. An
    /// executable has to be built, which needs no compiler; a compiled object or a library has to be linked.
    /// `INVALID_DEVICE`. The list has the result for each binary: `INVALID_BINARY` for one that is damaged or
    /// for another device.
    pub fn from_binaries(
        context: &Arc<Context>,
        binaries: &[(Arc<Device>, Vec<u8>)],
    ) -> Result<(Arc<Self>, Vec<Result<()>>)> {
        let given: Vec<_> = binaries.iter().map(|(device, _)| device.clone()).collect();
        let program = Self::new(context, &members(context, &given)?, Input::Binaries);
        let taken = binaries.iter().map(|(device, binary)| {
            let (member, build) = program.on(device)?;
            let mut build = build.lock();
            build.take(member, binary.as_slice().into())?;
            if member.tools().any() && build.lacks_checks() {
                report::once(
                    "binaries",
                    "a program was created from a binary without checks: it is not checked",
                );
            }
            Ok(())
        });
        let taken = taken.collect();
        Ok((Arc::new(program), taken))
    }

    /// As [`Program::from_binaries`], for one device: `INVALID_DEVICE`, `INVALID_BINARY`.
    pub fn from_binary(context: &Arc<Context>, device: &Arc<Device>, binary: &[u8]) -> Result<Arc<Self>> {
        let (program, taken) = Self::from_binaries(context, &[(device.clone(), binary.to_vec())])?;
        taken.into_iter().collect::<Result<()>>()?;
        Ok(program)
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The devices that the program is or can be built for.
    pub fn devices(&self) -> impl ExactSizeIterator<Item = &Arc<Device>> {
        self.builds.iter().map(|(member, _)| member.device())
    }

    /// The source, if the program was created from one.
    pub fn source(&self) -> Option<&str> {
        if let Input::Source(source) = &self.input { Some(source) } else { None }
    }

    /// The module of SPIR-V, if the program was created from one.
    pub fn il(&self) -> Option<&[u8]> {
        if let Input::Il(il) = &self.input { Some(&il.module) } else { None }
    }

    /// Whether the program was created from binaries.
    pub(crate) fn is_from_binary(&self) -> bool {
        matches!(self.input, Input::Binaries)
    }

    /// Sets a specialization constant for builds to come; `value` gets the number of bytes that it has to have, and
    /// returns them, little endian. `INVALID_PROGRAM` when the program was not created from IL, `INVALID_SPEC_ID`,
    /// errors of `value`.
    pub fn specialize(&self, id: u32, value: impl FnOnce(usize) -> Result<Vec<u8>>) -> Result<()> {
        let Input::Il(il) = &self.input else {
            return Err(Error::new(Code::InvalidProgram, "the program is not from an intermediate language"));
        };
        il.specialize(id, &value(il.size_of(id)?)?);
        Ok(())
    }

    /// The program on a device. `INVALID_DEVICE` when it is not for the device.
    fn on(&self, device: &Arc<Device>) -> Result<&(Arc<DeviceContext>, Mutex<Build>)> {
        let found = self.builds.iter().find(|(member, _)| Arc::ptr_eq(member.device(), device));
        found.ok_or_else(|| Error::new(Code::InvalidDevice, "the program is not for the device"))
    }

    /// Status of the last build for a device. `INVALID_DEVICE`, as for all queries on a device.
    pub fn status(&self, device: &Arc<Device>) -> Result<BuildStatus> {
        Ok(self.on(device)?.1.lock().status)
    }

    /// Type of the binary for a device.
    pub fn binary_kind(&self, device: &Arc<Device>) -> Result<BinaryKind> {
        Ok(self.on(device)?.1.lock().kind)
    }

    /// Options of the last build for a device.
    pub fn options(&self, device: &Arc<Device>) -> Result<String> {
        Ok(self.on(device)?.1.lock().options.clone())
    }

    /// Log of the last build for a device.
    pub fn log(&self, device: &Arc<Device>) -> Result<String> {
        Ok(self.on(device)?.1.lock().log.clone())
    }

    /// The program's binary for a device, an ELF file; empty when it is not built.
    pub fn binary(&self, device: &Arc<Device>) -> Result<Arc<[u8]>> {
        Ok(self.on(device)?.1.lock().binary.clone())
    }

    /// Bytes of program-scope variables in global memory; 0 when it is not built.
    pub fn variables_size(&self, device: &Arc<Device>) -> Result<u64> {
        let executable = self.on(device)?.1.lock().executable();
        Ok(executable.map_or(0, |executable| executable.variables_size()))
    }

    /// Names of the kernels on all devices, in the order of the source, without initializers. `INVALID_PROGRAM_EXECUTABLE`
    /// when it is not built for any.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for (_, executable) in self.executables()? {
            let visible = executable.kernels().iter().filter(|kernel| !kernel.is_initializer());
            let new = visible.filter(|kernel| !names.contains(&kernel.name));
            let new: Vec<_> = new.map(|kernel| kernel.name.clone()).collect();
            names.extend(new);
        }
        Ok(names)
    }

    /// The executables with their devices. `INVALID_PROGRAM_EXECUTABLE` when the program is built for none.
    pub(crate) fn executables(&self) -> Result<Vec<(Arc<DeviceContext>, Arc<Executable>)>> {
        let built = |(member, build): &(Arc<DeviceContext>, Mutex<Build>)| {
            Some((member.clone(), build.lock().executable()?))
        };
        let executables: Vec<_> = self.builds.iter().filter_map(built).collect();
        match executables.is_empty() {
            true => Err(Error::new(Code::InvalidProgramExecutable, "the program is not built")),
            false => Ok(executables),
        }
    }

    /// Builds for devices, or for all of the program when none are given. With `notify` the call returns when
    /// the build has begun, and `notify` is called by another thread at its end. If the build cannot begin,
    /// the call fails and `notify` is not called (OpenCL 3.0, 5.8.2; also 5.8.3 and 5.8.4).
    ///
    /// `INVALID_DEVICE`, `INVALID_OPERATION` when kernels are attached or a build for one of the devices is
    /// in progress, `INVALID_BUILD_OPTIONS` and `COMPILER_NOT_AVAILABLE` when it cannot begin,
    /// `BUILD_PROGRAM_FAILURE` when it fails for one of them; [`Program::log`] has the details.
    pub fn build(
        self: &Arc<Self>,
        devices: &[Arc<Device>],
        options: &str,
        notify: Option<Notify>,
    ) -> Result<()> {
        let building = self.begin(Call::Build, devices, options)?;
        let options = options.to_owned();
        in_background(notify, move || {
            building.run(|program, member, build| {
                if let Some(request) = program.input.request() {
                    return Ok(Some(compilation(Call::Build, member, request, &options, &[])));
                }
                match build.kind {
                    BinaryKind::Executable => Ok(None),
                    BinaryKind::CompiledObject | BinaryKind::Library => {
                        Ok(Some(linking(member, String::new(), std::slice::from_ref(&build.binary))))
                    }
                    BinaryKind::None => Err(Error::new(
                        Code::InvalidBinary,
                        "the program has neither source, IL nor binary for the device",
                    )),
                }
            })
        })
    }

    /// Compiles without linking. `headers` are programs whose sources can be included by the given names.
    /// Errors as [`Program::build`], with `COMPILE_PROGRAM_FAILURE` and `INVALID_COMPILER_OPTIONS`.
    pub fn compile(
        self: &Arc<Self>,
        devices: &[Arc<Device>],
        options: &str,
        headers: &[(String, Arc<Program>)],
        notify: Option<Notify>,
    ) -> Result<()> {
        let Some(request) = self.input.request() else {
            return Err(Error::new(Code::InvalidOperation, "the program has neither source nor IL"));
        };
        if headers.iter().any(|(_, header)| !Arc::ptr_eq(&header.context, &self.context)) {
            return Err(Error::new(Code::InvalidContext, "a header is of another context"));
        }
        let headers = headers.iter().map(|(name, program)| match program.source() {
            Some(source) => Ok(Header { name: name.clone(), source: source.as_bytes().to_vec() }),
            None => Err(Error::new(Code::InvalidProgram, format!("header {name} has no source"))),
        });
        let headers = headers.collect::<Result<Vec<_>>>()?;
        let building = self.begin(Call::Compile, devices, options)?;
        let options = options.to_owned();
        in_background(notify, move || {
            building.run(|_, member, _| {
                Ok(Some(compilation(Call::Compile, member, request.clone(), &options, &headers)))
            })
        })
    }

    /// Links compiled programs and libraries for devices, or for all of the context when none are given, to
    /// an executable or a library. Devices for which no input is compiled are left out.
    ///
    /// When linking fails, the new program is returned with `LINK_PROGRAM_FAILURE`; its status and log have
    /// the error. When linking cannot begin there is no program: `INVALID_DEVICE`, `INVALID_OPERATION` when
    /// for a device only some inputs are compiled, or for no device all, `INVALID_LINKER_OPTIONS`,
    /// `LINKER_NOT_AVAILABLE`.
    pub fn link(
        context: &Arc<Context>,
        devices: &[Arc<Device>],
        options: &str,
        inputs: &[Arc<Program>],
        notify: Option<Notify>,
    ) -> Result<(Arc<Self>, Result<()>)> {
        if inputs.iter().any(|input| !Arc::ptr_eq(&input.context, context)) {
            return Err(Error::new(Code::InvalidContext, "a program to link is of another context"));
        }
        let program = Arc::new(Self::new(context, &members(context, devices)?, Input::Objects));
        let mut objects = Vec::new();
        for device in program.devices() {
            let compiled: Vec<_> = inputs.iter().filter_map(|input| input.compiled(device)).collect();
            if !compiled.is_empty() && compiled.len() < inputs.len() {
                return Err(Error::new(Code::InvalidOperation, "a program to link is not compiled"));
            }
            objects.push((device.clone(), compiled));
        }
        objects.retain(|(_, compiled)| !compiled.is_empty());
        if objects.is_empty() {
            return Err(Error::new(Code::InvalidOperation, "the programs to link are not compiled"));
        }
        let linked: Vec<_> = objects.iter().map(|(device, _)| device.clone()).collect();
        let building = program.begin(Call::Link, &linked, options)?;
        let options = options.to_owned();
        let work = move || {
            building.run(|_, member, _| {
                let compiled = objects.iter().find(|(device, _)| Arc::ptr_eq(device, member.device()));
                let compiled = compiled.map_or(&[][..], |(_, compiled)| compiled);
                Ok(Some(linking(member, options.clone(), compiled)))
            })
        };
        match in_background(notify, work) {
            Err(error) if error.code != Code::LinkProgramFailure => Err(error),
            result => Ok((program, result)),
        }
    }

    /// A compiled object or library for a device, if it has one.
    fn compiled(&self, device: &Arc<Device>) -> Option<Arc<[u8]>> {
        let build = self.on(device).ok()?.1.lock();
        match build.kind {
            BinaryKind::CompiledObject | BinaryKind::Library => Some(build.binary.clone()),
            BinaryKind::None | BinaryKind::Executable => None,
        }
    }

    /// Begins a build: all checks whose errors the specification wants returned by the call itself, not by
    /// the callback.
    fn begin(self: &Arc<Self>, call: Call, devices: &[Arc<Device>], options: &str) -> Result<Building> {
        let building = self.occupy(call, devices, options)?;
        match building.check(options) {
            Ok(()) => Ok(building),
            Err(error) => Err(building.fail(error)),
        }
    }

    /// Marks the program as being built for devices, or for all of its own.
    fn occupy(self: &Arc<Self>, call: Call, devices: &[Arc<Device>], options: &str) -> Result<Building> {
        devices.iter().try_for_each(|device| self.on(device).map(drop))?;
        if self.kernels.load(Ordering::Acquire) > 0 {
            return Err(Error::new(Code::InvalidOperation, "kernels of the program exist"));
        }
        let is_selected = |member: &DeviceContext| {
            devices.is_empty() || devices.iter().any(|device| Arc::ptr_eq(device, member.device()))
        };
        // The build begins for all devices or for none.
        let all = self.builds.iter().enumerate();
        let selected = all.filter(|(_, (member, _))| is_selected(member));
        let mut builds: Vec<_> = selected.map(|(index, (_, build))| (index, build.lock())).collect();
        if builds.iter().any(|(_, build)| build.status == BuildStatus::InProgress) {
            return Err(Error::new(Code::InvalidOperation, "a build of the program is in progress"));
        }
        builds.iter_mut().for_each(|(_, build)| build.begin(options, self.input.is_compiled()));
        let devices = builds.into_iter().map(|(index, _)| index).collect();
        Ok(Building::new(self, call, devices))
    }

    /// Counts a new kernel object.
    pub(crate) fn attach(&self) {
        self.kernels.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a kernel object that is gone.
    pub(crate) fn detach(&self) {
        self.kernels.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Devices as parts of a context, in its order; all when none are given. `INVALID_DEVICE`.
fn members(context: &Context, devices: &[Arc<Device>]) -> Result<Vec<Arc<DeviceContext>>> {
    let mut members = match devices {
        [] => context.members().to_vec(),
        _ => devices.iter().map(|device| context.on(device).cloned()).collect::<Result<_>>()?,
    };
    members.sort_by_key(|member| member.index());
    members.dedup_by_key(|member| member.index());
    Ok(members)
}

/// A request to compile for a device, for `clCompileProgram` to an object.
fn compilation(
    call: Call,
    member: &DeviceContext,
    request: CompileRequest,
    options: &str,
    headers: &[Header],
) -> ToServer {
    ToServer::Compile(CompileRequest {
        options: options.to_owned(),
        headers: headers.to_vec(),
        target: member.device().facts().family.to_string(),
        object: call == Call::Compile,
        ..request
    })
}

/// The request to link objects and libraries.
fn linking(member: &DeviceContext, options: String, inputs: &[Arc<[u8]>]) -> ToServer {
    let inputs = inputs.iter().map(|input| input.to_vec()).collect();
    ToServer::Link(LinkRequest { inputs, options, target: member.device().facts().family.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Arc<Program> {
        let devices = ["skl", "ivb"]
            .map(|target| Device::simulated(target, crate::SimulatorSettings::default()).unwrap());
        Program::from_source(&Context::new(&devices, None).unwrap(), String::new())
    }

    #[test]
    fn a_build_that_panics_has_failed() {
        let program = program();
        let building = program.occupy(Call::Build, &[], "").unwrap();
        assert_eq!(program.occupy(Call::Build, &[], "").err().unwrap().code, Code::InvalidOperation);
        let (sender, receiver) = std::sync::mpsc::channel();
        let notify: Notify = Box::new(move || sender.send(()).unwrap());
        in_background(Some(notify), move || building.run(|_, _, _| panic!("as a test"))).unwrap();
        receiver.recv().unwrap();
        for device in program.devices() {
            assert_eq!(program.status(device).unwrap(), BuildStatus::Error);
            let log = program.log(device).unwrap();
            assert!(log.contains("internal error"), "{log}");
        }
        program.occupy(Call::Build, &[], "").unwrap();
    }

    #[test]
    fn builds_for_several_devices_do_not_disturb_each_other() {
        let program = program();
        let devices: Vec<_> = program.devices().cloned().collect();
        let first = program.occupy(Call::Build, &devices[..1], "-DA").unwrap();
        let second = program.occupy(Call::Build, &devices[1..], "-DB").unwrap();
        let refused = program.occupy(Call::Build, &[], "-DC").err().unwrap();
        assert_eq!(refused.code, Code::InvalidOperation);
        drop(second);
        let status = |device: usize| program.status(&devices[device]).unwrap();
        assert_eq!([status(0), status(1)], [BuildStatus::InProgress, BuildStatus::Error]);
        drop(first);
        let second = program.occupy(Call::Build, &devices[1..], "-DD").unwrap();
        // As it cannot begin for the second, it does not for the first.
        assert!(program.occupy(Call::Build, &[], "-DC").is_err());
        assert_eq!([status(0), status(1)], [BuildStatus::Error, BuildStatus::InProgress]);
        assert_eq!([0, 1].map(|device| program.options(&devices[device]).unwrap()), ["-DA", "-DD"]);
        drop(second);
    }
}
