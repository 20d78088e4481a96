"""Maps of elements below 32 bits, and of operands that repeat along their rows or go backwards, against numpy:
narrow_lanes.py FOLDER.

For AVX-512 where the machine has it, and AVX2; at sizes of less than a vector, of whole vectors, and with a rest.
Denormal numbers of bf16 are left out: the processor's conversion makes zeros of them.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper
from targets import distinct

BFLOAT = np.dtype(ml_dtypes.bfloat16)
SIZES = [(1,), (15,), (33,), (128,), (1000,), (3, 5), (3, 40), (2, 96), (5, 301)]


def compiled(folder, nodes, given, dtypes, target, constants=()):
    """The compiled model of inputs x, y, … and the output r."""
    value = lambda name, dtype, rank: helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [f"{name}{dim}" for dim in range(rank)])
    inputs = [value(name, array.dtype, array.ndim) for name, array in given.items()]
    for info, array in zip(inputs, given.values()):
        for dim, extent in zip(info.type.tensor_type.shape.dim, array.shape):
            dim.dim_value = extent
    outputs = [value("r", *dtypes)]
    initializers = [numpy_helper.from_array(array, name) for name, array in constants]
    graph = helper.make_graph(nodes, "narrow", inputs, outputs, initializers)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]), folder / "m.onnx")
    freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)
    return freestone_runtime.Model(folder / "m.stone", 1)


def run(folder, nodes, given, result, target, constants=()):
    model = compiled(folder, nodes, given, (result.dtype, result.ndim), target, constants)
    (actual,) = model.run(given)
    model.close()
    equal = (actual == result) | ((actual != actual) & (result != result))
    assert equal.all(), (target, [node.op_type for node in nodes], result.shape, actual[~equal][:4], result[~equal][:4])


def floats(random, shape):
    values = np.ldexp(random.uniform(-2, 2, shape), random.integers(-60, 60, shape)).astype(np.float32)
    # Halves between neighbours, to even; infinities, and NaN of any bits.
    flat = values.reshape(-1)
    bits = flat.view(np.uint32)
    bits[::3] = bits[::3] & 0xFFFF0000 | 0x8000
    for place, special in enumerate((0x7F800001, 0xFF800000, 0x7FFFFFFF, 0x7F7FFFFF)):
        if len(bits) > 11 * place + 7:
            bits[11 * place + 7] = special
    return values


def check_elements(folder, target, random, shape):
    x, y = (random.integers(0, 2, shape).astype(bool) for _ in range(2))
    node = helper.make_node
    run(folder, [node("Not", ["x"], ["r"])], {"x": x}, ~x, target)
    run(folder, [node("Xor", ["x", "y"], ["r"])], {"x": x, "y": y}, x ^ y, target)
    wide = floats(random, shape)
    with np.errstate(all="ignore"):
        narrow = wide.astype(BFLOAT)
    run(folder, [node("Cast", ["x"], ["r"], to=onnx.TensorProto.BFLOAT16)], {"x": wide}, narrow, target)
    run(folder, [node("Cast", ["x"], ["r"], to=onnx.TensorProto.FLOAT)], {"x": narrow}, narrow.astype(np.float32), target)
    run(folder, [node("Where", ["x", "y", "z"], ["r"])], {"x": x, "y": narrow, "z": -narrow}, np.where(x, narrow, -narrow), target)
    run(folder, [node("Neg", ["x"], ["m"]), node("Abs", ["m"], ["r"])], {"x": narrow}, np.abs(narrow), target)
    numbers = np.nan_to_num(np.clip(wide, -1e4, 1e4))
    scale, zero = np.float32(0.5), np.uint8(128)
    quantised = np.clip(np.rint(numbers / scale) + 128, 0, 255).astype(np.uint8)
    run(folder, [node("QuantizeLinear", ["x", "scale", "zero"], ["r"])], {"x": numbers}, quantised, target,
        [("scale", np.asarray(scale)), ("zero", np.asarray(zero))])


def check_backwards(folder, target, random, shape):
    """Rows from their end on, and beside themselves; all elements from the last one on."""
    node, last = helper.make_node, len(shape) - 1
    for axes in [(last,), tuple(range(len(shape)))]:
        constants = [(name, np.full(len(axes), number)) for name, number in (("from", -1), ("to", -2**31), ("step", -1))]
        nodes = [node("Slice", ["x", "from", "to", "axes", "step"], ["back"])]
        for x in (random.integers(-9, 9, shape).astype(dtype) for dtype in (BFLOAT, np.float32, np.int8)):
            back = np.flip(x, axes)
            run(folder, [*nodes, node("Neg", ["back"], ["r"])], {"x": x}, -back, target, [*constants, ("axes", np.array(axes))])
            run(folder, [*nodes, node("Add", ["x", "back"], ["r"])], {"x": x}, x + back, target, [*constants, ("axes", np.array(axes))])


def check_repeats(folder, target, random, height, width):
    """The points of an affine grid, x and y in turn: the matrix's rows repeat along them."""
    matrix = random.integers(-4, 4, (3, 2, 3)).astype(np.float32)
    size = ("size", np.array([3, 1, height, width]))
    node = helper.make_node("AffineGrid", ["x", "size"], ["r"], align_corners=0)
    # Places are multiples of a power of two, and all sums exact.
    place = lambda count: (2 * np.arange(count, dtype=np.float32) + 1) / np.float32(count) - 1
    y, x = np.meshgrid(place(height), place(width), indexing="ij")
    run(folder, [node], {"x": matrix}, np.einsum("nck,hwk->nhwc", matrix, np.stack([x, y, np.ones_like(x)], -1)), target, [size])


def main():
    folder = pathlib.Path(sys.argv[1])
    random = np.random.default_rng(1)
    for target in distinct("host", "x86-64-v3"):
        for shape in SIZES:
            check_elements(folder, target, random, shape)
            check_backwards(folder, target, random, shape)
        for height, width in ((4, 128), (8, 16), (2, 4), (4, 1)):
            check_repeats(folder, target, random, height, width)


main()
