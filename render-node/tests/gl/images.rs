//! Compute shaders on images: what `imageStore` has written is read back by `imageLoad`, by `texelFetch` and by a
//! linear filter. Around them there is a border.
//!
//! Each texel holds four small numbers, which every format can represent as a fraction of its largest value.

use super::library::{Context, Dialect, Texture};

/// A kind of textures: `GL_TEXTURE_2D` and the like.
struct Kind {
    target: u32,
    /// As shaders call it: `image2D`, `sampler2D`.
    name: &'static str,
    sides: [u32; 3],
    /// Coordinates of texels, and of the samples: corners of four texels, or of eight.
    texel: &'static str,
    corner: &'static str,
    outside: &'static str,
}

/// The channels of the border, as those of texels.
const BORDER: [u32; 4] = [101, 102, 103, 104];

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    Kind { target: 0x0de1, name: "2D", sides: [32, 8, 1], texel: "p.xy", corner: "vec2(q.xy) / vec2(32.0, 8.0)", outside: "vec2(-0.5, 0.5)" },
    Kind { target: 0x8c1a, name: "2DArray", sides: [16, 8, 4], texel: "p", corner: "vec3(vec2(q.xy) / vec2(16.0, 8.0), p.z)", outside: "vec3(-0.5, 0.5, 1.0)" },
    Kind { target: 0x806f, name: "3D", sides: [16, 8, 4], texel: "p", corner: "vec3(q) / vec3(16.0, 8.0, 4.0)", outside: "vec3(0.5, 0.5, 1.5)" },
];

/// A format, its number in OpenGL, the letter before the shader's types, and its largest value.
struct Format {
    name: &'static str,
    number: u32,
    prefix: &'static str,
    scale: u32,
}

const fn format(name: &'static str, number: u32, prefix: &'static str, scale: u32) -> Format {
    Format { name, number, prefix, scale }
}

/// Those that OpenGL ES 3.1 has for images.
const FORMATS: &[Format] = &[
    format("rgba32f", 0x8814, "", 1),
    format("rgba16f", 0x881a, "", 1),
    format("rgba8", 0x8058, "", 255),
    format("rgba8_snorm", 0x8f97, "", 127),
    format("rgba32i", 0x8d82, "i", 1),
    format("rgba16i", 0x8d88, "i", 1),
    format("rgba8i", 0x8d8e, "i", 1),
    format("rgba32ui", 0x8d70, "u", 1),
    format("rgba16ui", 0x8d76, "u", 1),
    format("rgba8ui", 0x8d7c, "u", 1),
    format("r32f", 0x822e, "", 1),
    format("r32i", 0x8235, "i", 1),
    format("r32ui", 0x8236, "u", 1),
];

/// Numbers of an image's channels, one texel after the other.
fn numbers([width, height, depth]: [u32; 3]) -> Vec<u32> {
    (0..width * height * depth * 4).map(|n| n.wrapping_mul(2_654_435_761) >> 25).collect()
}

impl Format {
    fn components(&self) -> usize {
        if self.name.starts_with("rgba") { 4 } else { 1 }
    }

    /// A channel of a texel as shaders read it, where the format has it: else 0, and 1 for alpha.
    fn read(&self, number: u32, channel: usize) -> u32 {
        match channel {
            channel if channel < self.components() => number,
            3 => self.scale,
            _ => 0,
        }
    }
}

/// Runs all formats of all kinds; `Err` lists what differs.
pub fn check(context: &Context) -> Result<usize, String> {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for kind in KINDS {
        for format in FORMATS {
            let (names, parts) = run(context, kind, format);
            for (name, (got, expected)) in names.iter().zip(parts) {
                compared += got.len();
                if let Some(place) = got.iter().zip(&expected).position(|(got, expected)| got != expected) {
                    let (got, expected) = (got[place], expected[place]);
                    wrong.push(format!(
                        "{name} {} {}: {got} at {place}, not {expected}",
                        kind.name, format.name
                    ));
                }
            }
        }
    }
    if wrong.is_empty() { Ok(compared) } else { Err(wrong.join("\n")) }
}

/// What shaders get, and what they should get.
type Compared = (Vec<u32>, Vec<u32>);

fn run(context: &Context, kind: &Kind, format: &Format) -> (Vec<&'static str>, Vec<Compared>) {
    let [width, height, depth] = kind.sides;
    let texels = numbers(kind.sides);
    let (vector, scale) = (format!("{}vec4", format.prefix), format!("{}.0", format.scale));
    let (to, from) = if format.prefix.is_empty() {
        (format!("vec4(v) / {scale}"), format!("uvec4(round(t * {scale}))"))
    } else {
        (format!("{vector}(v)"), "uvec4(t)".to_owned())
    };
    let image = format!("highp {}image{}", format.prefix, kind.name);
    let sampler = format!("uniform highp {}sampler{} image;\n", format.prefix, kind.name);
    let access =
        |access: &str| format!("layout(binding = 0, {}) {access} uniform {image} image;\n", format.name);
    let texel = kind.texel;
    let place =
        format!("ivec3 p = ivec3(gl_GlobalInvocationID); int g = (p.z * {height} + p.y) * {width} + p.x;");
    let shader = |declaration: &str, statements: &str| {
        let code = format!("{declaration}void main() {{ {place} {statements} }}\n");
        let layout = "layout(local_size_x = 8, local_size_y = 8) in;\n";
        context.program(&[context.dialect.head(), layout, super::BUFFERS, &code].concat())
    };
    let dispatch = || context.dispatch([width / 8, height / 8, depth], false);
    let output = |statements: &str| {
        format!("{statements} uvec4 u = {from}; for (int k = 0; k < 4; k++) o[g * 4 + k] = u[k];")
    };
    let read = |declaration: &str, statements: &str| {
        shader(declaration, &output(statements));
        let buffer = context.storage(1, &vec![0; texels.len()]);
        dispatch();
        context.read(buffer, texels.len())
    };

    context.storage(0, &texels);
    context.storage(1, &[0]);
    let texture = Texture::new(context, kind.target, format.number, kind.sides);
    texture.bind_image(context, format.number);
    let v = "uvec4 v = uvec4(i[g * 4], i[g * 4 + 1], i[g * 4 + 2], i[g * 4 + 3]);";
    shader(&access("writeonly"), &format!("{v} imageStore(image, {texel}, {to});"));
    dispatch();
    context.barrier();
    let expected: Vec<u32> =
        texels.iter().enumerate().map(|(index, number)| format.read(*number, index % 4)).collect();
    let loaded = read(&access("readonly"), &format!("{vector} t = imageLoad(image, {texel});"));
    let fetched = read(&sampler, &format!("{vector} t = texelFetch(image, {texel}, 0);"));
    let mut names = vec!["imageLoad", "texelFetch"];
    let mut results = vec![(loaded, expected.clone()), (fetched, expected.clone())];
    let integers = !format.prefix.is_empty();
    // Ivy Bridge, on which OpenGL is not ES, has no border colours of integers.
    if !integers || context.dialect == Dialect::Es31 {
        texture.border(context, BORDER.map(|channel| channel as f32 / format.scale as f32), integers);
        let outside = format!("{vector} t = textureLod(image, {}, 0.0);", kind.outside);
        let around = texels.iter().enumerate().map(|(index, _)| format.read(BORDER[index % 4], index % 4));
        names.push("border");
        results.push((read(&sampler, &outside), around.collect()));
    }
    if format.prefix.is_empty() && format.name != "rgba32f" && format.name != "r32f" {
        texture.filter_linear(context);
        let corners = if kind.name == "3D" { 8 } else { 4 };
        let statements = format!(
            "ivec3 q = max(p, 1); {vector} t = textureLod(image, {}, 0.0) * {corners}.0;",
            kind.corner
        );
        let sampled = read(&sampler, &statements);
        names.push("textureLod");
        results.push((sampled, corner_sums(kind, &expected)));
    }
    (names, results)
}

/// For each texel the sum of those around its corner that is nearest to the origin, or next to it at the edge.
fn corner_sums(kind: &Kind, texels: &[u32]) -> Vec<u32> {
    let [width, height, depth] = kind.sides;
    let at = |x: u32, y: u32, z: u32, k: usize| texels[((z * height + y) * width + x) as usize * 4 + k];
    let mut sums = Vec::new();
    for (z, y, x) in
        (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (z, y, x))))
    {
        let (x, y) = (x.max(1), y.max(1));
        let planes = if kind.name == "3D" { vec![z.max(1) - 1, z.max(1)] } else { vec![z] };
        sums.extend((0..4).map(|k| {
            let plane = |z: &u32| {
                [(x - 1, y - 1), (x, y - 1), (x - 1, y), (x, y)]
                    .map(|(x, y)| at(x, y, *z, k))
                    .iter()
                    .sum::<u32>()
            };
            planes.iter().map(plane).sum::<u32>()
        }));
    }
    sums
}
