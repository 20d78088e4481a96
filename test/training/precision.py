"""What a step computes in, what it skips and what it sums, through the command: precision.py FREESTONE FOLDER.

Narrow products train as wide ones do; the loss scale follows the reference's schedule, number for number, and comes back
with a checkpoint; a step whose gradients are not finite leaves no trace; gradients of several batches are those of one
batch; moments in bf16, and weights of classes.
"""

import json
import sys

import numpy as np
import onnxruntime

from command import Command
from graphs import FLOAT, constant, draw, node, save, tensors

FEATURES, HIDDEN, CLASSES, SAMPLES = 24, 40, 5, 320
LONG, SHORT = 167, 1


def make_models(folder):
    """classifier: x f32[n, 24] → logits f32[n, 5]; sum: x f32[n, 167], y f32[n, 1] → loss f32."""
    random = np.random.default_rng(1)

    def scale(shape):
        return 1 / np.sqrt(shape[0])

    save(folder / "classifier.onnx",
         [node("MatMul", ["x", "w1"], ["h"]), node("Add", ["h", "b1"], ["a"]), node("Relu", ["a"], ["r"]),
          node("Dropout", ["r", "ratio"], ["d"]), node("MatMul", ["d", "w2"], ["l"]), node("Add", ["l", "b2"], ["logits"])],
         [("x", FLOAT, ["n", FEATURES])], [("logits", FLOAT, ["n", CLASSES])],
         [*draw(random, {"w1": (FEATURES, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, CLASSES), "b2": (CLASSES,)}, scale),
          constant("ratio", 0.1)])
    # The gradient of each parameter is its data: what is not finite stands where the test puts it.
    save(folder / "sum.onnx",
         [node("Mul", ["x", "long"], ["a"]), node("ReduceSum", ["a"], ["sa"], keepdims=0),
          node("Mul", ["y", "short"], ["b"]), node("ReduceSum", ["b"], ["sb"], keepdims=0),
          node("Add", ["sa", "sb"], ["loss"])],
         [("x", FLOAT, ["n", LONG]), ("y", FLOAT, ["n", SHORT])], [("loss", FLOAT, [])],
         draw(random, {"long": (LONG,), "short": (SHORT,)}, scale))


def make_data(folder):
    random = np.random.default_rng(3)
    x = random.normal(size=(SAMPLES, FEATURES)).astype(np.float32)
    y = (x @ random.normal(size=(FEATURES, CLASSES))).argmax(1)
    np.savez(folder / "train.npz", x=x, y=y, importance=np.array([1, 2, 0.5, 0, 3], np.float32))
    ignored = np.where(random.random(SAMPLES) < 0.3, -100, y)
    ignored[64:80] = -100
    np.savez(folder / "ignored.npz", x=x, y=ignored)
    np.save(folder / "four.npy", np.ones(4, np.float32))


BASE = ["classifier.onnx", "--labels", "y", "--batch", "64", "--seed", "5", "--epochs", "100", "--threads", "2"]
DATA = ["--data", "train.npz"]


def check_precision(tool):
    runs = {}
    for precision in ("fp32", "bf16", "fp16"):
        tool.train(*BASE, *DATA, "--lr", "0.01", "--steps", "60", "--precision", precision, "--out", precision)
        runs[precision] = np.array(tool.metrics(precision, "loss"))
        assert set(tool.metrics(precision, "scale")) == {65536.0 if precision == "fp16" else 1.0}
        parameters = tool.checkpoint(precision, 60)
        assert {parameters[name].type for name in ("w1", "b2", "optimizer/exp_avg/w1")} == {"F32"}
    for precision in ("bf16", "fp16"):
        assert not np.array_equal(runs[precision], runs["fp32"]), f"{precision} computes as fp32 does"
        apart = np.abs(runs[precision] / runs["fp32"] - 1).max()
        assert apart < (0.03 if precision == "bf16" else 0.01), (precision, apart)
    plan = tool.train(*BASE, *DATA, "--precision", "bf16", "--moments", "bf16", "--plan").stdout
    assert "bf16 in 2 products" in plan and "moments in bf16" in plan, plan


def check_loss_scale(tool):
    """A scale that doubles every third step soon overflows f16: the schedule must then follow the reference's."""
    options = ["--precision", "fp16", "--lr", "0.01", "--init-scale", "1e6", "--growth-interval", "3",
               "--backoff-factor", "0.25"]
    tool.train(*BASE, *DATA, *options, "--steps", "60", "--out", "scaled")
    scale, tracker, expected = 1e6, 0, []
    for skipped in tool.metrics("scaled", "skipped"):
        tracker = 0 if skipped else tracker + 1
        if skipped:
            scale *= 0.25
        elif tracker == 3:
            scale, tracker = scale * 2, 0
        expected.append(scale)
    assert tool.metrics("scaled", "scale") == expected
    skipped = sum(tool.metrics("scaled", "skipped"))
    assert 3 < skipped < 30, skipped
    assert tool.checkpoint("scaled", 60)["optimizer/step"].content == (60 - skipped).to_bytes(8, "little")

    tool.train(*BASE, *DATA, *options, "--steps", "23", "--out", "parts")
    tool.train(*BASE, *DATA, *options, "--steps", "60", "--resume", "parts")
    assert tool.model("parts") == tool.model("scaled")
    assert tool.metrics("parts", "scale") == expected


GOOD = 6


def check_skipped(tool):
    """Whatever is not finite, and wherever: parameters, moments and the number of steps stay, to the bit."""
    random = np.random.default_rng(4)
    good = [(random.normal(size=LONG), random.normal(size=SHORT)) for _ in range(GOOD)]
    # The first and the last element, one in the tail of the vectors, and the other parameter.
    bad = [(number, place) for number in (np.nan, np.inf, -np.inf) for place in (0, LONG - 1, LONG - 4, None)]
    rows, is_good = [], []
    for index, (number, place) in enumerate(bad):
        x, y = (part.copy() for part in good[0])
        if place is None:
            y[0] = number
        else:
            x[place] = number
        rows.append((x, y))
        is_good.append(False)
        if index % 2 == 1:  # Step 0 is skipped, and steps in a row are.
            rows.append(good[index // 2])
            is_good.append(True)

    def store(name, some):
        np.savez(tool.folder / name, x=np.float32([x for x, _ in some]), y=np.float32([y for _, y in some]))

    # NaN comes of infinities of both signs: data may not hold it.
    spread = []
    for x, y in rows:
        halves = [[np.where(np.isnan(part), sign * np.inf, part / 2) for part in (x, y)] for sign in (1, -1)]
        spread += halves
    store("bad.npz", spread)
    store("good.npz", [(x / 2, y / 2) for x, y in good for _ in range(2)])
    optimizers = [["sgd", "--momentum", "0.9", "--nesterov"], ["adam", "--amsgrad"], ["adamw", "--moments", "bf16"],
                  ["adagrad"], ["rmsprop", "--momentum", "0.9", "--centered"], ["lamb"], ["lion"],
                  ["adamw", "--precision", "fp16", "--clip-norm", "1"]]
    for number, optimizer in enumerate(optimizers):
        options = ["sum.onnx", "--loss", "output:loss", "--no-shuffle", "--batch", "2", "--save-every", "1", "--keep", "100",
                   "--weight-decay", "0.1", "--optimizer", *optimizer]
        tool.train(*options, "--data", "good.npz", "--out", f"good{number}")
        told = tool.train(*options, "--data", "bad.npz", "--out", f"bad{number}").stderr
        assert "step 1: the gradient of 'long' is not finite; the step is skipped" in told, told
        assert tool.metrics(f"bad{number}", "skipped") == [not good for good in is_good]
        assert not any(tool.metrics(f"good{number}", "skipped"))
        scaling = ("loss_scale", "growth_tracker")
        done = 0
        for step, is_taken in enumerate(is_good, 1):
            done += is_taken
            if done == 0:
                continue
            there = {k: v for k, v in tool.checkpoint(f"bad{number}", step).items() if k not in scaling}
            expected = {k: v for k, v in tool.checkpoint(f"good{number}", done).items() if k not in scaling}
            assert there == expected, (optimizer, step, [k for k in there if there[k] != expected[k]])
        before = tensors(tool.folder / "sum.onnx")
        for name, tensor in tool.checkpoint(f"bad{number}", 1).items():
            if name not in scaling:
                expected = before[name].tobytes() if name in before else bytes(len(tensor.content))
                assert tensor.content == expected, (optimizer, name)


def check_accumulation(tool):
    options = [*BASE[:3], "--seed", "5", "--epochs", "100", "--no-dropout", "--optimizer", "sgd", "--momentum", "0.9",
               "--lr", "0.1", "--data", "ignored.npz"]
    tool.train(*options, "--batch", "80", "--steps", "30", "--out", "at-once")
    parts = [*options, "--batch", "20", "--accumulate", "4"]
    tool.train(*parts, "--steps", "30", "--out", "summed")
    a, b = tool.weights("at-once"), tool.weights("summed")
    for name in a:
        assert np.abs(a[name] - b[name]).max() < 1e-6 * max(1, np.abs(a[name]).max()), name
    assert np.allclose(tool.metrics("at-once", "loss"), tool.metrics("summed", "loss"), rtol=1e-6)
    assert np.allclose(tool.metrics("at-once", "grad_norm"), tool.metrics("summed", "grad_norm"), rtol=1e-5)

    tool.train(*parts, "--steps", "13", "--out", "summed-parts")
    tool.train(*parts, "--steps", "30", "--resume", "summed-parts")
    assert tool.model("summed-parts") == tool.model("summed")
    # 320 samples are five batches of 64: a step of four, and one of what is left; with dropout, each batch has its own.
    tool.train(*BASE, *DATA, "--accumulate", "4", "--steps", "6", "--precision", "fp16", "--out", "rest")
    steps = [json.loads((folder / "manifest.json").read_text())["data"]["sample"]
             for folder in tool.checkpoints("rest").values()]
    assert steps == [0, 0, 0] and not any(tool.metrics("rest", "skipped"))


def check_sync_free(tool):
    """One program a step, and nothing read by the host but after the last one; the same bits either way."""
    options = [*BASE, *DATA, "--steps", "60"]
    for run, switch in (("free", []), ("read", ["--read-each-step"])):
        tool.train(*options, *switch, "--out", run)
        tool.expect_counters(run, steps=60, programs_entered=60, host_reads=60 if switch else 1)
    assert tool.model("free") == tool.model("read")
    assert tool.metrics("free", "loss") == tool.metrics("read", "loss")


def check_moments(tool):
    options = [*BASE, *DATA, "--no-dropout", "--lr", "0.01", "--steps", "150"]
    tool.train(*options, "--out", "wide")
    tool.train(*options, "--moments", "bf16", "--out", "narrow")
    wide, narrow = tool.checkpoint("wide", 150), tool.checkpoint("narrow", 150)
    assert narrow["optimizer/exp_avg/w1"].type == narrow["optimizer/exp_avg_sq/w1"].type == "BF16"
    a = np.frombuffer(wide["optimizer/exp_avg_sq/w1"].content, np.float32)
    b = (np.frombuffer(narrow["optimizer/exp_avg_sq/w1"].content, np.uint16).astype(np.uint32) << 16).view(np.float32)
    assert abs(b.sum() / a.sum() - 1) < 0.1, (a.sum(), b.sum())
    losses = [np.mean(tool.metrics(run, "loss")[-5:]) for run in ("wide", "narrow")]
    assert abs(losses[1] - losses[0]) < 0.05 * losses[0] + 0.01, losses


def check_class_weights(tool):
    with np.load(tool.folder / "train.npz") as data:
        x, y, weights = (data[name] for name in ("x", "y", "importance"))
    session = onnxruntime.InferenceSession(str(tool.folder / "classifier.onnx"), providers=["CPUExecutionProvider"])
    logits = session.run(None, {"x": x[:64]})[0].astype(np.float64)
    elements = np.log(np.exp(logits).sum(1)) - logits[np.arange(64), y[:64]]
    expected = (elements * weights[y[:64]]).sum() / weights[y[:64]].sum()
    np.save(tool.folder / "importance.npy", weights.astype(np.float64))
    for number, name in enumerate(("importance", "importance.npy")):
        tool.train(*BASE, *DATA, "--no-shuffle", "--no-dropout", "--steps", "1", "--lr", "0", "--class-weights", name,
                   "--eval-data", "train.npz", "--out", f"class{number}")
        assert abs(tool.metrics(f"class{number}", "loss")[0] / expected - 1) < 1e-5
        [evaluated] = tool.lines(f"class{number}", "evaluations")
        accuracy = (session.run(None, {"x": x})[0].argmax(1) == y).mean()
        assert abs(evaluated["accuracy"] - accuracy) < 1e-9, (evaluated, accuracy)


def check_messages(tool):
    def expect(parts, *options):
        tool.refuse(parts, *BASE, *DATA, "--out", "bad", *options)

    expect(["moments", "sgd"], "--optimizer", "sgd", "--moments", "bf16")
    expect(["4 class weights", "5 classes"], "--class-weights", "four.npy")
    expect(["'none.npy'", "importance"], "--class-weights", "'none.npy'")
    expect(["no classes"], "--loss", "mse", "--class-weights", "four.npy")
    expect(["no classes"], "--loss", "output:logits", "--class-weights", "four.npy")
    expect(["--no-loss-scaling"], "--precision", "fp16", "--no-loss-scaling", "--init-scale", "8")
    tool.train(*BASE, *DATA, "--compile-only", "-o", "plain.stone")
    compiled = ["plain.stone", *DATA, "--labels", "y", "--out", "bad"]
    tool.refuse(["--accumulate"], *compiled, "--accumulate", "2")
    tool.refuse(["--precision"], *compiled, "--precision", "bf16")
    tool.refuse(["does not scale"], *compiled, "--init-scale", "8")


def main():
    tool = Command(*sys.argv[1:])
    make_models(tool.folder)
    make_data(tool.folder)
    for check in (check_precision, check_loss_scale, check_skipped, check_accumulation, check_sync_free, check_moments,
                  check_class_weights, check_messages):
        check(tool)


main()
