"""Every operator that is compiled has a row in the atlas, or a reason why it has none: atlas.py FREESTONE.

The operators are those of the command's own table and those that ONNX defines by others. Reasons and rows are of
operators that are compiled, and rows have names of their own.
"""

import collections
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "operators"))

import onnx
import rows

def read_table(freestone):
    """The names of the table that the command prints."""
    text = subprocess.run([freestone, "operators"], capture_output=True, text=True, check=True).stdout
    lines = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    return set(lines[1:])


def get_defined():
    """Those that ONNX gives a body."""
    return {
        f"{schema.domain}.{schema.name}" if schema.domain else schema.name
        for schema in onnx.defs.get_all_schemas()
        if schema.domain in ("", "ai.onnx.preview") and (schema.has_function or schema.has_context_dependent_function)
    }


def main():
    compiled = read_table(sys.argv[1]) | get_defined()
    members = [row for family in rows.families().values() for row in family]
    have = {f"{row.domain}.{row.operator}" if row.domain else row.operator for row in members}
    faults = [f"{name}: neither a row nor a reason" for name in sorted(compiled - have - set(rows.WITHOUT_ROWS))]
    faults += [f"{name}: a row of what is not compiled" for name in sorted(have - compiled)]
    faults += [f"{name}: a reason of what is not compiled" for name in sorted(set(rows.WITHOUT_ROWS) - compiled)]
    faults += [f"{name}: a row, and a reason why there is none" for name in sorted(have & set(rows.WITHOUT_ROWS))]
    for name, count in collections.Counter((row.name, row.dtypes, str(row.cases)) for row in members).items():
        if count > 1:
            faults.append(f"{name[0]}: the same row {count} times")
    print("\n".join(faults) or f"{len(have)} operators have rows, {len(rows.WITHOUT_ROWS)} a reason")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
