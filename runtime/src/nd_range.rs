//! Index spaces.

/// The index space of a launch, as given to `clEnqueueNDRangeKernel`. Unused dimensions have size 1 and
/// offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    /// Number of dimensions, 1 to 3.
    pub dimensions: u32,
    /// First global id.
    pub offset: [u64; 3],
    /// Work-items per dimension; with a 0, no kernel is launched.
    pub global: [u64; 3],
    /// Work-items of a work-group per dimension; `None`: the runtime chooses.
    pub local: Option<[u32; 3]>,
}
