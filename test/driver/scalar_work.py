"""What goes element by element is told: scalar_work.py FREESTONE FOLDER, with the filled models in it.

Of an operator that is written out, check warns with its node, its shape and the reason, and all of its operations count;
of one that is computed in vectors, and of models that go through micro-kernels, it does not.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

FREESTONE, MODELS = sys.argv[1], pathlib.Path(sys.argv[2])


def save(path, operator, element_type, output_types, **attributes):
    outputs = [helper.make_tensor_value_info(f"y{number}", kind, None) for number, kind in enumerate(output_types)]
    node = helper.make_node(operator, ["x"], [output.name for output in outputs], name="the_node", **attributes)
    x = helper.make_tensor_value_info("x", element_type, ["n"])
    model = helper.make_model(helper.make_graph([node], "one", [x], outputs), opset_imports=[helper.make_opsetid("", 21)])
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def freestone(*words):
    return subprocess.run([FREESTONE, *map(str, words)], capture_output=True, text=True, check=True).stdout


def get_work(model, stone, *options):
    statistics = json.loads(freestone("compile", model, "-o", stone, "--json", *options))
    work, counters = statistics["scalar_work"], statistics["counters"]
    assert counters["scalar_operations"] == work["scalar"], (counters, work)
    assert counters["tile_operations"] == work["operations"], (counters, work)
    assert sum(program["scalar"] for program in work["programs"]) == work["scalar"], work
    return work


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    ordered, plain, stone = folder / "unique.onnx", folder / "tanh.onnx", folder / "m.stone"
    save(ordered, "Unique", TensorProto.INT64, [TensorProto.INT64])
    save(plain, "Tanh", TensorProto.FLOAT, [TensorProto.FLOAT])

    (line,) = [line for line in freestone("check", ordered, "--bind", "n=65536").splitlines() if line.startswith("slow:")]
    assert "node 'the_node'" in line and "i64[" in line and "written out" in line, line
    assert not any(line.startswith("slow:") for line in freestone("check", plain, "--bind", "n=65536").splitlines())
    # So few elements are no time.
    assert "slow:" not in freestone("check", ordered, "--bind", "n=16")

    work = get_work(ordered, stone, "--no-cache")
    assert work["scalar"] > work["operations"] / 2 > 0, work
    assert {program["node"] for program in work["programs"]} == {"the_node"}, work
    # What the cache has tells the same.
    assert get_work(ordered, stone) == get_work(ordered, stone) == work
    work = get_work(plain, stone, "--no-cache")
    assert work["operations"] > 0 and work["scalar"] == 0 and not work["programs"], work
    for model in ("mlp", "cnn", "gpt"):
        work = get_work(MODELS / f"{model}.onnx", stone, "--no-cache")
        assert work["scalar"] < 0.01 * work["operations"], (model, work)
        print(f"{model}: {work['scalar']} of {work['operations']} operations go element by element")
