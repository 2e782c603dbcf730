//! The contexts and address spaces of an open file.
//!
//! Until its first use a context is a "proto context", which accepts an address space and an engine map.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use gencl_i915::uapi::exec;
use gencl_i915::{Engine, Errno, Result};
use gencl_simulator::Vm;

use crate::engines::EngineMap;

const EINVAL: Errno = Errno(libc::EINVAL);

/// Contexts and address spaces of an open file.
#[derive(Debug, Default)]
pub struct Contexts {
    /// Contexts created by requests; context 0 always exists.
    pub all: HashMap<u32, ContextState>,
    /// Address spaces by id. An address space may have several ids, each of which is a reference.
    pub spaces: BTreeMap<u32, Arc<Vm>>,
}

/// State of a context.
#[derive(Debug, Default)]
pub struct ContextState {
    /// The context has been used, and can no longer be configured.
    pub is_final: bool,
    /// Its engine map, if it has one.
    pub engines: Option<EngineMap>,
}

impl Contexts {
    /// Gives an address space an id, the smallest that is free.
    pub fn name(&mut self, space: Arc<Vm>) -> u32 {
        let taken = (1..).zip(self.spaces.keys()).take_while(|(free, name)| free == *name).count();
        let name = taken as u32 + 1;
        self.spaces.insert(name, space);
        name
    }

    /// Finalises a context for a use (`i915_gem_context_lookup`).
    pub fn use_context(&mut self, context: u32) {
        if let Some(state) = self.all.get_mut(&context) {
            state.is_final = true;
        }
    }

    /// The engine map of a context, if it has one.
    pub fn engines(&self, context: u32) -> Option<&EngineMap> {
        self.all.get(&context)?.engines.as_ref()
    }

    /// The engine that a batch's flags select (`eb_select_engine`).
    pub fn engine(&self, context: u32, flags: u64) -> Result<Engine> {
        let selector = flags & gencl_i915::uapi::EXEC_RING_MASK;
        if let Some(map) = self.engines(context) {
            return map.get(selector as usize).copied().flatten().ok_or(EINVAL);
        }
        if selector != exec::BSD && flags & exec::BSD_MASK != 0 {
            return Err(EINVAL);
        }
        match selector {
            // I915_EXEC_DEFAULT is the render engine. There are no video engines.
            0 | 1 => Ok(Engine::Render),
            3 => Ok(Engine::Blit),
            _ => Err(EINVAL),
        }
    }
}
