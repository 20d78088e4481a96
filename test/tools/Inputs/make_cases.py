"""Writes cases in the layout of ONNX's backend tests for the scripted compiler: make_cases.py FOLDER."""

import pathlib
import struct
import sys

FLOAT, INT64, STRING = 1, 7, 8


def tensor(values, dtype=FLOAT):
    """The bytes of a TensorProto: dims, data_type, raw_data."""
    raw = struct.pack(f"<{len(values)}{'q' if dtype == INT64 else 'f'}", *values)
    return bytes([8, len(values), 16, dtype, 74, len(raw)]) + raw


def write_case(folder, behaviour, outputs=None, data=None, inputs=None, more_outputs=()):
    case = folder / behaviour.replace(" ", "/")
    (case / "test_data_set_0").mkdir(parents=True)
    (case / "model.onnx").write_text(behaviour.split(" ")[-1].split("+")[0] + "\n")
    (case / "test_data_set_0" / "input_0.pb").write_bytes(tensor([1, 2, 3, 4, 5]) if inputs is None else inputs)
    if outputs is not None:
        (case / "test_data_set_0" / "output_0.pb").write_bytes(tensor(outputs))
    for index, output in enumerate(more_outputs):
        (case / "test_data_set_0" / f"output_{index}.pb").write_bytes(output)
    if data is not None:
        (case / "data.json").write_text(data)


folder = pathlib.Path(sys.argv[1])
write_case(folder, "deep below reverse", [20, 28, 36, 44, 12])
write_case(folder, "reverse+tolerant", [20.1, 28, 36, 44, 12], data='{"rtol": 0.01, "atol": 0}')
write_case(folder, "reverse+wrong", [20, 28, 37, 44, 12])
write_case(folder, "reverse+shape", [20, 28])
write_case(folder, "reverse+garbage", [20], inputs=b"\xff\xff\xff")
write_case(folder, "reverse+nothing")
write_case(folder, "unsupported", inputs=b"never read")
# Random outputs of a node are not compared; all others are.
write_case(folder, "random", inputs=b"never read")
write_case(folder, "dropout+on", [20, 28, 36, 44, 12])
write_case(folder, "dropout+off", [10], inputs=tensor([0]))
write_case(folder, "dropout+off+wrong", [11], inputs=tensor([0]))
write_case(folder, "unused-random", [20, 28, 36, 44, 12])
write_case(folder, "unused-random+wrong", [20, 28, 37, 44, 12])
positions, doubles, wrong = (tensor(values, INT64) for values in ([1, 2], [2, 4], [7, 7]))
write_case(folder, "partly-random", inputs=tensor([0, 1, 2]), more_outputs=[wrong, doubles])
write_case(folder, "partly-random+wrong", inputs=tensor([0, 1, 2]), more_outputs=[positions, wrong])
write_case(folder, "crash-in-check", [0])
write_case(folder, "crash-in-compile", [0])
write_case(folder, "hang", [0])
