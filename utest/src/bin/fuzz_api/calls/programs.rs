//! Programs, kernels and their arguments.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use gencl_testing::Random;
use opencl_sys::{cl_mem, cl_program};

use super::{Caller, NAMES, SOURCES, Shared};
use crate::handles::Kind;
use crate::sizes::size;

/// A module of SPIR-V.
const MODULE: &[u8] = include_bytes!("../../../../../fuzz/corpus/spirv/work_item.spv");

impl Caller {
    pub fn program(&mut self) {
        let (api, mut error) = (self.shared.api, 0);
        if self.random.one_in(3) {
            let program = self.pick(Kind::Program);
            self.note(format_args!("clBuildProgram {program:?}"));
            let options = self.random.pick(&[c"", c"-cl-kernel-arg-info", c"-cl-opt-disable"]);
            // SAFETY: no lists, and a string.
            unsafe { (api.clBuildProgram)(program, 0, null(), options.as_ptr(), None, null_mut()) };
            return;
        }
        let (context, index) = (self.pick(Kind::Context), self.random.below(SOURCES.len()));
        let mut text = SOURCES[index].as_ptr();
        self.note(format_args!("clCreateProgramWithSource {context:?} {index}"));
        // SAFETY: there is one string, which has its end, and gencl checks the handle.
        let program = unsafe { (api.clCreateProgramWithSource)(context, 1, &mut text, null(), &mut error) };
        if !program.is_null() {
            // SAFETY: the program is ours until it is kept.
            unsafe { (api.clBuildProgram)(program, 0, null(), null(), None, null_mut()) };
        }
        self.created(Kind::Program, program, error);
    }

    pub fn create_kernel(&mut self) {
        let mut error = 0;
        if self.random.one_in(5) {
            return self.create_kernels();
        }
        let kernel = if self.random.one_in(4) {
            let kernel = self.pick(Kind::Kernel);
            self.note(format_args!("clCloneKernel {kernel:?}"));
            // SAFETY: the call takes a handle, which gencl checks.
            unsafe { (self.shared.api.clCloneKernel)(kernel, &mut error) }
        } else {
            let (program, name) = (self.pick(Kind::Program), self.random.pick(&NAMES));
            self.note(format_args!("clCreateKernel {program:?} {name:?}"));
            // SAFETY: the name has its end, and gencl checks the handle.
            unsafe { (self.shared.api.clCreateKernel)(program, name.as_ptr(), &mut error) }
        };
        self.created(Kind::Kernel, kernel, error);
    }

    pub fn set_argument(&mut self) {
        let kind = if self.random.one_in(20) { Kind::Sampler } else { Kind::Memory };
        let (kernel, buffer) = (self.pick(Kind::Kernel), self.pick(kind));
        let index = self.random.below(3) as u32 + u32::from(self.random.one_in(50));
        let number = if self.random.one_in(100) { 12345 } else { 0 };
        let (size, value): (usize, *const c_void) = match index {
            0 => (size_of::<cl_mem>(), (&raw const buffer).cast()),
            1 => (4, (&raw const number).cast()),
            _ => (size(&mut self.random, 256), null()),
        };
        // A smaller or larger size, of which as much is there.
        let size = if self.random.one_in(20) { self.random.below(5) } else { size };
        self.note(format_args!("clSetKernelArg {kernel:?} {index} {size} {buffer:?}"));
        // SAFETY: the value has as many bytes as are read, which is the argument's size or none.
        unsafe { (self.shared.api.clSetKernelArg)(kernel, index, size, value) };
    }

    fn create_kernels(&mut self) {
        const ROOM: usize = 4;
        let (program, room) = (self.pick(Kind::Program), self.random.below(ROOM + 1));
        let (mut kernels, mut count) = ([null_mut(); ROOM], 0);
        self.note(format_args!("clCreateKernelsInProgram {program:?} {room}"));
        // SAFETY: there is room for that many.
        let error = unsafe {
            let list = if self.random.one_in(5) { null_mut() } else { kernels.as_mut_ptr() };
            (self.shared.api.clCreateKernelsInProgram)(program, room as u32, list, &mut count)
        };
        let made = kernels.iter().filter(|kernel| !kernel.is_null()).count();
        if made > room || error != 0 && made != 0 {
            self.fault(format_args!("{made} kernels where there is room for {room}, with error {error}"));
        }
        kernels.into_iter().for_each(|kernel| self.keep(Kind::Kernel, kernel));
    }

    /// Kernels' names are the same in all of [`SOURCES`] with their kernel, so that some can be linked and
    /// some cannot.
    pub fn compile_or_link(&mut self) {
        const OPTIONS: [&CStr; 6] =
            [c"", c"-create-library", c"-cl-fast-relaxed-math", c"-D X=1", c"-cl-std=CL3.0", c"-wrong"];
        unsafe extern "C" fn done(program: cl_program, shared: *mut c_void) {
            // SAFETY: what all threads share lives as long as the process.
            let shared = unsafe { &*shared.cast::<Shared>() };
            let queue = shared.handles.pick(Kind::Queue, &mut Random::new(program as u64));
            let mut count = 0u32;
            // SAFETY: gencl checks the handles, and there is room for the four bytes of an int.
            unsafe {
                (shared.api.clGetProgramInfo)(program, 0x1160, 4, (&raw mut count).cast(), null_mut());
                (shared.api.clFlush)(queue);
            }
        }
        let (api, options, mut error) = (self.shared.api, self.random.pick(&OPTIONS), 0);
        let notify = if self.random.one_in(2) { None } else { Some(done as _) };
        let user = if notify.is_none() && !self.random.one_in(10) { null_mut() } else { self.user_data() };
        let programs: Vec<cl_program> = (0..self.random.below(4)).map(|_| self.pick(Kind::Program)).collect();
        let list = if programs.is_empty() { null() } else { programs.as_ptr() };
        let count = programs.len() as u32;
        if self.random.one_in(2) {
            let program = self.pick(Kind::Program);
            let mut names = [c"a.h", c"b.h", c"c.h"].map(CStr::as_ptr);
            let names = if count == 0 { null_mut() } else { names.as_mut_ptr() };
            self.note(format_args!("clCompileProgram {program:?} {options:?} {programs:?}"));
            let compile = api.clCompileProgram;
            // SAFETY: at most three headers and names.
            unsafe { compile(program, 0, null(), options.as_ptr(), count, list, names, notify, user) };
            return;
        }
        let context = self.pick(Kind::Context);
        self.note(format_args!("clLinkProgram {context:?} {options:?} {programs:?}"));
        let link = api.clLinkProgram;
        // SAFETY: a list of its length.
        let program =
            unsafe { link(context, 0, null(), options.as_ptr(), count, list, notify, user, &mut error) };
        // A program that could not be linked is there, for its log.
        if program.is_null() && error == 0 {
            self.fault("clLinkProgram gave neither a program nor an error");
        }
        self.keep(Kind::Program, program);
    }

    /// Bytes as they are, or with some changed or cut off.
    fn damaged(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for _ in 0..self.random.below(3) {
            let place = self.random.below(bytes.len());
            match self.random.below(3) {
                0 => bytes.truncate(place.max(1)),
                _ => bytes[place] = self.random.next_u64() as u8,
            }
        }
        bytes
    }

    /// A program of a module of SPIR-V, which may be damaged, with a specialization constant that it does not have.
    pub fn program_of_il(&mut self) {
        let (context, mut error) = (self.pick(Kind::Context), 0);
        let bytes = self.damaged(MODULE.to_vec());
        let (api, length) = (self.shared.api, bytes.len());
        self.note(format_args!("clCreateProgramWithIL {context:?} {length}"));
        // SAFETY: as many bytes as are said to be there.
        let program =
            unsafe { (api.clCreateProgramWithIL)(context, bytes.as_ptr().cast(), length, &mut error) };
        if !program.is_null() {
            let (id, room) = (self.random.below(4) as u32, self.random.below(9));
            // SAFETY: the program is ours until it is kept, and there are eight bytes.
            unsafe {
                (api.clSetProgramSpecializationConstant)(program, id, room, [0u8; 8].as_ptr().cast());
                (api.clBuildProgram)(program, 0, null(), null(), None, null_mut());
            }
        }
        self.created(Kind::Program, program, error);
    }

    /// A program of a binary as it is, or of one with some bytes changed or cut off.
    pub fn program_of_binary(&mut self) {
        let (context, device) = (self.pick(Kind::Context), self.device());
        let bytes = self.damaged(self.shared.binary.clone());
        let (mut status, mut error, length) = (0, 0, bytes.len());
        let mut binary = bytes.as_ptr();
        self.note(format_args!("clCreateProgramWithBinary {context:?} {device:?} {length}"));
        let (create, api) = (self.shared.api.clCreateProgramWithBinary, self.shared.api);
        // SAFETY: one device, length and binary.
        let program = unsafe { create(context, 1, &device, &length, &mut binary, &mut status, &mut error) };
        if !program.is_null() {
            // SAFETY: the program is ours until it is kept.
            unsafe { (api.clBuildProgram)(program, 0, null(), null(), None, null_mut()) };
        }
        self.created(Kind::Program, program, error);
    }
}
