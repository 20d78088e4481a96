"""Models that write a sequence word by word in their graph, for recurrent.py: a decoder of one layer, with attention to
what it wrote, whose keys and values grow with each word, and to an encoded input [1, t, width]."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and weights under construction."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], {}, np.random.default_rng(0)

    def add(self, op, inputs, count=1, **attributes):
        names = [f"{op}_{len(self.nodes)}_{place}" for place in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if count == 1 else names

    def constant(self, value, dtype=np.int64):
        name = f"c{len(self.weights)}"
        self.weights[name] = np.array(value, dtype)
        return name

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape) / shape[0] ** 0.5, np.float32)


class Decoder(Graph):
    """`beams` rows are written side by side, those with the greatest sums of logarithms of probabilities; one: greedily."""

    def __init__(self, beams, width, heads, words, end):
        super().__init__()
        self.beams, self.width, self.heads, self.words, self.end = beams, width, heads, words, end

    def split(self, x, rows):
        """[rows, k, width] → [rows, heads, k, width / heads]"""
        shape = self.constant([rows, -1, self.heads, self.width // self.heads])
        return self.add("Transpose", [self.add("Reshape", [self.add("MatMul", [x, self.weight(self.width, self.width)]), shape])], perm=[0, 2, 1, 3])

    def turn(self, x):
        return self.add("Transpose", [x], perm=[0, 1, 3, 2])

    def attend(self, x, turned_keys, values):
        scale = self.constant((self.width // self.heads) ** -0.5, np.float32)
        scores = self.add("Mul", [self.add("MatMul", [self.split(x, self.beams), turned_keys]), scale])
        mixed = self.add("Transpose", [self.add("MatMul", [self.add("Softmax", [scores], axis=-1), values])], perm=[0, 2, 1, 3])
        merged = self.add("Reshape", [mixed, self.constant([self.beams, 1, self.width])])
        return self.add("Add", [x, self.add("MatMul", [merged, self.weight(self.width, self.width)])])

    def step(self, written, keys, values, memory):
        """The scores of the next word [beams, words], and the keys and values with those of the last word."""
        last = self.add("Gather", [written, self.constant([-1])], axis=1)
        x = self.add("Gather", [self.weight(self.words, self.width), last])
        keys = self.add("Concat", [keys, self.split(x, self.beams)], axis=2)
        values = self.add("Concat", [values, self.split(x, self.beams)], axis=2)
        x = self.attend(self.attend(x, self.turn(keys), values), *memory)
        inner = self.add("Relu", [self.add("MatMul", [x, self.weight(self.width, 4 * self.width)])])
        x = self.add("Add", [x, self.add("MatMul", [inner, self.weight(4 * self.width, self.width)])])
        logits = self.add("MatMul", [x, self.weight(self.width, self.words)])
        return self.add("Reshape", [logits, self.constant([self.beams, self.words])]), keys, values

    def choose(self, logits, sums):
        """The next words [beams, 1], their sums of logarithms [beams, 1], and the rows that they go on with."""
        sums = self.add("Reshape", [self.add("Add", [self.add("LogSoftmax", [logits], axis=-1), sums]), self.constant([1, -1])])
        best, place = self.add("TopK", [sums, self.constant([self.beams])], count=2, axis=-1)
        column, words = self.constant([self.beams, 1]), self.constant(self.words)
        rows = self.add("Reshape", [self.add("Div", [place, words]), self.constant([self.beams])])
        return self.add("Reshape", [self.add("Mod", [place, words]), column]), self.add("Reshape", [best, column]), rows

    def build(self):
        """Inputs: `memory` [1, t, width], and the most words, `most`. The word `end` in a row ends the loop."""
        info, known = helper.make_tensor_value_info, [self.beams, self.heads, None, self.width // self.heads]
        memory = (self.turn(self.split("memory", 1)), self.split("memory", 1))
        outside, self.nodes = self.nodes, []
        logits, keys, values = self.step("written", "keys", "values", memory)
        written, sums = "written", []
        if self.beams == 1:
            word = self.add("ArgMax", [logits], axis=-1, keepdims=1)
        else:
            word, best, rows = self.choose(logits, "sums")
            written, keys, values = (self.add("Gather", [x, rows], axis=0) for x in (written, keys, values))
            sums = [best]
        longer = self.add("Concat", [written, word], axis=1)
        ends = self.add("Equal", [self.add("ReduceMax", [word], keepdims=0), self.constant(self.end)])
        outputs = [info(self.add("Not", [ends]), TensorProto.BOOL, []), info(longer, TensorProto.INT64, [self.beams, None])]
        inputs = [info("number", TensorProto.INT64, []), info("goes_on", TensorProto.BOOL, [])]
        inputs.append(info("written", TensorProto.INT64, [self.beams, None]))
        first = [self.constant([[1]] * self.beams)]
        if sums:
            outputs.append(info(sums[0], TensorProto.FLOAT, [self.beams, 1]))
            inputs.append(info("sums", TensorProto.FLOAT, [self.beams, 1]))
            first.append(self.constant([[0.0]] + [[-1e9]] * (self.beams - 1), np.float32))
        for name, grown in (("keys", keys), ("values", values)):
            outputs.append(info(grown, TensorProto.FLOAT, known))
            inputs.append(info(name, TensorProto.FLOAT, known))
            first.append(self.constant(np.zeros((self.beams, self.heads, 0, self.width // self.heads)), np.float32))
        body = helper.make_graph(self.nodes, "step", inputs, outputs)
        self.nodes = outside
        all_written = self.add("Loop", ["most", self.constant(True, np.bool_), *first], count=len(first), body=body)[0]
        graph = helper.make_graph(
            self.nodes,
            "decoder",
            [info("memory", TensorProto.FLOAT, [1, "t", self.width]), info("most", TensorProto.INT64, [])],
            [info(all_written, TensorProto.INT64, [self.beams, "words"])],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def decoder(beams, width=256, heads=8, words=1000, end=-1):
    """Without `end`, a word from 0 to `words`, the loop goes on to its limit."""
    return Decoder(beams, width, heads, words, end).build()
