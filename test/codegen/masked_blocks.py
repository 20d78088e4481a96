"""Attention whose masks are tensors: masked_blocks.py FOLDER; the environment names the build.

Blocks of scores that a mask hides as a whole are left out, forward and backward: by -inf or by the lowest number, added or
chosen, causal, of padding at either end, with rows that are hidden wholly. Results and gradients are those with `--disable
skip-masked` and, forward, near to numpy's in fp64; where hidden keys and values are no numbers, results still are.
"""

import pathlib
import sys

import numpy as np

from attention import BOOL, FLOAT, HEADS, LOWEST, TARGETS, get_core, get_initializers, get_weights
from graphs import node, save
import freestone_runtime

DEPTH = 64
# One block and many, with and without a rest.
LENGTHS = [9, 100, 450, 700]


def hide_later(length):
    return np.broadcast_to(np.arange(length) > np.arange(length)[:, None], (1, 1, length, length)).copy()


def hide_wide(length):
    """Of one text the end; of another one, and of these rows, the beginning."""
    hidden = np.repeat(hide_later(length), 2, 0)
    hidden[0, :, :, length // 3 :] = True
    hidden[1, :, 1::7, : 2 * length // 3] = True
    return hidden


def hide_padding(length):
    hidden = np.zeros((2, 1, 1, length), bool)
    hidden[0, ..., length // 2 :] = True
    hidden[1, ..., : length - length // 4] = True
    return hidden


def hide_all(length):
    """The whole first text."""
    hidden = hide_padding(length)
    hidden[0] = True
    return hidden


ADDED = [node("Add", ["s", "a"], ["t"])]
GUARD = [node("IsNaN", ["p"], ["none_seen"]), node("Where", ["none_seen", "zero", "p"], ["w"])]
# Name → the mask, the number that hides, whether it is chosen by truth values, and nodes that guard rows.
CASES = {
    "causal": (hide_later, -np.inf, False, ()),
    "causal-finite": (hide_later, LOWEST, False, ()),
    "causal-chosen": (hide_later, -np.inf, True, ()),
    "wide-finite": (hide_wide, LOWEST, False, ()),
    "wide-chosen": (hide_wide, LOWEST, True, ()),
    "padding": (hide_padding, -np.inf, False, ()),
    "padding-finite": (hide_padding, LOWEST, False, ()),
    "all-finite": (hide_all, LOWEST, False, ()),
    "all-guarded": (hide_all, -np.inf, False, GUARD),
}


def compile_case(folder, name, target, *options):
    """A model of the result and of the gradients of queries, keys and values."""
    hide, lowest, is_chosen, guard = CASES[name]
    path = folder / f"{name}-{target}{'-all' * bool(options)}"
    choose = [node("Where", ["a", "s", "minus" if lowest == -np.inf else "lowest"], ["t"])]
    nodes = get_core(choose if is_chosen else ADDED, guard=guard)
    nodes += [node("Mul", ["z", "g"], ["products"]), node("ReduceSum", ["products"], ["loss"], keepdims=0),
              node("Gradient", list("qkv"), ["dq", "dk", "dv"], domain="ai.onnx.preview.training", xs=list("qkv"), y="loss")]
    one = hide(2)
    shape = ["b" if one.shape[0] > 1 else 1, 1, "l" if one.shape[2] > 1 else 1, "l"]
    own = ["b", HEADS, "l", DEPTH]
    inputs = [(key, FLOAT, own) for key in "qkvg"] + [("a", BOOL if is_chosen else FLOAT, shape)]
    outputs = [(key, FLOAT, own) for key in ("z", "dq", "dk", "dv")]
    save(path.with_suffix(".onnx"), nodes, inputs, outputs, get_initializers(nodes, DEPTH))
    counters = freestone_runtime.compile_model(path.with_suffix(".onnx"), path.with_suffix(".stone"), "--target", target, *options)
    assert counters["connected"] == 2, (name, target, counters)
    assert counters["skipped_masks"] == (0 if options else 2), (name, target, counters)
    return freestone_runtime.Model(path.with_suffix(".stone"), 2)


def check(folder, name, target, random):
    hide, lowest, is_chosen, guard = CASES[name]
    skipping, whole = compile_case(folder, name, target), compile_case(folder, name, target, "--disable", "skip-masked")
    for length in LENGTHS:
        hidden = hide(length)
        feeds = {key: random.normal(size=(2, HEADS, length, DEPTH)).astype(np.float32) for key in "qkvg"}
        mask = np.where(hidden, np.float32(lowest), np.float32(0))
        feeds["a"] = ~hidden if is_chosen else mask
        results = skipping.run(feeds)
        for result, expected in zip(results, whole.run(feeds), strict=True):
            assert np.array_equal(result, expected, equal_nan=True), (name, target, length)
        q, k, v = (feeds[key].astype(np.float64) for key in "qkv")
        scores = np.full(hidden.shape, -np.inf) if is_chosen and lowest != -np.inf else mask.astype(np.float64)
        right = get_weights("guarded" if guard else name, q, k, np.where(hidden, scores, 0)) @ v
        error = np.nanmax(np.abs(results[0] - right))
        assert error <= 16 * np.finfo(np.float32).eps * np.nanmax(np.abs(right)), (name, target, length, error)
        print(f"{name} for {target}, {length}: error {error:.1e}")
    if hide is hide_padding:
        # What lies in blocks of padding alone is not read.
        for key in "kv":
            feeds[key][0, :, -LENGTHS[-1] // 14 :] = np.nan
        for model, is_number in ((skipping, True), (whole, False)):
            assert np.isfinite(model.run(feeds)[0][0]).all() == is_number, (name, target, is_number)
    for model in (skipping, whole):
        model.close()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(6)
    for target in TARGETS:
        for name in CASES:
            check(folder, name, target, random)


main()
