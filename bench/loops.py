"""Models with a loop in their graph, for recurrent.py: a cell over a sequence, and a network over the nodes of a tree."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from decoders import Graph

INFO = helper.make_tensor_value_info


def finish(graph, name, inputs, outputs):
    graph = helper.make_graph(graph.nodes, name, inputs, outputs,
                              [numpy_helper.from_array(value, name) for name, value in graph.weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def body_of(graph, build, name, inputs):
    """A body that `build` makes, which returns its outputs; weights stay those of the model."""
    outside, graph.nodes = graph.nodes, []
    outputs = build()
    body = helper.make_graph(graph.nodes, name, inputs, outputs)
    graph.nodes = outside
    return body


def nas_cell(hidden):
    """The recurrent cell that Zoph and Le's search found (2017), over x [t, b, hidden], by Scan: the state [b, hidden] of
    every step."""
    graph = Graph()
    add, state = graph.add, ["b", hidden]

    def step():
        given = add("Split", [add("MatMul", ["x_t", graph.weight(hidden, 8 * hidden)])], count=8, axis=-1, num_outputs=8)
        known = add("Split", [add("MatMul", ["h", graph.weight(hidden, 8 * hidden)])], count=8, axis=-1, num_outputs=8)
        joins = ["Add", "Add", "Add", "Mul", "Add", "Add", "Add", "Add"]
        activations = ["Sigmoid", "Relu", "Sigmoid", "Relu", "Tanh", "Sigmoid", "Tanh", "Sigmoid"]
        first = [add(activation, [add(join, [a, b])]) for activation, join, a, b in zip(activations, joins, given, known)]
        left = add("Tanh", [add("Add", [add("Tanh", [add("Mul", first[0:2])]), "c"])])
        cell = add("Mul", [left, add("Tanh", [add("Add", first[2:4])])])
        right = [add("Tanh", [add("Mul", first[4:6])]), add("Sigmoid", [add("Add", first[6:8])])]
        made = add("Tanh", [add("Mul", [cell, add("Tanh", [add("Add", right)])])])
        shown = add("Identity", [made])
        return [INFO(name, TensorProto.FLOAT, state) for name in (made, cell, shown)]

    body = body_of(graph, step, "cell", [INFO(name, TensorProto.FLOAT, state) for name in ("h", "c", "x_t")])
    batch = add("Shape", ["x"], start=1, end=2)
    zeros = add("ConstantOfShape", [add("Concat", [batch, graph.constant([hidden])], axis=0)],
                value=numpy_helper.from_array(np.zeros(1, np.float32)))
    states = add("Scan", [zeros, zeros, "x"], count=3, body=body, num_scan_inputs=1)[2]
    return finish(graph, "nas", [INFO("x", TensorProto.FLOAT, ["t", "b", hidden])],
                  [INFO(states, TensorProto.FLOAT, ["t", "b", hidden])])


def tree_encoder(hidden):
    """A recursive autoencoder (Socher et al. 2011) by Loop over the inner nodes of a binary tree, children first:
    `leaves` [n, hidden] and `children` [n - 1, 2], numbers of nodes, of which the leaves are the first ones. Returns the
    code of the root, and the sum of squared errors of all reconstructions."""
    graph = Graph()
    add = graph.add
    encode, decode = graph.weight(2 * hidden, hidden), graph.weight(hidden, 2 * hidden)

    inner, leaves = (add("Squeeze", [add("Shape", [name], start=0, end=1)]) for name in ("children", "leaves"))

    def step():
        pair = add("Gather", ["codes", add("Gather", ["children", "number"], axis=0)], axis=0)
        both = add("Reshape", [pair, graph.constant([1, 2 * hidden])])
        code = add("Tanh", [add("MatMul", [both, encode])])
        error = add("ReduceSumSquare", [add("Sub", [add("MatMul", [code, decode]), both])], keepdims=0)
        place = add("Reshape", [add("Add", ["number", leaves]), graph.constant([1, 1])])
        codes = add("ScatterND", ["codes", place, code])
        outputs = [INFO(add("Identity", ["goes_on"]), TensorProto.BOOL, [])]
        return outputs + [INFO(codes, TensorProto.FLOAT, ["nodes", hidden]),
                          INFO(add("Add", ["errors", error]), TensorProto.FLOAT, [])]

    space = add("ConstantOfShape", [add("Concat", [add("Shape", ["children"], start=0, end=1), graph.constant([hidden])], axis=0)],
                value=numpy_helper.from_array(np.zeros(1, np.float32)))
    codes = add("Concat", ["leaves", space], axis=0)
    body = body_of(graph, step, "node", [INFO("number", TensorProto.INT64, []), INFO("goes_on", TensorProto.BOOL, []),
                                         INFO("codes", TensorProto.FLOAT, ["nodes", hidden]),
                                         INFO("errors", TensorProto.FLOAT, [])])
    results = add("Loop", [inner, graph.constant(True, np.bool_), codes, graph.constant(0, np.float32)], count=2, body=body)
    root = add("Gather", [results[0], graph.constant(-1)], axis=0)
    return finish(graph, "tree", [INFO("leaves", TensorProto.FLOAT, ["n", hidden]), INFO("children", TensorProto.INT64, ["inner", 2])],
                  [INFO(root, TensorProto.FLOAT, [hidden]), INFO(results[1], TensorProto.FLOAT, [])])


def balanced_tree(leaves, hidden):
    """Inputs of `tree_encoder`: neighbours are joined, level by level."""
    level, children = list(range(leaves)), []
    while len(level) > 1:
        joined = []
        for left, right in zip(level[::2], level[1::2]):
            joined.append(leaves + len(children))
            children.append((left, right))
        level = joined + level[len(level) - len(level) % 2:]
    drawn = np.random.default_rng(1).standard_normal((leaves, hidden), dtype=np.float32)
    return {"leaves": drawn, "children": np.array(children)}
