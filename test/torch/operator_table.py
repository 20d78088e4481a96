#!/usr/bin/env python3
"""Compares the operators of torch.compile's backend with PyTorch's own opinion, its OpInfo database: results and
gradients of PyTorch's sample inputs, in its own tolerances.

    operator_table.py [--dtypes float32,bfloat16] [--samples N] [--only NAME,…] [--part I/N] [--out FILE]
    operator_table.py --table FILE…       prints docs/torch-operators.md from such files

Each operator "agrees", is "refused" with the name of the operator of ATen that can't be compiled, "differs", or "fails".
What FILE has is not measured again.
Exits with 1 where any differs or fails.
"""

import argparse
import collections
import faulthandler
import itertools
import math
import pathlib
import re
import sys
import time
import unittest.mock
import warnings

import torch
from functorch.compile import aot_function, min_cut_rematerialization_partition
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, SampleInput, UnaryUfuncInfo
from torch.utils import _pytree as pytree

from freestone.torch.backend import compile_graph
from freestone.torch.decompositions import decompositions
from freestone.torch.partition import NotWhole, compile_parts


class Differs(Exception):
    pass


#: What lies beyond PyTorch's tolerance, but about as near to the exact result as PyTorch's own.
ROUNDED = "agrees, rounded otherwise"


def compiler(module, example_inputs):
    return compile_parts(module, compile_graph, whole=True)


def compiled(function):
    """As torch.compile does it, but for Dynamo."""
    return aot_function(function, fw_compiler=compiler, bw_compiler=compiler, inference_compiler=compiler,
                        partition_fn=min_cut_rematerialization_partition, decompositions=decompositions())


def flat_tensors(value):
    return [item for item in pytree.tree_leaves(value) if isinstance(item, torch.Tensor)]


def tolerance(op, dtype):
    """PyTorch's own: what its tests of the operator on CPUs allow for the type, or the default of torch.testing."""
    found = {"rtol": 0.0, "atol": 0.0}
    for decorator in op.decorators:
        if getattr(decorator, "device_type", None) not in (None, "cpu") or not getattr(decorator, "active_if", True):
            continue
        if (types := getattr(decorator, "dtypes", None)) is not None and dtype not in types:
            continue
        for part in getattr(decorator, "decorators", [decorator]):
            allowed = getattr(part, "d", {}).get(dtype)
            if isinstance(allowed, float):
                found["atol"] = max(found["atol"], allowed)
            elif allowed is not None:
                found = {"rtol": max(found["rtol"], allowed.rtol), "atol": max(found["atol"], allowed.atol)}
    default = torch.testing._comparison.default_tolerances(dtype)
    return {"rtol": max(found["rtol"], default[0]), "atol": max(found["atol"], default[1])}


#: Largest numbers have angles that PyTorch finds with hundreds of bits, and it gives NaN for remainders of quotients that
#: are beyond the type, of which Freestone's are exact.
WITHOUT_EXTREMES = {"sin", "cos", "tan", "sinc", "special.sinc", "remainder", "fmod", "__rmod__"}
#: PyTorch's own gradient at NaN depends on the place of the element.
WITHOUT_NAN = {"nn.functional.hardshrink"}


def special_samples(op, dtype, gradient):
    """Of a function of the elements at one place: zeros, infinities, NaN, powers, halves, and nearly the smallest and the
    largest numbers; each with each for functions of two."""
    if not isinstance(op, (UnaryUfuncInfo, BinaryUfuncInfo)):
        return
    limits = torch.finfo(dtype)
    values = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5, -2.5, 3.0, 8.0, 10.0, 100.0,
              limits.eps]
    if op.name in WITHOUT_NAN:
        values = [value for value in values if not math.isnan(value)]
    if op.name not in WITHOUT_EXTREMES:
        values += [8 * limits.tiny, -8 * limits.tiny, limits.max / 8, -limits.max / 8]
    tensor = torch.tensor(values, dtype=dtype)
    if isinstance(op, BinaryUfuncInfo):
        first, second = (part.contiguous() for part in torch.meshgrid(tensor, tensor, indexing="ij"))
        yield SampleInput(first.requires_grad_(gradient), args=(second.requires_grad_(gradient),))
    else:
        for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=gradient), 1):
            yield SampleInput(tensor.requires_grad_(gradient), args=sample.args, kwargs=sample.kwargs)


def agrees_with_wider(run, call, actual, expected, dtype):
    """Whether results are at most twice as far from those of the next wider type as PyTorch's own, or four roundings of
    the largest element."""
    wide = torch.float32 if dtype == torch.bfloat16 else torch.float64
    try:
        exact = run(call, lambda tensor: tensor.to(wide) if tensor.is_floating_point() else tensor.clone())
    except Exception:
        return False

    def distance(a, b):
        return (a.to(b.dtype) - b).abs().nan_to_num(0, 0, 0).max().item() if b.numel() else 0.0

    def allowed(b, c):
        return max(2 * distance(b, c), 4 * torch.finfo(dtype).eps * distance(c, torch.zeros_like(c)))

    return all(torch.equal(a.isnan(), b.isnan()) and distance(a, c) <= allowed(b, c)
               for a, b, c in zip(actual, expected, exact, strict=True) if b.is_floating_point())


def check_sample(op, sample, dtype, gradient):
    """Whether everything lies in PyTorch's tolerances. Raises Differs where it does not agree at all."""
    leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    tensors = [leaves[index].detach().clone() for index in places]
    wanted = [leaves[index].requires_grad for index in places]

    def call(*given):
        filled = list(leaves)
        for index, tensor in zip(places, given):
            filled[index] = tensor
        first, args, kwargs = pytree.tree_unflatten(filled, spec)
        result = op.op(first, *args, **kwargs)
        if sample.output_process_fn_grad is not None:
            result = sample.output_process_fn_grad(result)
        return flat_tensors(result)

    def run(function, convert=torch.clone):
        given = [convert(tensor).requires_grad_(wants and gradient) for tensor, wants in zip(tensors, wanted)]
        results = function(*given)
        if not gradient:
            return results
        results = [result for result in results if result.requires_grad]
        if not results:
            return []
        weights = [torch.linspace(0.5, 1.5, max(r.numel(), 1))[:r.numel()].to(r.dtype).reshape(r.shape) for r in results]
        found = torch.autograd.grad(results, [tensor for tensor in given if tensor.requires_grad], weights,
                                    allow_unused=True)
        return [result.detach() for result in results] + [g for g in found if g is not None]

    with torch.set_grad_enabled(gradient):
        expected = run(call)
        actual = run(compiled(call))
    torch.manual_seed(1)
    with torch.set_grad_enabled(gradient), unittest.mock.patch("torch.manual_seed"):
        again = run(call)  # with another seed
    tolerances = tolerance(op, dtype)
    for a, b, c in zip(actual, expected, again, strict=True):
        if "empty" in op.name or not torch.equal(b.nan_to_num(), c.nan_to_num()):
            # Random numbers are others: shapes and types are compared.
            b = a.new_empty(b.shape) if a.dtype == b.dtype else b
            b.copy_(a)
        try:
            torch.testing.assert_close(a, b, equal_nan=True, **tolerances)
        except AssertionError as error:
            if op.name in ("sort", "topk", "argsort"):
                continue  # which of equal elements comes first is not specified
            if agrees_with_wider(run, call, actual, expected, dtype):
                return False
            raise Differs(" ".join(str(error).split())) from error
    return True


def check(op, dtype, gradient, limit):
    """"agrees", or what happened to the first sample that was not compiled or is not equal."""
    if dtype not in op.supported_dtypes("cpu"):
        return "no such type"
    if gradient and not (op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")):
        return "no gradient"
    outcome = collections.Counter()
    samples = itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=gradient), limit)
    for number, sample in enumerate(itertools.chain(samples, special_samples(op, dtype, gradient))):
        try:
            outcome["agrees" if check_sample(op, sample, dtype, gradient) else ROUNDED] += 1
        except NotWhole as refusal:
            outcome["refused: " + str(refusal).removeprefix("fullgraph=True: ")] += 1
        except Differs as error:
            return f"differs: sample {number}: {error}"
        except (DataDependentOutputException, DynamicOutputShapeException) as refusal:
            outcome[f"refused: {refusal.func} depends on data, where Dynamo breaks the graph"] += 1
        except Exception as error:
            if any(text in str(error) for text in ("convert all Tensors to FakeTensors", "setStorage", "Jiterator")):
                outcome["refused: PyTorch can't trace it on this machine"] += 1
                continue
            return f"fails: sample {number}: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
    refusals = [text for text in outcome if text not in ("agrees", ROUNDED)]
    agreement = ROUNDED if outcome[ROUNDED] else "agrees"
    if not refusals:
        return agreement if outcome.total() else "no samples"
    agreeing = outcome["agrees"] + outcome[ROUNDED]
    return refusals[0] if not agreeing else f"{agreement} in {agreeing} of {outcome.total()}, {refusals[0]}"


def print_table(paths):
    outcomes = {}
    for path in paths:
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            name, dtype, what, outcome, _ = line.split("\t")
            outcomes.setdefault(name, {})[dtype, what] = outcome
    columns = [(dtype, what) for dtype in ("float32", "bfloat16") for what in ("result", "gradient")]

    def short(outcome):
        if outcome in ("", "no gradient", "no such type") or outcome.startswith("no samples"):
            return ""
        return re.sub(r"the operator (\S+) ", r"`\1` ", outcome).replace(" is not among the operators", "").replace("|", "/")

    counts = collections.Counter(re.split(":| in ", outcome)[0] for row in outcomes.values()
                                 for outcome in row.values() if short(outcome))
    print(f"""# ATen's operators

Written by `test/torch/operator_table.py`: the operators of PyTorch {torch.__version__.partition("+")[0]}'s OpInfo
database by [the backend](torch.md), beside eager PyTorch, at its first two sample inputs, and functions of the elements
at one place also at zeros of both signs, infinities, NaN, powers, and (but for periodic functions and remainders) nearly
the smallest and the largest numbers. Tolerances are those that PyTorch's own tests of the operator allow, or the
defaults of `torch.testing`, for results and gradients alike. Random numbers are others than PyTorch's, so only shapes
and types are compared where an operator draws them.

An operator is refused with the one of ATen that it is made of and that can't be compiled: it runs as PyTorch's own, or
`fullgraph=True` names it. What "agrees, rounded otherwise" lies beyond PyTorch's tolerance, since sums are made in
another order, or bfloat16 is rounded less often: compared with the next wider type it is at most twice as far as
PyTorch's own result, or four roundings of the largest element (5e-7 of it for float32, 3e-2 for bfloat16).

{", ".join(f"{count} {kind}" for kind, count in counts.most_common())}.

| operator | float32 | its gradient | bfloat16 | its gradient |
|---|---|---|---|---|""")
    for name in sorted(outcomes):
        cells = [short(outcomes[name].get(column, "")) for column in columns]
        if any(cells):
            print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", nargs="+")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--out")
    options = parser.parse_args()
    if options.table:
        print_table(options.table)
        return
    faulthandler.enable()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    part, parts = map(int, options.part.split("/"))
    only = options.only.split(",") if options.only else None
    out = open(options.out, "a+", encoding="utf-8") if options.out else sys.stdout
    known = {}
    if options.out:
        out.seek(0)
        known = {(name, dtype, what): outcome for name, dtype, what, outcome, _ in (line.split("\t") for line in out)}
    failures = 0
    for number, op in enumerate(op_db):
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if only and op.name not in only or number % parts != part:
            continue
        for dtype in options.dtypes.split(","):
            for gradient in (False, True):
                what = "gradient" if gradient else "result"
                if (name, dtype, what) in known:
                    failures += known[name, dtype, what].startswith(("differs", "fails"))
                    continue
                begin = time.perf_counter()
                torch.manual_seed(0)
                try:
                    outcome = check(op, getattr(torch, dtype), gradient, options.samples)
                except Exception as error:
                    outcome = f"no samples: {type(error).__name__}"
                failures += outcome.startswith(("differs", "fails"))
                print(f"{name}\t{dtype}\t{what}\t{outcome}\t{time.perf_counter() - begin:.1f}", file=out, flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
