"""What a phase costs: phases.py [--rounds N].

Nanoseconds of a phase and worker where nothing must be waited for: chains of sines over no elements, one a phase, without
tiles; of an iteration of a loop around one and around sixteen of them, beside as many phases; and of a hand-over (`freestone-handover`): a phase in which two workers wait for each other, beside a cache line
that goes to the other CPU and back.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper

APART = ("--disable", "inline,epilogues,rows,maps,siblings,merge-phases")
SHORT, LONG, TRIPS, BODIES = 64, 576, 4000, (1, 16)


def chain(first, length):
    """Nodes of so many sines of `first`, and the name of the last."""
    names = [first, *(f"{first}_{number}" for number in range(length))]
    return [helper.make_node("Sin", [name], [following]) for name, following in zip(names, names[1:])], names[-1]


def save(path, nodes, result, has_limit=False):
    info = helper.make_tensor_value_info
    inputs = [info("x", TensorProto.FLOAT, ["n"])] + ([info("m", TensorProto.INT64, [])] if has_limit else [])
    graph = helper.make_graph(nodes, "phases", inputs, [info(result, TensorProto.FLOAT, ["n"])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def save_loop(path, length):
    """A loop of m iterations over so many sines."""
    info = helper.make_tensor_value_info
    nodes, last = chain("h", length)
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), *nodes], "body",
                             [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("h", TensorProto.FLOAT, ["n"])],
                             [info("d", TensorProto.BOOL, []), info(last, TensorProto.FLOAT, ["n"])])
    save(path, [helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)], "y", True)


def nanoseconds(artifact, feeds, workers, rounds):
    """The smallest of the medians of turns, and phases of a run."""
    model = freestone_runtime.Model(artifact, workers)
    model.run(feeds)
    before = model.counters()
    model.run_bound()
    phases = model.counters().phases - before.phases
    medians = []
    for _ in range(rounds):
        times = []
        for _ in range(20):
            begin = time.perf_counter_ns()
            model.run_bound()
            times.append(time.perf_counter_ns() - begin)
        medians.append(statistics.median(times))
    model.close()
    return min(medians), phases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=pathlib.Path, default=freestone_runtime.build_folder() / "phases")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    artifacts = {}
    for length in (SHORT, LONG):
        artifacts[length] = options.folder / f"chain-{length}.stone"
        nodes, last = chain("x", length)
        save(options.folder / "model.onnx", nodes, last)
        freestone_runtime.compile_model(options.folder / "model.onnx", artifacts[length], *APART)
    for length in BODIES:
        artifacts["loop", length] = options.folder / f"loop-{length}.stone"
        save_loop(options.folder / "model.onnx", length)
        freestone_runtime.compile_model(options.folder / "model.onnx", artifacts["loop", length], *APART)

    handed = subprocess.check_output([freestone_runtime.build_folder() / "bin" / "freestone-handover"], text=True)
    line, handover, published, published2 = (float(row.split()[0]) for row in handed.splitlines())
    print("| ns | 1 worker | 2 workers |\n|---|---|---|")
    print(f"| a cache line there and back | | {line:.0f} |")
    print(f"| a phase that hands over, {handover / line:.2f} of it | | {handover:.0f} |")
    print(f"| a phase published, not awaited | {published:.1f} | {published2:.1f} |")
    x, costs = np.zeros(0, np.float32), {}
    for workers in (1, 2):
        (short, few), (long, many) = (nanoseconds(artifacts[length], {"x": x}, workers, options.rounds) for length in (SHORT, LONG))
        assert many - few == LONG - SHORT, (few, many)
        costs[workers] = [(long - short) / (many - few)]
        for length in BODIES:
            (short, few), (long, many) = (nanoseconds(artifacts["loop", length], {"x": x, "m": np.array(trips)}, workers, options.rounds)
                                          for trips in (TRIPS // 10, TRIPS))
            costs[workers] += [(long - short) / (TRIPS - TRIPS // 10), (many - few) / (TRIPS - TRIPS // 10)]
    print(f"| a phase without waits | {costs[1][0]:.1f} | {costs[2][0]:.1f} |")
    for number, length in enumerate(BODIES):
        cells = []
        for workers in (1, 2):
            iteration, phases = costs[workers][1 + 2 * number: 3 + 2 * number]
            cells.append(f"{iteration:.1f} ({phases:.0f} phases: {phases * costs[workers][0]:.1f})")
        print(f"| an iteration around {length} | {cells[0]} | {cells[1]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
