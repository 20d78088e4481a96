"""Elementary functions whose constants loops read from memory, beside the same in registers: stored_constants.py FOLDER.

A map of one function, with more constants than AVX2 has registers, or with fewer; rows whose passes have some each; what
follows on a product, or on windows, whose sums need the registers. The bits are the same, whatever the switch, and machines with twice the registers store none.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# The least number of constants for which AVX2 has too few registers.
CASES = {
    "Erf": ([helper.make_node("Erf", ["x"], ["y"])], 1),
    "Gelu": ([helper.make_node("Gelu", ["x"], ["y"])], 1),
    "Exp": ([helper.make_node("Exp", ["x"], ["y"])], 1),
    "HardSwish": ([helper.make_node("HardSwish", ["x"], ["y"])], 0),
    "Relu": ([helper.make_node("Relu", ["x"], ["y"])], 0),
    "Softmax": ([helper.make_node("Softmax", ["x"], ["y"])], 1),
    "product": ([helper.make_node("MatMul", ["x", "z"], ["c"]), helper.make_node("Gelu", ["c"], ["y"])], 1),
    "windows": ([helper.make_node("Unsqueeze", ["x", "axes"], ["u"]), helper.make_node("Conv", ["u", "v"], ["p"]),
                 helper.make_node("Sigmoid", ["p"], ["q"]), helper.make_node("Mul", ["p", "q"], ["r"]),
                 helper.make_node("Conv", ["r", "w"], ["c"], group=96, pads=[1, 1, 1, 1]),
                 helper.make_node("Sigmoid", ["c"], ["s"]), helper.make_node("Mul", ["c", "s"], ["y"])], 22),
}
TENSORS = {"windows": [numpy_helper.from_array(np.array([0, 1]), "axes"),
                       numpy_helper.from_array(np.linspace(-1, 1, 96, dtype=np.float32).reshape(96, 1, 1, 1), "v"),
                       numpy_helper.from_array(np.linspace(-1, 1, 864, dtype=np.float32).reshape(96, 1, 3, 3), "w")]}


def run(path, target, feeds, *options):
    stone = path.with_suffix(".stone")
    stored = freestone_runtime.compile_model(path, stone, "--target", target, *options)["stored_constants"]
    model = freestone_runtime.Model(stone, 1)
    results = [model.run(each) for each in feeds]
    model.close()
    return stored, [np.asarray(result).view(np.uint32) for result in results]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    info = helper.make_tensor_value_info
    random = np.random.default_rng(1)
    for name, (nodes, least) in CASES.items():
        inputs = {"x": ["m", "k"]} | ({"z": ["k", "n"]} if name == "product" else {})
        graph = helper.make_graph(nodes, name, [info(each, TensorProto.FLOAT, shape) for each, shape in inputs.items()],
                                  [info("y", TensorProto.FLOAT, None)], TENSORS.get(name))
        path = folder / f"{name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10), path)
        feeds = [{each: 3 * random.standard_normal((rows, columns) if each == "x" else (columns, 30), dtype=np.float32)
                  for each in inputs} for rows, columns in ((3, 7), (5, 64), (2, 1000))]
        stored, found = run(path, "x86-64-v3", feeds)
        none, expected = run(path, "x86-64-v3", feeds, "--disable", "store-constants")
        assert none == 0 and stored >= least and (stored > 0) == (least > 0), (name, stored, none)
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other, name)
        # This machine may lack the instructions that pack weights for it.
        wide = freestone_runtime.compile_model(path, folder / "wide.stone", "--target", "x86-64-v4", "--strip-weights")["stored_constants"]
        assert wide == 0, (name, wide)
        print(f"{name}: {stored} constants in memory, the same bits")


if __name__ == "__main__":
    main()
