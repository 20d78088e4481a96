"""The same artifact, inputs and number of workers give the same bits: same_bits.py FREESTONE MODELS.

The CNN and the GPT, in separate processes and repeatedly within each, on 1 to 4 workers.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import numpy as np
import workloads

SIZES = {"cnn": (13,), "gpt": (3, 61)}


def main():
    freestone, models = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        for name, sizes in SIZES.items():
            artifact, inputs, outputs = (f"{folder}/{name}{suffix}" for suffix in (".stone", ".npz", "-out.npz"))
            subprocess.run([freestone, "compile", models / f"{name}.onnx", "-o", artifact], check=True, stdout=subprocess.DEVNULL)
            np.savez(inputs, **workloads.Workload(name, sizes).feeds())
            for workers in range(1, 5):
                results = set()
                for repeat in (1, 1, 5):
                    subprocess.run([freestone, "run", artifact, "--threads", str(workers), "--repeat", str(repeat), "--input", inputs,
                                    "--outputs", outputs], check=True, stdout=subprocess.DEVNULL)
                    results.add(pathlib.Path(outputs).read_bytes())
                assert len(results) == 1, f"{name}: {len(results)} results on {workers} workers"


main()
