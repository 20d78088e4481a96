"""Models as torch.onnx.export writes them, for inputs of any size: exports.py [MODEL …] [--out FILE] [--seconds S].

For each model of torch_models.py, exported with all the sizes in which its inputs differ left open (detection networks by
dynamo=False), and compiled once:
- *distance*: of results of five inputs from ONNX Runtime's, the largest, of a result's largest magnitude;
- *compile*: seconds of a cold compilation;
- *ratio*: the CPU time of one thread, of ONNX Runtime's, in turns, for each input.
An input that ONNX Runtime refuses is left out (`-`): the exporter has bound a size. Whatever can't be exported, compiled or run,
or is further than 1e-4 from ONNX Runtime's, is a row with the reason, and makes the command fail unless the exporter is
it. Rows that FILE has are not measured again.
"""

import argparse
import json
import logging
import pathlib
import sys
import tempfile
import time
import warnings

import numpy as np
import onnxruntime
import torch

import freestone_runtime
import torch_models
from turns import measure

LIMIT = 1e-4


def export(name, path):
    """Writes the model; returns its inputs."""
    if name in torch_models.DETECTIONS:
        module, inputs = torch_models.make_detection(name)
        torch.onnx.export(module.eval(), (inputs[0],), str(path), dynamo=False, opset_version=17, input_names=["x"],
                          dynamic_axes={"x": {2: "height", 3: "width"}})
        return [x.numpy() for x in inputs]
    module, inputs = torch_models.make(name)
    open_sizes = {axis: torch.export.Dim.DYNAMIC for axis in torch_models.dynamic_axes(name)}
    torch.onnx.export(module.eval(), (inputs[0],), str(path), dynamo=True, external_data=False, verbose=False,
                      input_names=["x"], output_names=["y"], dynamic_shapes=(open_sizes,))
    return [x.numpy() for x in inputs]


def one_thread():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return options


def compare(path, artifact, inputs, seconds):
    """The largest distance, and the ratios of times by inputs."""
    peer = onnxruntime.InferenceSession(str(path), one_thread(), providers=["CPUExecutionProvider"])
    model = freestone_runtime.Model(artifact, 1)
    distance, ratios = 0.0, []
    for x in inputs:
        feeds = {"x": x}
        try:
            expected = peer.run(None, feeds)
        except Exception:  # ONNX Runtime's errors have no type of their own
            ratios.append(None)
            continue
        for result, right in zip(model.run(feeds), expected, strict=True):
            if result.shape != right.shape:
                raise ValueError(f"of an input {x.shape} a result is {result.shape}, not {right.shape}")
            distance = max(distance, float(np.abs(result - right).max(initial=0) / max(np.abs(right).max(initial=0), 1e-30)))
        own, peers = measure([lambda: model.run(feeds), lambda: peer.run(None, feeds)], seconds)
        ratios.append(own / peers)
    model.close()
    if not any(ratios):
        raise ValueError("ONNX Runtime runs none of the inputs, so that nothing is compared")
    return distance, ratios


def measure_model(name, folder, seconds):
    row, path, artifact = {"model": name}, folder / "model.onnx", folder / "model.stone"
    stage = "exporting"
    try:
        inputs = export(name, path)
        stage, begin = "compiling", time.perf_counter()
        freestone_runtime.compile_model(path, artifact)
        row["compile"] = time.perf_counter() - begin
        stage = "running"
        row["distance"], row["ratios"] = compare(path, artifact, inputs, seconds)
    except Exception as error:  # whatever the stages raise: the row tells it
        row["fault"] = f"{stage}: {str(error).splitlines()[0] if str(error) else type(error).__name__}"[:200]
    row["isFault"] = "fault" in row and stage != "exporting" or row.get("distance", 0) > LIMIT
    return row


def print_row(row):
    if "fault" in row:
        print(f"| {row['model']} | | | {row['fault']} |", flush=True)
    else:
        ratios = " ".join(f"{ratio:.2f}" if ratio else "-" for ratio in row["ratios"])
        print(f"| {row['model']} | {row['distance']:.1e} | {row['compile']:.1f} | {ratios} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [*torch_models.NAMES, *torch_models.DETECTIONS]
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help=f"of {', '.join(names)}; default: all of these; or timm/NAME of the package timm")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="where rows are kept")
    parser.add_argument("--seconds", type=float, default=0.5, help="for the turns of one input")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.models if name not in names and not torch_models.is_of_timm(name)]:
        parser.error(f"no model '{unknown[0]}'")
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    rows = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.exists() else []
    print("| model | distance | compile, s | of ONNX Runtime's time |\n|---|---|---|---|")
    for name in arguments.models or names:
        row = next((row for row in rows if row["model"] == name), None)
        if not row:
            with tempfile.TemporaryDirectory() as folder:
                row = measure_model(name, pathlib.Path(folder), arguments.seconds)
            rows.append(row)
            if arguments.out:
                arguments.out.write_text(json.dumps(rows, indent=1))
        print_row(row)
    sys.exit(any(row["isFault"] for row in rows))


if __name__ == "__main__":
    main()
