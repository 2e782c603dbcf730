//! Requests about hardware contexts and address spaces.
//!
//! A batch of the simulator sees the buffers that its request lists and nothing else, so an address space that contexts
//! share is a name only: drivers that fix their buffers' addresses, as all do that make address spaces, see no difference.

use std::collections::{HashMap, HashSet};

use gencl_i915::uapi::{
    CONTEXT_CREATE_EXT_SETPARAM, CONTEXT_CREATE_SINGLE_TIMELINE, CONTEXT_CREATE_USE_EXTENSIONS,
    ContextCreateExt, ContextCreateExtSetparam, ContextDestroy, ContextParam, ContextParamSseu,
    EngineClassInstance, GemVmControl, context_param, engine_class,
};
use gencl_i915::{ContextId, Engine, Errno, RenderNode, Result};

use crate::caller::{self, extensions};
use crate::files::OpenFile;

const EINVAL: Errno = Errno(libc::EINVAL);
const ENOENT: Errno = Errno(libc::ENOENT);

/// `I915_EXEC_RING_MASK + 1`: most engines of a context.
const MAX_ENGINES: u32 = 64;
/// `I915_ENGINE_CLASS_INVALID` with `..._INVALID_NONE`: a place in the map that is left free.
const NO_ENGINE: (u16, u16) = (u16::MAX, u16::MAX);

/// What an open file remembers of its contexts and address spaces.
#[derive(Debug, Default)]
pub struct Contexts {
    /// The engine map of contexts that have one.
    engines: HashMap<u32, Vec<Option<Engine>>>,
    /// The address space of contexts that were given or asked for one.
    spaces: HashMap<u32, u32>,
    /// Names of address spaces.
    names: HashSet<u32>,
    last_name: u32,
}

impl Contexts {
    fn new_space(&mut self) -> u32 {
        self.last_name += 1;
        self.names.insert(self.last_name);
        self.last_name
    }

    /// The engine that the low bits of a batch's flags stand for.
    pub fn engine(&self, context: u32, selector: u32) -> Result<Engine> {
        match self.engines.get(&context) {
            Some(map) => map.get(selector as usize).copied().flatten().ok_or(EINVAL),
            // I915_EXEC_DEFAULT is the render engine.
            None => match selector {
                0 | 1 => Ok(Engine::Render),
                3 => Ok(Engine::Blit),
                _ => Err(EINVAL),
            },
        }
    }
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_CREATE` with and without extensions.
pub fn create(file: &OpenFile, args: &mut ContextCreateExt) -> Result<()> {
    let known = CONTEXT_CREATE_USE_EXTENSIONS | CONTEXT_CREATE_SINGLE_TIMELINE;
    if args.flags & !known != 0 {
        return Err(EINVAL);
    }
    let context = file.simulator.context_create()?;
    let extended = args.flags & CONTEXT_CREATE_USE_EXTENSIONS != 0;
    if extended && let Err(error) = extend(file, context, args.extensions) {
        file.simulator.context_destroy(context)?;
        forget(file, context.0);
        return Err(error);
    }
    args.ctx_id = context.0;
    Ok(())
}

/// Extensions of a new context: parameters.
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

fn forget(file: &OpenFile, context: u32) {
    let mut contexts = file.contexts.lock();
    contexts.engines.remove(&context);
    contexts.spaces.remove(&context);
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_DESTROY`
pub fn destroy(file: &OpenFile, args: &mut ContextDestroy) -> Result<()> {
    if args.pad != 0 {
        return Err(EINVAL);
    }
    file.simulator.context_destroy(ContextId(args.ctx_id))?;
    forget(file, args.ctx_id);
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM`
pub fn set_param(file: &OpenFile, args: &mut ContextParam) -> Result<()> {
    set(file, ContextId(args.ctx_id), args)
}

fn set(file: &OpenFile, context: ContextId, args: &ContextParam) -> Result<()> {
    // ENOENT for an unknown context comes before all else.
    file.simulator.context_get_param(context, context_param::GTT_SIZE)?;
    match args.param {
        context_param::VM => {
            let name = u32::try_from(args.value).map_err(|_| ENOENT)?;
            let mut contexts = file.contexts.lock();
            if args.size != 0 || !contexts.names.contains(&name) {
                return Err(if args.size != 0 { EINVAL } else { ENOENT });
            }
            contexts.spaces.insert(context.0, name);
            Ok(())
        }
        context_param::ENGINES => {
            let map = engine_map(args)?;
            let mut contexts = file.contexts.lock();
            match map {
                Some(map) => contexts.engines.insert(context.0, map),
                None => contexts.engines.remove(&context.0),
            };
            Ok(())
        }
        context_param::SSEU => {
            let asked: ContextParamSseu = sized(args)?;
            // Only Gen11 can change it; others take what is there (`i915_gem_user_to_context_sseu`).
            if asked == sseu(file)? { Ok(()) } else { Err(Errno(libc::ENODEV)) }
        }
        _ if args.size != 0 => Err(EINVAL),
        param => file.simulator.context_set_param(context, param, args.value),
    }
}

/// The structure that a parameter's value points to.
fn sized<T: bytemuck::Pod>(args: &ContextParam) -> Result<T> {
    if (args.size as usize) < size_of::<T>() {
        return Err(EINVAL);
    }
    caller::read(args.value)
}

/// `i915_context_param_engines`: extensions, then engines to the end. `None` for an empty one, which restores the default.
fn engine_map(args: &ContextParam) -> Result<Option<Vec<Option<Engine>>>> {
    if args.size == 0 {
        return Ok(None);
    }
    let head = size_of::<u64>() as u32;
    let entry = size_of::<EngineClassInstance>() as u32;
    if args.size < head || !args.size.is_multiple_of(entry) || (args.size - head) / entry > MAX_ENGINES {
        return Err(EINVAL);
    }
    // Extensions make balanced and bonded engines, of which devices with one engine of a class have none.
    if caller::read::<u64>(args.value)? != 0 {
        return Err(Errno(libc::ENODEV));
    }
    let count = ((args.size - head) / entry) as usize;
    let engines = caller::read_array::<EngineClassInstance>(args.value + u64::from(head), count)?;
    let find = |engine: EngineClassInstance| match (engine.engine_class, engine.engine_instance) {
        NO_ENGINE => Ok(None),
        (engine_class::RENDER, 0) => Ok(Some(Engine::Render)),
        (engine_class::COPY, 0) => Ok(Some(Engine::Blit)),
        _ => Err(ENOENT),
    };
    engines.into_iter().map(find).collect::<Result<Vec<_>>>().map(Some)
}

/// All slices, subslices and EUs.
fn sseu(file: &OpenFile) -> Result<ContextParamSseu> {
    let device = file.simulator.device();
    let eus = u16::try_from(device.eus).map_err(|_| EINVAL)?;
    Ok(ContextParamSseu {
        slice_mask: (1 << device.slices) - 1,
        subslice_mask: (1 << device.subslices) - 1,
        min_eus_per_subslice: eus,
        max_eus_per_subslice: eus,
        ..Default::default()
    })
}

/// `DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM`
pub fn get_param(file: &OpenFile, args: &mut ContextParam) -> Result<()> {
    let context = ContextId(args.ctx_id);
    let size_of_space = file.simulator.context_get_param(context, context_param::GTT_SIZE)?;
    match args.param {
        context_param::GTT_SIZE => (args.size, args.value) = (0, size_of_space),
        context_param::VM => {
            let mut contexts = file.contexts.lock();
            let name = match contexts.spaces.get(&context.0) {
                Some(name) if contexts.names.contains(name) => *name,
                _ => {
                    let name = contexts.new_space();
                    contexts.spaces.insert(context.0, name);
                    name
                }
            };
            (args.size, args.value) = (0, name.into());
        }
        context_param::SSEU => {
            if args.size != 0 {
                sized::<ContextParamSseu>(args)?;
                caller::write(args.value, &sseu(file)?)?;
            }
            args.size = size_of::<ContextParamSseu>() as u32;
        }
        // Kernels since 5.14 do not tell it (`i915_gem_context_getparam_ioctl`).
        context_param::ENGINES => return Err(EINVAL),
        param => (args.size, args.value) = (0, file.simulator.context_get_param(context, param)?),
    }
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_VM_CREATE`
pub fn vm_create(file: &OpenFile, args: &mut GemVmControl) -> Result<()> {
    if args.flags != 0 || args.extensions != 0 {
        return Err(EINVAL);
    }
    args.vm_id = file.contexts.lock().new_space();
    Ok(())
}

/// `DRM_IOCTL_I915_GEM_VM_DESTROY`
pub fn vm_destroy(file: &OpenFile, args: &mut GemVmControl) -> Result<()> {
    if args.flags != 0 || args.extensions != 0 {
        return Err(EINVAL);
    }
    if file.contexts.lock().names.remove(&args.vm_id) { Ok(()) } else { Err(ENOENT) }
}
