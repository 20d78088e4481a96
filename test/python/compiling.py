"""Models become programs, from paths, bytes and onnx.ModelProto, through the user's cache."""

import os
import pathlib
import tempfile

import numpy as np
import onnx

import freestone
from errors_seen import raised
from graphs import classifier, double, model


def sources(folder):
    path = pathlib.Path(folder) / "double.onnx"
    onnx.save(double(), path)
    x = np.ones((2, 8), np.float32)
    for source in (path, str(path), path.read_bytes(), bytearray(path.read_bytes()), double()):
        assert (freestone.compile(source)(x) == 2).all(), type(source)
    assert freestone.compile(path).name == "double.onnx"
    about = freestone.check(path)
    assert about["nodes"] == 1 and about["unsupported"] == [] and about["inputs"][0]["shape"] == ["n", 8]


def the_cache(folder):
    fresh = os.path.join(folder, "cache")
    os.environ["FREESTONE_CACHE_DIR"] = fresh
    phases = []
    freestone.compile(classifier(), progress=lambda phase, done, total: phases.append(phase))
    assert phases[0] == "import" and "code" in phases and phases[-1] == "package", phases
    freestone.compile(classifier(), progress=lambda *_: phases.append("again"))
    assert "again" not in phases, "found, not compiled"
    freestone.compile(classifier(), cache=False, progress=lambda *_: phases.append("again"))
    assert "again" in phases


def sizes_and_files(folder):
    program = freestone.compile(double(), dims={"n": (2, 64, 2)})
    assert str(program.sizes[0]) == "n in 2:64, a multiple of 2" and program.sizes[0].upper == 64
    bound = freestone.compile(double(), bind={"n": 3})
    assert bound.inputs[0].shape == (3, 8) and bound.sizes == ()
    path = os.path.join(folder, "double.stone")
    program.save(path)
    x = np.ones((4, 8), np.float32)
    whole = pathlib.Path(path).read_bytes()
    for loaded in (freestone.load(path), freestone.load(whole), freestone.load(path, threads=1)):
        assert (loaded(x) == program(x)).all() and loaded.statistics is None
    bare = freestone.compile(classifier(), strip_weights=True)
    path = os.path.join(folder, "bare.stone")
    bare.save(path)
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in classifier().graph.initializer}
    full, x = freestone.compile(classifier()), np.ones((3, 16), np.float32)
    raised(freestone.InvalidArgument, lambda: freestone.load(path, weights={}), "w1")
    assert (freestone.load(path, weights=weights)(x) == full(x)).all()


def what_programs_say(folder):
    program = freestone.compile(classifier())
    assert str(program.inputs[0]) == "x: float32[batch, 16]" and program.outputs[0].shape == ("batch", 4)
    assert "logits: float32[batch, 4]" in repr(program) and "<table>" in program._repr_html_()
    for level, word in (("graph", "graph.contract"), ("tile", "tile."), ("task", "task."), ("llvm", "define "),
                        ("asm", ".text"), ("tiles", "p0")):
        assert word in program.inspect(level), level
    assert program.inspect()["entries"][0]["name"] == "main" and program.statistics["programs"] >= 1
    plan = program.plan({"batch": 7})
    assert plan["shapes"] == {"x": (7, 16), "logits": (7, 4)} and plan["bytes"]["outputs"] >= 7 * 4 * 4
    timing = program.bench(0.02, batch=5)
    assert timing.calls >= 1 and timing.minimum <= timing.median <= timing.p99 and timing.operations > 0
    assert program.counters()["runs"] == timing.calls + 1
    seq = freestone.compile(model("s (float[n, s] x) => (float[n, s] y) { y = Softmax(x) }"))
    assert [size.name for size in seq.sizes] == ["n", "s"]


with tempfile.TemporaryDirectory() as temporary:
    for test in (sources, the_cache, sizes_and_files, what_programs_say):
        test(temporary)
