"""Windows of chains that read the rows of the stage before in place: windows_in_place.py FOLDER.

Depthwise windows, padded on all sides, on some and on none, dilated, of rows shorter and longer than vectors, beside the
same code with copies of the rows: bit by bit, and on one worker and three, whose tiles begin elsewhere. Without the
switch, with strides and before the first edge they are copied. Of pictures of known widths, which may have vectors along
channels, on one worker and several. `chains.py` compares the same code with the interpreter.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from chains import Stage, depthwise, make_model, pointwise
from targets import distinct

SIZES = [(2, 9, width) for width in (1, 2, 3, 7, 8, 9, 15, 17, 33)] + [(0, 5, 5), (1, 1, 40), (1, 2, 6), (1, 64, 28), (3, 31, 65)]


def dilated(channels, pads):
    return Stage(channels, (3, 3), pads=pads, dilations=(2, 2), groups=channels, follows="Relu")


# Channels, stages, and the windows that are read in place.
CASES = [
    (16, [pointwise(96, "Relu"), depthwise(96, "Relu")], 1),
    (24, [pointwise(160, "Relu"), depthwise(160, "Swish"), pointwise(32)], 1),
    (24, [pointwise(144, "Swish"), depthwise(144, "Swish", kernel=5), pointwise(32, "residual")], 1),
    (16, [pointwise(64), dilated(64, (2, 2, 2, 2))], 1),
    (16, [pointwise(64), dilated(64, (0, 3, 1, 0))], 1),
    (16, [pointwise(64), depthwise(64, pads=(0, 0, 0, 0)), pointwise(32)], 1),
    (16, [pointwise(64), depthwise(64, "Relu", pads=(3, 32, 3, 31)), pointwise(32)], 1),
    (16, [pointwise(64), depthwise(64, "Relu", pads=(0, 1, 0, 4000))], 1),
    # More elements than scratch has before the first row.
    (16, [pointwise(64), depthwise(64, "Relu", pads=(0, 33, 0, 1))], 0),
    (16, [pointwise(96, "Relu"), depthwise(96, stride=2)], 0),
    (32, [depthwise(32, "Relu"), pointwise(64)], 0),
]


def check(folder, target, channels, stages, in_place):
    draws = np.random.default_rng(3)
    model, out = make_model(channels, stages, draws)
    onnx.save(model, folder / "m.onnx")
    artifacts = []
    # Vectors along channels, which small tiles have, would sum taps in another order.
    for disabled, expected in (("channel-vectors,windows-in-place", 0), ("channel-vectors", in_place)):
        artifacts.append(folder / f"{disabled}.stone")
        counters = freestone_runtime.compile_model(folder / "m.onnx", artifacts[-1], "--target", target, "--disable", disabled)
        assert counters["chained"] == len(stages) - 1, (channels, stages, target, counters)
        assert counters.get("windows_in_place", 0) == expected, (channels, stages, target, disabled, counters)
    models = [freestone_runtime.Model(path, workers) for path in artifacts for workers in (1, 3)]
    for batch, *size in SIZES:
        extents = size
        for stage in stages:
            extents = extents and stage.extents(extents)
        if not extents:
            continue
        feeds = {"x": draws.standard_normal((batch, channels, *size), dtype=np.float32)}
        if stages[-1].follows == "residual":
            feeds["r"] = draws.standard_normal((batch, out, *extents), dtype=np.float32)
        copied, *others = [model.run(feeds)[0] for model in models]
        for found in others:
            np.testing.assert_array_equal(found, copied, err_msg=f"{channels} {stages} {target} {batch} {size}")
    for model in models:
        model.close()


def check_workers(folder, target):
    """Rows of a stage before kept rows are more where a worker begins, and taps summed in the same order."""
    draws = np.random.default_rng(4)
    model, _ = make_model(32, [depthwise(32, "Relu"), depthwise(32, "Relu"), depthwise(32)], draws)
    onnx.save(model, folder / "m.onnx")
    for width in 8, 14, 16:
        freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target, "--bind", f"w={width}")
        models = [freestone_runtime.Model(folder / "m.stone", workers) for workers in (1, 2, 3)]
        for height in range(6, 40):
            feeds = {"x": draws.standard_normal((1, 32, height, width), dtype=np.float32)}
            one, *others = [model.run(feeds)[0] for model in models]
            for found in others:
                np.testing.assert_array_equal(found, one, err_msg=f"{target} {height} {width}")
        for model in models:
            model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for target in distinct("host", "x86-64-v3"):
        for case in CASES:
            check(folder, target, *case)
        check_workers(folder, target)


main()
