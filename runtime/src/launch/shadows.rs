//! Shadow memory for a launch whose kernel is checked for undefined values.

use std::sync::Arc;

use gencl_device_info::DeviceInfo;
use gencl_program::PushSource;

use super::{EnqueuedLaunch, Launch};
use crate::Result;
use crate::context::DeviceContext;
use crate::kernel::ArgumentMemory;
use crate::memory::{Storage, Zone};

/// The shadow memory of a launch.
#[derive(Default)]
pub(super) struct Shadows {
    /// By argument, the address of the shadow of its object's first byte, or 0.
    pub(super) arguments: Vec<u64>,
    /// How many bytes that of local memory is behind this, or 0.
    pub(super) local: u32,
    /// The addresses of arguments' objects and of their shadows.
    objects: Vec<[u64; 2]>,
    /// Of shared virtual memory, to which the host writes unseen: new in each launch, so that what was there before is
    /// defined.
    pub(super) own: Vec<Arc<Storage>>,
}

impl Shadows {
    /// That of a launch; none for a kernel without checks. Memory that a kernel may write without them is defined from
    /// now on. Errors as [`Storage::new`].
    pub(super) fn new(context: &DeviceContext, launch: &EnqueuedLaunch) -> Result<Self> {
        let mut shadows = Self::default();
        let is_pushed =
            |is: fn(PushSource) -> bool| launch.kernel().pushes.iter().any(|push| is(push.source));
        let has_shadows =
            is_pushed(|source| matches!(source, PushSource::Shadow { .. } | PushSource::LocalShadow));
        if !has_shadows && !context.tools().undefined {
            return Ok(shadows);
        }
        let is_checked = has_shadows || launch.has_checks();
        shadows.arguments = vec![0; launch.kernel().arguments.len()];
        let mut known: Vec<(*const _, u64)> = Vec::new();
        for (index, memory) in launch.arguments.memory() {
            let (allocation, begin, size) = memory.range();
            if matches!(memory, ArgumentMemory::Image(_)) || !is_checked {
                allocation.define_all();
                continue;
            }
            let address = match memory {
                ArgumentMemory::Buffer(buffer) => {
                    allocation.shadow_for(buffer.context().members())?.on(context).address()
                }
                _ => match known.iter().find(|(known, _)| *known == Arc::as_ptr(allocation)) {
                    Some((_, address)) => *address,
                    None => {
                        let storage = Storage::new(context.space(), Zone::Buffers, size)?;
                        let address = storage.address();
                        shadows.own.push(Arc::new(storage));
                        known.push((Arc::as_ptr(allocation), address));
                        address
                    }
                },
            };
            shadows.arguments[*index] = address + begin;
            shadows.objects.push([allocation.on(context).address() + begin, address + begin]);
        }
        if is_pushed(|source| source == PushSource::LocalShadow) {
            shadows.local = local(context.device().info(), launch);
        }
        Ok(shadows)
    }

    /// The address of the shadow of an object, or 0.
    pub(super) fn of(&self, object: u64) -> u64 {
        self.objects.iter().find(|[begin, _]| *begin == object).map_or(0, |[_, shadow]| *shadow)
    }
}

/// Local memory is followed by its shadow, if both fit.
fn local(device: &DeviceInfo, launch: &Launch) -> u32 {
    let size = launch.arguments.local_memory().next_multiple_of(64) as u32;
    if 2 * size <= device.local_memory { size } else { 0 }
}
