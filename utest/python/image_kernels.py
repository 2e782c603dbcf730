"""Kernels that read, sample and write images, against numpy: the OpenCL specification's own formulas.

    export OCL_ICD_VENDORS=/etc/OpenCL/vendors/intel.icd
    target/release/gencl-sim --strict -- python3 utest/python/image_kernels.py [PART-OF-NAME] [--save FILE] [--compare FILE]

For drivers with images: this tests the simulated sampler and data port more than them. All kinds of images, all formats
that the driver has, all address modes, filters and kinds of coordinates. The last line counts as that of `cargo test` does.
--save FILE: keeps what kernels returned and wrote. --compare FILE: compares it with what another driver did: equal, but
for the weights of linear filters. What only one of the drivers offers is counted.
Sections: OpenCL C specification 8.2 (address modes and filters), 8.3 (conversions).
"""

import argparse
import itertools
import sys
import traceback
import zlib

import numpy as np
import pyopencl as cl

platform = cl.get_platforms()[0]
device = platform.get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)

ORDER, TYPE, KIND = cl.channel_order, cl.channel_type, cl.mem_object_type
ADDRESSING, FILTER = cl.addressing_mode, cl.filter_mode

# ---- Formats

# The channels of a texel in memory; luminance and intensity stand for several.
ORDERS = {ORDER.R: "r", ORDER.A: "a", ORDER.RG: "rg", ORDER.RA: "ra", ORDER.RGBA: "rgba", ORDER.BGRA: "bgra",
          ORDER.LUMINANCE: "l", ORDER.INTENSITY: "i"}
# Whose border has alpha 1 (8.2, "border color").
OPAQUE = {ORDER.R, ORDER.RG, ORDER.LUMINANCE}
# The channel type, the suffix of the functions that access it, the largest value of normalized ones.
TYPES = {
    TYPE.SNORM_INT8: (np.int8, "f", 127), TYPE.SNORM_INT16: (np.int16, "f", 32767),
    TYPE.UNORM_INT8: (np.uint8, "f", 255), TYPE.UNORM_INT16: (np.uint16, "f", 65535),
    TYPE.SIGNED_INT8: (np.int8, "i", 0), TYPE.SIGNED_INT16: (np.int16, "i", 0), TYPE.SIGNED_INT32: (np.int32, "i", 0),
    TYPE.UNSIGNED_INT8: (np.uint8, "ui", 0), TYPE.UNSIGNED_INT16: (np.uint16, "ui", 0),
    TYPE.UNSIGNED_INT32: (np.uint32, "ui", 0),
    TYPE.HALF_FLOAT: (np.float16, "f", 0), TYPE.FLOAT: (np.float32, "f", 0),
}
VECTORS = {"f": np.float32, "i": np.int32, "ui": np.uint32}


class Format:
    def __init__(self, given):
        self.given, self.order, self.type = given, given.channel_order, given.channel_data_type
        self.channels = ORDERS[self.order]
        self.dtype, self.suffix, self.largest = TYPES[self.type]
        self.vector = VECTORS[self.suffix]

    def __str__(self):
        return f"{ORDER.to_string(self.order)} {TYPE.to_string(self.type)}"

    def random(self, shape):
        """Texels as they are in memory."""
        shape = (*shape, len(self.channels))
        if self.dtype in (np.float16, np.float32):
            return (random.random(shape) * 8 - 4).astype(self.dtype)
        limits = np.iinfo(self.dtype)
        return random.integers(limits.min, limits.max, shape, self.dtype, endpoint=True)

    def register(self, letter):
        """The channel of memory that a channel of the kernel reads; None for a constant."""
        for channels in {"l": "rgb", "i": "rgba"}.get(self.channels, ""), self.channels:
            if letter in channels:
                return 0 if self.channels in "li" else self.channels.index(letter)
        return None

    def values(self, texels):
        """What kernels read (8.3.1.1): four channels. Normalized ones as precisely as float64 is."""
        wide = texels.astype(np.float64 if self.suffix == "f" else self.vector)
        if self.largest:
            wide = np.maximum(wide / self.largest, -1)
        result = np.zeros((*texels.shape[:-1], 4), wide.dtype)
        for index, letter in enumerate("rgba"):
            register = self.register(letter)
            result[..., index] = wide[..., register] if register is not None else letter == "a"
        return result

    def border(self):
        return np.array([0, 0, 0, self.order in OPAQUE], np.float64 if self.suffix == "f" else self.vector)

    def texels(self, values):
        """What write_image makes of four channels (8.3.1.2, 8.3.2, 8.3.4)."""
        wide = values.astype(np.float64) if self.suffix == "f" else values.astype(np.int64)
        picked = np.stack([wide[..., 0 if c in "li" else "rgba".index(c)] for c in self.channels], -1)
        if self.largest:
            # The lowest number of signed channels means -1 as the next one does; hardware writes the latter.
            low = -1 if np.iinfo(self.dtype).min < 0 else 0
            picked = np.rint(np.clip(picked, low, 1) * self.largest)
        elif self.suffix != "f":
            limits = np.iinfo(self.dtype)
            picked = np.clip(picked, limits.min, limits.max)
        with np.errstate(over="ignore"):
            return picked.astype(self.dtype)


def formats(kind, flags):
    """The driver's formats for a kind of images, those that are known here. Each begins random numbers of its own, which
    are the same with all drivers, whatever other formats they have."""
    global random
    for given in cl.get_supported_image_formats(context, flags, kind.mem_type):
        if given.channel_order in ORDERS and given.channel_data_type in TYPES:
            format_ = Format(given)
            random = np.random.default_rng(zlib.crc32(f"{outputs.test} {format_}".encode()))
            yield format_


# ---- Kinds of images

# What pyopencl's own constructor calls, which takes a description; that one gives arrays of one dimension one layer.
NEW_IMAGE = getattr(cl.Image, "_custom_init", None) or cl.Image.__init__.__closure__[0].cell_contents


class Kind:
    """A kind: its type in OpenCL C, dimensions of coordinates, and how many of them are not a layer's number."""

    def __init__(self, name, mem_type, type_, axes, dimensions):
        self.name, self.mem_type, self.type, self.axes, self.dimensions = name, mem_type, type_, axes, dimensions

    def coordinates(self, scalar):
        """The type of coordinates: of three, the fourth does not count."""
        return scalar + ["", "2", "4"][self.axes - 1]

    def create(self, format_, sides, texels, flags):
        """An image of sides (width first) with these texels; numpy has the slowest side first."""
        flags |= cl.mem_flags.COPY_HOST_PTR
        texels = np.ascontiguousarray(texels)
        if self.mem_type == KIND.IMAGE1D_BUFFER:
            buffer = cl.Buffer(context, flags, hostbuf=texels)
            return cl.Image(context, flags & ~cl.mem_flags.COPY_HOST_PTR, format_.given, shape=sides, buffer=buffer)
        image = cl.Image.__new__(cl.Image)
        description = cl.ImageDescriptor()
        description.image_type = self.mem_type
        # The last one is the number of layers.
        description.shape = (*sides[:self.dimensions], *[1] * (2 - self.dimensions), *sides[self.dimensions:])
        NEW_IMAGE(image, context, flags, format_.given, description, texels)
        return image

    def read(self, image, format_, sides):
        """Its texels, row by row: rusticl 22.3 takes the layers of an array of one dimension for rows."""
        texels = np.empty((*reversed(sides), len(format_.channels)), format_.dtype)
        for place in np.ndindex(texels.shape[:-2]):
            origin = (0, *reversed(place), *[0] * (2 - len(place)))
            # `cl.enqueue_copy` knows images of two and three dimensions only.
            cl._cl._enqueue_read_image(queue, image, origin, (sides[0], 1, 1), texels[place], 0, 0)
        queue.finish()
        return texels


KINDS = [
    Kind("1d", KIND.IMAGE1D, "image1d_t", 1, 1), Kind("1d_array", KIND.IMAGE1D_ARRAY, "image1d_array_t", 2, 1),
    Kind("2d", KIND.IMAGE2D, "image2d_t", 2, 2), Kind("2d_array", KIND.IMAGE2D_ARRAY, "image2d_array_t", 3, 2),
    Kind("3d", KIND.IMAGE3D, "image3d_t", 3, 3), Kind("buffer", KIND.IMAGE1D_BUFFER, "image1d_buffer_t", 1, 1),
]
# Exact as normalized coordinates, and not.
SIDES = [(16, 8, 4), (13, 7, 5)]

# ---- Kernels

LOAD = """
kernel void load_{s}(read_only {image} image, global const {ints} *at, global {vector} *out)
{{ size_t i = get_global_id(0); out[i] = read_image{s}(image, at[i]); }}
"""
SAMPLE = """
kernel void sample_{s}(read_only {image} image, sampler_t sampler, global const {floats} *at, global {vector} *out)
{{ size_t i = get_global_id(0); out[i] = read_image{s}(image, sampler, at[i]); }}
kernel void pick_{s}(read_only {image} image, sampler_t sampler, global const {ints} *at, global {vector} *out)
{{ size_t i = get_global_id(0); out[i] = read_image{s}(image, sampler, at[i]); }}
"""
STORE = """
kernel void store_{s}(write_only {image} image, global const {ints} *at, global const {vector} *in)
{{ size_t i = get_global_id(0); write_image{s}(image, at[i], in[i]); }}
"""
CHANGE = """
kernel void change_{s}(read_write {image} image, global const {ints} *at)
{{ size_t i = get_global_id(0); write_image{s}(image, at[i], read_image{s}(image, at[i]).wzyx); }}
"""
ASK = """
kernel void ask(read_only {image} image, global int *out)
{{ out[0] = get_image_width(image); out[1] = {height}; out[2] = {depth}; out[3] = {layers};
   out[4] = get_image_channel_data_type(image); out[5] = get_image_channel_order(image); }}
"""
built = {}


def kernel(kind, template, name, options=""):
    if (kind, template) not in built:
        names = {"image": kind.type, "ints": kind.coordinates("int"), "floats": kind.coordinates("float"),
                 "height": "get_image_height(image)" if kind.dimensions > 1 else 1,
                 "depth": "get_image_depth(image)" if kind.dimensions > 2 else 1,
                 "layers": "get_image_array_size(image)" if kind.dimensions < kind.axes else 1}
        source = "".join(template.format(s=s, vector=v, **names)
                         for s, v in (("f", "float4"), ("i", "int4"), ("ui", "uint4"))
                         if template != ASK or s == "f")
        if kind.name == "3d" and template in (STORE, CHANGE):
            source = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n" + source
        built[kind, template] = cl.Program(context, source).build(options)
    return cl.Kernel(built[kind, template], name)


def packed(coordinates, dtype):
    """Coordinates as the kernels' vectors: three are four."""
    coordinates = np.asarray(coordinates, dtype)
    if coordinates.shape[1] == 3:
        coordinates = np.pad(coordinates, ((0, 0), (0, 1)))
    return cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.ascontiguousarray(coordinates))


def run(function, count, *arguments):
    function(queue, (count,), None, *arguments)
    queue.finish()


def values_of(function, format_, image, coordinates, dtype, *arguments):
    """What a kernel reads at some coordinates."""
    count = len(coordinates)
    out = cl.Buffer(context, cl.mem_flags.READ_WRITE, count * 16)
    run(function, count, image, *arguments, packed(coordinates, dtype), out)
    values = np.empty((count, 4), format_.vector)
    cl.enqueue_copy(queue, values, out)
    queue.finish()
    return values


def all_places(sides):
    """The coordinates of all texels, x first."""
    return np.array(list(itertools.product(*(range(side) for side in reversed(sides)))))[:, ::-1]


# ---- The specification's formulas

def address(mode, filter_, normalized, coordinate, size):
    """The texels and weights for coordinates of one axis (8.2); -1 and `size` are the border."""
    s = coordinate.astype(np.float64)
    if mode == ADDRESSING.REPEAT:
        u = (s - np.floor(s)) * size
    elif mode == ADDRESSING.MIRRORED_REPEAT:
        u = np.abs(s - 2 * np.rint(0.5 * s)) * size
    else:
        u = s * size if normalized else s
    if filter_ == FILTER.NEAREST:
        texels, weights = [np.floor(u)], [np.ones_like(u)]
    else:
        first = np.floor(u - 0.5)
        weight = u - 0.5 - first
        texels, weights = [first, first + 1], [1 - weight, weight]
    texels = [t.astype(np.int64) for t in texels]
    if mode == ADDRESSING.REPEAT:
        texels = [t % size for t in texels]
    elif mode == ADDRESSING.CLAMP:
        texels = [np.clip(t, -1, size) for t in texels]
    elif mode != ADDRESSING.NONE:
        texels = [np.clip(t, 0, size - 1) for t in texels]
    return list(zip(texels, weights))


def sampled(kind, format_, texels, sides, sampler, coordinates):
    """Values for coordinates, and by how much they may differ for each 1/256 texel of the weights."""
    mode, filter_, normalized = sampler
    values = format_.values(texels)
    axes = [address(mode, filter_, normalized, coordinates[:, n], sides[n]) for n in range(kind.dimensions)]
    if kind.dimensions < kind.axes:
        # Layers are rounded to the nearest and limited, whatever the sampler says.
        layer = np.clip(np.floor(coordinates[:, -1] + 0.5), 0, sides[-1] - 1).astype(np.int64)
        axes.append([(layer, np.ones(len(layer)))])
    taps = []
    for corner in itertools.product(*axes):
        place = [texel for texel, _ in corner]
        inside = np.all([(0 <= t) & (t < side) for t, side in zip(place, sides)], axis=0)
        index = tuple(np.clip(t, 0, side - 1) for t, side in zip(place, sides))[::-1]
        tap = np.where(inside[:, None], values[index], format_.border())
        taps.append((tap, np.prod([weight for _, weight in corner], axis=0)[:, None]))
    if len(taps) == 1:
        return taps[0][0], 0
    result = sum(tap * weight for tap, weight in taps)
    spread = np.max([tap for tap, _ in taps], axis=0) - np.min([tap for tap, _ in taps], axis=0)
    return result, spread * kind.dimensions


# ---- Comparing

class Outputs:
    """What kernels returned and wrote, by case, to be kept, and compared with that of another driver."""

    def __init__(self, others):
        self.test, self.own, self.others = "", {}, others
        self.compared = self.equal = self.within = 0
        self.texts = []

    def add(self, label, got, tolerance):
        """Keeps an output of the test that runs; with a tolerance for each number if it comes from a linear filter."""
        case = f"{self.test}: {label}"
        self.own[case] = got
        if case not in self.others:
            return
        other = self.others[case]
        equal = (got == other) | (np.isnan(got) & np.isnan(other) if got.dtype.kind == "f" else False)
        near = equal
        if got.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                near = equal | (np.abs(got.astype(np.float64) - other) <= tolerance)
        equal, near = equal.all(axis=-1), near.all(axis=-1)
        self.compared, self.equal, self.within = self.compared + len(got), self.equal + equal.sum(), self.within + near.sum()
        if not near.all():
            first = int(np.flatnonzero(~near)[0])
            self.texts.append(f"{case}: {(~near).sum()} of {len(got)}; number {first} is {got[first]}, there {other[first]}")

    def report(self):
        """Prints what came of the comparison; whether all that both have agrees."""
        for text in self.texts:
            print(text)
        both = len(self.own.keys() & self.others.keys())
        print(f"{both} cases on both drivers, {len(self.own) - both} only here, {len(self.others) - both} only there: "
              f"of {self.compared} texels {self.equal} are equal, {self.within - self.equal} within the weights of linear filters, "
              f"{self.compared - self.within} differ")
        return not self.texts


class Differences:
    """Collects what differs, by format, so that one fault does not hide the others."""

    def __init__(self):
        self.compared, self.texts = 0, []

    def compare(self, label, got, expected, tolerance=0.0, places=None):
        self.compared += len(got)
        outputs.add(label, got, tolerance)
        if got.dtype.kind == "f":
            exact = expected.astype(got.dtype)
            # Floats from normalized channels are within 1.5 ulp (8.3.1.1).
            allowed = tolerance + 1.5 * np.spacing(np.maximum(np.abs(exact), np.float32(2**-24)).astype(np.float32))
            wrong = ~(np.abs(got.astype(np.float64) - expected) <= allowed)
        else:
            wrong = got != expected
        wrong = wrong.any(axis=-1)
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            place = first if places is None else places[first]
            self.texts.append(f"{label}: {wrong.sum()} of {len(got)}; at {place} {got[first]}, not {expected[first]}")

    def done(self):
        if self.texts:
            raise AssertionError(f"{len(self.texts)} cases:\n  " + "\n  ".join(self.texts))
        return self.compared


# ---- Tests: functions that give the number of texels compared, or None where the driver lacks something

TESTS = []


def test(kinds, *parameters):
    def register(function):
        for kind in kinds:
            for parameter in parameters or [()]:
                name = "/".join([function.__name__, kind.name, *map(str, parameter)])
                TESTS.append((name, lambda k=kind, p=parameter: function(k, *p)))
        return function
    return register


@test(KINDS)
def ask(kind):
    differences = Differences()
    for format_ in formats(kind, cl.mem_flags.READ_ONLY):
        sides = SIDES[1][:kind.axes]
        out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 24)
        image = kind.create(format_, sides, format_.random(reversed(sides)), cl.mem_flags.READ_ONLY)
        run(kernel(kind, ASK, "ask"), 1, image, out)
        got = np.empty(6, np.int32)
        cl.enqueue_copy(queue, got, out)
        inner, layers = list(sides[:kind.dimensions]), sides[kind.dimensions:] or [1]
        expected = [*inner, *[1] * (3 - len(inner)), *layers, format_.type, format_.order]
        differences.compare(str(format_), got[None], np.array(expected)[None])
    return differences.done()


@test(KINDS)
def load(kind):
    """Without a sampler."""
    differences = Differences()
    for format_ in formats(kind, cl.mem_flags.READ_ONLY):
        for sides in SIDES:
            sides = sides[:kind.axes]
            texels = format_.random(reversed(sides))
            image = kind.create(format_, sides, texels, cl.mem_flags.READ_ONLY)
            at = all_places(sides)
            got = values_of(kernel(kind, LOAD, f"load_{format_.suffix}"), format_, image, at, np.int32)
            expected = format_.values(texels).reshape(-1, 4)
            differences.compare(f"{format_} {sides}", got, expected, 0, at)
    return differences.done()


SAMPLERS = [(ADDRESSING.NONE, False), (ADDRESSING.CLAMP_TO_EDGE, False), (ADDRESSING.CLAMP, False),
            (ADDRESSING.NONE, True), (ADDRESSING.CLAMP_TO_EDGE, True), (ADDRESSING.CLAMP, True),
            (ADDRESSING.REPEAT, True), (ADDRESSING.MIRRORED_REPEAT, True)]
NAMES = {ADDRESSING.NONE: "none", ADDRESSING.CLAMP_TO_EDGE: "edge", ADDRESSING.CLAMP: "border",
         ADDRESSING.REPEAT: "repeat", ADDRESSING.MIRRORED_REPEAT: "mirror"}
SAMPLED = [kind for kind in KINDS if kind.name != "buffer"]


def coordinates(kind, mode, filter_, normalized, sides, count=600):
    """Coordinates in and around an image: of parts of a texel, which are exact where the sides are powers of two."""
    exact = all(side & (side - 1) == 0 for side in sides)
    columns = []
    for side in sides[:kind.dimensions]:
        low, high = (0, side) if mode == ADDRESSING.NONE else (-2 * side, 3 * side)
        if mode == ADDRESSING.NONE and filter_ == FILTER.LINEAR:
            low, high = 0.5, side - 0.5
        # 64 parts, exact or not on the edge between texels.
        parts = random.integers(int(low * 64), int(high * 64), count) / 64 + (0 if exact else 1 / 200)
        columns.append(parts / side if normalized else parts)
    if kind.dimensions < kind.axes:
        columns.append(random.integers(-4, 4 * sides[-1] + 4, count) / 4 + 1 / 16)
    return np.stack(columns, -1).astype(np.float32)


@test(SAMPLED, *[("nearest", NAMES[m], "normalized" if n else "texels") for m, n in SAMPLERS],
      *[("linear", NAMES[m], "normalized" if n else "texels") for m, n in SAMPLERS])
def sample(kind, filter_name, mode_name, normalized):
    """With a sampler and floats."""
    filter_ = FILTER.NEAREST if filter_name == "nearest" else FILTER.LINEAR
    mode = next(m for m, name in NAMES.items() if name == mode_name)
    normalized = normalized == "normalized"
    sampler = cl.Sampler(context, normalized, mode, filter_)
    differences = Differences()
    for format_ in formats(kind, cl.mem_flags.READ_ONLY):
        if filter_ == FILTER.LINEAR and format_.suffix != "f":
            continue
        for sides in SIDES:
            exact = sides is SIDES[0]
            sides = sides[:kind.axes]
            texels = format_.random(reversed(sides))
            image = kind.create(format_, sides, texels, cl.mem_flags.READ_ONLY)
            at = coordinates(kind, mode, filter_, normalized, sides)
            function = kernel(kind, SAMPLE, f"sample_{format_.suffix}")
            got = values_of(function, format_, image, at, np.float32, sampler)
            expected, spread = sampled(kind, format_, texels, sides, (mode, filter_, normalized), at)
            # Weights have eight bits.
            tolerance = spread * (2**-22 if exact else 1 / 256)
            differences.compare(f"{format_} {sides}", got, expected, tolerance, at)
    return differences.done()


@test(SAMPLED, ("none",), ("edge",), ("border",))
def pick(kind, mode_name):
    """With a sampler and integers."""
    mode = next(m for m, name in NAMES.items() if name == mode_name)
    sampler = cl.Sampler(context, False, mode, FILTER.NEAREST)
    differences = Differences()
    for format_ in formats(kind, cl.mem_flags.READ_ONLY):
        sides = SIDES[1][:kind.axes]
        texels = format_.random(reversed(sides))
        image = kind.create(format_, sides, texels, cl.mem_flags.READ_ONLY)
        outside = 0 if mode == ADDRESSING.NONE else 3
        at = np.stack([random.integers(-outside, side + outside, 600) for side in sides], -1)
        got = values_of(kernel(kind, SAMPLE, f"pick_{format_.suffix}"), format_, image, at, np.int32, sampler)
        expected, _ = sampled(kind, format_, texels, sides, (mode, FILTER.NEAREST, False), at.astype(np.float32))
        differences.compare(f"{format_} {sides}", got, expected, 0, at)
    return differences.done()


def written(format_, count):
    """Values to write: also such that do not fit, and halfway between two numbers."""
    if format_.suffix == "f":
        values = random.random((count, 4)) * 3 - 1.5
        if format_.largest:
            values[::3] = np.rint(values[::3] * format_.largest * 2) / 2 / format_.largest
        return values.astype(np.float32)
    limits = np.iinfo(format_.vector)
    values = random.integers(limits.min, limits.max, (count, 4), format_.vector, endpoint=True)
    values[::2] >>= random.integers(0, 31, values[::2].shape).astype(format_.vector)
    return values


@test(KINDS)
def store(kind):
    if kind.name == "3d" and "cl_khr_3d_image_writes" not in device.extensions:
        return None
    differences = Differences()
    for format_ in formats(kind, cl.mem_flags.WRITE_ONLY):
        for sides in SIDES:
            sides = sides[:kind.axes]
            at = all_places(sides)
            values = written(format_, len(at))
            image = kind.create(format_, sides, format_.random(reversed(sides)), cl.mem_flags.WRITE_ONLY)
            given = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
            run(kernel(kind, STORE, f"store_{format_.suffix}"), len(at), image, packed(at, np.int32), given)
            got = kind.read(image, format_, sides).reshape(len(at), -1)
            differences.compare(f"{format_} {sides}", got, format_.texels(values), 0, at)
    return differences.done()


@test(KINDS)
def change(kind):
    """Images that one kernel reads and writes."""
    if device.version < "OpenCL 2" or not device.max_read_write_image_args:
        return None
    differences = Differences()
    for format_ in formats(kind, cl.mem_flags.KERNEL_READ_AND_WRITE):
        sides = SIDES[1][:kind.axes]
        at = all_places(sides)
        texels = format_.random(reversed(sides))
        image = kind.create(format_, sides, texels, cl.mem_flags.READ_WRITE)
        standard = "-cl-std=CL3.0" if device.version.startswith("OpenCL 3") else "-cl-std=CL2.0"
        run(kernel(kind, CHANGE, f"change_{format_.suffix}", standard), len(at), image, packed(at, np.int32))
        got = kind.read(image, format_, sides).reshape(len(at), -1)
        expected = format_.texels(format_.values(texels)[..., ::-1]).reshape(len(at), -1)
        differences.compare(f"{format_} {sides}", got, expected, 0, at)
    return differences.done()


def main():
    print(platform.name, "/", device.name)
    passed = failed = ignored = texels = 0
    for name, run_test in TESTS:
        if arguments.part not in name:
            continue
        outputs.test = name
        try:
            compared = run_test()
        except Exception as error:
            failed += 1
            print(f"test {name} ... FAILED", flush=True)
            if isinstance(error, AssertionError):
                print(error)
            else:
                traceback.print_exc(limit=-4)
            continue
        if compared is None:
            ignored += 1
            print(f"test {name} ... ignored, the driver has no such images", flush=True)
        else:
            passed, texels = passed + 1, texels + compared
            print(f"test {name} ... ok", flush=True)
    print(f"{texels} texels are right")
    if arguments.save:
        np.savez_compressed(arguments.save, **outputs.own)
    if arguments.compare:
        agreed = outputs.report()
        passed, failed = passed + agreed, failed + (not agreed)
    result = "FAILED" if failed else "ok"
    print(f"\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored")
    return failed != 0


parser = argparse.ArgumentParser()
parser.add_argument("part", nargs="?", default="")
parser.add_argument("--save")
parser.add_argument("--compare")
arguments = parser.parse_args()
outputs = Outputs(dict(np.load(arguments.compare)) if arguments.compare else {})
sys.exit(main())
