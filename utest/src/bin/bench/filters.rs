//! What the kernels with images compute, on the host.

use crate::data::Data::{self, Float, Image, Word};
use crate::expected::mismatch;
use crate::images::{CHANNELS, Picture, Texels};

/// The weights of `gauss.cl`.
const WEIGHTS: [f64; 9] = [0.028, 0.066, 0.124, 0.179, 0.206, 0.179, 0.124, 0.066, 0.028];

/// A texel's channels.
type Texel = [f64; CHANNELS];

fn sum(terms: impl Iterator<Item = (f64, Texel)>) -> Texel {
    terms.fold([0.0; CHANNELS], |sums, (weight, texel)| {
        std::array::from_fn(|channel| sums[channel] + weight * texel[channel])
    })
}

/// A picture with the texels that a function computes of their places.
fn picture(like: &Picture, texel: impl Fn(usize, usize) -> Texel) -> Picture {
    let [width, height, _] = like.size;
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let channels = places.flat_map(|(x, y)| texel(x, y));
    let texels = match like.texels {
        Texels::Bytes(_) => Texels::Bytes(channels.map(|value| (value * 255.0).round() as u8).collect()),
        Texels::Floats(_) => Texels::Floats(channels.map(|value| value as f32).collect()),
    };
    Picture { size: like.size, texels }
}

/// The texel at a place that may be outside: the one at the edge.
fn clamped(picture: &Picture, place: [i64; 3]) -> Texel {
    let inside = std::array::from_fn(|axis| place[axis].clamp(0, picture.size[axis] as i64 - 1) as usize);
    std::array::from_fn(|channel| picture.channel(inside, channel))
}

/// The texel at a place that may be outside: 0 there.
fn bordered(picture: &Picture, place: [i64; 3]) -> Texel {
    let is_inside = (0..3).all(|axis| (0..picture.size[axis] as i64).contains(&place[axis]));
    if is_inside { clamped(picture, place) } else { [0.0; CHANNELS] }
}

/// The weighted texels around a position, which is in texels.
fn interpolated(picture: &Picture, position: [f64; 3], texel: fn(&Picture, [i64; 3]) -> Texel) -> Texel {
    sum((0..8).map(|corner: usize| {
        let (mut weight, mut place) = (1.0, [0; 3]);
        for axis in 0..3 {
            let first = (position[axis] - 0.5).floor();
            let part = position[axis] - 0.5 - first;
            let is_far = corner >> axis & 1 != 0;
            weight *= if is_far { part } else { 1.0 - part };
            place[axis] = first as i64 + i64::from(is_far);
        }
        (weight, texel(picture, place))
    }))
}

pub fn boxblur(arguments: &[Data]) -> Data {
    let [Image(out), Image(input), Word(radius)] = arguments else { mismatch() };
    let r = i64::from(*radius);
    let count = ((2 * r + 1) * (2 * r + 1)) as f64;
    Image(picture(out, |x, y| {
        let around = (-r..=r).flat_map(|dy| (-r..=r).map(move |dx| [x as i64 + dx, y as i64 + dy, 0]));
        sum(around.map(|place| (1.0 / count, clamped(input, place))))
    }))
}

pub fn resize(arguments: &[Data]) -> Data {
    let [Image(out), Image(input)] = arguments else { mismatch() };
    Image(picture(out, |x, y| {
        let position =
            |axis: usize, at: usize| (at as f64 + 0.5) / out.size[axis] as f64 * input.size[axis] as f64;
        interpolated(input, [position(0, x), position(1, y), 0.5], clamped)
    }))
}

pub fn rotate(arguments: &[Data]) -> Data {
    let [Image(out), Image(input), Float(sine), Float(cosine)] = arguments else { mismatch() };
    let [sine, cosine] = [sine, cosine].map(|value| f64::from(*value));
    let centre = [0, 1].map(|axis| input.size[axis] as f64 / 2.0);
    Image(picture(out, |x, y| {
        let p = [x as f64 + 0.5 - centre[0], y as f64 + 0.5 - centre[1]];
        let from = [cosine * p[0] - sine * p[1] + centre[0], sine * p[0] + cosine * p[1] + centre[1]];
        interpolated(input, [from[0], from[1], 0.5], bordered)
    }))
}

pub fn slice(arguments: &[Data]) -> Data {
    let [Image(out), Image(volume), Float(depth)] = arguments else { mismatch() };
    Image(picture(out, |x, y| {
        let p = [(x, 0), (y, 1)].map(|(at, axis)| (at as f64 + 0.5) / out.size[axis] as f64);
        let place = [p[0], p[1], f64::from(*depth) + 0.25 * (p[0] + p[1])];
        interpolated(volume, std::array::from_fn(|axis| place[axis] * volume.size[axis] as f64), clamped)
    }))
}

pub fn gauss(arguments: &[Data]) -> Data {
    let [Image(out), _, Image(input)] = arguments else { mismatch() };
    let filtered = |input: &Picture, step: [i64; 2]| {
        picture(out, |x, y| {
            sum(WEIGHTS.iter().zip(-4..).map(|(weight, k)| {
                (*weight, clamped(input, [x as i64 + k * step[0], y as i64 + k * step[1], 0]))
            }))
        })
    };
    Image(filtered(&filtered(input, [1, 0]), [0, 1]))
}
