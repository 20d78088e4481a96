"""Parameters updated as soon as their gradients are known, through the command: early_updates.py FREESTONE FOLDER.

`--update early` trains as `--update together` does, by any optimizer, with any number of workers and with activations that
are computed again; gradients do not live together, so that intermediates take less memory; a parameter whose gradient is
not finite keeps every bit, others do not wait for it; options that need all gradients first are refused.
"""

import re
import sys

import numpy as np

from command import Command
from graphs import FLOAT, draw, fan_in, node, normalization, save

WIDTH, LAYERS, CLASSES, SAMPLES = 256, 6, 10, 96
PARAMETER = WIDTH * WIDTH * 4  # bytes
LONG, SHORT = 37, 3


def make_models(folder):
    """wide: x f32[n, 256] → logits f32[n, 10], whose first and last layer share a matrix; pictures: x f32[n, 3, h, w] →
    logits, with batch normalizations and a residual; sum: x f32[n, 37], y f32[n, 3] → loss; heavy_ball: an optimizer."""
    random = np.random.default_rng(7)
    matrices = draw(random, {f"w{layer}": (WIDTH, WIDTH) for layer in range(LAYERS)} | {"head": (WIDTH, CLASSES)}, fan_in)
    vectors = draw(random, {f"b{layer}": (WIDTH,) for layer in range(LAYERS)}, 0.1)
    nodes, last = [], "x"
    for layer in [*range(LAYERS), 0]:
        nodes += [node("MatMul", [last, f"w{layer}"], [f"p{len(nodes)}"]), node("Add", [f"p{len(nodes)}", f"b{layer}"], [f"s{len(nodes)}"]),
                  node("Tanh", [f"s{len(nodes)}"], [f"t{len(nodes)}"])]
        last = nodes[-1].output[0]
    save(folder / "wide.onnx", [*nodes, node("MatMul", [last, "head"], ["logits"])], [("x", FLOAT, ["n", WIDTH])],
         [("logits", FLOAT, ["n", CLASSES])], [*matrices, *vectors])

    norms = ["scale", "shift", "mean", "variance"]
    kernels = draw(random, {"stem": (16, 3, 3, 3), "inner": (16, 16, 3, 3), "last": (16, CLASSES)}, fan_in)
    save(folder / "pictures.onnx",
         [node("Conv", ["x", "stem"], ["a"], pads=[1] * 4, strides=[2, 2]),
          node("BatchNormalization", ["a", *norms], ["n", "running_mean", "running_variance"], training_mode=1),
          node("Relu", ["n"], ["r"]), node("Conv", ["r", "inner"], ["c"], pads=[1] * 4), node("Add", ["c", "r"], ["d"]),
          node("GlobalAveragePool", ["d"], ["g"]), node("Flatten", ["g"], ["f"]), node("MatMul", ["f", "last"], ["logits"])],
         [("x", FLOAT, ["n", 3, "h", "w"])], [("logits", FLOAT, ["n", CLASSES])], [*kernels, *normalization(16)])

    save(folder / "heavy_ball.onnx",
         [node("Mul", ["state/v", "momentum"], ["slowed"]), node("Add", ["slowed", "gradient"], ["state/v_new"]),
          node("Mul", ["state/v_new", "learning_rate"], ["change"]), node("Sub", ["parameter", "change"], ["parameter_new"])],
         [("parameter", FLOAT, ["n"]), ("gradient", FLOAT, ["n"]), ("learning_rate", FLOAT, []), ("momentum", FLOAT, []), ("state/v", FLOAT, ["n"])],
         [("parameter_new", FLOAT, ["n"]), ("state/v_new", FLOAT, ["n"])])

    # The gradient of each parameter is its data.
    save(folder / "sum.onnx",
         [node("Mul", ["x", "long"], ["a"]), node("ReduceSum", ["a"], ["sa"], keepdims=0),
          node("Mul", ["y", "short"], ["b"]), node("ReduceSum", ["b"], ["sb"], keepdims=0),
          node("Add", ["sa", "sb"], ["loss"])],
         [("x", FLOAT, ["n", LONG]), ("y", FLOAT, ["n", SHORT])], [("loss", FLOAT, [])],
         draw(random, {"long": (LONG,), "short": (SHORT,)}))


def make_data(folder):
    random = np.random.default_rng(8)
    labels = random.integers(0, CLASSES, SAMPLES)
    np.savez(folder / "wide.npz", x=random.normal(size=(SAMPLES, WIDTH)).astype(np.float32), y=labels)
    np.savez(folder / "pictures.npz", x=random.normal(size=(SAMPLES, 3, 18, 13)).astype(np.float32), y=labels)


def options_of(name):
    return [f"{name}.onnx", "--data", f"{name}.npz", "--labels", "y", "--batch", 8, "--steps", 12, "--seed", 3, "--lr", 1e-3]


def check_training(tool):
    optimizers = [["sgd", "--momentum", "0.9", "--weight-decay", "0.1"], ["adamw"], ["lamb"], ["adam", "--moments", "bf16"],
                  ["file:heavy_ball.onnx", "--momentum", "0.9"]]
    ways = [[], ["--recompute", "blocks"], ["--precision", "bf16"]]
    for name in ("wide", "pictures"):
        for number, optimizer in enumerate(optimizers if name == "wide" else optimizers[:2]):
            # Updates are programs beside those of gradients: one optimizer meets all ways, each other one of them.
            for more in [ways[number % 3]] if number else ways:
                words = [*options_of(name), "--optimizer", *optimizer, *more]
                for run in ("together", "early", "workers"):
                    tool.remove(run)
                tool.train(*words, "--threads", 1, "--out", "together")
                tool.train(*words, "--threads", 1, "--update", "early", "--out", "early")
                tool.train(*words, "--threads", 3, "--update", "early", "--out", "workers")
                assert tool.model("workers") == tool.model("early"), (name, optimizer, more)
                for key, near in (("loss", 1e-5), ("grad_norm", 1e-4)):
                    np.testing.assert_allclose(tool.metrics("early", key), tool.metrics("together", key), rtol=near,
                                               err_msg=f"{name} {optimizer} {more} {key}")
                expected, found = tool.weights("together"), tool.weights("early")
                for weight in expected:
                    np.testing.assert_allclose(found[weight], expected[weight], rtol=1e-3, atol=2e-4, err_msg=f"{name} {optimizer} {weight}")


def plan(tool, *options):
    """MiB of intermediates, and the text of a plan."""
    text = tool.train(*options_of("wide"), "--threads", 1, "--plan", *options).stdout
    return float(re.search(r"^  intermediates +([\d.]+) MiB", text, re.MULTILINE)[1]) * 2**20, text


def check_memory(tool):
    together, text = plan(tool)
    assert "updates:" not in text, text
    early, text = plan(tool, "--update", "early")
    assert "updates: each parameter as soon as its gradient is known" in text, text
    print(f"intermediates: {together / PARAMETER:.1f} matrices together, {early / PARAMETER:.1f} early")
    # The gradients of all matrices, beside that of one matrix; scratch is the same.
    assert together > LAYERS * PARAMETER and early < together - (LAYERS - 2) * PARAMETER, (together, early)


def check_not_finite(tool):
    """Steps 2 and 4 have an infinite gradient of either parameter."""
    random = np.random.default_rng(9)
    x, y = (random.normal(size=(5, length)).astype(np.float32) for length in (LONG, SHORT))
    x[1, LONG // 2], y[3, 0] = np.inf, -np.inf
    np.savez(tool.folder / "steps.npz", x=x, y=y)
    for optimizer in (["sgd", "--momentum", "0.9"], ["adamw"], ["rmsprop"]):
        tool.remove("run")
        told = tool.train("sum.onnx", "--loss", "output:loss", "--no-shuffle", "--batch", 1, "--save-every", 1, "--keep", 9,
                          "--data", "steps.npz", "--epochs", 1, "--optimizer", *optimizer, "--update", "early", "--out", "run").stderr
        assert "step 2: the gradient of 'long' is not finite; such parameters are not updated" in told, told
        assert tool.metrics("run", "skipped") == [False, True, False, True, False]
        states = [tool.checkpoint("run", step) for step in range(1, 6)]
        for step in range(1, 5):
            before, after = states[step - 1:step + 1]
            kept = {1: ("long",), 3: ("short",)}.get(step, ())
            for name in before:
                if name == "optimizer/step":
                    assert (before[name] == after[name]) == bool(kept), (optimizer, step)
                else:
                    assert (before[name] == after[name]) == name.endswith(kept or ("none",)), (optimizer, step, name)


def check_refused(tool):
    words = options_of("wide")
    for parts, more in ((["--update early", "--clip-norm"], ["--clip-norm", 1]), (["--update early", "--accumulate"], ["--accumulate", 2]),
                        (["--update early", "--no-loss-scaling"], ["--precision", "fp16"]),
                        (["--update early", "loss scale"], ["--init-scale", 8]), (["one process", "--ranks"], ["--ranks", 2])):
        tool.refuse(parts, *words, "--update", "early", *more, "--out", "bad")
    tool.refuse(["--update late", "together or early"], *words, "--update", "late", "--out", "bad")
    tool.train(*words, "--precision", "fp16", "--no-loss-scaling", "--update", "early", "--compile-only", "-o", "step.stone")
    tool.refuse(["--update", "compiled already"], "step.stone", "--data", "wide.npz", "--update", "early", "--out", "bad")
    tool.refuse(["clip_norm"], "step.stone", "--data", "wide.npz", "--clip-norm", 1, "--out", "bad")


def main():
    tool = Command(*sys.argv[1:])
    make_models(tool.folder)
    make_data(tool.folder)
    for check in (check_training, check_memory, check_not_finite, check_refused):
        check(tool)


main()
