"""Gradients beside those of PyTorch: autograd.py FREESTONE FOLDER [OPERATOR]. Skipped (77) where PyTorch is not installed.

Each operator takes tensors that are trained, and is one part of a loss; the gradients are what SGD's momentum is after the
first step. PyTorch computes them in double precision at the same time; nothing is recorded.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

random = np.random.default_rng(1)


def draw(*shape, low=-1.0, high=1.0):
    return random.uniform(low, high, size=shape).astype(np.float32)


def apart(*shape):
    """Distinct elements, also distinct from 0, so that no kink is hit."""
    count = int(np.prod(shape))
    return ((random.permutation(count) + 0.5 - count // 2) * 0.21).reshape(shape).astype(np.float32)


class Case:
    def __init__(self, op, reference, *inputs, outputs=1, **attributes):
        self.op, self.reference, self.inputs, self.outputs, self.attributes = op, reference, inputs, outputs, attributes


def ints(*numbers):
    return np.array(numbers, np.int64)


def shapes():
    return [(1,), (2, 7), (7, 1), (3, 2, 5)]


def elementwise():
    anywhere = {
        "Abs": torch.abs, "Neg": torch.neg, "Exp": torch.exp, "Sin": torch.sin, "Cos": torch.cos, "Tan": torch.tan,
        "Atan": torch.atan, "Sinh": torch.sinh, "Cosh": torch.cosh, "Tanh": torch.tanh, "Asinh": torch.asinh, "Erf": torch.erf,
        "Asin": torch.asin, "Acos": torch.acos, "Atanh": torch.atanh, "Sigmoid": torch.sigmoid, "Softplus": F.softplus,
        "Softsign": F.softsign, "Relu": F.relu, "Elu": F.elu, "Selu": F.selu, "Celu": F.celu, "Gelu": F.gelu,
        "LeakyRelu": lambda x: F.leaky_relu(x, 0.01), "HardSwish": F.hardswish, "Mish": F.mish,
        "HardSigmoid": lambda x: (0.2 * x + 0.5).clamp(0, 1), "Floor": lambda x: x * 0, "Sign": lambda x: x * 0,
        "Identity": lambda x: x, "Swish": F.silu}
    for op, reference in anywhere.items():
        for shape in shapes():
            yield Case(op, reference, apart(*shape) / 4 if op not in ("Asin", "Acos", "Atanh") else draw(*shape, low=-0.8, high=0.8))
    for op, reference in {"Log": torch.log, "Sqrt": torch.sqrt, "Reciprocal": torch.reciprocal}.items():
        yield Case(op, reference, draw(7, 2, low=0.5, high=2))
    yield Case("Acosh", torch.acosh, draw(7, 2, low=1.5, high=3))
    yield Case("Gelu", lambda x: F.gelu(x, approximate="tanh"), draw(2, 7), approximate="tanh")
    yield Case("PRelu", lambda x, s: torch.where(x > 0, x, s * x), apart(2, 7), draw(7))
    yield Case("ThresholdedRelu", lambda x: torch.where(x > 0.7, x, 0 * x), apart(2, 7), alpha=0.7)
    shrunk = lambda x: torch.where(x > 0.6, x - 0.2, torch.where(x < -0.6, x + 0.2, 0 * x))
    yield Case("Shrink", shrunk, apart(7, 2), lambd=0.6, bias=0.2)
    yield Case("Clip", lambda x, a, b: x.clamp(-0.5, 0.5), apart(2, 7), np.float64(-0.5), np.float64(0.5))


def binary():
    operators = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Max": torch.maximum, "Min": torch.minimum}
    for op, reference in operators.items():
        for left, right in (((2, 7), (2, 7)), ((2, 7), (7,)), ((7, 1), (1, 3)), ((1,), (3, 2, 5)), ((3, 1, 5), (2, 1))):
            yield Case(op, reference, apart(*left), draw(*right, low=0.5, high=2))
    yield Case("Pow", torch.pow, draw(2, 7, low=0.5, high=2), draw(7))
    yield Case("Mod", torch.fmod, draw(2, 7, low=0.2, high=0.4), draw(2, 7, low=0.5, high=1), fmod=1)
    yield Case("Where", torch.where, np.arange(14).reshape(2, 7) % 3 == 0, draw(2, 7), draw(7))
    yield Case("Sum", lambda a, b, c: a + b + c, draw(2, 7), draw(7), draw(2, 1))
    yield Case("Mean", lambda a, b: (a + b) / 2, draw(2, 7), draw(7))


def reductions():
    def over(function):
        return lambda x, axes: function(x, tuple(axes.tolist()))

    references = {
        "ReduceSum": lambda x, a: x.sum(a, keepdim=True), "ReduceMean": lambda x, a: x.mean(a, keepdim=True),
        "ReduceMax": lambda x, a: x.amax(a, keepdim=True), "ReduceMin": lambda x, a: x.amin(a, keepdim=True),
        "ReduceL1": lambda x, a: x.abs().sum(a, keepdim=True), "ReduceL2": lambda x, a: x.square().sum(a, keepdim=True).sqrt(),
        "ReduceSumSquare": lambda x, a: x.square().sum(a, keepdim=True),
        "ReduceLogSumExp": lambda x, a: torch.logsumexp(x, a, keepdim=True),
        "ReduceProd": lambda x, a: x.prod(a[0], keepdim=True) if len(a) == 1 else x.prod(a[1], True).prod(a[0], True)}
    for op, reference in references.items():
        for axes in ((1,), (0, 2)):
            yield Case(op, over(reference), apart(3, 7, 2) / 4, ints(*axes))
    yield Case("ReduceLogSum", over(lambda x, a: x.sum(a, keepdim=True).log()), draw(3, 7, low=0.5, high=2), ints(1))
    yield Case("CumSum", lambda x, a: x.cumsum(1), draw(3, 7), ints(1)[0])
    yield Case("CumSum", lambda x, a: x.flip(0).cumsum(0).flip(0) - x, draw(3, 7), ints(0)[0], exclusive=1, reverse=1)
    yield Case("CumProd", lambda x, a: x.cumprod(1), draw(3, 7, low=0.5, high=1.5), ints(1)[0])
    yield Case("CumProd", lambda x, a: x.cumprod(1), draw(3, 1), ints(1)[0])
    for axis in (0, 1, 2):
        yield Case("Softmax", lambda x, axis=axis: x.softmax(axis), draw(3, 7, 2), axis=axis)
        yield Case("LogSoftmax", lambda x, axis=axis: x.log_softmax(axis), draw(3, 7, 2), axis=axis)
    yield Case("TopK", lambda x, k: x.topk(3, 1).values, apart(2, 7), ints(3), outputs=2)


def norms():
    yield Case("LayerNormalization", lambda x, s, b: F.layer_norm(x, (7,), s, b), draw(3, 2, 7), draw(7), draw(7))
    yield Case("LayerNormalization", lambda x, s: F.layer_norm(x, (2, 7), s), draw(3, 2, 7), draw(2, 7), axis=1)
    yield Case("RMSNormalization", lambda x, s: F.rms_norm(x, (7,), s, eps=1e-5), draw(3, 7), draw(7))
    yield Case("InstanceNormalization", lambda x, s, b: F.instance_norm(x, weight=s, bias=b), draw(2, 3, 7), draw(3), draw(3))
    yield Case("GroupNormalization", lambda x, s, b: F.group_norm(x, 2, s, b), draw(2, 4, 7), draw(4), draw(4), num_groups=2)
    yield Case("LpNormalization", lambda x: x / x.norm(dim=1, keepdim=True), draw(3, 7), axis=1, p=2)
    yield Case("LRN", lambda x: F.local_response_norm(x, 3, 1e-2, 0.75, 1.0), draw(2, 5, 3), size=3, alpha=1e-2)
    yield Case("MeanVarianceNormalization", lambda x: (x - x.mean((0, 2, 3), True)) / x.std((0, 2, 3), correction=0, keepdim=True),
               draw(2, 3, 4, 5))
    yield Case("MeanVarianceNormalization", lambda x: (x - x.mean(1, True)) / x.std(1, correction=0, keepdim=True), draw(3, 7), axes=[1])
    frozen = lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b, training=False)
    yield Case("BatchNormalization", frozen, draw(4, 3, 2), draw(3), draw(3), np.float64(draw(3)), np.float64(draw(3, low=0.5)))


def training_form():
    """Batch normalization, including the gradient through mean and variance."""
    def statistics(channels):
        return np.float64(draw(channels)), np.float64(draw(channels, low=0.5))

    by_batch = lambda x, s, b, m, v: F.batch_norm(x, None, None, s, b, training=True)
    for shape in ((7, 3), (4, 3, 2), (2, 5, 3, 4), (1, 2, 7, 1)):
        yield Case("BatchNormalization", by_batch, draw(*shape), draw(shape[1]), draw(shape[1]), *statistics(shape[1]))
    yield Case("BatchNormalization", by_batch, draw(4, 3, 2), draw(3), draw(3), *statistics(3), outputs=3, training_mode=1)


def products():
    for left, right in (((2, 7), (7, 3)), ((3, 2, 7), (3, 7, 1)), ((3, 2, 7), (7, 2)), ((7,), (7, 2)), ((1, 1), (1, 1))):
        yield Case("MatMul", torch.matmul, draw(*left), draw(*right))
    gemm = lambda a, b, c: 0.5 * a.T @ b.T + 2 * c
    yield Case("Gemm", gemm, draw(7, 2), draw(3, 7), draw(3), alpha=0.5, beta=2.0, transA=1, transB=1)
    yield Case("Einsum", lambda a, b: torch.einsum("bij,bkj->bik", a, b), draw(2, 3, 7), draw(2, 5, 7), equation="bij,bkj->bik")
    yield Case("Conv", lambda x, w, b: F.conv1d(x, w, b, padding=1), draw(2, 3, 7), draw(4, 3, 3), draw(4), pads=[1, 1])
    yield Case("Conv", lambda x, w: F.conv2d(x, w, stride=2, dilation=(1, 2)), draw(2, 2, 7, 9), draw(3, 2, 3, 2), strides=[2, 2],
               dilations=[1, 2])
    yield Case("Conv", lambda x, w: F.conv2d(x, w, groups=2, padding=(1, 0)), draw(1, 4, 5, 6), draw(6, 2, 3, 3), group=2,
               pads=[1, 0, 1, 0])
    yield Case("ConvTranspose", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1), draw(2, 3, 4, 5), draw(3, 2, 3, 3),
               draw(2), strides=[2, 2], pads=[1, 1, 1, 1])
    attention = lambda q, k, v: F.scaled_dot_product_attention(q, k, v)
    yield Case("Attention", attention, draw(2, 2, 5, 4), draw(2, 2, 7, 4), draw(2, 2, 7, 4))
    mask = draw(5, 7)
    yield Case("Attention", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), draw(2, 2, 5, 4), draw(2, 2, 7, 4),
               draw(2, 2, 7, 4), mask)
    allowed = np.arange(70).reshape(2, 1, 5, 7) % 3 != 0
    yield Case("Attention", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), draw(2, 2, 5, 4), draw(2, 2, 7, 4),
               draw(2, 2, 7, 4), allowed)
    grouped = lambda q, k, v: F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), scale=0.3)
    yield Case("Attention", grouped, draw(2, 4, 5, 4), draw(2, 2, 7, 4), draw(2, 2, 7, 4), scale=0.3)

    def capped(q, k, v):
        scores = q @ k.transpose(2, 3) / 2
        return (2 * torch.tanh(scores / 2)).softmax(-1) @ v

    yield Case("Attention", capped, draw(2, 2, 5, 4), draw(2, 2, 7, 4), draw(2, 2, 7, 4), softcap=2.0)
    causal = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    yield Case("Attention", causal, draw(1, 2, 5, 4), draw(1, 2, 5, 4), draw(1, 2, 5, 4), is_causal=1)


def windows():
    yield Case("MaxPool", lambda x: F.max_pool2d(x, 2), apart(2, 2, 6, 4), kernel_shape=[2, 2], strides=[2, 2])
    yield Case("MaxPool", lambda x: F.max_pool2d(x, 3, stride=2, padding=1), apart(1, 2, 7, 5), kernel_shape=[3, 3], strides=[2, 2],
               pads=[1, 1, 1, 1])
    yield Case("AveragePool", lambda x: F.avg_pool2d(x, 2, stride=1), draw(2, 2, 5, 4), kernel_shape=[2, 2])
    yield Case("AveragePool", lambda x: F.avg_pool1d(x, 3, stride=2, padding=1), draw(2, 2, 7), kernel_shape=[3], strides=[2],
               pads=[1, 1], count_include_pad=1)
    yield Case("LpPool", lambda x: F.avg_pool2d(x.square(), 2).mul(4).sqrt(), apart(2, 2, 6, 4), kernel_shape=[2, 2], strides=[2, 2])
    yield Case("LpPool", lambda x: F.avg_pool1d(x.abs()**3, 3, stride=1).mul(3)**(1 / 3), apart(2, 2, 7), kernel_shape=[3], p=3)
    yield Case("GlobalLpPool", lambda x: x.norm(dim=(2, 3), keepdim=True), apart(2, 3, 5, 4))
    yield Case("GlobalLpPool", lambda x: (x.abs()**3).sum((2, 3), keepdim=True)**(1 / 3), apart(2, 3, 5, 4), p=3)
    yield Case("GlobalAveragePool", lambda x: x.mean((2, 3), keepdim=True), draw(2, 3, 5, 4))
    yield Case("GlobalMaxPool", lambda x: x.amax((2, 3), keepdim=True), apart(2, 3, 5, 4))


def rearranging():
    yield Case("Transpose", lambda x: x.permute(2, 0, 1), draw(3, 2, 7), perm=[2, 0, 1])
    yield Case("Reshape", lambda x, s: x.reshape(7, 6), draw(3, 2, 7), ints(7, 6))
    yield Case("Flatten", lambda x: x.reshape(3, 14), draw(3, 2, 7))
    yield Case("Squeeze", lambda x, a: x.squeeze(1), draw(3, 1, 7), ints(1))
    yield Case("Unsqueeze", lambda x, a: x.unsqueeze(1), draw(3, 7), ints(1))
    yield Case("Slice", lambda x, *_: x[1:7:2, :].flip(1), draw(7, 3), ints(1, -1), ints(7, -9), ints(0, 1), ints(2, -1))
    for mode, name in (("constant", "constant"), ("reflect", "reflect"), ("edge", "replicate")):
        yield Case("Pad", lambda x, p, name=name: F.pad(x, (2, 1), mode=name), draw(2, 3, 7), ints(0, 0, 2, 0, 0, 1), mode=mode)
    yield Case("Concat", lambda a, b: torch.cat([a, b], 1), draw(2, 1), draw(2, 7), axis=1)
    yield Case("Split", lambda x, s: x[:, :3], draw(2, 7), ints(3, 4), outputs=2, axis=1)
    yield Case("Expand", lambda x, s: x.expand(3, 2, 7), draw(2, 1), ints(3, 2, 7))
    yield Case("Tile", lambda x, r: x.repeat(2, 3), draw(2, 7), ints(2, 3))
    yield Case("DepthToSpace", lambda x: F.pixel_shuffle(x, 2), draw(2, 4, 3, 2), blocksize=2, mode="CRD")
    yield Case("SpaceToDepth", lambda x: x.reshape(2, 3, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(2, 12, 2, 3), draw(2, 3, 4, 6),
               blocksize=2)
    lengths = (1, 3, 2, 5)
    yield Case("ReverseSequence", lambda x, n: torch.stack([torch.cat([row[:k].flip(0), row[k:]]) for row, k in zip(x, lengths)]),
               draw(4, 5, 3), ints(*lengths), batch_axis=0, time_axis=1)
    yield Case("Trilu", lambda x: x.triu(), draw(5, 7))
    yield Case("Resize", lambda x, *_: F.interpolate(x, scale_factor=2), draw(1, 2, 3, 5), None, None, ints(1, 2, 6, 10),
               mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    linear = lambda x, *_: F.interpolate(x, scale_factor=2, mode="bilinear")
    yield Case("Resize", linear, draw(1, 2, 3, 5), None, None, ints(1, 2, 6, 10), mode="linear")


def indexing():
    index = ints(6, 0, 2, 2)
    yield Case("Gather", lambda x, i: x[i], draw(7, 3), index)
    yield Case("Gather", lambda x, i: x[:, i], draw(3, 7), index, axis=1)
    places = random.integers(0, 7, (3, 5))
    yield Case("GatherElements", lambda x, i: x.gather(1, i), draw(3, 7), places, axis=1)
    yield Case("GatherND", lambda x, i: x[i[:, 0], i[:, 1]], draw(3, 7), np.stack([[0, 2, 2], [6, 1, 1]], 1))
    once = np.argsort(random.random((3, 7)), 1)[:, :4]
    yield Case("ScatterElements", lambda x, i, u: x.scatter(1, i, u), draw(3, 7), once, draw(3, 4), axis=1)
    yield Case("ScatterElements", lambda x, i, u: x.scatter_add(1, i, u), draw(3, 7), places, draw(3, 5), axis=1, reduction="add")
    for form in ("max", "min"):
        extremes = lambda x, i, u, form=form: x.scatter_reduce(1, i, u, "a" + form)
        yield Case("ScatterElements", extremes, draw(3, 7), places, draw(3, 5), axis=1, reduction=form)
    rows = lambda x, i, u: x.index_put((i[:, 0],), u)
    yield Case("ScatterND", rows, draw(7, 3), ints(5, 0).reshape(2, 1), draw(2, 3))
    summed = lambda x, i, u: x.index_put((i[:, 0],), u, accumulate=True)
    yield Case("ScatterND", summed, draw(7, 3), ints(5, 5).reshape(2, 1), draw(2, 3), reduction="add")
    chosen = np.array([True, False, False, True, True])
    yield Case("Compress", lambda x, c: x[:, c], draw(3, 5), chosen, axis=1)
    yield Case("Compress", lambda x, c: x[c], draw(5, 2), chosen, axis=0)
    yield Case("Compress", lambda x, c: x.reshape(-1)[:5][c], draw(3, 5), chosen)
    # Positions between pixels, and out of bounds; none on a line of pixels.
    grid = draw(2, 5, 3, 2, low=-1.2, high=1.2)
    for align in (0, 1):
        for padding in ("zeros", "border"):
            sample = lambda x, g, a=align, p=padding: F.grid_sample(x, g, "bilinear", p, align_corners=bool(a))
            yield Case("GridSample", sample, draw(2, 3, 4, 7), grid, align_corners=align, padding_mode=padding)
    nearest = lambda x, g: F.grid_sample(x, g, "nearest", align_corners=False)
    yield Case("GridSample", nearest, draw(2, 3, 4, 7), np.float64(grid), mode="nearest")
    cubic = lambda x, g: F.grid_sample(x, g, "bicubic", align_corners=False)
    yield Case("GridSample", cubic, draw(2, 3, 4, 7), np.float64(grid), mode="cubic")
    labels = ints(3, 0, -100, 1)
    yield Case("SoftmaxCrossEntropyLoss", lambda x, y: F.cross_entropy(x, y), draw(4, 5), labels, ignore_index=-100)
    yield Case("NegativeLogLikelihoodLoss", lambda x, y: F.nll_loss(x, y, reduction="sum"), draw(4, 5), labels, ignore_index=-100,
               reduction="sum")


def build(path, cases):
    """The model; returns each parameter's gradient in PyTorch."""
    nodes, weights, parts, expected = [helper.make_node("ReduceMean", ["x"], ["one"], keepdims=0)], [], [], {}
    for number, case in enumerate(cases):
        names, tensors, trained = [], [], {}
        for position, value in enumerate(case.inputs):
            if value is None:
                names.append("")
                tensors.append(None)
                continue
            name = f"{number}.{case.op}.{position}"
            is_trained = value.dtype == np.float32
            stored = np.float32(value) if value.dtype == np.float64 else value
            # Values that are unknown until the data arrive.
            names.append(f"{name}.used" if is_trained else name)
            if is_trained:
                nodes.append(helper.make_node("Mul", [name, "one"], [names[-1]]))
            weights.append(numpy_helper.from_array(np.asarray(stored), name))
            tensors.append(torch.tensor(np.asarray(stored)))
            if is_trained:
                tensors[-1] = trained[name] = torch.tensor(np.float64(value), requires_grad=True)
            elif value.dtype == np.float64:
                tensors[-1] = torch.tensor(np.float64(stored))
        outputs = [f"{number}.out{i}" for i in range(case.outputs)]
        nodes.append(helper.make_node(case.op, names, outputs, name=f"{number}.{case.op}", **case.attributes))
        result = case.reference(*tensors)
        factor = draw(*result.shape)
        weights.append(numpy_helper.from_array(np.asarray(factor), f"{number}.factor"))
        nodes.append(helper.make_node("Mul", [outputs[0], f"{number}.factor"], [f"{number}.product"]))
        nodes.append(helper.make_node("ReduceSum", [f"{number}.product"], [f"{number}.sum"], keepdims=0))
        parts.append(f"{number}.sum")
        (result * torch.tensor(np.float64(factor))).sum().backward()
        for name, tensor in trained.items():
            expected[name] = tensor.grad.numpy()
    nodes.append(helper.make_node("Sum", parts, ["loss"]))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "operators", [value("x", TensorProto.FLOAT, ["n", 1])], [value("loss", TensorProto.FLOAT, [])],
                              weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=13), path)
    return expected


def read_gradients(folder):
    content = next((folder / "run/checkpoints").rglob("optimizer*.safetensors")).read_bytes()
    length = int.from_bytes(content[:8], "little")
    gradients = {}
    for name, about in json.loads(content[8:8 + length]).items():
        if name.startswith("optimizer/momentum_buffer/"):
            begin, end = (8 + length + offset for offset in about["data_offsets"])
            gradients[name.removeprefix("optimizer/momentum_buffer/")] = np.frombuffer(content[begin:end], np.float32).reshape(
                about["shape"])
    return gradients


def check(tool, folder, family, cases):
    expected = build(folder / "model.onnx", cases)
    np.savez(folder / "x.npz", x=np.ones((4, 1), np.float32))
    shutil.rmtree(folder / "run", ignore_errors=True)
    trained = [word for name in expected for word in ("--train", name)]
    frozen = ["--freeze", "*.factor"]
    command = [tool, "train", "model.onnx", "--data", "x.npz", "--batch", "4", "--loss", "output:loss", "--optimizer", "sgd",
               "--momentum", "0.9", "--lr", "0", "--steps", "1", "--threads", "2", *trained, *frozen]
    if family != "training_form":
        command.append("--freeze-norm")
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, (family, result.stderr)
    gradients = read_gradients(folder)
    for name, gradient in expected.items():
        error = np.abs(gradients[name] - gradient).max() / max(1, np.abs(gradient).max())
        assert error < 1e-4, (name, error, gradients[name], gradient)
    print(f"{family}: {len(cases)} operators, {len(expected)} gradients")


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for family in (elementwise, binary, reductions, norms, products, windows, rearranging, indexing, training_form):
        cases = [case for case in family() if len(sys.argv) < 4 or case.op == sys.argv[3]]
        if cases:
            check(tool, folder, family.__name__, cases)


main()
