"""Writes ONNX's backend tests as folders: materialize.py FOLDER.

Each case becomes FOLDER/<kind>/<name>/{model.onnx, data.json, test_data_set_<i>/{input,output}_<j>.pb}; data.json holds
the case's rtol and atol. Kinds: node, simple, pytorch-converted, pytorch-operator, real. Models of kind `real` make
their own weights and are fed arange(n) / n, as ONNX's runner does. A second run finds its stamp and returns at once.
"""

import argparse
import json
import pathlib
import shutil
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
# Part of the stamp: increment it when the contents of the folders change.
LAYOUT = 2
# Cases that expect noise of NumPy's single precision where the exact number is 0, and what absolute error that is.
NOISE = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}


def serialize(value, info):
    """One input or output as the bytes of its .pb file."""
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name).SerializeToString()
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def write_data_set(folder, graph, inputs, outputs):
    folder.mkdir(parents=True)
    for stem, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
        for index, (value, info) in enumerate(zip(values, infos)):
            (folder / f"{stem}_{index}.pb").write_bytes(serialize(value, info))


def write_light_model(case, folder):
    """A real architecture with weights computed by the model itself; only its output is stored."""
    path = pathlib.Path(onnx.__file__).parent.parent / case.url
    model = onnx.load(path)
    shutil.copy(path, folder / "model.onnx")
    initialized = {tensor.name for tensor in model.graph.initializer}
    fed = [info for info in model.graph.input if info.name not in initialized]
    data = folder / "test_data_set_0"
    data.mkdir()
    for index, info in enumerate(fed):
        shape = tuple(dim.dim_value or 1 for dim in info.type.tensor_type.shape.dim)
        count = np.prod(shape)
        value = (np.arange(count).reshape(shape) / count).astype(np.float32)
        (data / f"input_{index}.pb").write_bytes(numpy_helper.from_array(value, info.name).SerializeToString())
    for index in range(len(model.graph.output)):
        shutil.copy(path.with_name(f"{path.stem}_output_{index}.pb"), data / f"output_{index}.pb")


def write_case(case, folder):
    folder.mkdir(parents=True)
    if case.model_dir is not None:
        shutil.copytree(case.model_dir, folder, dirs_exist_ok=True)
    elif case.model is None:
        write_light_model(case, folder)
    else:
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for index, (inputs, outputs) in enumerate(case.data_sets):
            write_data_set(folder / f"test_data_set_{index}", case.model.graph, inputs, outputs)
    tolerance = {"rtol": case.rtol, "atol": NOISE.get(case.name, case.atol)}
    (folder / "data.json").write_text(json.dumps(tolerance) + "\n")


def materialize(folder):
    stamp = folder / "stamp"
    version = f"onnx {onnx.__version__} layout {LAYOUT}\n"
    if stamp.exists() and stamp.read_text() == version:
        return
    if folder.exists():
        shutil.rmtree(folder)
    for kind in KINDS:
        cases = loader.load_model_tests(kind=kind)
        for case in cases:
            write_case(case, folder / kind / case.name)
        print(f"{kind}: {len(cases)} cases", flush=True)
    stamp.write_text(version)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    # The generators of the cases overflow and divide by zero on purpose.
    warnings.simplefilter("ignore")
    materialize(parser.parse_args().folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
