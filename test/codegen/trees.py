"""A recursive autoencoder over trees of any shape, as a Loop with Gather and Scatter, through `freestone run`, against the
interpreter: trees.py FOLDER.

The codes of all nodes, which the loop carries, are written where they lie in all iterations; with
`--disable scatters-in-place` they are copied in each, and the numbers are the same bits. By 1 to 4 workers.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import loops
import numpy as np
import onnx

WIDTH = 8


def drawn_tree(leaves, random):
    """Inputs of `loops.tree_encoder`: any two nodes that have no parent yet are joined."""
    roots, children = list(range(leaves)), []
    while len(roots) > 1:
        left, right = (roots.pop(random.integers(len(roots))) for _ in range(2))
        roots.append(leaves + len(children))
        children.append((left, right))
    return {"leaves": random.standard_normal((leaves, WIDTH), dtype=np.float32), "children": np.array(children)}


def run(folder, model, *options):
    command = [freestone_runtime.freestone(), "run", model, "--input", folder / "tree.npz", "--outputs", folder / "results.npz"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "results.npz") as results:
        return list(results.values())


def main():
    folder, random = pathlib.Path(sys.argv[1]), np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    model, counted = folder / "tree.onnx", []
    onnx.save(loops.tree_encoder(WIDTH), model)
    for number, options in enumerate(((), ("--disable", "scatters-in-place"))):
        counted.append(freestone_runtime.compile_model(model, folder / f"{number}.stone", *options)["scatters_in_place"])
    assert counted == [1, 0], counted
    for leaves in (2, 3, 17, 64):
        np.savez(folder / "tree.npz", **drawn_tree(leaves, random))
        expected, results = run(folder, model, "--interpret"), []
        for number in range(2):
            results += [run(folder, folder / f"{number}.stone", "--threads", str(workers)) for workers in range(1, 5)]
        for root, error in results:
            np.testing.assert_allclose(root, expected[0], rtol=1e-5, atol=1e-6, err_msg=f"{leaves} leaves")
            np.testing.assert_allclose(error, expected[1], rtol=1e-5, err_msg=f"{leaves} leaves")
            assert np.array_equal(root, results[0][0]) and np.array_equal(error, results[0][1]), f"{leaves} leaves"


if __name__ == "__main__":
    main()
