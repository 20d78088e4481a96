"""What is raised, and its sentences: those of the command and of C++."""

import numpy as np

import freestone
from errors_seen import raised
from graphs import classifier, double, model, sum_and_difference


def inputs():
    program, two = freestone.compile(double()), freestone.compile(sum_and_difference())
    x = np.ones((3, 8), np.float32)
    raised(freestone.ShapeError, lambda: program(x.astype(np.float64)), "'x'", "f32", "f64")
    raised(freestone.ShapeError, lambda: program(x[:, :7].copy()), "dimension 1", "'x'", "8", "7")
    raised(freestone.ShapeError, lambda: program(x.T), "C-contiguous")
    raised(freestone.ShapeError, lambda: program(x[0]), "'x'")
    raised(freestone.ShapeError, lambda: program([[1.0], [2.0, 3.0]]), "'x'", "float32")
    raised(freestone.InvalidArgument, lambda: program.run([x]), "dict")
    raised(freestone.InvalidArgument, lambda: program.plan({"n": "3"}), "'n'", "whole number")
    raised(freestone.ShapeError, lambda: program("text"), "'x' is a str")
    raised(freestone.ShapeError, lambda: program(x.astype(complex)), "'x'", "format")
    raised(freestone.ShapeError, lambda: program(x.astype(">f4")), "'x'", "big-endian")
    raised(freestone.ShapeError, lambda: two(np.ones(3, np.float32), np.ones(4, np.float32)), "n")
    raised(freestone.InvalidArgument, lambda: program(), "'x' is missing")
    raised(freestone.InvalidArgument, lambda: program(y=x), "no input 'y'", "'x'")
    raised(freestone.InvalidArgument, lambda: program(x, x=x), "given twice")
    raised(freestone.InvalidArgument, lambda: program(x, x), "2 inputs are given")
    assert issubclass(freestone.ShapeError, ValueError) and issubclass(freestone.FileError, OSError)


def outputs():
    program, two = freestone.compile(double()), freestone.compile(sum_and_difference())
    x = np.ones((3, 8), np.float32)
    fixed = np.zeros((3, 8), np.float32)
    fixed.flags.writeable = False
    raised(freestone.ShapeError, lambda: program(x, out=fixed), "read-only")
    raised(freestone.ShapeError, lambda: program(x, out=np.zeros((4, 8), np.float32)), "'y'")
    raised(freestone.InvalidArgument, lambda: program(x, out=x), "overlap")
    raised(freestone.InvalidArgument, lambda: program(x, out={"z": x}), "no output 'z'")
    raised(freestone.InvalidArgument, lambda: two(x[0], x[0], out=x[0].copy()), "name the outputs")
    assert (program(x) == 2).all(), "a refused call leaves nothing behind"


def models():
    raised(freestone.InvalidArgument, lambda: freestone.compile(b"no model"), "'model.onnx'")
    raised(freestone.InvalidArgument, lambda: freestone.compile("/nowhere/m.onnx"), "/nowhere/m.onnx")
    raised(freestone.InvalidArgument, lambda: freestone.compile(3), "int")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), target="pdp11"), "pdp11", "host")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), bind={"m": 2}), "'m'", "n")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), dims={"n": 7}), "'n'")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), dims={"n": ("1", "2")}), "'n'", "whole numbers")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), bind={"n": 2.5}), "'n'", "2.5")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), dims={"n": (1, 1 << 70)}), "'n'")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), bind="n=3"), "bind", "dict")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), threads=-1), "threads", "-1")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), jobs=-2, cache=False), "jobs", "-2")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double(), target=3), "target")
    raised(freestone.InvalidArgument, lambda: freestone.compile(double()).inspect("bytecode"), "bytecode")
    unknown = model('s (float[n] x) => (float[n] y) { y = Identity(x) }')
    unknown.graph.node[0].op_type = "Foo"
    unknown.graph.node[0].domain = "com.example"
    unknown.opset_import.add(domain="com.example", version=1)
    raised(freestone.Unsupported, lambda: freestone.compile(unknown), "Foo")
    assert freestone.check(unknown)["unsupported"][0]["op"].endswith("Foo")
    raised(freestone.FileError, lambda: freestone.load("/nowhere/m.stone"), "/nowhere/m.stone")
    raised(freestone.BadArtifact, lambda: freestone.load(b"x" * 100000))
    raised(freestone.FileError, lambda: freestone.compile(double()).save("/nowhere/m.stone"), "/nowhere/m.stone")
    gather = freestone.compile(model("g (float[n] x, int64[m] i) => (float[m] y) { y = Gather(x, i) }"))
    raised(freestone.RunFailed, lambda: gather([1.0, 2.0], [5]))


def callbacks():
    def interrupts(phase, done, total):
        raise LookupError("mine")

    try:
        freestone.compile(classifier(), cache=False, progress=interrupts)
    except LookupError as error:
        assert str(error) == "mine"
    else:
        raise AssertionError("a callback's exception was lost")


for test in (inputs, outputs, models, callbacks):
    test()
