"""Arrays go in and come out without copies, whatever library they are of."""

import resource

import ml_dtypes
import numpy as np

import freestone
from freestone._freestone import address
from graphs import double, model, sum_and_difference


class Foreign:
    """An array that speaks DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array_namespace__(self):
        return np


def numpy_arrays():
    program = freestone.compile(double())
    x = np.arange(24, dtype=np.float32).reshape(3, 8)
    assert address(x) == x.ctypes.data and address(x[1:]) == x[1:].ctypes.data
    for y in (program(x), program(x=x), program.run({"x": x})):
        assert y.dtype == np.float32 and (y == 2 * x).all() and not y.flags["OWNDATA"]
    first = program(x)
    program(np.zeros_like(x))
    assert (first == 2 * x).all(), "an output outlives later calls"
    x.flags.writeable = False
    assert (program(x) == 2 * x).all(), "inputs may be read-only"


def given_outputs():
    program = freestone.compile(double())
    x, y = np.ones((4, 8), np.float32), np.zeros((4, 8), np.float32)
    assert program(x, out=y) is y and (y == 2).all()
    assert program(x, out={"y": y}) is y and program(x, out=[y]) is y
    rows = np.zeros((9, 8), np.float32)
    program(x, out=rows[5:])
    assert (rows[5:] == 2).all() and (rows[:5] == 0).all()
    assert program(x) is not y, "it is written once"
    two = freestone.compile(sum_and_difference())
    a, b, difference = np.float32([1, 2]), np.float32([3, 5]), np.zeros(2, np.float32)
    assert (two(a, b, out={"difference": difference})[0] == [4, 7]).all() and (difference == [-2, -3]).all()
    assert two(b=b, a=a, out=(None, difference))[1] is difference


def foreign_arrays():
    program = freestone.compile(double())
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    assert address(Foreign(x)) == x.ctypes.data
    assert (program(Foreign(x)) == 2 * x).all()
    y = np.zeros((2, 8), np.float32)
    target = Foreign(y)
    assert program(x, out=target) is target and (y == 2 * x).all(), "written in place by DLPack"


def torch_arrays():
    try:
        import torch
    except ImportError:
        return
    program = freestone.compile(double())
    x = torch.arange(16, dtype=torch.float32).reshape(2, 8)
    y = program(x)
    assert isinstance(y, torch.Tensor) and (y == 2 * x).all() and address(x) == x.data_ptr()
    out = torch.zeros(2, 8)
    assert program(x, out=out) is out and (out == 2 * x).all()


def jax_arrays():
    try:
        import jax.numpy as jnp
    except ImportError:
        return
    program = freestone.compile(double())
    x = jnp.arange(16, dtype=jnp.float32).reshape(2, 8)
    y = program(x)
    assert isinstance(y, type(x)) and (y == 2 * x).all() and address(x) == x.unsafe_buffer_pointer()


def large_arrays_are_not_copied():
    program = freestone.compile(double(), threads=1)
    x = np.ones((4_000_000, 8), np.float32)
    y = np.ones_like(x)
    program(x[:1], out=y[:1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    program(x, out=y)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert (y[::1000] == 2).all() and grown < x.nbytes / 4, grown


def scalars_lists_and_types():
    scale = freestone.compile(model("scale (float[n] x, float s) => (float[n] y) { y = Mul(x, s) }"))
    assert scale([1, 2.5], 2).tolist() == [2, 5]
    assert scale(x=np.float32([3]), s=np.float32(2)).tolist() == [6]
    for name, dtype in (("bool", bool), ("int64", np.int64), ("uint8", np.uint8), ("float16", np.float16),
                        ("double", np.float64)):
        same = freestone.compile(model(f"same ({name}[n] x) => ({name}[n] y) {{ y = Identity(x) }}"))
        given = np.array([0, 1, 1], dtype)
        assert same(given).dtype == dtype and (same(given) == given).all(), name
    half = freestone.compile(model("half (bfloat16[n] x) => (bfloat16[n] y) { y = Add(x, x) }"))
    given = np.array([1, 2.5], ml_dtypes.bfloat16)
    assert half(given).dtype == ml_dtypes.bfloat16 and (half(given) == 2 * given).all()
    assert half.inputs[0].dtype == "bfloat16"


def empty_and_result_sizes():
    program = freestone.compile(double())
    assert program(np.zeros((0, 8), np.float32)).shape == (0, 8)
    where = freestone.compile(model("where (float[n] x) => (int64[1, found] y) { y = NonZero(x) }"))
    assert where(np.float32([0, 1, 0, 2])).tolist() == [[1, 3]]
    assert [size.is_result for size in where.sizes] == [False, True]


for test in (numpy_arrays, given_outputs, foreign_arrays, torch_arrays, jax_arrays, large_arrays_are_not_copied,
             scalars_lists_and_types, empty_and_result_sizes):
    test()
