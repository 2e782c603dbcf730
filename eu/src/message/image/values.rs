//! Values of all channels of a message.

/// Maximum number of channels of a message. Functions have the number of channels as a parameter `N`; elements
/// from that on mean nothing.
pub const LANES: usize = 16;

/// A value of each channel.
pub type Lanes<T> = [T; LANES];

/// The dwords of the texels of all channels, as they are in memory; also four values in registers.
pub type Dwords = [Lanes<u32>; 4];

/// Computes a value for each channel.
#[inline(always)]
pub fn each<const N: usize, T: Copy + Default>(value: impl Fn(usize) -> T) -> Lanes<T> {
    let mut lanes = [T::default(); LANES];
    for (lane, slot) in lanes[..N].iter_mut().enumerate() {
        *slot = value(lane);
    }
    lanes
}

/// Adds values of all channels.
#[inline]
pub fn sum<const N: usize>(a: &Lanes<u32>, b: &Lanes<u32>) -> Lanes<u32> {
    each::<N, _>(|lane| a[lane].wrapping_add(b[lane]))
}
