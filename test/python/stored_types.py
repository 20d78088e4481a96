"""float8, float4 and integers below a byte: every value of each type, both ways, against ONNX's reference."""

import itertools
import warnings

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops.op_cast import cast_to

import freestone

FLOATS = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT4E2M1"]
SCALE = "FLOAT8E8M0"
INTEGERS = ["INT4", "UINT4", "INT2", "UINT2"]
STORED = [*FLOATS, SCALE, *INTEGERS]
WIDE = ["FLOAT16", "BFLOAT16", "FLOAT", "DOUBLE", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64",
        "UINT64", "BOOL"]


def number(name):
    return getattr(TensorProto, name)


def array_type(name):
    return helper.tensor_dtype_to_np_dtype(number(name))


def every_code(name):
    """All values of a type, in an odd number: the last packed byte is padded."""
    dtype = array_type(name)
    bits = {"INT4": 4, "UINT4": 4, "INT2": 2, "UINT2": 2, "FLOAT4E2M1": 4}.get(name, 8)
    codes = np.arange(1 << bits)
    if name in ("INT4", "INT2"):
        codes = codes - (1 << (bits - 1))
    return np.append(codes, codes[1]).astype(np.uint8).view(dtype)


def compile_nodes(nodes, inputs, outputs, initializers=()):
    """`inputs` and `outputs` are pairs of a name and a type, of rank 1 with a symbolic size unless a shape follows."""
    def info(name, kind, shape=("n",)):
        return helper.make_tensor_value_info(name, number(kind), shape)

    graph = helper.make_graph(nodes, "stored", [info(*value) for value in inputs], [info(*value) for value in outputs],
                              list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=13)
    return model, freestone.compile(model)


def run(program, inputs):
    return dict(zip([value.name for value in program.outputs], program.run(inputs)))


def same(actual, expected, what):
    """Equal bit for bit, apart from the codes of NaN."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, (what, actual.dtype, expected.dtype)
    if "int" in actual.dtype.name:
        assert (actual.astype(np.int64) == expected.astype(np.int64)).all(), (what, actual, expected)
        return
    width = f"u{actual.dtype.itemsize}"
    equal = np.ascontiguousarray(actual).view(width) == np.ascontiguousarray(expected).view(width)
    if actual.dtype.kind != "b":
        with np.errstate(invalid="ignore"):
            equal |= np.isnan(actual.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    assert equal.all(), (what, np.flatnonzero(~equal)[:8], actual[~equal][:8], expected[~equal][:8])


def in_range(values, name):
    """The values whose conversion to an integer type is defined: truncated, they are its numbers."""
    with np.errstate(invalid="ignore"):
        real = values.astype(np.float64)
    low, high = {"INT4": (-8, 7), "UINT4": (0, 15), "INT2": (-2, 1), "UINT2": (0, 3)}.get(name) or (
        np.iinfo(array_type(name)).min, np.iinfo(array_type(name)).max)
    with np.errstate(invalid="ignore"):
        whole = np.trunc(real)
        return (whole >= low) & (whole <= high) & (np.abs(real) < 2.0 ** 62)


def modes(name):
    """The attributes of a cast that change its result."""
    if name == SCALE:
        return [dict(saturate=saturate, round_mode=mode) for saturate, mode in
                itertools.product((0, 1), ("up", "down", "nearest"))]
    return [dict(saturate=0), dict(saturate=1)] if name in FLOATS else [{}]


def check_casts(source, values, targets):
    """One model with every cast from a type."""
    casts = [(target, mode) for target in targets if target != source for mode in modes(target)]
    nodes = [helper.make_node("Cast", ["x"], [f"y{i}"], to=number(target), **mode)
             for i, (target, mode) in enumerate(casts)]
    _, program = compile_nodes(nodes, [("x", source)], [(f"y{i}", target) for i, (target, _) in enumerate(casts)])
    results = run(program, {"x": values})
    for i, (target, mode) in enumerate(casts):
        given = values
        if source in [SCALE, *INTEGERS] and target in STORED:  # ml_dtypes has no such casts
            given = values.astype(np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = cast_to(given, number(target), bool(mode.get("saturate", 1)), mode.get("round_mode", "up"))
        actual = results[f"y{i}"]
        if target in INTEGERS or "INT" in target:
            defined = in_range(given, target)
            actual, expected = actual[defined], expected[defined]
        if target == "FLOAT4E2M1" and source not in INTEGERS:  # NaN becomes a zero of either sign
            with np.errstate(all="ignore"):
                number_of = ~np.isnan(values.astype(np.float32))
            assert (actual[~number_of].astype(np.float32) == 0).all()
            actual, expected = actual[number_of], expected[number_of]
        same(actual, expected, (source, target, mode))


def widening():
    for source in STORED:
        check_casts(source, every_code(source), STORED + WIDE)


def near_halves():
    """Every value of each float type, the middles between two, and their neighbours in f32."""
    values = [np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38, 1e-39])]
    for name in FLOATS + [SCALE]:
        exact = np.sort(every_code(name).astype(np.float32))
        exact = exact[np.isfinite(exact)]
        middle = (exact[1:].astype(np.float64) + exact[:-1]) / 2
        beyond = exact[-1].astype(np.float64) + (exact[-1] - middle[-1])
        for around in (exact, middle.astype(np.float32), np.float32([beyond, -beyond])):
            values += [around, np.nextafter(around, np.float32(np.inf)), np.nextafter(around, np.float32(-np.inf))]
    return np.concatenate(values)


def narrowing():
    halves = near_halves()
    check_casts("FLOAT", np.concatenate([halves, (np.arange(65536, dtype=np.uint32) << 16 | 0x8001).view(np.float32)]), STORED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_casts("DOUBLE", halves.astype(np.float64), STORED)
    every = np.arange(65536, dtype=np.uint16)
    check_casts("FLOAT16", every.view(np.float16), STORED)
    check_casts("BFLOAT16", every.view(ml_dtypes.bfloat16), STORED)
    check_casts("INT8", np.arange(-128, 128).astype(np.int8), STORED)
    check_casts("UINT8", np.arange(256).astype(np.uint8), STORED)
    check_casts("INT32", np.int32([0, 1, -1, 7, 8, -8, -9, 17, 25, 449, 2 ** 24 + 1, 2 ** 31 - 1, -2 ** 31]), STORED)
    check_casts("INT64", np.int64([0, 3, -5, 464, 465, 2 ** 53 + 1, -2 ** 60]), STORED)
    check_casts("BOOL", np.array([True, False, True]), STORED)


def bits():
    pairs = [("FLOAT", "UINT32"), ("INT8", "FLOAT8E5M2"), ("FLOAT8E4M3FN", "UINT8"), ("INT4", "UINT4"),
             ("FLOAT4E2M1", "INT4"), ("UINT2", "INT2"), ("FLOAT16", "BFLOAT16"), ("DOUBLE", "INT64")]
    for source, target in pairs:
        with np.errstate(over="ignore"):
            halves = near_halves().astype(array_type(source)) if source in WIDE[:4] else None
        values = halves if source in WIDE[:4] else (
            np.arange(-128, 128).astype(np.int8) if source == "INT8" else every_code(source))
        _, program = compile_nodes([helper.make_node("BitCast", ["x"], ["y"], to=number(target))], [("x", source)],
                                   [("y", target)])
        expected = values.view(np.uint8).view(array_type(target))
        if source in INTEGERS or target in INTEGERS:
            bits = 2 if "2" in target[-1] else 4
            codes = values.view(np.uint8) & ((1 << bits) - 1)
            if target in ("INT4", "INT2"):
                codes = np.where(codes >> (bits - 1), codes - (1 << bits), codes)
            expected = codes.astype(np.uint8).view(array_type(target))
        same(program(values), expected, (source, target))


def quantization():
    """Per tensor, per axis, and in blocks along each axis; with and without a zero point."""
    random = np.random.default_rng(0)
    x = (random.standard_normal((6, 10)) * 40).astype(np.float32)
    for name in [*FLOATS, *INTEGERS, "INT16", "UINT16", "INT8"]:
        dtype, nodes, inputs, initializers = array_type(name), [], {"x": x}, []
        kinds = [("tensor", (), {}), ("axis", (10,), dict(axis=1)), ("rows", (6,), dict(axis=0)),
                 ("blocks", (6, 5), dict(axis=1, block_size=2)), ("tall", (2, 10), dict(axis=0, block_size=3))]
        for kind, shape, attributes in kinds:
            scale = random.uniform(0.5, 9, shape).astype(np.float32)
            zero = np.zeros(shape, dtype)
            if name not in FLOATS:
                zero = random.integers(0, 2, shape).astype(np.int8).astype(dtype)
            initializers += [numpy_helper.from_array(np.asarray(scale), f"s_{kind}"),
                             numpy_helper.from_array(np.asarray(zero), f"z_{kind}")]
            nodes += [helper.make_node("QuantizeLinear", ["x", f"s_{kind}", f"z_{kind}"], [f"q_{kind}"], **attributes),
                      helper.make_node("DequantizeLinear", [f"q_{kind}", f"s_{kind}", f"z_{kind}"], [f"d_{kind}"],
                                       **attributes)]
        outputs = [(f"q_{kind}", name, (6, 10)) for kind, *_ in kinds] + [
            (f"d_{kind}", "FLOAT", (6, 10)) for kind, *_ in kinds]
        model, program = compile_nodes(nodes, [("x", "FLOAT", (6, "n"))], outputs, initializers)
        names, results = [output[0] for output in outputs], run(program, inputs)
        for output, expected in zip(names, ReferenceEvaluator(model).run(names, inputs)):
            same(results[output], expected, (name, output))


def movement():
    """What only moves elements, with sizes at which packed rows begin within a byte."""
    nodes = [helper.make_node("Identity", ["x"], ["same"]),
             helper.make_node("Transpose", ["x"], ["turned"], perm=[1, 0]),
             helper.make_node("Reshape", ["x", "flat"], ["line"]),
             helper.make_node("Concat", ["x", "weight"], ["joined"], axis=0),
             helper.make_node("Slice", ["x", "one", "four", "one"], ["part"]),
             helper.make_node("Gather", ["x", "rows"], ["picked"], axis=1),
             helper.make_node("Where", ["condition", "x", "x"], ["chosen"]),
             helper.make_node("Pad", ["x", "margins"], ["padded"])]
    rows, flat = np.int64([2, 0]), np.int64([-1])
    for name in STORED:
        codes = every_code(name)
        weight = np.resize(codes, (5, 3))
        integers = {"flat": flat, "one": np.int64([1]), "four": np.int64([4]), "rows": rows,
                    "margins": np.int64([0, 1, 1, 0]), "condition": np.array([[True], [False], [True]])}
        given = [numpy_helper.from_array(value, key) for key, value in integers.items()]
        raw = numpy_helper.from_array(weight, "weight")
        typed = helper.make_tensor("weight", number(name), weight.shape, weight.ravel().astype(np.float32)
                                   if name in FLOATS + [SCALE] else weight.ravel().astype(np.int32))
        inside = nodes[:-1] if name == SCALE else nodes
        outputs = [(node.output[0], name, shape) for node, shape in zip(
            inside, [("m", 3), (3, "m"), ("k",), ("j", 3), (3, "p"), ("m", 2), (3, 3), ("a", "b")])]
        for form in (raw, typed):
            _, program = compile_nodes(inside, [("x", name, (3, 3))], outputs, [*given, form])
            x = np.resize(codes[3:] if len(codes) > 12 else codes, (3, 3))
            results = run(program, {"x": x})
            same(results["same"], x, name)
            same(results["turned"], np.ascontiguousarray(x.T), name)
            same(results["line"], x.ravel(), name)
            joined = results["joined"]
            same(joined[:3], x, name)
            same(joined[3:], numpy_helper.to_array(form), (name, "an initializer"))
            same(results["part"], np.ascontiguousarray(x[:, 1:4]), name)
            same(results["picked"], np.ascontiguousarray(x[:, rows]), name)
            same(results["chosen"], x, name)
            if name != SCALE:
                expected = np.zeros((4, 4), np.uint8).view(array_type(name))
                expected[:3, 1:] = x
                same(results["padded"], expected, name)


def products():
    """MatMulNBits of com.microsoft, whose weights are rows of packed blocks; its numbers by NumPy."""
    random = np.random.default_rng(1)
    for bits, depth, columns, block, has_zeros in [(4, 64, 48, 32, False), (4, 80, 33, 16, True), (2, 128, 8, 32, True),
                                                   (8, 96, 16, 32, True)]:
        def unpack(packed):
            places = packed[..., None] >> np.arange(0, 8, bits, dtype=np.uint8) & ((1 << bits) - 1)
            return places.reshape(*packed.shape[:-1], -1).astype(np.float32)

        blocks = -(-depth // block)
        packed = random.integers(0, 256, (columns, blocks, block * bits // 8), np.uint8)
        scale = random.uniform(0.1, 1, (columns, blocks, 1)).astype(np.float32)
        zeros = random.integers(0, 256, (columns, -(-blocks * bits // 8)), np.uint8)
        given = {"b": packed, "s": scale.ravel()} | ({"z": zeros.ravel()} if has_zeros else {})
        node = helper.make_node("MatMulNBits", ["x", *given], ["y"], domain="com.microsoft", K=depth, N=columns,
                                bits=bits, block_size=block)
        graph = helper.make_graph([node], "bits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", depth))],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", columns))],
                                  [numpy_helper.from_array(value, name) for name, value in given.items()])
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        program = freestone.compile(helper.make_model(graph, opset_imports=opsets, ir_version=10))
        x = random.standard_normal((5, depth)).astype(np.float32)
        middle = unpack(zeros)[:, :blocks, None] if has_zeros else 1 << (bits - 1)
        weights = ((unpack(packed) - middle) * scale).reshape(columns, -1)[:, :depth]
        expected = x @ weights.T
        assert np.abs(program(x) - expected).max() < 1e-5 * np.abs(expected).max(), bits


if __name__ == "__main__":
    for part in (widening, narrowing, bits, quantization, movement, products):
        part()
