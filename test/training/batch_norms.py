"""Batch normalizations in training, beside numpy in fp64: batch_norms.py FREESTONE FOLDER.

Convolution, normalization, Relu, depthwise convolution, normalization, Clip, convolution of single taps, normalization,
residual, Relu, mean and head, of pictures with odd sizes, whose means are many times their deviations. One step of
gradient descent tells the gradient of each parameter. It is compiled once for any batch and runs with batches of 1, 2, 7
and 64, on one to four workers, to the same bytes; whole, with activations computed again, which takes less memory, and
without each optimization that is for such steps, for this machine and for AVX2. Small pictures leave places in a product's
panels, and large ones do not.
"""

import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/codegen")]

import numpy as np

from command import Command
from graphs import FLOAT, constant, draw, fan_in, node, save, tensors
from targets import distinct

CLASSES, WIDE = 5, 40
LARGE, SMALL = (2, 49, 47), (2, 9, 5)  # of 128 large ones, a channel is longer than half of a cache
BATCHES, WORKERS = (1, 2, 7, 64), (1, 2, 3, 4)
EPSILON, MOMENTUM, RATE = 1e-5, 0.9, 1000.0
# Picture → switch → counter.
SWITCHES = {LARGE: {"factor-sums": "factored_sums", "order-maps": "ordered_maps", "long-rows": "long_rows",
                    "sum-blocks": "sum_blocks"},
            SMALL: {"order-products": "ordered_products"}}
# Of the magnitudes that a gradient sums, and of a statistic: what lies within rounding of where an activation bends counts
# or does not.
TOLERANCE = 5e-4
# The intermediates of a step that computes activations again, of those of a step that keeps all.
MOST_RECOMPUTED = 0.75


def make_model(path, picture):
    norm = lambda number, source: node("BatchNormalization", [source, *(f"{name}{number}" for name in ("s", "t", "m", "v"))],
                                       [f"n{number}"], momentum=MOMENTUM, epsilon=EPSILON)
    nodes = [node("Conv", ["x", "k1", "b1"], ["c1"], pads=[1, 1, 1, 1]), norm(1, "c1"), node("Relu", ["n1"], ["r1"]),
             node("Conv", ["r1", "k2"], ["c2"], pads=[1, 1, 1, 1], group=WIDE), norm(2, "c2"),
             node("Clip", ["n2", "zero", "six"], ["r2"]), node("Conv", ["r2", "k3"], ["c3"]), norm(3, "c3"),
             node("Add", ["n3", "r1"], ["a"]), node("Relu", ["a"], ["r3"]), node("GlobalAveragePool", ["r3"], ["p"]),
             node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "w", "b"], ["logits"], transB=1)]
    random = np.random.default_rng(3)
    weights = draw(random, {"k1": (WIDE, picture[0], 3, 3), "k2": (WIDE, 1, 3, 3), "k3": (WIDE, WIDE, 1, 1),
                            "w": (CLASSES, WIDE), "b": (CLASSES,)}, fan_in)
    weights.append(constant("b1", random.normal(30, 10, WIDE)))
    for number in (1, 2, 3):
        weights += [constant(f"s{number}", random.uniform(0.5, 2, WIDE)), constant(f"t{number}", random.normal(1, 1, WIDE)),
                    constant(f"m{number}", np.zeros(WIDE)), constant(f"v{number}", np.ones(WIDE))]
    save(path, nodes, [("x", FLOAT, ["n", *picture])], [("logits", FLOAT, ["n", CLASSES])],
         [*weights, constant("zero", 0), constant("six", 6)])


class Convolution:
    def __init__(self, x, kernel):
        self.x, self.kernel = x, kernel
        self.isDeep = kernel.shape[1] == x.shape[1]
        border = kernel.shape[2] // 2
        self.padded = np.pad(x, [(0, 0), (0, 0), (border, border), (border, border)])

    def taps(self):
        height, width = self.x.shape[2:]
        for i, j in np.ndindex(*self.kernel.shape[2:]):
            yield i, j, (slice(None), slice(None), slice(i, i + height), slice(j, j + width))

    def forward(self):
        if self.isDeep:
            return sum(np.einsum("nchw,oc->nohw", self.padded[at], self.kernel[:, :, i, j], optimize=True) for i, j, at in self.taps())
        return sum(self.padded[at] * self.kernel[:, 0, i, j, None, None] for i, j, at in self.taps())

    def backward(self, given):
        """The gradients of the picture and of the kernel, and what the latter sums, without signs."""
        ofPadded, ofKernel, sizes = np.zeros_like(self.padded), np.zeros_like(self.kernel), np.zeros_like(self.kernel)
        for i, j, at in self.taps():
            pairs = (ofKernel, given, self.padded[at]), (sizes, np.abs(given), np.abs(self.padded[at]))
            if self.isDeep:
                ofPadded[at] += np.einsum("nohw,oc->nchw", given, self.kernel[:, :, i, j], optimize=True)
                for sums, a, b in pairs:
                    sums[:, :, i, j] = np.einsum("nohw,nchw->oc", a, b, optimize=True)
            else:
                ofPadded[at] += given * self.kernel[:, 0, i, j, None, None]
                for sums, a, b in pairs:
                    sums[:, 0, i, j] = np.einsum("nchw,nchw->c", a, b)
        border = self.kernel.shape[2] // 2
        return ofPadded[:, :, border:border + self.x.shape[2], border:border + self.x.shape[3]], (ofKernel, sizes)


class Normalization:
    def __init__(self, x, scale, shift):
        self.mean, self.variance, self.scale = x.mean((0, 2, 3)), x.var((0, 2, 3)), scale
        self.root = np.sqrt(self.variance + EPSILON)
        self.normal = (x - self.mean[:, None, None]) / self.root[:, None, None]
        self.y = self.normal * scale[:, None, None] + shift[:, None, None]

    def backward(self, given):
        """The gradients of x, of the scale and of the shift, and what these sum, without signs."""
        count = given.size // len(self.scale)
        ofShift, ofScale = given.sum((0, 2, 3)), (given * self.normal).sum((0, 2, 3))
        centered = given - (ofShift[:, None, None] + self.normal * ofScale[:, None, None]) / count
        sizes = np.abs(given * self.normal).sum((0, 2, 3)), np.abs(given).sum((0, 2, 3))
        return centered * (self.scale / self.root)[:, None, None], (ofScale, sizes[0]), (ofShift, sizes[1])


def differentiate(p, x, labels):
    """By hand: name → gradient, and name → running statistic after the step."""
    c1 = Convolution(x, p["k1"])
    n1 = Normalization(c1.forward() + p["b1"][:, None, None], p["s1"], p["t1"])
    r1 = np.maximum(n1.y, 0)
    c2 = Convolution(r1, p["k2"])
    n2 = Normalization(c2.forward(), p["s2"], p["t2"])
    c3 = Convolution(np.clip(n2.y, 0, 6), p["k3"])
    n3 = Normalization(c3.forward(), p["s3"], p["t3"])
    r3 = np.maximum(n3.y + r1, 0)
    means = r3.mean((2, 3))
    logits = means @ p["w"].T + p["b"]
    weights = np.exp(logits - logits.max(1, keepdims=True))
    given = weights / weights.sum(1, keepdims=True)
    given[np.arange(len(labels)), labels] -= 1
    given /= len(labels)
    gradients = {"w": given.T @ means, "b": given.sum(0)}
    ofSum = (given @ p["w"])[:, :, None, None] * (r3 > 0) / np.prod(x.shape[2:])
    given, gradients["s3"], gradients["t3"] = n3.backward(ofSum)
    given, gradients["k3"] = c3.backward(given)
    given, gradients["s2"], gradients["t2"] = n2.backward(given * ((n2.y > 0) & (n2.y < 6)))
    given, gradients["k2"] = c2.backward(given)
    given, gradients["s1"], gradients["t1"] = n1.backward((given + ofSum) * (n1.y > 0))
    _, gradients["k1"] = c1.backward(given)
    statistics, count = {}, x.size // x.shape[1]
    for number, norm in ((1, n1), (2, n2), (3, n3)):
        # A step keeps the unbiased variance, as PyTorch does.
        for name, now in (("m", norm.mean), ("v", norm.variance * count / max(count - 1, 1))):
            statistics[f"{name}{number}"] = MOMENTUM * p[f"{name}{number}"] + (1 - MOMENTUM) * now
    return gradients, statistics


def compile_step(tool, target, *options, data="1.npz"):
    """The counters of step.stone."""
    tool.train("model.onnx", "--compile-only", "-o", "step.stone", "--optimizer", "sgd", "--labels", "y", "--data", data,
               "--target", target, *options)
    return json.loads(tool.run("inspect", "step.stone", "--json").stdout)["statistics"]


def take_step(tool, batch, workers):
    tool.remove("run")
    tool.train("step.stone", "--data", f"{batch}.npz", "--labels", "y", "--batch", batch, "--lr", RATE, "--steps", 1,
               "--threads", workers, "--no-shuffle", "--out", "run")
    return tool.weights("run"), tool.model("run")


def plan_intermediates(tool, batch):
    """In MiB."""
    lines = tool.train("step.stone", "--data", f"{batch}.npz", "--labels", "y", "--batch", batch, "--plan").stdout.splitlines()
    return next(float(line.split()[1]) for line in lines if line.split()[:1] == ["intermediates"])


def compare(before, after, expected, what):
    """The largest error, relative to the largest magnitude of each array."""
    gradients, statistics = expected
    found = {name: (before[name] - after[name]) / RATE for name in gradients} | {name: after[name] for name in statistics}
    worst = 0.0
    for name, wanted in {**gradients, **statistics}.items():
        wanted, size = wanted if isinstance(wanted, tuple) else (wanted, wanted)
        error = np.abs(found[name] - wanted).max() / np.abs(size).max()
        assert error < TOLERANCE, (what, name, error)
        worst = max(worst, error)
    return worst


def check(tool, picture):
    make_model(tool.folder / "model.onnx", picture)
    before = {name: values.astype(np.float64) for name, values in tensors(tool.folder / "model.onnx").items()}
    random, expected = np.random.default_rng(5), {}
    for batch in BATCHES:
        x = random.normal(size=(batch, *picture)).astype(np.float32)
        y = random.integers(CLASSES, size=batch)
        np.savez(tool.folder / f"{batch}.npz", x=x, y=y)
        expected[batch] = differentiate(before, x.astype(np.float64), y)
    for target in distinct("host", "x86-64-v3", tool=tool.path):
        whole = compile_step(tool, target)
        for batch in BATCHES:
            steps = [take_step(tool, batch, workers) for workers in WORKERS]
            assert len({model for _, model in steps}) == 1, f"{target}, {batch} pictures: workers give other bytes"
            worst = compare(before, steps[0][0], expected[batch], (target, picture, batch))
            print(f"{target}, {batch} pictures of {picture}: within {worst:.1e}")
        assert compile_step(tool, target, "--recompute", "blocks")["recomputed"] > 0
        for batch in BATCHES[-2:]:
            worst = compare(before, take_step(tool, batch, 2)[0], expected[batch], (target, picture, batch, "recomputed"))
        print(f"{target}, recomputed: within {worst:.1e}")
        for switch, counter in SWITCHES[picture].items():
            without = compile_step(tool, target, "--disable", switch)
            assert whole[counter] > 0 and without[counter] == 0, (switch, whole[counter], without[counter])
            for batch in BATCHES[-2:]:
                worst = compare(before, take_step(tool, batch, 2)[0], expected[batch], (target, picture, batch, switch))
            print(f"{target} without {switch} ({whole[counter]}): within {worst:.1e}")


def make_stack(path):
    """Eight convolutions in a row, each with a normalization."""
    nodes, weights = [node("Conv", ["x", "k0"], ["y0"], pads=[1, 1, 1, 1])], {"k0": (WIDE, 2, 3, 3), "w": (CLASSES, WIDE)}
    for block in range(8):
        weights |= {f"k{block + 1}": (WIDE, WIDE, 3, 3), f"s{block}": (WIDE,), f"t{block}": (WIDE,)}
        nodes += [node("Conv", [f"y{block}", f"k{block + 1}"], [f"c{block}"], pads=[1, 1, 1, 1]),
                  node("BatchNormalization", [f"c{block}", f"s{block}", f"t{block}", "m", "v"], [f"n{block}"]),
                  node("Relu", [f"n{block}"], [f"y{block + 1}"])]
    nodes += [node("GlobalAveragePool", ["y8"], ["p"]), node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "w"], ["logits"], transB=1)]
    save(path, nodes, [("x", FLOAT, ["n", 2, 17, 17])], [("logits", FLOAT, ["n", CLASSES])],
         [*draw(np.random.default_rng(7), weights, fan_in), constant("m", np.zeros(WIDE)), constant("v", np.ones(WIDE))])


def check_memory(tool):
    """An activation computed again lives from its computation to its gradient."""
    make_stack(tool.folder / "model.onnx")
    random = np.random.default_rng(8)
    np.savez(tool.folder / "16.npz", x=random.normal(size=(16, 2, 17, 17)).astype(np.float32), y=random.integers(CLASSES, size=16))
    memory = {}
    for recompute in ("none", "blocks"):
        compile_step(tool, "host", "--recompute", recompute, data="16.npz")
        memory[recompute] = plan_intermediates(tool, 16)
    print(f"MiB of intermediates: {memory}")
    assert memory["blocks"] < MOST_RECOMPUTED * memory["none"], memory


def make_standardized(path, form):
    """A layer whose weights are standardized, as PyTorch writes that: by a normalization without running statistics, which are
    `computed` from the weights or `constant` zeros and ones; or in words."""
    moments = [node("ReduceMean", ["rows", "last"], ["mean"]), node("Sub", ["rows", "mean"], ["centred"]),
               node("Mul", ["centred", "centred"], ["squares"]), node("ReduceMean", ["squares", "last"], ["variance"])]
    norm = lambda mean, variance, **options: [node("BatchNormalization", ["batch", "gain", "none", mean, variance], ["normal"],
                                                   epsilon=EPSILON, **options)]
    forms = {
        "computed": [*moments, node("Reshape", ["mean", "flat"], ["m"]), node("Reshape", ["variance", "flat"], ["v"]), *norm("m", "v")],
        "constant": norm("none", "ones", training_mode=1),
        "words": [*moments, node("Add", ["variance", "epsilon"], ["sum"]), node("Sqrt", ["sum"], ["root"]),
                  node("Div", ["centred", "root"], ["quotient"]), node("Unsqueeze", ["gain", "one"], ["column"]),
                  node("Mul", ["quotient", "column"], ["normal"])]}
    head = [node("Identity", ["w"], ["rows"]), node("Unsqueeze", ["w", "zero"], ["batch"]), *forms[form],
            node("Reshape", ["normal", "shape"], ["standard"]), node("Gemm", ["x", "standard", "b"], ["logits"], transB=1)]
    fixed = [constant(name, values, np.int64) for name, values in
             {"last": [-1], "flat": [-1], "zero": [0], "one": [1], "shape": [CLASSES, 7]}.items()]
    values = [node("Constant", [], [name], value=constant(name, values)) for name, values in
              {"none": np.zeros(CLASSES), "ones": np.ones(CLASSES), "epsilon": EPSILON}.items()]
    weights = draw(np.random.default_rng(4), {"w": (CLASSES, 7), "gain": (CLASSES,), "b": (CLASSES,)})
    save(path, [*values, *head], [("x", FLOAT, ["n", 7])], [("logits", FLOAT, ["n", CLASSES])], [*weights, *fixed])


def check_standardized(tool):
    random, found = np.random.default_rng(6), {}
    np.savez(tool.folder / "standard.npz", x=random.normal(size=(40, 7)).astype(np.float32), y=random.integers(CLASSES, size=40))
    for form in ("words", "computed", "constant"):
        make_standardized(tool.folder / f"{form}.onnx", form)
        tool.train(f"{form}.onnx", "--data", "standard.npz", "--eval-data", "standard.npz", "--labels", "y", "--batch", 8,
                   "--optimizer", "sgd", "--lr", 0.3, "--no-shuffle", "--out", form)
        evaluation = json.loads((tool.folder / form / "evaluations.jsonl").read_text().splitlines()[-1])["loss"]
        found[form] = tensors(tool.folder / form / "model.onnx"), evaluation
    right, loss = found["words"]
    for form in ("computed", "constant"):
        for name in ("w", "gain", "b"):
            np.testing.assert_allclose(found[form][0][name], right[name], rtol=1e-4, atol=1e-6, err_msg=f"{form}: {name}")
        assert abs(found[form][1] - loss) < 1e-5, (form, found[form][1], loss)
    assert not np.allclose(right["w"], tensors(tool.folder / "words.onnx")["w"])


def main():
    tool = Command(*sys.argv[1:])
    check_standardized(tool)
    check_memory(tool)
    for picture in SWITCHES:
        check(tool, picture)


main()
