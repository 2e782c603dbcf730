//! Requests about hardware contexts and address spaces (`i915_gem_context.c`).

use std::sync::Arc;

use gencl_i915::uapi::{
    CONTEXT_CREATE_EXT_SETPARAM, CONTEXT_CREATE_SINGLE_TIMELINE, CONTEXT_CREATE_USE_EXTENSIONS,
    ContextCreateExt, ContextCreateExtSetparam, ContextDestroy, ContextParam, ContextParamSseu, GemVmControl,
    ResetStats, SSEU_ENGINE_INDEX, context_param,
};
use gencl_i915::{ContextId, Engine, Errno, RenderNode, Result};
use gencl_simulator::Vm;

use crate::caller::{self, extensions};
use crate::open_file::{ContextState, OpenFile};
use crate::{engines, files};

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOENT: Errno = Errno(libc::ENOENT);
const ENODEV: Errno = Errno(libc::ENODEV);

/// `DRM_IOCTL_I915_GEM_CONTEXT_CREATE` with and without extensions.
pub fn create(file: &OpenFile, args: &mut ContextCreateExt) -> Result<()> {
    let known = CONTEXT_CREATE_USE_EXTENSIONS | CONTEXT_CREATE_SINGLE_TIMELINE;
    if args.flags & !known != 0 {
        return Err(EINVAL);
    }
    let context = file.simulator.context_create()?;
    file.contexts.lock().all.insert(context.0, ContextState::default());
    let extended = args.flags & CONTEXT_CREATE_USE_EXTENSIONS != 0;
    if extended && let Err(error) = extend(file, context, args.extensions) {
        // Fails when another thread has guessed the id and destroyed the context.
        let _ = remove(file, context);
        return Err(error);
    }
    args.ctx_id = context.0;
    Ok(())
}

/// Extensions of a new context: parameters. (Cloning, extension 1, was removed in Linux 5.14.)
fn extend(file: &OpenFile, context: ContextId, address: u64) -> Result<()> {
    extensions(address, |name, address| {
        if name != CONTEXT_CREATE_EXT_SETPARAM {
            return Err(EINVAL);
        }
        let extension: ContextCreateExtSetparam = caller::read(address)?;
        if extension.param.ctx_id != 0 {
            return Err(EINVAL);
        }
        set(file, context, &extension.param)
    })
}

fn remove(file: &OpenFile, context: ContextId) -> Result<()> {
    let mut contexts = file.contexts.lock();
    file.simulator.context_destroy(context)?;
    contexts.all.remove(&context.0);
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_DESTROY`
pub fn destroy(file: &OpenFile, args: &mut ContextDestroy) -> Result<()> {
    if args.pad != 0 {
        return Err(EINVAL);
    }
    remove(file, ContextId(args.ctx_id))
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM`
pub fn set_param(file: &OpenFile, args: &mut ContextParam) -> Result<()> {
    set(file, ContextId(args.ctx_id), args)
}

fn set(file: &OpenFile, context: ContextId, args: &ContextParam) -> Result<()> {
    // ENOENT for an unknown context takes precedence.
    file.simulator.context_get_param(context, context_param::GTT_SIZE)?;
    let mut contexts = file.contexts.lock();
    let is_final = contexts.all.get(&context.0).is_none_or(|state| state.is_final);
    match args.param {
        context_param::VM if !is_final => {
            if args.size != 0 {
                return Err(EINVAL);
            }
            own_address_spaces(file)?;
            let name = u32::try_from(args.value).map_err(|_| ENOENT)?;
            let space = contexts.spaces.get(&name).ok_or(ENOENT)?;
            file.simulator.set_context_vm(context, Arc::clone(space))
        }
        context_param::ENGINES if !is_final => {
            if contexts.engines(context.0).is_some() {
                return Err(EINVAL);
            }
            let map = engines::read_map(args)?;
            if let Some(state) = contexts.all.get_mut(&context.0) {
                state.engines = Some(map);
            }
            Ok(())
        }
        context_param::PROTECTED_CONTENT if !is_final => {
            // There are no protected sessions (PXP).
            if args.value == 0 { Ok(()) } else { Err(ENODEV) }
        }
        // Only Gen11 can change it.
        context_param::SSEU if args.size as usize >= size_of::<ContextParamSseu>() => Err(ENODEV),
        _ if args.size != 0 => Err(EINVAL),
        // To cancel what runs takes preemption (`proto_context_set_persistence`).
        context_param::PERSISTENCE if args.value == 0 => Err(ENODEV),
        param => file.simulator.context_set_param(context, param, args.value),
    }
}

/// What there is of slices, subslices and EUs for an engine; nothing for the blitter.
fn sseu(file: &OpenFile, engine: Engine) -> Result<ContextParamSseu> {
    let device = file.simulator.device();
    let eus = u16::try_from(device.eus).map_err(|_| EINVAL)?;
    Ok(match engine {
        Engine::Render => ContextParamSseu {
            slice_mask: (1 << device.slices) - 1,
            subslice_mask: (1 << device.subslices) - 1,
            min_eus_per_subslice: eus,
            max_eus_per_subslice: eus,
            ..Default::default()
        },
        Engine::Blit => ContextParamSseu::default(),
    })
}

/// `get_sseu`
fn get_sseu(file: &OpenFile, args: &mut ContextParam) -> Result<()> {
    const SIZE: u32 = size_of::<ContextParamSseu>() as u32;
    if args.size != 0 {
        if args.size < SIZE {
            return Err(EINVAL);
        }
        let asked: ContextParamSseu = caller::read(args.value)?;
        if asked.rsvd != 0 || asked.flags & !SSEU_ENGINE_INDEX != 0 {
            return Err(EINVAL);
        }
        let by_index = asked.flags != 0;
        let engine = match file.contexts.lock().engines(args.ctx_id) {
            Some(map) if by_index => map.get(usize::from(asked.engine.engine_instance)).copied().flatten(),
            None if !by_index => engines::look_up(asked.engine),
            _ => None,
        };
        let found = sseu(file, engine.ok_or(EINVAL)?)?;
        caller::write(args.value, &ContextParamSseu { engine: asked.engine, flags: asked.flags, ..found })?;
    }
    args.size = SIZE;
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM`
pub fn get_param(file: &OpenFile, args: &mut ContextParam) -> Result<()> {
    let context = ContextId(args.ctx_id);
    let size_of_space = file.simulator.context_get_param(context, context_param::GTT_SIZE)?;
    file.contexts.lock().use_context(args.ctx_id);
    match args.param {
        context_param::GTT_SIZE => (args.size, args.value) = (0, size_of_space),
        context_param::VM => {
            own_address_spaces(file)?;
            let space = file.simulator.context_vm(context)?;
            (args.size, args.value) = (0, file.contexts.lock().name(space).into());
        }
        context_param::SSEU => get_sseu(file, args)?,
        param => {
            // Sizes of unknown parameters stay as they were.
            let value = file.simulator.context_get_param(context, param)?;
            (args.size, args.value) = (0, value);
        }
    }
    Ok(())
}

/// `DRM_IOCTL_I915_GET_RESET_STATS`. How often the GPU was reset is reported to administrators only.
pub fn reset_stats(file: &OpenFile, args: &mut ResetStats) -> Result<()> {
    if args.flags != 0 || args.pad != 0 {
        return Err(EINVAL);
    }
    let stats = file.simulator.reset_stats(ContextId(args.ctx_id))?;
    file.contexts.lock().use_context(args.ctx_id);
    (args.batch_active, args.batch_pending) = (stats.batch_active, stats.batch_pending);
    args.reset_count = 0;
    // i915 writes its error state when the batch hangs, but programs read it only after this request.
    if stats.batch_active > 0
        && let Some(state) = file.simulator.error_state(ContextId(args.ctx_id))
    {
        files::write_error_state(&state.text);
    }
    Ok(())
}

/// `ENODEV` where all contexts share one address space.
fn own_address_spaces(file: &OpenFile) -> Result<()> {
    if file.simulator.device().driver.full_ppgtt { Ok(()) } else { Err(ENODEV) }
}

/// `DRM_IOCTL_I915_GEM_VM_CREATE`
pub fn vm_create(file: &OpenFile, args: &mut GemVmControl) -> Result<()> {
    own_address_spaces(file)?;
    if args.flags != 0 {
        return Err(EINVAL);
    }
    // There are no extensions.
    extensions(args.extensions, |_, _| Err(EINVAL))?;
    args.vm_id = file.contexts.lock().name(Vm::new());
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_VM_DESTROY`: removes the id; contexts keep the address space.
pub fn vm_destroy(file: &OpenFile, args: &mut GemVmControl) -> Result<()> {
    if args.flags != 0 || args.extensions != 0 {
        return Err(EINVAL);
    }
    file.contexts.lock().spaces.remove(&args.vm_id).map(|_| ()).ok_or(ENOENT)
}
