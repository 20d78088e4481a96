"""Which differences of models affect the key of their code, through the command: variants.py FREESTONE

A model that differs from another in names, comments, metadata, the order of its file and the values of its weights alone is the same code:
it is found, and says its own names and computes with its own weights. Whatever else differs is compiled.
"""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper

freestone = sys.argv[1]


class Names:
    """Names of a model, all with the prefix `stem`."""

    def __init__(self, stem):
        self.stem = stem

    def __call__(self, name):
        return f"{self.stem}{name}"


def build(name=Names("a_"), seed=1, element=TensorProto.FLOAT, width=24, alpha=1.0, rows="rows", relu=True):
    """A gather from a table, a product with a small and a large bias, and a scale for each column."""
    random = np.random.default_rng(seed)
    dtype = helper.tensor_dtype_to_np_dtype(element)
    weights = {
        name("table"): random.standard_normal((50, 40)),
        name("matrix"): random.standard_normal((40, width)),
        name("bias"): random.standard_normal(width),
        name("scale"): random.standard_normal((1, width)),
        name("wide"): random.standard_normal((width, 100)),
        name("shift"): random.standard_normal(100),
    }
    nodes = [
        helper.make_node("Gather", [name("table"), name("indices")], [name("x")], name("lookup"), axis=0),
        helper.make_node("Gemm", [name("x"), name("matrix"), name("bias")], [name("g")], name("project"), alpha=alpha, transB=0),
        helper.make_node("Mul", [name("g"), name("scale")], [name("m")], name("scaling")),
        helper.make_node("Relu" if relu else "Tanh", [name("m")], [name("r")], name("activate")),
        helper.make_node("Gemm", [name("r"), name("wide"), name("shift")], [name("y")], name("widen")),
    ]
    size = name(rows) if isinstance(rows, str) else rows
    inputs = [helper.make_tensor_value_info(name("indices"), TensorProto.INT64, [size])]
    outputs = [helper.make_tensor_value_info(name("y"), element, [size, 100])]
    initializers = [numpy_helper.from_array(data.astype(dtype), key) for key, data in weights.items()]
    graph = helper.make_graph(nodes, name("graph"), inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def build_little():
    """One node and a weight, for what every model shows."""
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["a_rows", 24]) for name in ("a_x", "a_y")]
    weight = numpy_helper.from_array(np.arange(24, dtype=np.float32), "a_w")
    graph = helper.make_graph([helper.make_node("Mul", ["a_x", "a_w"], ["a_y"])], "graph", ports[:1], ports[1:], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


class Cache:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "FREESTONE_CACHE_DIR": f"{folder}/cache"}
        self.environment.pop("FREESTONE_CACHE", None)
        self.number = 0

    def run(self, *arguments, status=0):
        done = subprocess.run([freestone, *map(str, arguments)], env=self.environment, capture_output=True, text=True)
        assert done.returncode == status, (arguments, done.returncode, done.stderr)
        return done

    def save(self, model, **external):
        self.number += 1
        path = f"{self.folder}/model{self.number}.onnx"
        onnx.save(model, path, **external)
        return path

    def compile(self, model, *options):
        """'found' the whole artifact, only its 'code', or 'made' it."""
        self.artifact = f"{self.folder}/made.stone"
        done = self.run("compile", model, "-o", self.artifact, "--json", *options)
        if "compiled before" in done.stderr:
            return "found"
        counters = json.loads(done.stdout)["counters"]
        if counters["code_from_cache"]:
            assert counters["programs_compiled"] == counters["programs_from_cache"] == 0, counters
            return "code"
        return "made"


def expect_right(cache, path, model):
    """The artifact equals one compiled without a cache, its numbers are right, and messages have the model's names."""
    stem = model.graph.input[0].name.removesuffix("indices")
    plain = f"{cache.folder}/plain.stone"
    cache.run("compile", path, "-o", plain, "--no-cache")
    assert pathlib.Path(cache.artifact).read_bytes() == pathlib.Path(plain).read_bytes(), "other bytes than without the cache"
    indices = np.array([3, 0, 49, -1, 7])
    np.save(f"{cache.folder}/indices.npy", indices)
    cache.run("run", path, "--input", f"{stem}indices={cache.folder}/indices.npy", "--outputs", f"{cache.folder}/y.npz",
              "--trace", f"{cache.folder}/trace.json")
    own = onnx.load(path)
    expected, = onnx.reference.ReferenceEvaluator(own).run(None, {f"{stem}indices": indices})
    np.testing.assert_allclose(np.load(f"{cache.folder}/y.npz")[f"{stem}y"], expected, rtol=1e-4, atol=1e-4)
    nodes = {node.name or node.output[0] for node in own.graph.node}
    said = pathlib.Path(cache.folder, "trace.json").read_text()
    assert any(node in said for node in nodes) and "n$" not in said, said[:2000]
    error = cache.run("run", path, "--input", f"{stem}indices=1xi64=77", status=1).stderr
    lookup = own.graph.node[0].name or own.graph.node[0].output[0]
    assert f"node '{lookup}'" in error, error
    described = cache.run("inspect", cache.artifact).stdout
    for name in ("indices", "rows", "y"):
        assert f"{stem}{name}" in described, described
    assert "$" not in described, described
    assert "$" not in cache.run("inspect", cache.artifact, "--json").stdout


def check_what_does_not_count(cache):
    first = build()
    assert cache.compile(cache.save(first)) == "made"
    first_path = cache.save(first)

    def variant(change, made=None):
        model = made or copy.deepcopy(first)
        change(model)
        return model

    def comment(model):
        model.doc_string = model.graph.doc_string = "a comment"
        model.producer_name, model.producer_version, model.domain, model.model_version = "someone", "2.0", "org.example", 7
        model.graph.name = "another"
        for node in model.graph.node:
            node.doc_string = "and one more"
        helper.set_model_props(model, {"author": "someone"})

    def reorder(model):
        for field in (model.graph.initializer, *(node.attribute for node in model.graph.node)):
            items = list(field)
            del field[:]
            field.extend(reversed(items))

    def remove_node_names(model):
        for node in model.graph.node:
            node.name = ""

    def write_as_numbers(model):
        for tensor in model.graph.initializer:
            data = numpy_helper.to_array(tensor)
            tensor.ClearField("raw_data")
            tensor.float_data.extend(data.flatten().tolist())

    def tell_inner_shapes(model):
        model.CopyFrom(onnx.shape_inference.infer_shapes(model))

    def nothing(model):
        pass

    variants = {
        "the same under another name of the file": variant(nothing),
        "comments and metadata": variant(comment),
        "the order of initializers and attributes": variant(reorder),
        "all names": variant(nothing, build(Names("other/"))),
        "names that are no identifiers": variant(nothing, build(Names("n$0$ s$0$-"))),
        "the values of weights": variant(nothing, build(seed=2)),
        "names and values": variant(comment, build(Names("b."), seed=3)),
        "nodes without names": variant(remove_node_names),
        "how data are written": variant(write_as_numbers),
        "shapes of values within": variant(tell_inner_shapes),
    }
    for what, model in variants.items():
        path = cache.save(model)
        state = cache.compile(path)
        assert state == "code", (what, state)
        if "identifiers" not in what:
            expect_right(cache, path, model)
        assert cache.compile(path) == "found", what
    external = cache.save(copy.deepcopy(first), save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert cache.compile(external) == "code", "where data lie"
    assert cache.compile(first_path) == "code"
    assert cache.compile(first_path, "-O1") == "code", "a level that switches off nothing"
    cache.environment.update(FREESTONE_NUM_THREADS="1", LANG="C", TZ="UTC")
    assert cache.compile(first_path, "--compile-jobs", "2") == "found", "threads and the environment"
    counters = json.loads(cache.run("cache", "stat", "--json").stdout)["counters"]
    assert counters["code_hits"] == len(variants) + 3, counters
    assert counters["code_misses"] == 1 and counters["rejected"] == counters["failures"] == 0, counters


def check_what_counts(cache):
    first = cache.save(build())
    assert cache.compile(first) == "made"
    models = {
        "the type of elements": build(element=TensorProto.DOUBLE),
        "a size": build(width=25),
        "an attribute": build(alpha=0.5),
        "an operator": build(relu=False),
        "a size that is known": build(rows=5),
    }
    for what, model in models.items():
        assert cache.compile(cache.save(model)) == "made", what
    assert cache.compile(first, "--bind", "a_rows=5") == "code", "a size that is bound, and one that the model says"
    explained = cache.run("compile", cache.save(build(width=26)), "-o", f"{cache.folder}/x.stone", "--explain-miss").stderr
    assert "not in the cache: code " in explained and "module: " in explained and "26" in explained, explained
    explained = cache.run("compile", first, "-o", f"{cache.folder}/x.stone", "--disable", "rows,maps", "--explain-miss").stderr
    assert "disabled: " in explained.split("not in the cache: code ")[1], explained

    little = cache.save(build_little())
    assert cache.compile(little) == "made"
    listed = re.search(r"^  --disable .*?(?=^  -)", cache.run("compile", "--help").stdout, re.MULTILINE | re.DOTALL).group()
    switches = re.findall(r"^ {10,}([a-z-]+) \(", listed, re.MULTILINE)
    assert len(switches) > 10, switches
    options = [("--disable", switch) for switch in switches]
    options += [("--bind", "a_rows=9"), ("--bind", "a_rows=10"), ("--dim", "a_rows=1:64"), ("--dim", "a_rows=1:65"),
                ("--dim", "a_rows=0:64"), ("--dim", "a_rows=8:64:8"), ("--target", "x86-64-v3"), ("-O0",), ("--strip-weights",)]
    for option in options:
        assert cache.compile(little, *option) == "made", option
        assert cache.compile(little, *option) == "found", option


def check_training(cache):
    """Trainings of models that differ only in names and weights share their step, with separate results and names."""
    random = np.random.default_rng(4)

    def model(stem, seed):
        name = Names(stem)
        weights = np.random.default_rng(seed)
        initializers = [numpy_helper.from_array(weights.standard_normal(shape, dtype=np.float32), name(part))
                        for part, shape in (("w", (12, 20)), ("u", (20, 3)), ("c", (3,)))]
        nodes = [helper.make_node("MatMul", [name("x"), name("w")], [name("g")], name("in")),
                 helper.make_node("Tanh", [name("g")], [name("t")], name("mid")),
                 helper.make_node("Gemm", [name("t"), name("u"), name("c")], [name("y")], name("out"))]
        ports = [helper.make_tensor_value_info(name(port), TensorProto.FLOAT, [name("batch"), width]) for port, width in (("x", 12), ("y", 3))]
        graph = helper.make_graph(nodes, name("graph"), ports[:1], ports[1:], initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    def counts():
        counters = json.loads(cache.run("cache", "stat", "--json").stdout)["counters"]
        return counters["code_hits"], counters["code_misses"]

    def train(stem, seed, out, *options):
        """Hits and misses of the step's code; results must equal those without the cache."""
        path = cache.save(model(stem, seed))
        data = f"{cache.folder}/data.npz"
        np.savez(data, **{f"{stem}x": random.standard_normal((64, 12), dtype=np.float32), "labels": random.integers(0, 3, 64)})
        before = counts()
        cache.run("train", path, "--data", data, "--compile-only", "-o", f"{cache.folder}/step.stone", *options)
        after = counts()
        results = []
        for more in ((), ("--no-cache",)):
            folder = f"{cache.folder}/{out}{len(more)}"
            cache.run("train", path, "--data", data, "--epochs", "2", "--out", folder, "--threads", "1", *options, *more)
            results.append(pathlib.Path(folder, "model.onnx").read_bytes())
        assert results[0] == results[1], "another result than without the cache"
        names = {tensor.name for tensor in onnx.load_from_string(results[0]).graph.initializer}
        assert names == {f"{stem}{part}" for part in "wuc"}, names
        return after[0] - before[0], after[1] - before[1]

    assert train("p/", 1, "one") == (0, 1)
    assert train("q.", 2, "two") == (1, 0), "names and weights do not count"
    for number, options in enumerate((["--optimizer", "sgd"], ["--label-smoothing", "0.1"], ["--freeze", "q.w"], ["--disable", "donate"],
                                      ["--precision", "bf16"], ["--accumulate", "2"])):
        assert train("q.", 2, f"other{number}", *options) == (0, 1), options


def small_training(folder):
    """A classifier, and graphs of a loss and of an optimizer."""
    def save(name, nodes, inputs, outputs, initializers=()):
        ports = [[helper.make_tensor_value_info(*port) for port in ports] for ports in (inputs, outputs)]
        graph = helper.make_graph(nodes, "graph", *ports, initializers)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), f"{folder}/{name}.onnx")

    float32, float64, int64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
    random = np.random.default_rng(6)
    weights = {"w": (8, 6), "u": (6, 3)}
    save("model", [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("MatMul", ["h", "u"], ["y"])],
         [("x", float32, ["batch", 8])], [("y", float32, ["batch", 3])],
         [numpy_helper.from_array(random.standard_normal(shape, dtype=np.float32), name) for name, shape in weights.items()])

    def save_graphs(factor):
        save("loss",
             [helper.make_node("Mul", ["y", "factor"], ["scaled"]), helper.make_node("SoftmaxCrossEntropyLoss", ["scaled", "labels"], ["loss"])],
             [("y", float32, ["n", 3]), ("labels", int64, ["n"])], [("loss", float32, [])],
             [numpy_helper.from_array(np.full(3, factor, np.float32), "factor")])
        save("optimizer",
             [helper.make_node("Mul", ["gradient", "learning_rate"], ["r"]), helper.make_node("Mul", ["r", "factor"], ["u"]),
              helper.make_node("Sub", ["parameter", "u"], ["parameter_new"])],
             [("parameter", float32, ["n"]), ("gradient", float32, ["n"]), ("learning_rate", float32, [])], [("parameter_new", float32, ["n"])],
             [numpy_helper.from_array(np.float32(factor), "factor")])

    save_graphs(1)
    return f"{folder}/model.onnx", save_graphs


def check_training_options(cache):
    """Which options of a training are compiled in, and which are numbers of a run."""
    model, save_graphs = small_training(cache.folder)
    np.save(f"{cache.folder}/weights.npy", np.array([1, 2, 3], np.float32))

    def is_made(*options):
        told = cache.run("train", model, "--plan", *options).stderr
        assert ("compiled the training step in" in told) != ("the training step was compiled before" in told), told
        return "compiled before" not in told

    sgd = ("--optimizer", "sgd", "--momentum", "0.9")
    fp16 = ("--precision", "fp16")
    counts = [
        (), ("--loss", "nll"), ("--loss", "sigmoid-cross-entropy"), ("--loss", "mse"), ("--loss", "l1"), ("--loss", "huber"),
        ("--loss", "huber", "--delta", "2"), ("--loss", "cosine"), ("--class-weights", f"{cache.folder}/weights.npy"), ("--class-axis", "1"),
        ("--ignore-index", "0"), ("--label-smoothing", "0.1"), ("--labels", "z"), sgd[:2], sgd, (*sgd, "--nesterov"), ("--optimizer", "adam"),
        ("--optimizer", "adam", "--amsgrad"), ("--optimizer", "rmsprop"), ("--optimizer", "rmsprop", "--centered"), ("--optimizer", "adagrad"),
        ("--optimizer", "adagrad", "--initial-accumulator-value", "0.5"), ("--optimizer", "lamb"), ("--optimizer", "lion"),
        ("--moments", "bf16"), ("--update", "early"), ("--group", "w:lr=0.1"), ("--group", "u:lr=0.1"), ("--group", "u:weight_decay=0.1"), ("--freeze", "w"),
        ("--train", "w"), ("--no-decay", "w"), ("--tie", "w"), ("--untie", "w"), ("--freeze-norm",), ("--no-dropout",), ("--max-trip", "3"), ("--recompute", "blocks"), ("--accumulate", "2"),
        ("--precision", "bf16"), fp16, (*fp16, "--no-loss-scaling"), ("--init-scale", "8"), ("--disable", "donate"),
        ("--loss", f"file:{cache.folder}/loss.onnx"), ("--optimizer", f"file:{cache.folder}/optimizer.onnx"),
    ]
    for options in counts:
        assert is_made(*options), options
    for options in counts:
        assert not is_made(*options), options
    numbers = [
        ("--lr", "0.5"), ("--weight-decay", "0.3"), ("--betas", "0.8,0.9"), ("--eps", "0.001"), ("--batch", "7"), ("--seed", "3"),
        ("--threads", "1"), ("--epochs", "3"), ("--clip-norm", "2"), ("--schedule", "cosine", "--warmup", "3"), ("--compile-jobs", "1"),
        ("--optimizer", "sgd", "--momentum", "0.8"), ("--accumulate", "3"), ("--init-scale", "16"), ("--growth-interval", "9"),
        ("--group", "u:lr=0.2"),
    ]
    for options in numbers:
        assert not is_made(*options), options
    save_graphs(2)
    for options in counts[-2:]:
        assert is_made(*options), (options, "the graph is another")
        assert not is_made(*options), options


for check in (check_what_does_not_count, check_what_counts, check_training, check_training_options):
    with tempfile.TemporaryDirectory() as folder:
        check(Cache(folder))
    print(f"{check.__name__}: right", flush=True)
