//! Engine maps of contexts (`I915_CONTEXT_PARAM_ENGINES`): the engines that a batch's flags select by index.

use gencl_i915::uapi::{
    ContextParam, EngineClassInstance, EnginesBond, EnginesLoadBalance, EnginesParallelSubmit, engine_class,
    engines_ext,
};
use gencl_i915::{Engine, Errno, Result};

use crate::caller;

const EINVAL: Errno = Errno(libc::EINVAL);

/// `I915_EXEC_RING_MASK + 1`: largest number of engines of a context.
const MAX_ENGINES: usize = 64;
/// `I915_ENGINE_CLASS_INVALID` with `..._INVALID_NONE`: an empty slot of the map.
const NO_ENGINE: (u16, u16) = (u16::MAX, u16::MAX);

/// Engines by index; `None` for empty slots.
pub type EngineMap = Vec<Option<Engine>>;

/// The engine of a class and an instance (`intel_engine_lookup_user`).
pub fn look_up(engine: EngineClassInstance) -> Option<Engine> {
    match (engine.engine_class, engine.engine_instance) {
        (engine_class::RENDER, 0) => Some(Engine::Render),
        (engine_class::COPY, 0) => Some(Engine::Blit),
        _ => None,
    }
}

/// `i915_context_param_engines`: extensions, then engines to the end (`set_proto_ctx_engines`).
pub fn read_map(args: &ContextParam) -> Result<EngineMap> {
    let (head, entry) = (size_of::<u64>(), size_of::<EngineClassInstance>());
    let rest = (args.size as usize).checked_sub(head).ok_or(EINVAL)?;
    if !rest.is_multiple_of(entry) || rest / entry > MAX_ENGINES {
        return Err(EINVAL);
    }
    let mut map = Vec::new();
    for index in 0..rest / entry {
        let address = args.value.wrapping_add((head + index * entry) as u64);
        let engine: EngineClassInstance = caller::read(address)?;
        map.push(match (engine.engine_class, engine.engine_instance) {
            NO_ENGINE => None,
            _ => Some(look_up(engine).ok_or(Errno(libc::ENOENT))?),
        });
    }
    let first: u64 = caller::read(args.value)?;
    caller::extensions(first, |name, address| match name {
        engines_ext::LOAD_BALANCE => balance(&mut map, address),
        engines_ext::BOND => bond(&map, address),
        engines_ext::PARALLEL_SUBMIT => parallel(&map, address),
        _ => Err(EINVAL),
    })?;
    Ok(map)
}

/// The engines at the end of an extension of type `T`.
fn listed<T>(address: u64, count: u16) -> Result<Vec<Engine>> {
    let first = address.wrapping_add(size_of::<T>() as u64);
    let engines = (0..u64::from(count)).map(|index| {
        let engine = caller::read::<EngineClassInstance>(first.wrapping_add(4 * index))?;
        look_up(engine).ok_or(EINVAL)
    });
    engines.collect()
}

/// `set_proto_ctx_engines_balance`: one of several engines, whichever is idle. As there is one engine of
/// each class, all siblings are the same.
fn balance(map: &mut EngineMap, address: u64) -> Result<()> {
    let args: EnginesLoadBalance = caller::read(address)?;
    let place = map.get_mut(usize::from(args.engine_index)).ok_or(EINVAL)?;
    if place.is_some() {
        return Err(Errno(libc::EEXIST));
    }
    if args.flags != 0 || args.mbz64 != 0 {
        return Err(EINVAL);
    }
    let siblings = listed::<EnginesLoadBalance>(address, args.num_siblings)?;
    let Some(first) = siblings.first() else { return Ok(()) };
    if siblings.len() > 1 {
        // `execlists_create_virtual`: siblings have the same class and are different.
        return Err(EINVAL);
    }
    *place = Some(*first);
    Ok(())
}

/// `set_proto_ctx_engines_bond`: pairs of engines, checked and without effect.
fn bond(map: &EngineMap, address: u64) -> Result<()> {
    let args: EnginesBond = caller::read(address)?;
    let place = map.get(usize::from(args.virtual_index)).ok_or(EINVAL)?;
    if place.is_none() || args.flags != 0 || args.mbz64 != [0; 4] || look_up(args.master).is_none() {
        return Err(EINVAL);
    }
    listed::<EnginesBond>(address, args.num_bonds).map(|_| ())
}

/// `set_proto_ctx_engines_parallel_submit`: several batches in parallel on engines of one class. Fails, as
/// there is only one.
fn parallel(map: &EngineMap, address: u64) -> Result<()> {
    let args: EnginesParallelSubmit = caller::read(address)?;
    let place = map.get(usize::from(args.engine_index)).ok_or(EINVAL)?;
    let wide = args.num_siblings == 1 && args.width >= 2;
    if !wide || place.is_some() || args.flags != 0 || args.mbz64 != [0; 3] {
        return Err(EINVAL);
    }
    listed::<EnginesParallelSubmit>(address, args.width)?;
    Err(EINVAL)
}
