"""Recurrent layers with random attributes against numpy in fp64: recurrent.py FOLDER [COUNT [SEED]].

Kinds, directions, activations with parameters, clips, peepholes, coupled gates, lengths of sequences, first states, both
layouts. Batch and length are symbols; each artifact runs for several, on one and two workers.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {  # the function, and its number of parameters
    "Tanh": (lambda x, a, b: np.tanh(x), 0),
    "Sigmoid": (lambda x, a, b: 1 / (1 + np.exp(-x)), 0),
    "Relu": (lambda x, a, b: np.maximum(x, 0), 0),
    "Softsign": (lambda x, a, b: x / (1 + np.abs(x)), 0),
    "Softplus": (lambda x, a, b: np.log1p(np.exp(x)), 0),
    "Elu": (lambda x, a, b: np.where(x < 0, a * np.expm1(x), x), 1),
    "LeakyRelu": (lambda x, a, b: np.where(x < 0, a * x, x), 1),
    "ThresholdedRelu": (lambda x, a, b: np.where(x > a, x, 0), 1),
    "Affine": (lambda x, a, b: a * x + b, 2),
    "ScaledTanh": (lambda x, a, b: a * np.tanh(b * x), 2),
    "HardSigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 2),
}
INPUT, HIDDEN = 5, 7
SIZES = [(3, 6), (1, 1), (4, 70), (17, 2)]


class Layer:
    """A node with drawn attributes, and what it computes."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.kind = draw.choice(list(GATES))
        self.way = draw.choice(["forward", "reverse", "bidirectional"])
        self.directions = 2 if self.way == "bidirectional" else 1
        self.layout, self.clip = draw.randint(0, 1), draw.choice([None, 0.7])
        self.has = {name: draw.random() < 0.5 for name in ("lengths", "bias", "first", "peepholes")}
        self.flag = draw.randint(0, 1)  # input_forget, or linear_before_reset
        names = {"RNN": 1, "GRU": 2, "LSTM": 3}[self.kind] * self.directions
        self.names = [draw.choice(list(ACTIVATIONS)) for _ in range(names)] if draw.random() < 0.7 else None
        numbers = np.random.default_rng(seed)
        self.alphas, self.betas, self.parameters = [], [], []
        for name in self.names or []:
            count = ACTIVATIONS[name][1]
            pair = [np.float32(value) for value in numbers.uniform(0.1, 0.9, 2)]
            self.alphas += pair[:1] if count > 0 else []
            self.betas += pair[1:] if count > 1 else []
            self.parameters.append(pair)
        weights = lambda *shape: (numbers.standard_normal(shape) / 5).astype(np.float32)
        rows, d = GATES[self.kind] * HIDDEN, self.directions
        self.weights = {"w": weights(d, rows, INPUT), "r": weights(d, rows, HIDDEN)}
        if self.has["bias"]:
            self.weights["b"] = weights(d, 2 * rows)
        if self.has["peepholes"] and self.kind == "LSTM":
            self.weights["p"] = weights(d, 3 * HIDDEN)

    def model(self):
        flag = {"LSTM": "input_forget", "GRU": "linear_before_reset"}.get(self.kind)
        attributes = {"hidden_size": HIDDEN, "direction": self.way, "layout": self.layout}
        attributes |= {flag: self.flag} if flag else {}
        attributes |= {"clip": self.clip} if self.clip else {}
        if self.names:
            attributes |= {"activations": self.names}
            attributes |= {"activation_alpha": self.alphas} if self.alphas else {}
            attributes |= {"activation_beta": self.betas} if self.betas else {}
        info = helper.make_tensor_value_info
        inputs = [info("x", TensorProto.FLOAT, ["n", "t", INPUT] if self.layout else ["t", "n", INPUT])]
        state = ["n", self.directions, HIDDEN] if self.layout else [self.directions, "n", HIDDEN]
        if self.has["lengths"]:
            inputs.append(info("lengths", TensorProto.INT32, ["n"]))
        firsts = (["h", "c"] if self.kind == "LSTM" else ["h"]) if self.has["first"] else []
        inputs += [info(name, TensorProto.FLOAT, state) for name in firsts]
        known = {value.name for value in inputs} | set(self.weights)
        operands = [name if name in known else "" for name in ("x", "w", "r", "b", "lengths", "h", "c", "p")]
        outputs = ["y", "last"] + (["cells"] if self.kind == "LSTM" else [])
        node = helper.make_node(self.kind, operands[: 8 if self.kind == "LSTM" else 6], outputs, **attributes)
        weights = [numpy_helper.from_array(value, name) for name, value in self.weights.items()]
        results = [info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph([node], "layer", inputs, results, weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def draw_feeds(self, numbers, batch, steps):
        feeds = {"x": numbers.standard_normal((steps, batch, INPUT))}
        if self.has["first"]:
            feeds |= {name: numbers.standard_normal((self.directions, batch, HIDDEN)) for name in ("h", "c")[: 1 + (self.kind == "LSTM")]}
        feeds = {name: value.astype(np.float32) for name, value in feeds.items()}
        if self.has["lengths"]:
            feeds["lengths"] = numbers.integers(0, steps + 1, batch).astype(np.int32)
        return feeds

    def apply(self, direction, number, x):
        """Activation `number` of a direction; clipped before, but for the last one of an LSTM."""
        count = {"RNN": 1, "GRU": 2, "LSTM": 3}[self.kind]
        if self.clip and number < 2:
            x = np.clip(x, -np.float32(self.clip), np.float32(self.clip))
        if not self.names:
            default = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}[self.kind]
            return ACTIVATIONS[default[number]][0](x, 0, 0)
        index = direction * count + number
        return ACTIVATIONS[self.names[index]][0](x, *map(np.float64, self.parameters[index]))

    def step(self, direction, x, h, c):
        w, r = (self.weights[name][direction].astype(np.float64) for name in "wr")
        rows = len(w)
        bias = self.weights["b"][direction].astype(np.float64) if "b" in self.weights else np.zeros(2 * rows)
        gate = lambda value, index: value[..., index * HIDDEN : (index + 1) * HIDDEN]
        f = lambda number, value: self.apply(direction, number, value)
        u, v = x @ w.T + bias[:rows], h @ r.T + bias[rows:]
        if self.kind == "RNN":
            return f(0, u + v), c
        if self.kind == "GRU":
            update, reset = f(0, gate(u, 0) + gate(v, 0)), f(0, gate(u, 1) + gate(v, 1))
            part = reset * gate(v, 2) if self.flag else (reset * h) @ gate(r.T, 2) + gate(bias[rows:], 2)
            return (1 - update) * f(1, gate(u, 2) + part) + update * h, c
        z = u + v
        p = self.weights["p"][direction].astype(np.float64) if "p" in self.weights else np.zeros(3 * HIDDEN)
        into = f(0, gate(z, 0) + gate(p, 0) * c)
        kept = 1 - into if self.flag else f(0, gate(z, 2) + gate(p, 2) * c)
        cell = kept * c + into * f(1, gate(z, 3))
        return f(0, gate(z, 1) + gate(p, 1) * cell) * f(2, cell), cell

    def run(self, feeds):
        x = feeds["x"].astype(np.float64)
        steps, batch = x.shape[:2]
        lengths = feeds.get("lengths", np.full(batch, steps))
        y = np.zeros((steps, self.directions, batch, HIDDEN))
        first = lambda name: feeds[name].astype(np.float64).copy() if name in feeds else np.zeros((self.directions, batch, HIDDEN))
        h, c = first("h"), first("c")
        for direction in range(self.directions):
            backwards = direction == 1 or self.way == "reverse"
            for time in reversed(range(steps)) if backwards else range(steps):
                h_next, c_next = self.step(direction, x[time], h[direction], c[direction])
                inside = (time < lengths)[:, None]
                y[time, direction] = np.where(inside, h_next, 0)
                h[direction] = np.where(inside, h_next, h[direction])
                c[direction] = np.where(inside, c_next, c[direction])
        return [y, h, c] if self.kind == "LSTM" else [y, h]


@np.errstate(all="ignore")
def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    used = 0
    for seed in range(first, first + count):
        layer = Layer(seed)
        cases = []
        for batch, steps in SIZES:
            feeds = layer.draw_feeds(np.random.default_rng(seed), batch, steps)
            cases.append((feeds, layer.run(feeds)))
        # Gates without bounds may let a state grow without bounds.
        if not all(np.abs(value).max() < 1e3 for _, results in cases for value in results):
            continue
        used += 1
        onnx.save(layer.model(), folder / "layer.onnx")
        freestone_runtime.compile_model(folder / "layer.onnx", folder / "layer.stone")
        for workers in (1, 2):
            program = freestone_runtime.Model(folder / "layer.stone", workers)
            for feeds, expected in cases:
                if layer.layout:
                    feeds = {name: value if name == "lengths" else np.swapaxes(value, 0, 1) for name, value in feeds.items()}
                    expected = [expected[0].transpose(2, 0, 1, 3)] + [np.swapaxes(value, 0, 1) for value in expected[1:]]
                for actual, wanted in zip(program.run(feeds), expected):
                    largest = max(1.0, np.abs(wanted).max())
                    if actual.shape != wanted.shape or not np.abs(actual - wanted).max() <= 1e-4 * largest:
                        sys.exit(f"seed {seed}: {layer.kind} of {feeds['x'].shape} differs")
            program.close()
    assert 2 * used > count
    print(f"{used} layers agree")


if __name__ == "__main__":
    main()
