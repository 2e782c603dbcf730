//! A reference model of images: the formulas of the OpenCL C specification, section 8, with exact weights.

use gencl_program::ImageProperty;

use crate::ir::Type;

/// The channels of a texel, as registers hold them.
pub type Texel = [u32; 4];

/// An image of the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Texels in each dimension; 1 for those that it does not have. Layers are the dimension behind the last one.
    pub size: [u32; 3],
    /// Whether it is an array.
    pub array: bool,
    /// The texels, x fastest.
    pub texels: Vec<Texel>,
}

/// Fields of a sampler's number, with the values of clang's `opencl-c-base.h`.
const NORMALIZED: u32 = 1;
const ADDRESS: u32 = 0xe;
const CLAMP: u32 = 4;
const REPEAT: u32 = 6;
const MIRRORED_REPEAT: u32 = 8;
const LINEAR: u32 = 0x20;

/// Two texels of a dimension and the second one's weight.
type Neighbours = ([i64; 2], f64);

impl Image {
    /// A texel; `None` outside of the image.
    fn index(&self, at: [i64; 3]) -> Option<usize> {
        let inside = at.iter().zip(self.size).all(|(at, size)| (0..i64::from(size)).contains(at));
        let [x, y, z] = at.map(|at| at as usize);
        let [width, height, _] = self.size.map(|size| size as usize);
        inside.then(|| (z * height + y) * width + x)
    }

    /// A property of an image of a kind (`image2d_array_t`); `None` for those of formats and of memory, which the model
    /// does not have.
    pub fn property(&self, property: ImageProperty, kind: &str) -> Option<u32> {
        let dimensions =
            ["image1d", "image2d", "image3d"].iter().position(|name| kind.starts_with(name))? + 1;
        let side = |axis: usize, exists: bool| if exists { self.size[axis] } else { 1 };
        match property {
            ImageProperty::Width => Some(self.size[0]),
            ImageProperty::Height => Some(side(1, dimensions >= 2)),
            ImageProperty::Depth => Some(side(2, dimensions == 3)),
            ImageProperty::ArraySize => Some(if self.array { self.size[dimensions] } else { 1 }),
            _ => None,
        }
    }

    /// Integer coordinates as a position.
    fn position(coordinates: &[u64]) -> [i64; 3] {
        let mut at = [0; 3];
        for (at, coordinate) in at.iter_mut().zip(coordinates) {
            *at = i64::from(*coordinate as u32 as i32);
        }
        at
    }

    /// The texel at integer coordinates; zeros outside of the image.
    pub fn load(&self, coordinates: &[u64]) -> Texel {
        self.index(Self::position(coordinates)).map_or([0; 4], |index| self.texels[index])
    }

    /// Writes the texel at integer coordinates, unless they are outside of the image.
    pub fn write(&mut self, coordinates: &[u64], texel: &[u64]) {
        if let Some(index) = self.index(Self::position(coordinates)) {
            self.texels[index] = [0, 1, 2, 3].map(|channel| texel[channel] as u32);
        }
    }

    /// A filtered read at float coordinates by a sampler of the given number; zeros are the border. Only floats are
    /// filtered linearly.
    pub fn sample(&self, sampler: u32, coordinates: &[u64], ty: Type) -> Texel {
        let dimensions = coordinates.len() - usize::from(self.array);
        let linear = sampler & LINEAR != 0 && ty == Type::F32;
        let mut neighbours: [Neighbours; 3] = [([0; 2], 0.0); 3];
        for (axis, coordinate) in coordinates.iter().enumerate() {
            let value = f64::from(f32::from_bits(*coordinate as u32));
            let size = f64::from(self.size[axis]);
            neighbours[axis] = if axis < dimensions {
                along(sampler, linear, value, size)
            } else {
                ([value.round_ties_even().clamp(0.0, size - 1.0) as i64; 2], 0.0)
            };
        }
        if !linear {
            return self
                .index(neighbours.map(|(texels, _)| texels[0]))
                .map_or([0; 4], |index| self.texels[index]);
        }
        let mut sum = [0.0; 4];
        for corner in 0..8 {
            let side = |axis: usize| corner >> axis & 1;
            let at = [0, 1, 2].map(|axis| neighbours[axis].0[side(axis)]);
            let weight: f64 = [0, 1, 2]
                .map(|axis| if side(axis) == 1 { neighbours[axis].1 } else { 1.0 - neighbours[axis].1 })
                .iter()
                .product();
            let texel = self.index(at).map_or([0; 4], |index| self.texels[index]);
            if weight > 0.0 {
                for (sum, channel) in sum.iter_mut().zip(texel) {
                    *sum += weight * f64::from(f32::from_bits(channel));
                }
            }
        }
        sum.map(|channel| (channel as f32).to_bits())
    }
}

/// The texels of one dimension that a coordinate means.
fn along(sampler: u32, linear: bool, coordinate: f64, size: f64) -> Neighbours {
    let address = sampler & ADDRESS;
    let texels = match address {
        REPEAT => (coordinate - coordinate.floor()) * size,
        MIRRORED_REPEAT => (coordinate - 2.0 * (0.5 * coordinate).round_ties_even()).abs() * size,
        _ if sampler & NORMALIZED != 0 => coordinate * size,
        _ => coordinate,
    };
    let first = if linear { (texels - 0.5).floor() } else { texels.floor() };
    let weight = if linear { texels - 0.5 - first } else { 0.0 };
    let place = |texel: f64| match address {
        REPEAT => texel.rem_euclid(size),
        CLAMP => texel.clamp(-1.0, size),
        _ => texel.clamp(0.0, size - 1.0),
    };
    ([place(first) as i64, place(first + 1.0) as i64], weight)
}
