"""Short branches are computed on both sides, and selected: short_branches.py FOLDER.

A running value that is clipped or not, a counter that grows or starts anew, as a loop's body decides in each iteration;
and a branch that would divide by 0 or read an index out of range where it is not taken. With the switch and without it,
on one worker and more, results are those of the model computed by hand; the long branch stays one.
"""

import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STEPS, WIDTH, LONG = 200, 8, 65536


def side(name, nodes, output, kind, shape):
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(output, kind, shape)])


def make_model(path):
    """s [8], table [4], index [], long [65536] → s and the count behind a loop over short branches, one element, long."""
    node, info = helper.make_node, helper.make_tensor_value_info
    real, whole, truth = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    clipped = side("clipped", [node("Clip", ["moved", "low", "high"], ["a"])], "a", real, [WIDTH])
    turned = side("turned", [node("Neg", ["moved"], ["n"]), node("Mul", ["n", "half"], ["b"])], "b", real, [WIDTH])
    more = side("more", [node("Add", ["count", "one"], ["e"])], "e", whole, [])
    anew = side("anew", [node("Identity", ["zero"], ["f"])], "f", whole, [])
    body = helper.make_graph(
        [node("Cast", ["i"], ["real"], to=real), node("Sin", ["real"], ["wave"]), node("Add", ["s", "wave"], ["moved"]),
         node("ReduceMean", ["moved"], ["mean"], keepdims=0), node("Greater", ["mean", "level"], ["large"]),
         node("If", ["large"], ["next"], then_branch=clipped, else_branch=turned), node("If", ["large"], ["counted"], then_branch=more, else_branch=anew)],
        "body", [info("i", whole, []), info("c", truth, []), info("s", real, [WIDTH]), info("count", whole, [])],
        [info("c", truth, []), info("next", real, [WIDTH]), info("counted", whole, [])])
    element = side("element", [node("Gather", ["table", "index"], ["g"])], "g", real, [])
    nothing = side("nothing", [node("Identity", ["half"], ["h"])], "h", real, [])
    quotient = side("quotient", [node("Div", ["four", "index"], ["q"])], "q", whole, [])
    none = side("none", [node("Identity", ["zero"], ["r"])], "r", whole, [])
    squared = side("squared", [node("Mul", ["long", "long"], ["t"])], "t", real, [LONG])
    kept = side("kept", [node("Tanh", ["long"], ["u"])], "u", real, [LONG])
    nodes = [node("Loop", ["steps", "", "s0", "zero"], ["s_last", "count_last"], body=body),
             node("Less", ["index", "four"], ["inside"]), node("If", ["inside"], ["chosen"], then_branch=element, else_branch=nothing),
             node("Equal", ["index", "zero"], ["is_zero"]), node("Not", ["is_zero"], ["divides"]),
             node("If", ["divides"], ["divided"], then_branch=quotient, else_branch=none),
             node("If", ["inside"], ["longer"], then_branch=squared, else_branch=kept)]
    values = {"low": np.float32(-1), "high": np.float32(1), "half": np.float32(0.5), "level": np.float32(0.1), "one": np.int64(1), "zero": np.int64(0),
              "four": np.int64(4), "steps": np.int64(STEPS)}
    graph = helper.make_graph(
        nodes, "branches", [info("s0", real, [WIDTH]), info("table", real, [4]), info("index", whole, []), info("long", real, [LONG])],
        [info("s_last", real, [WIDTH]), info("count_last", whole, []), info("chosen", real, []), info("divided", whole, []), info("longer", real, [LONG])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def compute(feeds):
    s, count, index, long = np.float64(feeds["s0"]), 0, int(feeds["index"]), np.float64(feeds["long"])
    for step in range(STEPS):
        moved = s + np.sin(step)
        large = moved.mean() > 0.1
        s, count = (np.clip(moved, -1, 1), count + 1) if large else (-moved / 2, 0)
    inside = index < 4
    return [s, count, feeds["table"][index] if inside else 0.5, 4 // index if index else 0, long * long if inside else np.tanh(long)]


def describe_device(path):
    """This machine at estimated rates: measured ones are those of a busy machine where tests run side by side."""
    printed = subprocess.run([freestone_runtime.freestone(), "machine", "--json"], check=True, stdout=subprocess.PIPE).stdout
    path.write_text(json.dumps(json.loads(printed) | {"rates": {"levels": []}}))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    freestone_runtime.check_order()
    path, random = folder / "branches.onnx", np.random.default_rng(0)
    make_model(path)
    describe_device(folder / "device.json")
    seconds = {}
    for name, options in (("selected", []), ("branches", ["--disable", "select-branches"])):
        counters = freestone_runtime.compile_model(path, folder / f"{name}.stone", "--device", folder / "device.json", *options)
        # The two of the loop and the quotient, which is 0 by 0; not the element, whose index is checked, nor the long one.
        assert counters["selected_branches"] == (3 if not options else 0), counters
        for workers in (1, 2, 3):
            program = freestone_runtime.Model(folder / f"{name}.stone", workers)
            for index in (0, 3, 1000):
                feeds = {"s0": random.standard_normal(WIDTH).astype(np.float32), "table": random.standard_normal(4).astype(np.float32),
                         "index": np.asarray(index, np.int64), "long": random.standard_normal(LONG).astype(np.float32)}
                for actual, expected in zip(program.run(feeds), compute(feeds)):
                    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, err_msg=f"{name}, {workers} workers, {index}")
            times = []
            for _ in range(20):
                begin = time.perf_counter()
                program.run(feeds)
                times.append(time.perf_counter() - begin)
            seconds[name, workers] = min(times)
            program.close()
    for workers in (1, 2):
        print(f"{workers} workers: {seconds['selected', workers] / seconds['branches', workers]:.2f} of the time with branches")


main()
