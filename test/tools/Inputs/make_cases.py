"""Writes cases in the layout of ONNX's backend tests for the scripted compiler: make_cases.py FOLDER."""

import pathlib
import struct
import sys

FLOAT, STRING = 1, 8


def tensor(values, dtype=FLOAT):
    """The bytes of a TensorProto: dims, data_type, raw_data."""
    raw = struct.pack(f"<{len(values)}f", *values)
    return bytes([8, len(values), 16, dtype, 74, len(raw)]) + raw


def write_case(folder, behaviour, outputs=None, data=None, inputs=None):
    case = folder / behaviour.replace(" ", "/")
    (case / "test_data_set_0").mkdir(parents=True)
    (case / "model.onnx").write_text(behaviour.split(" ")[-1].split("+")[0] + "\n")
    (case / "test_data_set_0" / "input_0.pb").write_bytes(tensor([1, 2, 3, 4, 5]) if inputs is None else inputs)
    if outputs is not None:
        (case / "test_data_set_0" / "output_0.pb").write_bytes(tensor(outputs))
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
write_case(folder, "crash-in-check", [0])
write_case(folder, "crash-in-compile", [0])
write_case(folder, "hang", [0])
