//! The platform.

use std::sync::{Arc, LazyLock};

use gencl_runtime::Code;
use opencl_sys::cl_platform_id;

use crate::CLResult;
use crate::handle::{Handle, Object};

/// The only platform.
pub struct Platform;

impl Object for Platform {
    const INVALID: Code = Code::InvalidPlatform;
    const NAME: &'static str = "platform";
    const COUNTED: bool = false;
}

impl Platform {
    /// The platform's handle.
    pub fn handle() -> &'static Arc<Handle<Self>> {
        static PLATFORM: LazyLock<Arc<Handle<Platform>>> = LazyLock::new(|| Handle::new(Platform));
        &PLATFORM
    }

    /// CL_INVALID_PLATFORM if platform is not a valid platform. Null stands for
    /// it, where the specification leaves that to the implementation.
    pub fn check_or_null(platform: cl_platform_id) -> CLResult<()> {
        if platform.is_null() { Ok(()) } else { Handle::<Self>::get(platform).map(drop) }
    }
}
