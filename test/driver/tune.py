"""Tilings that are timed: tune.py FREESTONE.

A tuned model gives the values of NumPy; its times come from the cache the second time, so that its bits are the same;
`inspect --tiles` shows them beside the predictions. Nothing is timed without `--tune`, nor for another machine.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from text_models import Tool

GRAPH = "g (float[m, k] a, float[k, n] b, float[m, n] c) => (float[m, n] y) { p = MatMul(a, b) y = Add(p, c) }"
BIND = ("--bind", "k=256", "--bind", "n=192")


def check_values(tool, random):
    for m in (1, 5, 129):
        # Sums of small integers are exact in any order.
        a, b, c = (random.integers(-4, 5, shape).astype("float32") for shape in ((m, 256), (256, 192), (m, 192)))
        tool.expect({"a": a, "b": b, "c": c}, a @ b + c, f"{m} rows, tuned")


def check_times_are_kept(tool, random):
    tool.compile(GRAPH, "host", *BIND)
    predicted = tool.explain()
    assert "measured" not in predicted, predicted

    first = tool.compile(GRAPH, "host", "--tune", *BIND)
    assert first["tuned"] > 0 and first["tuned_from_cache"] == 0, first
    assert first["tuned_otherwise"] <= first["tuned"], first
    check_values(tool, random)
    bits = tool.artifact.read_bytes()

    # The compiler runs once more, with the times that are known.
    for kind in ("model", "code"):
        shutil.rmtree(tool.folder / "cache" / kind)
    second = tool.compile(GRAPH, "host", "--tune", *BIND)
    assert second["tuned_from_cache"] == second["tuned"] == first["tuned"], second
    assert tool.artifact.read_bytes() == bits, "other bits with the same times"

    tuned = tool.explain()
    assert re.search(r"\* depth .* cycles; .*; measured [0-9.]+ us", tuned), tuned
    assert len(re.findall("measured", tuned)) > 1, tuned

    tool.compile(GRAPH, "host", *BIND)
    assert "measured" not in tool.explain(), "times without --tune"


def check_other_machines(tool, random):
    command = [tool.freestone, "compile", tool.model, "-o", tool.artifact, "--tune", "--target"]
    for target in ("x86-64-v3", "x86-64-v4"):
        done = subprocess.run([*command, target], capture_output=True, text=True)
        assert done.returncode == 2 and "on this machine only: tune for the target 'host'" in done.stderr, done


def check_phases(tool, random):
    done = subprocess.run([tool.freestone, "compile", tool.model, "-o", tool.artifact, "--tune", "--no-cache", *BIND],
                          check=True, capture_output=True, text=True)
    assert re.search(r"^and [0-9.]+ s to time tilings$", done.stdout, re.MULTILINE), done.stdout
    assert not re.search("^tune ", done.stdout, re.MULTILINE), done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FREESTONE_CACHE_DIR"] = f"{folder}/cache"
        tool = Tool(sys.argv[1], folder)
        for check in (check_times_are_kept, check_other_machines, check_phases):
            check(tool, np.random.default_rng(7))
    print("tune: values as NumPy's, times from the cache, and none without --tune")
