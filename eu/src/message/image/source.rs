//! Where the texels of a channel come from.

use super::surface::Surface;
use super::values::Texel;
use crate::fault::Fault;

/// Where the texels of a channel come from.
pub trait TexelSource {
    /// The texel of a surface at a GPU address.
    fn texel(&mut self, address: u64, image: &Surface) -> Result<Texel, Fault>;

    /// The border colour at an offset, for a surface.
    fn border(&mut self, offset: u32, image: &Surface) -> Result<Texel, Fault>;
}

/// An access to a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelAccess {
    /// GPU address.
    pub address: u64,
    /// Bytes.
    pub bytes: usize,
}

/// Notes what is read, all of which is 0.
impl TexelSource for Vec<TexelAccess> {
    fn texel(&mut self, address: u64, image: &Surface) -> Result<Texel, Fault> {
        self.push(TexelAccess { address, bytes: image.format.bytes() });
        Ok([0; 4])
    }

    fn border(&mut self, _: u32, _: &Surface) -> Result<Texel, Fault> {
        Ok([0; 4])
    }
}
