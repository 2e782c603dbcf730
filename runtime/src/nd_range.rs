//! Index spaces.

/// The index space of a launch, as `clEnqueueNDRangeKernel` takes it. Dimensions that are not used
/// have size 1 and offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    /// 1 to 3.
    pub dimensions: u32,
    /// First global id.
    pub offset: [u64; 3],
    /// Work-items; a 0 launches nothing.
    pub global: [u64; 3],
    /// Work-items of a group; `None` lets the runtime choose.
    pub local: Option<[u32; 3]>,
}
