"""Writes the exported networks of a folder without their weights, for test/zoo: small.py FOLDER [NETWORK …].

The files are committed: only someone who changes the networks runs this. Those that are large even so, such as by tables of
places, are left out. Needs onnx.
"""

import argparse
import pathlib
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "models"))
from strip import strip_weights  # noqa: E402

LARGEST = 126_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of zoo.py")
    parser.add_argument("networks", nargs="*", help="all")
    options = parser.parse_args()
    for path in sorted(options.folder.glob("*.onnx")):
        if options.networks and path.name.partition(".")[0] not in options.networks:
            continue
        data = strip_weights(onnx.load(path)).SerializeToString(deterministic=True)
        if len(data) <= LARGEST:
            (ROOT / "test" / "zoo" / path.name).write_bytes(data)
        print(f"{path.name}: {len(data)} bytes" + (", left out" if len(data) > LARGEST else ""))


if __name__ == "__main__":
    main()
