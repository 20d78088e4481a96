"""Networks of the zoo without their weights, compiled once for all sizes: zoo.py [NETWORK.FORM …].

Forms for inference are compared with ONNX Runtime at two sizes. The form for training takes a step of gradient descent
that is so small that the loss must fall by the rate times the squared norm of the gradient, which it does only by the
gradient itself. All forms that are there, or those that are named.
"""

import pathlib
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bench" / "models"))
import fill  # noqa: E402

import freestone  # noqa: E402

LIMIT = 1e-4
# The part of the loss that a step takes off, and how far from the prediction it may be: the gradient changes on the way.
FALL, NEAR = 5e-4, 0.03

# Sizes of the inputs, of two runs; a step has the first.
PICTURE = [{"x": (1, 3, 224, 224)}, {"x": (2, 3, 224, 224)}]
TEXT = [{"tokens": (2, 9)}, {"tokens": (1, 21)}]
SIZES = {
    "unet": [{"x": (1, 3, 32, 48)}, {"x": (2, 3, 64, 16)}],
    "detector": [{"x": (1, 3, 96, 64)}, {"x": (2, 3, 64, 128)}],
    "volumes": [{"x": (1, 3, 16, 56, 56)}, {"x": (2, 3, 16, 56, 56)}],
    "whisper_tiny": [{"x": (1, 80, 3000)}, {"x": (2, 80, 3000)}],
    "minilm": [{"tokens": (2, 9), "mask": (2, 9)}, {"tokens": (1, 21), "mask": (1, 21)}],
    "t5_small": [{"source": (2, 9), "target": (2, 5)}, {"source": (1, 17), "target": (1, 12)}],
    "text_cnn": TEXT, "distilbert": TEXT, "gpt2": TEXT,
}
WORDS = 20000


def with_weights(name):
    model = fill.fill(onnx.load(HERE / f"{name}.onnx"))
    for tensor in model.graph.initializer:
        # T5 divides products of queries and keys by nothing: with weights of this variance softmax would choose one word,
        # and which one hangs on roundings.
        if name.startswith("t5") and list(tensor.dims) == [512, 512]:
            tensor.raw_data = (np.frombuffer(tensor.raw_data, "<f4") / 3).astype("<f4").tobytes()
    return model


def words(given):
    return given.get("target", given.get("tokens")) % 1000, 2


def classes(given):
    return np.arange(samples(given)) % 4, 1


def samples(given):
    return len(next(iter(given.values())))


def numbers(*shape):
    """Numbers of a sample's result, for the squared error."""
    waves = np.sin(np.arange(97, dtype=np.float32))
    return lambda given: (np.resize(waves, (samples(given), *shape)), None)


# What steps are given to learn, and the axis of classes.
LABELS = {
    "unet": lambda given: (np.resize(np.arange(4), (samples(given), *given["x"].shape[2:])), 1),
    "t5_small": words, "distilbert": words, "gpt2": words,
    "minilm": numbers(384), "whisper_tiny": numbers(1500, 384), "detector": numbers(126, 85),
}


def inputs(shapes, random):
    made = {}
    for name, shape in shapes.items():
        if name == "x":
            made[name] = random.normal(size=shape).astype(np.float32)
        elif name == "mask":
            made[name] = (np.arange(shape[1]) < random.integers(1, shape[1] + 1, size=(shape[0], 1))).astype(np.int64)
        else:
            made[name] = random.integers(1, WORDS, size=shape)
    return made


def compare(path, sizes, random):
    program = freestone.compile(path, cache=False)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    worst = 0.0
    for shapes in sizes:
        given = inputs(shapes, random)
        (expected,), found = session.run(None, given), program(**given)
        assert found.shape == expected.shape, (found.shape, expected.shape)
        worst = max(worst, float(np.abs(found - expected).max() / np.abs(expected).max()))
    assert worst <= LIMIT, worst
    return f"error {worst:.0e}"


def descend(path, name, sizes, random):
    given = inputs(sizes[0], random)
    labels, axis = LABELS.get(name, classes)(given)
    batch = {**given, "expected": labels}
    loss = {"loss": "mse"} if axis is None else {"loss": "softmax-cross-entropy", "class_axis": axis}
    trainer = freestone.Trainer(path, labels="expected", optimizer="sgd", lr=0.0, no_cache=True, **loss)
    first = trainer.step(batch)
    trainer["lr"] = FALL * first.loss / first.gradient_norm ** 2
    again = trainer.step(batch)
    assert again.loss == first.loss, (again.loss, first.loss)  # the first one's rate was 0
    fall = (first.loss - trainer.step(batch).loss) / (FALL * first.loss)
    assert abs(fall - 1) <= NEAR, fall
    return f"the loss falls by {fall:.3f} of what the gradient says"


def main():
    failed = False
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.onnx"))
    for number, name in enumerate(names):
        network, _, form = name.partition(".")
        sizes = SIZES.get(network, PICTURE)
        random = np.random.default_rng(number)
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(with_weights(name), path)
            try:
                told = descend(path, network, sizes, random) if form == "training" else compare(path, sizes, random)
            except (AssertionError, freestone.Error) as error:
                failed, told = True, f"failed: {type(error).__name__}: {error}"
        print(f"{name}: {told} ({time.perf_counter() - begin:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
