//! Changes of recorded launches.

use std::ptr::{null, null_mut};

use gencl_utest::{Gpu, Outcome};
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, CL_COMMAND_BUFFER_STATE_KHR,
    CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_COMMAND_BUFFER_KHR, CL_INVALID_MUTABLE_COMMAND_KHR,
    CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_INVALID_WORK_GROUP_SIZE, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR, CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR,
    CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, cl_mem,
    cl_mutable_dispatch_config_khr,
};
use opencl3::error_codes::ClError;
use opencl3::event::{Event, create_user_event, set_user_event_status};
use opencl3::memory::ClMem;

use super::list::{List, argument, launch_now, new_arguments, no_change, program, queue_with, set, well};
use crate::information::expect;
use crate::memory::same;

const ARGUMENTS: [u64; 3] = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0];

/// Values and buffers change, for all later times, and the kernel's arguments do not.
pub fn arguments() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let (a, b) = (gpu.buffer(&[0i32; 8])?, gpu.buffer(&[0i32; 8])?);
    let add = program.kernel("add")?;
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &1i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    let (_, first) = list.launch_as(add.get(), &ARGUMENTS, [0, 8, 0], &[])?;
    let (_, second) = list.launch_as(add.get(), &ARGUMENTS, [0, 8, 0], &[])?;
    list.finalize()?;
    list.run()?;
    same(&a.read()?, &[2; 8])?;
    let memory: cl_mem = b.memory().get();
    list.update(&[
        new_arguments(first, &[argument(1, &10i32)]),
        new_arguments(second, &[argument(0, &memory), argument(1, &100i32)]),
        // Behind the other change of the same command.
        new_arguments(second, &[argument(1, &50i32)]),
    ])?;
    for _ in 0..2 {
        list.run()?;
    }
    same(&a.read()?, &[22; 8])?;
    same(&b.read()?, &[100; 8])?;
    list.update(&[])?;
    list.update(&[no_change(first)])?;
    launch_now(&queue, &add, 8)?;
    same(&a.read()?, &[23; 8])
}

/// Offset, global and local size change.
pub fn sizes() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let (sizes, a) = (gpu.buffer(&[0i32; 3])?, gpu.buffer(&[0i32; 64])?);
    let (tell, add) = (program.kernel("sizes")?, program.kernel("add")?);
    set(&tell, 0, &sizes.memory().get())?;
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &1i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    // All fields can change by default.
    let (_, tell) = list.launch_as(tell.get(), &[], [0, 32, 8], &[])?;
    let (_, add) = list.launch_as(add.get(), &[], [0, 32, 8], &[])?;
    list.finalize()?;
    list.run()?;
    same(&sizes.read()?, &[0, 32, 8])?;
    let (offset, global, local) = ([24usize], [40usize], [4usize]);
    let changed = |command| cl_mutable_dispatch_config_khr {
        work_dim: 1,
        global_work_offset: offset.as_ptr(),
        global_work_size: global.as_ptr(),
        local_work_size: local.as_ptr(),
        ..no_change(command)
    };
    list.update(&[changed(tell), changed(add)])?;
    list.run()?;
    same(&sizes.read()?, &[24, 40, 4])?;
    let expected: Vec<i32> = (0..64).map(|i| i32::from(i < 32) + i32::from(i >= 24)).collect();
    same(&a.read()?, &expected)?;
    // One alone: the others stay.
    list.update(&[cl_mutable_dispatch_config_khr {
        global_work_offset: [8usize].as_ptr(),
        ..no_change(tell)
    }])?;
    list.run()?;
    same(&sizes.read()?, &[8, 40, 4])
}

/// Arguments may be missing until it is finalized; then it is not executable before they are set.
pub fn deferred() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let a = gpu.buffer(&[0i32; 8])?;
    let add = program.kernel("add")?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    let (_, command) = list.launch_as(add.get(), &ARGUMENTS, [0, 8, 0], &[])?;
    list.finalize()?;
    let state = || {
        let (mut state, name) = (7u32, CL_COMMAND_BUFFER_STATE_KHR);
        let ask = list.functions.clGetCommandBufferInfoKHR;
        // SAFETY: a number of four bytes.
        unsafe { ask(list.handle, name, 4, (&raw mut state).cast(), null_mut()) };
        state
    };
    let memory: cl_mem = a.memory().get();
    for (config, expected) in [
        (no_change(command), 2),
        (new_arguments(command, &[argument(0, &memory)]), 2),
        (new_arguments(command, &[argument(1, &6i32)]), 1),
    ] {
        if state() != 2 {
            return Err(format!("state {} before all arguments are set", state()));
        }
        expect(list.try_enqueue(&[], &[], null_mut()), CL_INVALID_OPERATION, "enqueued without arguments")?;
        list.update(&[config])?;
        if state() != expected {
            return Err(format!("state {}, expected {expected}", state()));
        }
    }
    list.run()?;
    same(&a.read()?, &[6; 8])
}

/// Changed while it is enqueued: those times keep what they had.
pub fn running() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let buffers: Vec<_> = (0..6).map(|_| gpu.buffer(&[0i32; 8])).collect::<Result<_, _>>()?;
    let put = program.kernel("put")?;
    set(&put, 0, &buffers[0].memory().get())?;
    set(&put, 1, &0i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR)?;
    let (_, command) = list.launch_as(put.get(), &ARGUMENTS, [0, 8, 0], &[])?;
    list.finalize()?;
    let hold = create_user_event(gpu.context.get()).map(Event::new);
    let hold = hold.map_err(|code| ClError(code).to_string())?;
    let mut events = Vec::new();
    for (number, buffer) in (1i32..).zip(&buffers) {
        let memory: cl_mem = buffer.memory().get();
        list.update(&[new_arguments(command, &[argument(0, &memory), argument(1, &number)])])?;
        events.push(list.enqueue(None, &[hold.get()])?);
    }
    set_user_event_status(hold.get(), 0).map_err(|code| ClError(code).to_string())?;
    for event in events {
        event.wait().map_err(|error| error.to_string())?;
    }
    (1i32..).zip(&buffers).try_for_each(|(number, buffer)| same(&buffer.read()?, &[number; 8]))
}

/// What is refused.
pub fn errors() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let a = gpu.buffer(&[0i32; 64])?;
    let add = program.kernel("add")?;
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &1i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    let (_, all) = list.launch_as(add.get(), &[], [0, 32, 8], &[])?;
    let (_, none) =
        list.launch_as(add.get(), &[CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 0, 0], [0, 32, 8], &[])?;
    let config = no_change(all);
    expect(list.try_update(&[config]), CL_INVALID_OPERATION, "while it is recorded")?;
    list.finalize()?;
    let fixed = List::new(&queue, 0)?;
    let (_, foreign) = fixed.launch_as(add.get(), &[], [0, 32, 8], &[])?;
    fixed.finalize()?;
    expect(fixed.try_update(&[no_change(foreign)]), CL_INVALID_OPERATION, "not mutable")?;
    let size = [32usize];
    let arguments = [argument(1, &5i32)];
    let with = |change: fn(&mut cl_mutable_dispatch_config_khr)| {
        let mut config = no_change(all);
        change(&mut config);
        config
    };
    let of_none = |change: cl_mutable_dispatch_config_khr| list.try_update(&[change]);
    let sized = |global: &'static [usize; 1], local: &'static [usize; 1]| cl_mutable_dispatch_config_khr {
        global_work_size: global.as_ptr(),
        local_work_size: local.as_ptr(),
        ..no_change(all)
    };
    let offset = cl_mutable_dispatch_config_khr { global_work_offset: size.as_ptr(), ..no_change(none) };
    let global = cl_mutable_dispatch_config_khr { global_work_size: size.as_ptr(), ..no_change(none) };
    let local = cl_mutable_dispatch_config_khr { local_work_size: size.as_ptr(), ..no_change(none) };
    for (what, code, expected) in [
        ("nothing", list.try_update(&[config]), 0),
        ("a command of another", list.try_update(&[no_change(foreign)]), CL_INVALID_MUTABLE_COMMAND_KHR),
        ("no command", list.try_update(&[no_change(null_mut())]), CL_INVALID_MUTABLE_COMMAND_KHR),
        ("a fixed offset", of_none(offset), CL_INVALID_OPERATION),
        ("a fixed global size", of_none(global), CL_INVALID_OPERATION),
        ("a fixed local size", of_none(local), CL_INVALID_OPERATION),
        ("fixed arguments", of_none(new_arguments(none, &arguments)), CL_INVALID_OPERATION),
        ("two dimensions", list.try_update(&[with(|config| config.work_dim = 2)]), CL_INVALID_OPERATION),
        ("no list of arguments", list.try_update(&[with(|config| config.num_args = 1)]), CL_INVALID_VALUE),
        (
            "an argument too many",
            list.try_update(&[new_arguments(all, &[argument(2, &5i32)])]),
            CL_INVALID_ARG_INDEX,
        ),
        (
            "an argument too small",
            list.try_update(&[new_arguments(all, &[argument(1, &5i16)])]),
            CL_INVALID_ARG_SIZE,
        ),
        ("groups of no fitting size", list.try_update(&[sized(&[30], &[8])]), CL_INVALID_WORK_GROUP_SIZE),
    ] {
        expect(code, expected, what)?;
    }
    uneven()?;
    lists(&list, &config)
}

/// Lists that do not match their length.
fn lists(list: &List, config: &cl_mutable_dispatch_config_khr) -> Outcome {
    let update = list.functions.clUpdateMutableCommandsKHR;
    let mut configs = [std::ptr::from_ref(config).cast()];
    let mut nulls = [null()];
    let (types, unknown) = ([0u32], [77u32]);
    // SAFETY: lists that are right, or that the driver is to refuse by their lengths.
    let codes = unsafe {
        [
            ("right", update(list.handle, 1, types.as_ptr(), configs.as_mut_ptr()), 0),
            ("no types", update(list.handle, 1, null(), configs.as_mut_ptr()), CL_INVALID_VALUE),
            ("no changes", update(list.handle, 1, types.as_ptr(), null_mut()), CL_INVALID_VALUE),
            ("types of none", update(list.handle, 0, types.as_ptr(), null_mut()), CL_INVALID_VALUE),
            ("changes of none", update(list.handle, 0, null(), configs.as_mut_ptr()), CL_INVALID_VALUE),
            (
                "an unknown type",
                update(list.handle, 1, unknown.as_ptr(), configs.as_mut_ptr()),
                CL_INVALID_VALUE,
            ),
            ("a null change", update(list.handle, 1, types.as_ptr(), nulls.as_mut_ptr()), CL_INVALID_VALUE),
            (
                "no command-buffer",
                update(null_mut(), 1, types.as_ptr(), configs.as_mut_ptr()),
                CL_INVALID_COMMAND_BUFFER_KHR,
            ),
        ]
    };
    codes.into_iter().try_for_each(|(what, code, expected)| expect(code, expected, what))
}

/// Work-groups of one size stay so.
fn uneven() -> Outcome {
    let (gpu, queue) = (Gpu::get()?, queue_with(0)?);
    let program = gpu.build_unchecked(super::SOURCE, "-cl-std=CL3.0")?;
    let nothing = program.kernel("nothing")?;
    let own = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    let (_, even) = own.launch_as(nothing.get(), &[], [0, 32, 8], &[])?;
    let (_, odd) = own.launch_as(nothing.get(), &[], [0, 30, 8], &[])?;
    own.finalize()?;
    for (command, global, expected) in
        [(even, 40usize, 0), (even, 30, CL_INVALID_OPERATION), (odd, 31, 0), (odd, 32, CL_INVALID_OPERATION)]
    {
        let config = cl_mutable_dispatch_config_khr { global_work_size: &global, ..no_change(command) };
        expect(own.try_update(&[config]), expected, &format!("{global} work-items"))?;
    }
    own.run()
}

/// Of several changes, one of which is wrong, none is made.
pub fn nothing_kept() -> Outcome {
    let (gpu, program, queue) = (Gpu::get()?, program()?, queue_with(0)?);
    let a = gpu.buffer(&[0i32; 8])?;
    let add = program.kernel("add")?;
    set(&add, 0, &a.memory().get())?;
    set(&add, 1, &1i32)?;
    let list = List::new(&queue, CL_COMMAND_BUFFER_MUTABLE_KHR)?;
    let fields = CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
        | CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
        | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
        | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR;
    let properties = [CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, fields, 0];
    let commands = [(); 2].map(|()| list.launch_as(add.get(), &properties, [0, 8, 0], &[]));
    let [(_, first), (_, second)] = [commands[0].clone()?, commands[1].clone()?];
    list.finalize()?;
    let size = [7usize];
    let code = list.try_update(&[
        new_arguments(first, &[argument(1, &100i32)]),
        cl_mutable_dispatch_config_khr { local_work_size: size.as_ptr(), ..no_change(second) },
    ]);
    expect(code, CL_INVALID_WORK_GROUP_SIZE, "groups of no fitting size")?;
    well(list.try_update(&[no_change(first)]), "no change")?;
    list.run()?;
    same(&a.read()?, &[2; 8])
}
