"""Operators that do not depend on each other, in any order and dealt in any way: side_by_side.py FOLDER [COUNT [SEED]].

Random programs of branches of products, maps and reductions, few rows to many, on one to four workers. Neither the
order of phases nor the deals of tiles may change a bit; the order is proved. Counts what was scheduled, and what was kept whole
since others kept the rest of the workers busy: nothing where that is switched off.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, WORKERS, DEALS, COMPANY = [1, 3, 40], [1, 2, 3, 4], 16, 128


class Program:
    """x [n, 48] → y [n, 48], by branches that grow from what was computed before, of widths that differ much."""

    def __init__(self, seed):
        self.draw, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.nodes, self.weights, self.values = [], [], [("x", 48)]
        for _ in range(self.draw.randint(8, 30)):
            self.values.append(self.grow(*self.draw.choice(self.values[-8:])))
        ends = [self.product(*value, 48) for value in self.values[-self.draw.randint(2, 8):]]
        last = self.add("Sum", [name for name, _ in ends])
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "branches", [info("x", TensorProto.FLOAT, ["n", 48])],
                                  [info(last, TensorProto.FLOAT, ["n", 48])], self.weights)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def add(self, kind, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def product(self, value, width, columns):
        weight = (self.numbers.standard_normal((width, columns)) / np.sqrt(width)).astype(np.float32)
        self.weights.append(numpy_helper.from_array(weight, f"w{len(self.nodes)}"))
        return self.add("MatMul", [value, self.weights[-1].name]), columns

    def grow(self, value, width):
        kind = self.draw.choice(["MatMul", "MatMul", "Tanh", "Softmax", "Add"])
        if kind == "MatMul":
            return self.product(value, width, self.draw.choice([16, 48, 300]))
        alike = [other for other, columns in self.values if columns == width]
        if kind == "Add":
            return self.add(kind, [value, self.draw.choice(alike)]), width
        return self.add(kind, [value]), width


def run_all(artifact, feeds, switched_off=0):
    """The results of all numbers of workers and rows, and the deals that were kept whole and near their data."""
    results, kept = [], np.zeros(2, int)
    for workers in WORKERS:
        program = freestone_runtime.Model(artifact, workers, switched_off)
        results.append([program.run({"x": x})[0] for x in feeds])
        counters = program.counters()
        kept += counters.kept_whole, counters.kept_near
        program.close()
    return results, kept


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    freestone_runtime.check_order()
    scheduled, kept = 0, np.zeros(2, int)
    for seed in range(first, first + count):
        path = folder / "branches.onnx"
        onnx.save(Program(seed).model, path)
        feeds = [np.random.default_rng(seed).standard_normal((rows, 48)).astype(np.float32) for rows in ROWS]
        scheduled += freestone_runtime.compile_model(path, folder / "scheduled.stone")["scheduled_phases"]
        assert freestone_runtime.compile_model(path, folder / "plain.stone", "--disable", "schedule")["scheduled_phases"] == 0
        expected, _ = run_all(folder / "plain.stone", feeds, DEALS)
        for name, off in (("plain", 0), ("scheduled", DEALS), ("scheduled", COMPANY), ("scheduled", 0)):
            all_results, kept_in_these = run_all(folder / f"{name}.stone", feeds, off)
            assert not off or not kept_in_these[0], f"seed {seed}: {kept_in_these[0]} deals were kept whole without {off}"
            kept += kept_in_these
            for workers, results in zip(WORKERS, all_results):
                for rows, actual, wanted in zip(ROWS, results, expected[0]):
                    assert np.array_equal(actual, wanted), f"seed {seed}: {name}, {workers} workers, {rows} rows, without {off}"
    assert scheduled > 0, "no program was scheduled"
    assert kept.all(), f"{kept} deals were kept whole, and near their data"
    print(f"{count} programs, {scheduled} phases with another place, {kept[0]} deals kept whole, {kept[1]} near their data")


if __name__ == "__main__":
    main()
