//! What is known of a launch's surfaces that translated code can be specialised for.

use std::ptr;

use gencl_eu::abi::{Image, ImageFacts};
use gencl_eu::device::Device;
use gencl_eu::dispatch::Launch;
use gencl_eu::memory::AddressSpace;
use gencl_eu::message::{ImageBinding, ImageNumbers, are_flat, can_be_flat};
use gencl_eu::{ImageUse, Kernel};

/// The surfaces of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchSurfaces {
    /// Those of buffers are the whole address space ([`gencl_eu::abi::Variant::flat`]).
    pub flat: bool,
    /// The image of each use ([`ImageUse::all`]), where code can be specialised for it.
    images: Vec<Option<ImageBinding>>,
}

impl LaunchSurfaces {
    /// Those of a launch of a kernel, which has these uses of images.
    pub fn of(
        kernel: &Kernel,
        uses: &[ImageUse],
        device: &Device,
        launch: &Launch,
        memory: &AddressSpace,
    ) -> LaunchSurfaces {
        LaunchSurfaces {
            flat: are_flat(kernel.buffer_surfaces(), device, launch, memory),
            images: uses.iter().map(|one| one.binding(device, launch, memory, kernel.is_strict())).collect(),
        }
    }

    /// Those that launches of a kernel without images most likely have: each is the whole address space.
    pub fn expected(kernel: &Kernel, device: &Device) -> LaunchSurfaces {
        LaunchSurfaces { flat: can_be_flat(kernel.buffer_surfaces(), device), images: Vec::new() }
    }

    /// The facts of the images.
    pub fn facts(&self) -> Vec<Option<ImageFacts>> {
        self.images.iter().map(|image| image.as_ref().map(|image| image.facts.clone())).collect()
    }

    /// The images as code accesses them.
    pub fn images(&self, memory: &AddressSpace) -> impl Iterator<Item = Image> {
        self.images.iter().map(|image| {
            let found = image.as_ref().and_then(|image| Some((image, memory.buffer(image.base)?)));
            match found {
                Some((image, (start, _, host))) => {
                    // SAFETY: the address is within the buffer.
                    let host = unsafe { host.add((image.base - start) as usize) };
                    Image { host, numbers: image.numbers }
                }
                None => Image { host: ptr::null_mut(), numbers: ImageNumbers::default() },
            }
        })
    }
}
