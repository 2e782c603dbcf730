//! Values of all channels of a message, texels, and fields of states.

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

/// The four channels of a texel in registers: red, green, blue, alpha, each the bits of a float or an
/// integer.
pub type Texel = [u32; 4];

/// The bits `first` to `last` of a state structure, within one dword.
pub fn bits(dwords: &[u32], first: u32, last: u32) -> u32 {
    let width = last - first + 1;
    dwords[(first / 32) as usize] >> (first % 32) & (u32::MAX >> (32 - width))
}
