"""Random graphs around two products, compiled with and without connection: attention_graphs.py FOLDER [SEED [COUNT]];
the environment names the build.

Ranks, sizes that are known and that a run brings, operands in either order, what happens to scores, weights and results
are drawn, and whether gradients of queries, keys and values are results as well. Both artifacts agree at all sizes, and so
do their positions of NaN; where a result is NaN, gradients are none.
"""

import pathlib
import random
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np

from graphs import BOOL, FLOAT, constant, node, save
from targets import distinct

TARGETS = distinct("host", "x86-64-v3")
LOWEST = float(np.finfo(np.float32).min)


class Graph:
    """A graph that is drawn: softmax(f(q · k)) · v, and what follows."""

    def __init__(self, draw):
        self.draw, self.nodes, self.inputs, self.constants = draw, [], {}, []
        self.lead = [draw.choice(["b", 1, 2, 3]) for _ in range(draw.randrange(4))]
        depth, width = draw.choice([1, 3, 8, 33, 64]), draw.choice([1, 2, 16, 31, 33, 64])
        known = draw.random() < 0.4
        self.rows = draw.choice([8, 9, 31, 32, 40, 100, 200]) if known else "l"
        self.columns = draw.choice([1, 2, 33, 100, 300, self.rows]) if known else draw.choice("cl")
        self.inputs["q"] = FLOAT, [*self.lead, self.rows, depth]
        keys = self.take("k", [self.columns, depth], reverse=True)
        values = self.take("v", [self.columns, width])
        self.trained = list("qkv")
        scores = self.add("MatMul", self.prepare("q", depth) if draw.random() < 0.3 else "q", keys)
        for _ in range(draw.randrange(4)):
            scores = getattr(self, draw.choice(["scale", "shift", "choose", "hide", "bend"]))(scores)
        weights = self.add("Softmax", scores, axis=-1)
        if draw.random() < 0.3:
            weights = self.add("Mul", weights, self.constant(1.7))
        if draw.random() < 0.15:
            weights = self.add("Mul", weights, self.tensor(FLOAT, [*self.lead, self.rows, self.columns]))
        result, shape = self.add("MatMul", weights, values), [*self.lead, self.rows, width]
        if draw.random() < 0.4 and self.lead:
            order = [*range(len(shape))]
            first, second = draw.sample(order, 2)
            order[first], order[second] = second, first
            result, shape = self.add("Transpose", result, perm=order), [shape[axis] for axis in order]
        if draw.random() < 0.4:
            result = self.add("Add", result, self.tensor(FLOAT, shape))
        self.outputs = [(self.add("Tanh" if draw.random() < 0.3 else "Identity", result), FLOAT, shape)]
        if draw.random() < 0.1:
            self.outputs.append((weights, FLOAT, [*self.lead, self.rows, self.columns]))
        self.is_differentiated = draw.random() < 0.5
        if self.is_differentiated:
            self.differentiate(*self.outputs[0])

    def differentiate(self, result, kind, shape):
        loss = self.add("ReduceSum", self.add("Mul", result, self.tensor(kind, shape)), keepdims=0)
        names = [f"d{name}" for name in self.trained]
        self.nodes.append(node("Gradient", self.trained, names, domain="ai.onnx.preview.training", xs=self.trained, y=loss))
        self.outputs += [(name, kind, self.inputs[name[1:]][1]) for name in names]

    def add(self, operator, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value, dtype=np.float32):
        self.constants.append(constant(f"c{len(self.constants)}", value, dtype))
        return self.constants[-1].name

    def tensor(self, kind, shape):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = kind, shape
        return name

    def take(self, name, matrix, reverse=False):
        """An input of matrices, or their transposition; with `reverse`, what is taken is the transposed matrix."""
        stored = self.draw.random() < 0.5
        self.inputs[name] = FLOAT, [*self.lead, *(matrix if stored else matrix[::-1])]
        rank = len(self.lead) + 2
        return self.add("Transpose", name, perm=[*range(rank - 2), rank - 1, rank - 2]) if stored == reverse else name

    def prepare(self, queries, depth):
        """Scales and shifts queries, so that their gradient is scaled and summed."""
        shift = self.tensor(FLOAT, [depth])
        self.trained.append(shift)
        return self.add("Add", self.add("Mul", queries, self.tensor(FLOAT, self.inputs[queries][1])), shift)

    def scale(self, scores):
        return self.add("Mul", scores, self.constant(0.3))

    def shift(self, scores):
        shapes = [[self.rows, self.columns], [*self.lead, self.rows, self.columns], [self.columns], [*self.lead, self.rows, 1]]
        return self.add("Add", scores, self.tensor(FLOAT, self.draw.choice(shapes)))

    def choose(self, scores):
        shape = self.draw.choice([[self.rows, self.columns], [*self.lead, self.rows, self.columns], [self.columns]])
        return self.add("Where", self.tensor(BOOL, shape), scores, self.constant(self.draw.choice([-np.inf, -1e9])))

    def hide(self, scores):
        """Masks scores by a comparison of their positions."""
        rank, zero, one = len(self.lead) + 2, self.constant(0, np.int64), self.constant(1, np.int64)
        counts = [self.add("Squeeze", self.add("Shape", scores, start=axis, end=axis + 1)) for axis in (rank - 2, rank - 1)]
        row, column = (self.add("Range", zero, count, one) for count in counts)
        row = self.add("Unsqueeze", self.add("Add", row, self.constant(self.draw.choice([0, 0, 3, -2]), np.int64)), self.constant([1], np.int64))
        seen = self.add(self.draw.choice(["LessOrEqual", "Less", "GreaterOrEqual", "Greater"]), column, row)
        sides = [scores, self.constant(self.draw.choice([-np.inf, LOWEST]))]
        return self.add("Where", seen, *self.draw.sample(sides, 2))

    def bend(self, scores):
        operator = self.draw.choice(["Tanh", "Relu", "Greater"])
        if operator != "Greater":
            return self.add(operator, scores)
        large = self.add("Greater", scores, self.constant(0.5))
        return self.add("Add", self.add("Where", large, scores, self.constant(-1)), self.add("Cast", large, to=FLOAT))


def compile_graph(path, graph, target, *options):
    """The artifact, and how many pairs of products were connected."""
    model, artifact = path.with_suffix(".onnx"), path.with_suffix(f".{len(options)}.stone")
    save(model, graph.nodes, [(name, *value) for name, value in graph.inputs.items()], graph.outputs, graph.constants)
    return artifact, freestone_runtime.compile_model(model, artifact, "--target", target, *options)["connected"]


def check(path, target, draw):
    graph = Graph(draw)
    random_numbers = np.random.default_rng(draw.randrange(1 << 30))
    artifact, connected = compile_graph(path, graph, target)
    apart, none = compile_graph(path, graph, target, "--disable", "connect")
    assert none == 0, path
    models = [freestone_runtime.Model(artifact, draw.randint(1, 3)), freestone_runtime.Model(apart, 1)]
    for _ in range(3):
        sizes = {"b": draw.choice([1, 2, 3]), "l": draw.choice([1, 2, 15, 16, 17, 32, 65, 260]), "c": draw.choice([0, 1, 16, 33, 127, 400])}
        feeds = {}
        for name, (kind, shape) in graph.inputs.items():
            values = random_numbers.normal(size=[sizes.get(extent, extent) for extent in shape])
            feeds[name] = values > -0.3 if kind == BOOL else values.astype(np.float32)
        results, expected = (model.run(feeds) for model in models)
        assert (np.isnan(results[0]) == np.isnan(expected[0])).all(), (path, target, sizes)
        differentiates = graph.is_differentiated and np.isfinite(expected[0]).all()
        for number, (result, right) in enumerate(zip(results, expected, strict=True)):
            if number and not differentiates:
                break
            # Gradients are sums in which much may cancel.
            scale = max(5 if number else 1e-3, np.nanmax(np.abs(right), initial=0))
            error = np.nanmax(np.abs(result - right), initial=0) / scale
            assert error <= 2e-5, (path, target, sizes, number, error)
    for model in models:
        model.close()
    return connected


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Programs with a missing edge between phases fail, even if the workers happen to run in the right order.
    freestone_runtime.check_order()
    draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 16
    connected = sum(check(folder / f"graph{number}", TARGETS[number % len(TARGETS)], draw) for number in range(count))
    assert connected >= count / 4, connected
    print(f"{count} graphs, {connected} of them connected")


main()
