"""torch.compile with Freestone beside eager PyTorch: torch_agreement.py [MODEL …] [--out FILE] [--automatic].

For each model of torch_models.py:
- *forward*: results of five inputs, as evaluated;
- *gradients*: of all parameters, of five inputs, as in training;
- *weights*: parameters and buffers after 15 steps of SGD with momentum, which take the five inputs in turns;
- *losses*: of 20 such steps.
Each is the largest distance from eager PyTorch, of the largest magnitude (losses: of each loss). Where it is more than
1e-4, distances from float64 stand beside: ours / eager PyTorch's in float32. There the last three are measured again
of the *smooth* network, with SiLU in place of rectifiers and means in place of largest elements: a rounding decides on
which side of a rectifier's corner an element lies, and with it a whole term of a gradient, so that no two engines that
round differently agree. The smooth network has the same other operators. `programs` counts those that inference and
training have compiled; at most one, and one forward and one backward. With `--automatic` sizes are not declared as
dynamic: Dynamo compiles the first input, and all others, so that there may be twice as many. Rows that FILE has are not
measured again.
"""

import argparse
import contextlib
import copy
import functools
import json
import pathlib
import time
import unittest.mock
import warnings

import torch
import torch._dynamo
from torch.nn import functional

import torch_models
from freestone.torch import counters

LIMIT = 1e-4
#: SGD's, with momentum 0.9. At 0.1 networks of pictures with random weights go astray, each rounding another way.
RATES = {"torchvision": 0.01, "transformers": 0.1}


def as_silu(x, inplace=False):
    return functional.silu(x)


def as_mean(average):
    """Takes the arguments of a function that takes largest elements."""
    def pool(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        assert dilation == 1 and not return_indices
        return average(x, kernel_size, stride, padding, ceil_mode)
    return pool


#: nn.ReLU6 is a hardtanh.
SMOOTH = {"relu": as_silu, "relu6": as_silu, "hardtanh": lambda x, low, high, inplace=False: functional.silu(x),
          "hardswish": as_silu, "hardsigmoid": lambda x, inplace=False: torch.sigmoid(x),
          "max_pool2d": as_mean(functional.avg_pool2d), "max_pool3d": as_mean(functional.avg_pool3d)}


def largest(tensors):
    return max(t.abs().max().item() for t in tensors if t.numel())


def distance(found, expected):
    """Of lists of tensors: the largest difference, of the largest magnitude."""
    assert len(found) == len(expected)
    return max((a.double() - b.double()).abs().max().item() for a, b in zip(found, expected) if a.numel()) / max(
        largest(expected), 1e-30)


class Engine:
    """A model as compiled, as eager PyTorch, or in float64."""

    def __init__(self, module, run=None, double=False):
        self.module = copy.deepcopy(module)
        if double:
            self.module.double()
        self.run, self.double = run(self.module) if run else self.module, double

    def given(self, tensor):
        return tensor.double() if self.double and tensor.is_floating_point() else tensor

    def forward(self, inputs):
        self.module.eval()
        with torch.no_grad():
            return [self.run(self.given(x)) for x in inputs]

    def gradients(self, x, weights):
        self.module.train()
        self.module.zero_grad()
        (self.run(self.given(x)) * self.given(weights)).sum().backward()
        return [p.grad.clone() for p in self.module.parameters() if p.grad is not None]

    def train(self, inputs, targets, rate):
        """The losses of 20 steps, and the state after 15."""
        self.module.train()
        optimizer = torch.optim.SGD(self.module.parameters(), lr=rate, momentum=0.9)
        losses = []
        for step in range(20):
            x, target = inputs[step % len(inputs)], targets[step % len(inputs)]
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.run(self.given(x)), self.given(target))
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
            if step == 14:
                state = [t.clone() for t in self.module.state_dict().values() if t.is_floating_point()]
        return losses, state


def programs():
    return counters["programs_compiled"] + counters["programs_from_cache"]


def told(ours, eager, truth, measure):
    """The distance from eager PyTorch; where it is large, distances from float64 beside it, which `truth` computes."""
    found = {"distance": measure(ours, eager)}
    if not found["distance"] <= LIMIT:
        exact = truth()
        found["from float64"] = [measure(ours, exact), measure(eager, exact)]
    return found


def relative(losses, expected):
    return max(abs(a.item() - b.item()) / abs(b.item()) for a, b in zip(losses, expected))


def measure(name, automatic):
    torch._dynamo.reset()
    counters.clear()
    module, inputs = torch_models.make(name)
    if not automatic:
        for x in inputs:
            for axis in torch_models.dynamic_axes(name):
                torch._dynamo.mark_dynamic(x, axis)
    ours, eager = Engine(module, lambda m: torch.compile(m, backend="freestone")), Engine(module)
    exact = Engine(module, double=True)
    row, results = {"model": name}, eager.forward(inputs)
    row["forward"] = told(ours.forward(inputs), results, lambda: exact.forward(inputs), distance)
    row["programs"] = [programs()]
    found = []
    for x, result in zip(inputs, results):
        weights = torch.randn_like(result)
        found.append(told(*[engine.gradients(x, weights) for engine in (ours, eager)],
                          lambda: exact.gradients(x, weights), distance))
    row["gradients"] = max(found, key=lambda item: item["distance"])
    targets = [torch.randn_like(result) for result in results]
    rate = RATES["transformers" if name in torch_models.TEXTS or name in torch_models.SIGNALS else "torchvision"]
    trained = ours.train(inputs, targets, rate), eager.train(inputs, targets, rate)
    truth = functools.cache(lambda: exact.train(inputs, targets, rate))
    for number, (key, measured) in enumerate((("losses", relative), ("weights", distance))):
        row[key] = told(trained[0][number], trained[1][number], lambda: truth()[number], measured)
    row["programs"].append(programs() - row["programs"][0])
    row["fallbacks"] = counters["fallbacks"]
    return row


def compare(name, automatic):
    begin = time.perf_counter()
    row, keys = measure(name, automatic), ("gradients", "weights", "losses")
    if max(row[key]["distance"] for key in keys) > LIMIT:
        with contextlib.ExitStack() as stack:
            for function, smooth in SMOOTH.items():
                stack.enter_context(unittest.mock.patch.object(functional, function, smooth))
            smooth = measure(name, automatic)
        row["smooth"] = {key: smooth[key] for key in keys}
    row["seconds"] = round(time.perf_counter() - begin)
    return row


def cell(found):
    beside = " ({:.0e} / {:.0e})".format(*found["from float64"]) if "from float64" in found else ""
    return f"{found['distance']:.0e}{beside}"


def show(row):
    if "error" in row:
        return f"| {row['model']} | {row['error']} |"
    cells = [cell(row[key]) for key in ("forward", "gradients", "weights", "losses")]
    smooth = ", ".join(cell(found) for found in row.get("smooth", {}).values())
    return "| " + " | ".join([row["model"], *cells, smooth, "{} + {}".format(*row["programs"]), str(row["fallbacks"])]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=torch_models.NAMES)
    parser.add_argument("--out", type=pathlib.Path, help="rows as JSON lines")
    parser.add_argument("--automatic", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows = {}
    if options.out and options.out.exists():
        rows = {row["model"]: row for row in map(json.loads, options.out.read_text().splitlines())}
    print("| model | forward | gradients | weights | losses | smooth | programs | fallbacks |\n"
          "|---|---|---|---|---|---|---|---|")
    for name in options.models:
        if name not in rows:
            try:
                rows[name] = compare(name, options.automatic)
            except Exception as error:
                rows[name] = {"model": name, "error": f"{type(error).__name__}: {error}"[:300].replace("\n", " ")}
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(rows[name]) + "\n")
        print(show(rows[name]), flush=True)


if __name__ == "__main__":
    main()
